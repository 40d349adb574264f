"""Several targets: one study for each, in which the others are no columns to learn from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from mercer.errors import DomainError
from mercer.sources.formats import open_source
from mercer.sources.source import suggest_name
from mercer.studies.results import Study
from mercer.studies.study_design import study

__all__ = ["study_targets", "targets_of", "types_without"]


def targets_of(data: Any, given: Sequence[str] | str | None) -> list[str]:
    """Return the names of targets, as one types them: apart by commas, or one after the other.

    A name with a comma in it is one name if a column is called so.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"x": [1], "a": [2], "b": [3], "p,q": [4]})
    >>> targets_of(rows, "a,b"), targets_of(rows, ["p,q"])
    (['a', 'b'], ['p,q'])
    """
    texts = [given] if isinstance(given, str) else list(given or ())
    if not any("," in text for text in texts) and len(texts) <= 1:
        return texts
    columns = open_source(data).columns if data is not None else ()
    found: list[str] = []
    for text in texts:
        names = [text] if text in columns else [name.strip() for name in text.split(",")]
        found += [name for name in names if name]
    for name in found:
        if name not in columns:
            raise DomainError(f"there is no column {name!r}{suggest_name(name, columns)}")
        if found.count(name) > 1:
            raise DomainError(f"the target {name!r} is named twice")
    return found


def study_targets(
    data: str | os.PathLike[str] | Any, targets: Sequence[str] | str, *,
    types: Mapping[str, str] | None = None, **how: Any,
) -> dict[str, Study]:  # fmt: skip
    """Return one study for each of several targets, in none of which another one is a column.

    Parameters
    ----------
    data : path or DataFrame
    targets : sequence of str, or str
        Names of columns, also in one text with commas between.
    types : mapping, optional
    how
        As in `study`, for all of them.

    Returns
    -------
    dict of str to Study

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"x": range(30), "double": range(0, 60, 2), "half": range(30)})
    >>> found = study_targets(rows.astype(float), "double,half", machine="ridge", budget=5)
    >>> list(found), [len(one.sheet.used) for one in found.values()]
    (['double', 'half'], [1, 1])
    """
    names = targets_of(data, targets)
    return {
        name: study(data, name, types=types_without(names, name, types), **how) for name in names
    }


def types_without(
    names: Sequence[str], target: str, types: Mapping[str, str] | None
) -> dict[str, str] | None:
    """Return what columns are taken for, where other targets are left out."""
    others = {name: "ignore" for name in names if name != target}
    return {**(types or {}), **others} or None
