"""Dates as numbers: days, years, and where in the year, the week and the day a date is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.machines.encoding.scales import NumberScale, learn_scale

__all__ = ["Dates", "learn_dates"]

YEAR = 365.2425
# The days that a column must span, so that a part says something that the days do not.
SPANS = {"day of year": YEAR, "weekday": 14.0, "weekend": 14.0, "hour": 2.0}


@dataclass(frozen=True, eq=False)
class Dates:
    """What becomes of days since 1970.

    A cycle becomes a pair (sin, cos) on the unit circle, so that December is beside January; two
    dates of a cycle are √2 apart in the root mean square, as two rows of a standardized column.

    Attributes
    ----------
    days, year : NumberScale or None
    cycles : list of str
        Of "day of year", "weekday" and "hour".
    weekend : bool
        Whether Saturdays and Sundays are told from other days.
    """

    days: NumberScale
    year: NumberScale | None
    cycles: list[str]
    weekend: bool

    @property
    def parts(self) -> list[str]:
        """What stands behind the name of the column."""
        names = [": days", *([": year"] if self.year else [])]
        names += [f": {wave} of {cycle}" for cycle in self.cycles for wave in ("sine", "cosine")]
        return [*names, *([": weekend"] if self.weekend else [])]

    def __call__(self, days: np.ndarray) -> np.ndarray:
        gaps = np.isnan(days)
        columns = [self.days(days)]
        if self.year is not None:
            columns.append(self.year(_years(days)))
        for cycle in self.cycles:
            angle = 2 * np.pi * _phase(days, cycle)
            columns += [np.sin(angle), np.cos(angle)]
        if self.weekend:
            columns.append(np.where(_is_weekend(days), 1.0, -1.0) / np.sqrt(2))
        found = np.column_stack(columns)
        found[gaps] = 0.0
        return found


def learn_dates(days: np.ndarray, numbers: str) -> Dates:
    """Return the parts that dates of such a range can have.

    Examples
    --------
    >>> learn_dates(np.arange(30.0), "standard").parts
    [': days', ': sine of weekday', ': cosine of weekday', ': weekend']
    """
    present = days[~np.isnan(days)]
    span = float(np.ptp(present))
    cycles = [
        cycle
        for cycle in ("day of year", "weekday", "hour")
        if span >= SPANS[cycle] and np.ptp(_phase(present, cycle)) > 1e-6
    ]
    years = _years(present)
    weekend = _is_weekend(present)
    return Dates(
        learn_scale(days, numbers),
        learn_scale(years, numbers) if len(np.unique(years)) > 2 else None,
        cycles,
        span >= SPANS["weekend"] and bool(weekend.any() and not weekend.all()),
    )


def _phase(days: np.ndarray, cycle: str) -> np.ndarray:
    """Return the place in a cycle, from 0 to 1."""
    if cycle == "hour":
        return days - np.floor(days)
    if cycle == "weekday":
        return _weekday(days) / 7
    return np.mod(days / YEAR, 1.0)


def _weekday(days: np.ndarray) -> np.ndarray:
    """Return 0 for Monday to 6 for Sunday; the first of January 1970 was a Thursday."""
    return np.mod(np.floor(days) + 3, 7)


def _is_weekend(days: np.ndarray) -> np.ndarray:
    return _weekday(days) >= 5


def _years(days: np.ndarray) -> np.ndarray:
    """Return the calendar year, NaN in gaps; a date out of NumPy's reach is at its border."""
    whole = np.clip(np.floor(np.nan_to_num(days)), -(10**7), 10**7)
    years = whole.astype("datetime64[D]").astype("datetime64[Y]").astype(np.float64) + 1970
    return np.where(np.isnan(days), np.nan, years)
