"""Stand-ins: numbers such as -999 that stand for nothing, where nobody has said so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import numpy as np

from mercer.domains import is_frame
from mercer.studies.case import Case, number, quoted

__all__ = ["stand_ins", "suspicious"]

MIN_TIMES = 3  # that it stands there
MIN_OTHERS = 5  # different entries beside it
MIN_DISTANCE = 1.0  # from the nearest other entry, in ranges of all others


def suspicious(values: np.ndarray) -> tuple[float, int] | None:
    """Return an entry that is repeated far outside the rest, and how often; None without one.

    Examples
    --------
    >>> suspicious(np.r_[np.arange(20.0, 60.0), [-999.0] * 4]), suspicious(np.arange(50.0))
    ((-999.0, 4), None)
    """
    found, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if len(found) <= MIN_OTHERS:
        return None
    for place, rest in ((0, found[1:]), (len(found) - 1, found[:-1])):
        width = float(rest[-1] - rest[0])
        gap = abs(float(found[place] - rest[0 if place == 0 else -1]))
        whole = float(found[place]).is_integer()
        if whole and counts[place] >= MIN_TIMES and gap >= MIN_DISTANCE * width > 0:
            return float(found[place]), int(counts[place])
    return None


def stand_ins(case: Case) -> Iterator[str]:
    """Look for entries that stand for nothing, in columns of numbers and in the target."""
    columns = [("the target ", case.target, case.y)] if not case.classify else []
    kinds = {column.name: column.kind for column in case.sheet.columns}
    if is_frame(case.X):
        columns += [
            ("", quoted(name), case.X[name].to_numpy(dtype=np.float64))
            for name in case.X.columns
            if kinds.get(str(name)) == "numeric"
        ]
    for what, name, values in columns:
        found = suspicious(values)
        if found is None:
            continue
        code, times = found
        rest = values[np.isfinite(values) & (values != code)]
        option = shlex.quote(f"{name[1:-1]}={code:.0f}")
        yield (
            f"{what}{name} is {code:.0f} in {times} rows, far outside the rest "
            f"({number(float(rest.min()))} to {number(float(rest.max()))}). If that stands for "
            f"nothing, say --missing {option}."
        )
