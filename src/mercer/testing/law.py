"""Laws: claims that every kernel, every solver and every machine has to keep.

A law is a function of a case. It returns nothing if its claim holds, raises `AssertionError` with
the numbers if it does not, and `Inapplicable` if it claims nothing about such a case (features of
a kernel that has infinitely many). Nothing here needs a test framework.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains import Items

__all__ = [
    "Inapplicable",
    "Law",
    "agree",
    "apply",
    "apply_all",
    "by_name",
    "count",
    "identical",
    "patched",
    "refused",
    "same",
    "snapshot",
    "take",
    "things",
]

Law = Callable[[Any], None]


class Inapplicable(Exception):
    """A law that claims nothing about a case; the message says why.

    Examples
    --------
    >>> def has_features(case):
    ...     raise Inapplicable("the kernel has infinitely many")
    >>> apply_all({"features": has_features}, None)
    []
    """


def by_name(*laws: Law) -> dict[str, Law]:
    """Return laws by the names of their functions."""
    return {law.__name__: law for law in laws}


def apply(law: Law, case: object) -> None:
    """Hold one law against a case; whatever goes wrong is an `AssertionError` that names both.

    Parameters
    ----------
    law : callable
        A function of a case.
    case : object

    Examples
    --------
    >>> def positive(case):
    ...     assert case > 0, "it is negative"
    >>> apply(positive, -1)
    Traceback (most recent call last):
        ...
    AssertionError: positive does not hold for -1: it is negative
    """
    try:
        law(case)
    except Inapplicable:
        raise
    except AssertionError as error:
        raise AssertionError(f"{law.__name__} does not hold for {case}: {error}") from error
    except Exception as error:
        raise AssertionError(
            f"{law.__name__} does not hold for {case}: {type(error).__name__}: {error}"
        ) from error


def apply_all(laws: Mapping[str, Law], case: object) -> list[str]:
    """Hold all laws against a case and return the names of those that say something about it."""
    kept = []
    for name, law in laws.items():
        try:
            apply(law, case)
        except Inapplicable:
            continue
        kept.append(name)
    return kept


def agree(
    found: ArrayLike, expected: ArrayLike, what: str, tolerance: float, size: Any = None
) -> None:
    """Assert that two arrays are equal up to `tolerance` times `size`.

    `size` is what rounding errors are relative to, by default the largest expected entry. NaN
    agrees with nothing.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shapes {found.shape} and {expected.shape}"
    if size is None:
        size = np.max(np.abs(expected), initial=0.0)
    allowed = np.broadcast_to(np.asarray(size) * tolerance, found.shape)
    with np.errstate(invalid="ignore"):
        off = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    bad = ~(off <= allowed)
    if bad.any():
        worst = np.unravel_index(np.argmax(np.where(bad, _excess(off, allowed), -1.0)), off.shape)
        place = tuple(int(i) for i in worst)
        raise AssertionError(
            f"{what}: {found[place]!r} and {expected[place]!r} at {place} differ by "
            f"{off[place]:.3g}, allowed are {allowed[place]:.3g}"
        )


def identical(found: ArrayLike, expected: ArrayLike, what: str) -> None:
    """Assert that two arrays are equal to the last bit."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, f"{what}: types {found.dtype} and {expected.dtype}"
    assert found.shape == expected.shape, f"{what}: shapes {found.shape} and {expected.shape}"
    if found.tobytes() != expected.tobytes():
        off = np.max(np.abs(found.astype(np.float64) - expected.astype(np.float64)))
        raise AssertionError(f"{what}: not the same bits, the largest difference is {off:.3g}")


def refused(
    kind: type[Exception], what: str, action: Callable[..., Any], *arguments: Any, **more: Any
) -> str:
    """Assert that an action raises an error of this kind, and return its message."""
    try:
        action(*arguments, **more)
    except kind as error:
        return str(error)
    except Exception as error:
        raise AssertionError(
            f"{what}: expected {kind.__name__}, found {type(error).__name__}: {error}"
        ) from error
    raise AssertionError(f"{what}: expected {kind.__name__}, but it was accepted")


@contextmanager
def patched(module: Any, **values: Any) -> Iterator[None]:
    """Give names of a module other values for a while."""
    before = {name: getattr(module, name) for name in values}
    try:
        for name, value in values.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def _excess(off: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return by how much each difference is too large, NaN being the worst."""
    return np.where(np.isfinite(off), off / np.maximum(allowed, 1e-300), np.inf)


def take(items: Any, rows: Any) -> Any:
    """Return the items at `rows`, in the kind of container that they came in."""
    if hasattr(items, "iloc"):
        return items.iloc[rows]
    if isinstance(items, np.ndarray) or sparse.issparse(items):
        return items[rows]
    return [items[i] for i in np.arange(len(items))[rows]]


def things(items: Any) -> list[Any]:
    """Return the items one by one, as `pair` takes them: a row of a DataFrame is a dict."""
    return items.to_dict(orient="records") if hasattr(items, "iloc") else list(items)


def count(items: Any) -> int:
    """Return the number of items."""
    return int(items.shape[0]) if hasattr(items, "shape") else len(items)


def snapshot(items: Items) -> Any:
    """Return a copy that shares nothing with the original."""
    return copy.deepcopy(items)


def same(one: Any, two: Any) -> bool:
    """Tell whether two containers hold equal items of equal types."""
    if hasattr(one, "iloc"):
        return type(one) is type(two) and one.equals(two) and list(one.index) == list(two.index)
    if sparse.issparse(one):
        return all(
            np.array_equal(getattr(one, part), getattr(two, part))
            for part in ("data", "indices", "indptr")
        )
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return len(one) == len(two) and all(same_thing(a, b) for a, b in zip(one, two, strict=True))


def same_thing(one: object, two: object) -> bool:
    """Tell whether two items are equal, arrays entry by entry."""
    if isinstance(one, np.ndarray):
        return same(one, two)
    return type(one) is type(two) and bool(one == two)
