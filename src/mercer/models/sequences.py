"""Sequences that models are about: of symbols or of measurements, with gaps.

They differ from the strings and series of `mercer.domains` in that an observation may be missing,
and that a sequence may be empty.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import (
    ANYTHING,
    STRINGS,
    Domain,
    Items,
    Points,
    Series,
    SeriesDomain,
    Strings,
    Table,
    Vectors,
    is_frame,
    things,
    to_numpy,
)
from mercer.errors import DomainError, ValidityError

__all__ = [
    "GapDomain",
    "SymbolDomain",
    "Symbols",
    "admit_alphabet",
    "alphabet_codes",
    "decode",
    "lengths_of",
    "spans",
]

GAP = -1  # the code of a missing symbol


class Symbols(Points):
    """Sequences of symbols, one after the other, by the places of the symbols in an alphabet."""

    def __init__(self, codes: np.ndarray, starts: np.ndarray, alphabet: tuple[Any, ...]) -> None:
        super().__init__()
        self.codes = codes
        self.starts = starts
        self.alphabet = alphabet

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def bytes(self) -> int:
        return int(self.codes.nbytes)

    @property
    def lengths(self) -> np.ndarray:
        """How many symbols each sequence has."""
        return np.diff(self.starts)

    def take(self, rows: Any) -> Symbols:
        chosen = np.arange(len(self))[rows]
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return Symbols(self.codes[at], starts, self.alphabet)

    def concat(self, other: Symbols) -> Symbols:
        both = _ordered({*self.alphabet, *other.alphabet})
        codes = [alphabet_codes(side, both)[side.codes] for side in (self, other)]
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return Symbols(np.concatenate(codes), starts, both)

    def items(self) -> Iterator[list[Any]]:
        """Yield each sequence as a list of symbols, with None for those that are missing."""
        known = (*self.alphabet, None)  # GAP is the last place
        for a, b in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield [known[code] for code in self.codes[a:b]]


@dataclass(frozen=True)
class SymbolDomain(Domain):
    """Strings, whose symbols are letters, or sequences of any hashable symbols.

    Parameters
    ----------
    missing : object, optional
        The symbol of a missing observation; None, NaN and pandas' NA always are.
    gaps : bool
        Whether observations may be missing.

    Examples
    --------
    >>> SymbolDomain(gaps=False).admit([[1, 2], [2, None]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X has no symbol at step 1; ...
    """

    missing: Any = None
    gaps: bool = True

    def admit(self, X: Items | Points, name: str = "X") -> Symbols:
        points = X if isinstance(X, Symbols) else self._read(X, name)
        if not self.gaps and (points.codes == GAP).any():
            at = int(np.argmax(points.codes == GAP))
            item = int(np.searchsorted(points.starts, at, side="right")) - 1
            raise DomainError(
                f"item {item} of {name} has no symbol at step {at - points.starts[item]}; this "
                "model needs all of them, but HiddenMarkovModel can do without some"
            )
        return points

    def merge(self, other: Domain) -> Domain | None:
        if isinstance(other, SymbolDomain):
            return self if self == other else ANYTHING
        return STRINGS if other == STRINGS else None

    def _read(self, X: Items | Points, name: str) -> Symbols:
        if isinstance(X, Strings):
            return self._from_strings(X)
        objects = list(_separate(X, name))
        if all(isinstance(item, str) for item in objects):
            return self._from_strings(STRINGS.admit(objects, name))
        for i, item in enumerate(objects):
            if isinstance(item, bytes | dict | set | frozenset) or not hasattr(item, "__len__"):
                raise DomainError(
                    f"item {i} of {name} is of type {type(item).__name__}, not a string or a "
                    "sequence of symbols"
                )
        starts = np.concatenate([[0], np.cumsum([len(item) for item in objects], dtype=int)])
        if all(_is_plain(item) for item in objects):
            return self._from_integers(np.concatenate(objects), starts)
        return self._from_objects(objects, starts, name)

    def _from_strings(self, strings: Strings) -> Symbols:
        found, codes = _numbered(strings.letters)
        return self._without_missing(codes, strings.starts, [chr(letter) for letter in found])

    def _from_integers(self, values: np.ndarray, starts: np.ndarray) -> Symbols:
        found, codes = _numbered(values)
        return self._without_missing(codes, starts, found.tolist())

    def _without_missing(
        self, codes: np.ndarray, starts: np.ndarray, alphabet: list[Any]
    ) -> Symbols:
        """Let the symbol of missing observations be none of the alphabet."""
        if self.missing in alphabet:
            gap = alphabet.index(self.missing)
            codes = np.where(codes == gap, GAP, codes - (codes > gap))
            alphabet = [*alphabet[:gap], *alphabet[gap + 1 :]]
        return Symbols(codes, starts, tuple(alphabet))

    def _from_objects(self, objects: list[Any], starts: np.ndarray, name: str) -> Symbols:
        seen: dict[Any, int] = {}
        codes = np.empty(starts[-1], dtype=np.int64)
        for i, item in enumerate(objects):
            for t, symbol in enumerate(_symbols(item)):
                if isinstance(symbol, np.generic):
                    symbol = symbol.item()
                try:
                    code = seen.setdefault(symbol, len(seen))
                except TypeError as error:
                    raise DomainError(
                        f"item {i} of {name} has at step {t} a {type(symbol).__name__}, which "
                        "cannot be a symbol; for measurements use emissions='gaussian'"
                    ) from error
                codes[starts[i] + t] = code
        kept = {symbol for symbol in seen if not self._is_missing(symbol)}
        alphabet = _ordered(kept)
        place = {symbol: code for code, symbol in enumerate(alphabet)}
        table = [place[symbol] if symbol in kept else GAP for symbol in seen]
        return Symbols(np.array(table, dtype=np.int64)[codes], starts, alphabet)

    def _is_missing(self, symbol: Any) -> bool:
        if symbol is None or type(symbol).__name__ in ("NAType", "NaTType"):
            return True
        return bool(symbol != symbol) or (self.missing is not None and symbol == self.missing)


@dataclass(frozen=True)
class GapDomain(Domain):
    """Series of measurements like those of `SERIES`, but with gaps (None, NaN) and empty ones."""

    def admit(self, X: Items | Points, name: str = "X") -> Series:
        if isinstance(X, Series):
            return X
        found = [_steps(item, i, name) for i, item in enumerate(_separate(X, name))]
        widths = [steps.shape[1] for steps in found if len(steps)]
        width = widths[0] if widths else 1
        for i, steps in enumerate(found):
            if len(steps) and steps.shape[1] != width:
                raise DomainError(
                    f"item {i} of {name} has {steps.shape[1]} numbers at each step, but others "
                    f"have {width}; all series must have the same"
                )
        starts = np.concatenate([[0], np.cumsum([len(steps) for steps in found], dtype=np.int64)])
        parts = [steps for steps in found if len(steps)]
        return Series(np.concatenate(parts) if parts else np.empty((0, width)), starts)

    def merge(self, other: Domain) -> Domain | None:
        return other if isinstance(other, SeriesDomain | GapDomain) else None


def alphabet_codes(points: Symbols, alphabet: Sequence[Any], owner: object = None) -> np.ndarray:
    """Return where the symbols of some points stand in another alphabet, and GAP at the end.

    `owner` is the model that knows only these; it refuses others.
    """
    known = {symbol: code for code, symbol in enumerate(alphabet)}
    table = np.array([known.get(symbol, GAP) for symbol in points.alphabet] + [GAP])
    for code in (table[:-1] == GAP).nonzero()[0]:
        at = np.flatnonzero(points.codes == code)  # slices keep symbols that they do not have
        if len(at):
            item = int(np.searchsorted(points.starts, at[0], side="right")) - 1
            raise DomainError(
                f"item {item} of X has {points.alphabet[code]!r} at step "
                f"{at[0] - points.starts[item]}, which is not in the alphabet of "
                f"{type(owner).__name__}: it was never seen in training; name it in alphabet=, "
                "with smoothing > 0"
            )
    return table


def admit_alphabet(owner: object, given: Iterable[Any]) -> tuple[Any, ...]:
    """Return an alphabet, all of whose symbols are different."""
    try:
        found = tuple(s.item() if isinstance(s, np.generic) else s for s in given)
        different = len(set(found))
    except TypeError as error:
        raise ValidityError(
            f"alphabet of {type(owner).__name__} must be a sequence of symbols: {error}"
        ) from error
    if not found or different < len(found):
        what = "no symbols" if not found else "a symbol twice"
        raise ValidityError(f"alphabet of {type(owner).__name__} has {what}: {given!r}")
    return found


def decode(codes: np.ndarray, alphabet: Sequence[Any]) -> Any:
    """Return symbols as a user would have them: a string, if all of them are letters.

    Examples
    --------
    >>> decode(np.array([1, 0]), "ab"), decode(np.array([1, 0]), (5, 7))
    ('ba', [7, 5])
    """
    found = [alphabet[code] for code in codes]
    letters = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in alphabet)
    return "".join(found) if letters else found


def lengths_of(count: int, length: ArrayLike) -> np.ndarray:
    """Return the lengths of `count` sequences to be drawn: one for all, or one for each.

    Examples
    --------
    >>> lengths_of(3, 5)
    array([5, 5, 5])
    """
    found = np.asarray(length)
    bad = found.dtype.kind not in "iu" or (found < 0).any() or found.shape not in ((), (count,))
    if bad and found.size:
        raise ValidityError(
            f"length must be one whole number from 0 on, or one for each of {count} items; found "
            f"{length!r}"
        )
    return np.broadcast_to(found.astype(np.int64), (count,)).copy()


def spans(starts: np.ndarray, steps: int = 1 << 15, count: int = 256) -> list[tuple[int, int]]:
    """Cut sequences into runs of at most `count`, of about as many steps, for one job each."""
    found, first = [], 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + steps, side="right")) - 1
        last = min(max(last, first + 1), first + count, len(starts) - 1)
        found.append((first, last))
        first = last
    return found


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different whole numbers in order, and the place of each value among them."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low >= 1 << 20:  # too wide for a table
        found, codes = np.unique(values, return_inverse=True)
        return found, codes.astype(np.int64)
    seen = np.zeros(high - low + 1, dtype=bool)
    shifted = values - low
    seen[shifted] = True
    table = np.cumsum(seen) - 1
    return seen.nonzero()[0] + low, table[shifted]


def _ordered(symbols: set[Any]) -> tuple[Any, ...]:
    """Return symbols in their order, or in one that does not depend on chance."""
    try:
        return tuple(sorted(symbols))
    except TypeError:
        return tuple(sorted(symbols, key=lambda symbol: (type(symbol).__name__, repr(symbol))))


def _symbols(item: object) -> Any:
    """Return a sequence in which masked symbols are None."""
    if np.ma.isMaskedArray(item):
        return item.tolist()
    return item.tolist() if isinstance(item, np.ndarray) and item.ndim == 1 else item


def _is_plain(item: Any) -> bool:
    """Tell whether a sequence is an array of whole numbers, none of which is missing."""
    plain = isinstance(item, np.ndarray) and not isinstance(item, np.ma.MaskedArray)
    return plain and item.dtype.kind in "iu" and item.ndim == 1


def _separate(X: Items | Points, name: str) -> Iterator[Any]:
    """Return the single sequences of a container; in a table of several columns, its rows."""
    table = Table(X, name) if is_frame(X) else X
    if isinstance(table, Table) and table.width > 1:
        return iter(table.frame.to_numpy() if is_frame(table.frame) else to_numpy(table.frame))
    if np.ma.isMaskedArray(X):  # row by row, because a plain array forgets what is masked
        table = list(X)
    return X.items() if isinstance(X, Vectors) else things(table, name).items()


def _steps(item: object, place: int, name: str) -> np.ndarray:
    """Return one series as a matrix of steps and channels, with NaN for gaps."""
    where = f"item {place} of {name}"
    if isinstance(item, str | bytes | dict | numbers.Number) or item is None:
        raise DomainError(f"{where} is {item!r}, not a series of numbers")
    if np.ma.isMaskedArray(item):
        item = np.ma.filled(item.astype(np.float64), np.nan)
    if hasattr(item, "to_numpy"):
        item = item.to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        steps = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DomainError(f"{where} is not a series of numbers: {error}") from error
    if steps.ndim not in (1, 2) or (steps.ndim == 2 and steps.shape[1] == 0):
        raise DomainError(
            f"{where} has the shape {steps.shape}; a series is a sequence of numbers, or has one "
            "row for each step and one column for each channel"
        )
    if np.isinf(steps).any():
        step = int(np.argwhere(np.isinf(steps))[0, 0])
        raise DomainError(f"{where} contains infinity at step {step}; use NaN for what is missing")
    return steps if steps.ndim == 2 else steps[:, None]
