"""Series: sequences of measurements, each as long as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from mercer.domains.points import Domain, Items, Points, RowIndex, name_type, select_ragged
from mercer.domains.tables import Table, is_frame, things
from mercer.domains.vectors import Vectors, to_numpy
from mercer.errors import DomainError

__all__ = ["SERIES", "Series", "SeriesDomain"]


class Series(Points):
    """Time series one after the other: a row for each step, a column for each channel.

    `starts` says where each series begins among the steps, and where the last one ends.

    Parameters
    ----------
    steps : ndarray of shape (steps, channels)
    starts : ndarray of int
        One more than there are series.

    Examples
    --------
    >>> series = SERIES.admit([[1.0, 2.0], [3.0]])
    >>> series.steps, series.starts
    (array([[1.],
           [2.],
           [3.]]), array([0, 2, 3]))
    """

    def __init__(self, steps: np.ndarray, starts: np.ndarray) -> None:
        super().__init__()
        self.steps = steps
        self.starts = starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def channels(self) -> int:
        """How many numbers each step has."""
        return int(self.steps.shape[1])

    @property
    def lengths(self) -> np.ndarray:
        """How many steps each series has."""
        return np.diff(self.starts)

    @property
    def bytes(self) -> int:
        return int(self.steps.nbytes)

    def take(self, rows: RowIndex) -> Series:
        starts, places = select_ragged(self.starts, rows)
        return Series(self.steps[places], starts)

    def concat(self, other: Series) -> Series:
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return Series(np.concatenate([self.steps, other.steps]), starts)

    def items(self) -> Iterator[np.ndarray]:
        """Yield each series: its steps, one row each."""
        return (self.steps[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True))


@dataclass(frozen=True)
class SeriesDomain(Domain):
    """Series of finite numbers: each a sequence of numbers, or of steps with several channels.

    They come as a list, a pandas Series, one column of a table, or, if they are equally long, as
    the rows of an array or DataFrame of numbers.

    Examples
    --------
    >>> SERIES.admit([[1.0, 2.0], [3.0, float("nan")]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X contains NaN at step 1; ...
    """

    def admit(self, X: Items | Points, name: str = "X") -> Series:
        if isinstance(X, Series):
            return X
        found = [_steps(item, i, name) for i, item in enumerate(_separate(X, name))]
        for i, steps in enumerate(found):
            if steps.shape[1] != found[0].shape[1]:
                raise DomainError(
                    f"item {i} of {name} has {_channels(steps)}, but item 0 has "
                    f"{_channels(found[0])}; all series must have the same"
                )
        starts = np.concatenate([[0], np.cumsum([len(steps) for steps in found], dtype=np.int64)])
        return Series(np.ascontiguousarray(np.concatenate(found)), starts)


SERIES = SeriesDomain()


def _separate(X: Items | Points, name: str) -> Iterator[Any]:
    """Return the single series of a container; in a table of several columns, its rows."""
    table = Table(X, name) if is_frame(X) else X
    if isinstance(table, Table) and table.width > 1:
        rows = table.frame.to_numpy() if is_frame(table.frame) else to_numpy(table.frame)
        return iter(rows)
    if isinstance(X, Vectors):
        return X.items()
    return things(table, name).items()


def _steps(item: object, place: int, name: str) -> np.ndarray:
    """Return one series as a matrix of steps and channels, or say what is wrong with it."""
    where = f"item {place} of {name}"
    steps = _numbers(item, where)
    if steps.ndim == 0 or steps.ndim > 2:
        raise DomainError(
            f"{where} has {steps.ndim} dimensions; a series is a sequence of numbers, or has one "
            "row for each step and one column for each channel"
        )
    if len(steps) == 0:
        raise DomainError(f"{where} has no steps; a series needs at least one")
    if steps.ndim == 1:
        steps = steps[:, None]
    if steps.shape[1] == 0:
        raise DomainError(f"{where} has no channels; each step needs at least one number")
    bad = ~np.isfinite(steps)
    if bad.any():
        step, channel = np.argwhere(bad)[0]
        value = "NaN" if np.isnan(steps[step, channel]) else "infinity"
        of = f", channel {channel}" if steps.shape[1] > 1 else ""
        raise DomainError(
            f"{where} contains {value} at step {step}{of}; fill it in, or cut the series there"
        )
    return steps


def _numbers(item: object, where: str) -> np.ndarray:
    """Return an array of floats, with NaN where a number is masked or None."""
    if isinstance(item, str | bytes | dict | set | frozenset) or item is None:
        raise DomainError(f"{where} is {name_type(item)}, not a series of numbers")
    if np.ma.isMaskedArray(item):
        item = np.ma.filled(np.ma.asarray(item, dtype=np.float64), np.nan)
    try:
        array = to_numpy(item) if array_api_compat.is_array_api_obj(item) else np.asarray(item)
    except ValueError as error:
        raise DomainError(f"{where} has steps with different numbers of channels") from error
    if array.dtype.kind == "O":
        try:
            if any(isinstance(value, str) for value in array.ravel()):
                raise ValueError("it holds text")
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DomainError(f"{where} is not a series of numbers: {error}") from error
    if array.dtype.kind not in "fiub":
        raise DomainError(f"{where} holds {array.dtype} values, not numbers")
    return array.astype(np.float64)


def _channels(steps: np.ndarray) -> str:
    count = steps.shape[1]
    return "1 channel" if count == 1 else f"{count} channels"
