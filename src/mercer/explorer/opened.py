"""Opening: from a path to what is explored, a model or a table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mercer.errors import DomainError
from mercer.explorer.quick_fit import learn_quickly
from mercer.explorer.subject import MAX_ROWS, Subject
from mercer.files import describe, load
from mercer.sources import read
from mercer.sources.table_reader import without_reader
from mercer.studies import SavedModel

__all__ = ["is_model", "open_subject"]


def open_subject(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    rows: str | os.PathLike[str] | None = None,
    types: Mapping[str, str] | None = None,
    kernel: str | None = None,
    task: str | None = None,
) -> Subject:
    """Return what is to be explored: a model file, or a table of which a machine learns first.

    Parameters
    ----------
    path : path
        A model that `mercer fit` or `mercer.save` wrote, or a table.
    target : str, optional
        The column of the table that is predicted.
    rows : path, optional
        A table with other rows for a model.
    types, kernel, task
        As for `mercer.study`, of a table.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> machine = mercer.KernelRidge("gaussian", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.mercer")
    ...     mercer.save(machine, file)
    ...     len(open_subject(file))
    2
    """
    name = Path(path).name
    if is_model(path):
        machine = without_reader(load(path))
        if not hasattr(machine, "predict"):
            raise DomainError(f"{name!r} holds a {type(machine).__name__}, which predicts nothing")
        notes = describe(path)["notes"]
        notes = notes if isinstance(notes, dict) else {}
        known = SavedModel(machine, notes.get("recipe"), notes)
        sheet = None if rows is None else known.sample(rows, MAX_ROWS, skip_bad=True)
        return Subject.of_model(known, sheet, name)
    if rows is not None:
        raise DomainError("--rows is for a model; of a table its own rows are explored")
    sheet = read(path, target, types, skip_bad=True, limit=MAX_ROWS, task=task)
    return learn_quickly(sheet, kernel, name)


def is_model(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file seems to be a model, by its name or by how it begins."""
    if Path(path).suffix == ".mercer":
        return True
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return b'{"__metadata__"' in file.read(64)
