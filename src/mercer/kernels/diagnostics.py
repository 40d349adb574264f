"""The doctor: is this kernel healthy on this data?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.domains import Items, Points
from mercer.engine.tiles import fill
from mercer.errors import DomainError
from mercer.kernels.base import Kernel
from mercer.kernels.names import named

__all__ = ["Checkup", "check"]

MAX_CHECKED_ITEMS = 3000  # items whose eigenvalues take seconds, not minutes


@dataclass(frozen=True)
class Checkup:
    """What `check` found, as numbers and (printed) in words.

    Attributes
    ----------
    items : int
        How many were looked at.
    verdict : str
        What the kernel's proof says.
    asymmetry : float
        Largest |k(x, z) − k(z, x)|.
    eigenvalues : ndarray
        The smallest ones, ascending.
    tolerance : float
        Eigenvalues above −tolerance count as not negative: n · ε · the largest.
    positive : bool
        Whether the Gram matrix is positive semi-definite within the tolerance.
    rank : int
    condition : float
        Largest by smallest eigenvalue in magnitude, infinite if singular.
    diagonal : tuple of float
        Smallest and largest k(x, x).
    saturation : {"", "near 0", "near 1"}
        Whether nearly all similarities of different items are the same extreme.
    duplicates : list of tuple of int
        Pairs of items that the kernel cannot tell apart (the first few).
    words : list of str
        The same as sentences.
    """

    items: int
    verdict: str
    asymmetry: float
    eigenvalues: np.ndarray
    tolerance: float
    positive: bool
    rank: int
    condition: float
    diagonal: tuple[float, float]
    saturation: str
    duplicates: list[tuple[int, int]]
    words: list[str] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to worry about."""
        return self.positive and not self.saturation and not self.duplicates and not self.skewed

    @property
    def skewed(self) -> bool:
        """Whether the kernel depends on the order of its arguments."""
        return self.asymmetry > 1e-10 * max(abs(self.diagonal[0]), abs(self.diagonal[1]), 1e-300)

    def __str__(self) -> str:
        return "\n".join(self.words)


def check(k: Kernel | str, X: Items | Points) -> Checkup:
    """Examine a kernel on data: validity, rank, condition, saturation, duplicates, in words.

    Unresolved heuristics are resolved on `X` first. Of more than 3000 items an evenly spread
    3000 are looked at.

    Parameters
    ----------
    k : Kernel or name of a kernel
    X : sequence of things
        Items that it compares.

    Returns
    -------
    Checkup
        Findings as attributes, and in words when it is printed.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> print(check(Gaussian(0.001), [[0.0], [1.0], [2.0]]))
    Gaussian(bandwidth=0.001) on 3 items
    validity: proved; the smallest eigenvalue is 1, not negative (tolerance 6.7e-16)
    symmetry: to rounding
    rank: 3 of 3, condition 1
    diagonal: 1 everywhere
    saturation: similarities of different items are all near 0: the kernel learns by heart; ...
    """
    k = named(k)
    points = k.domain.admit(X)
    k = k.resolve(points)
    k.encode(points)
    if len(points) > MAX_CHECKED_ITEMS:
        points = points[np.linspace(0, len(points) - 1, MAX_CHECKED_ITEMS).astype(int)]
    if len(points) < 1:
        raise DomainError("there is nothing to check")
    K = np.asarray(fill(k, points, points, np.float64), dtype=np.float64)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    largest = float(np.abs(values).max())
    tolerance = len(K) * np.finfo(float).eps * largest
    smallest = float(np.abs(values).min())
    diagonal = np.diag(K)
    checkup = Checkup(
        items=len(K),
        verdict=k.proof().verdict,
        asymmetry=float(np.abs(K - K.T).max()),
        eigenvalues=values[:5],
        tolerance=tolerance,
        positive=bool(values[0] >= -tolerance),
        rank=int(np.sum(np.abs(values) > tolerance)),
        condition=largest / smallest if smallest > tolerance else float("inf"),
        diagonal=(float(diagonal.min()), float(diagonal.max())),
        saturation=_saturation(K),
        duplicates=_duplicates(K),
    )
    checkup.words.extend(_words(k, checkup))
    return checkup


def _saturation(K: np.ndarray) -> str:
    """Tell whether 99 % of the similarities, relative to the diagonal, are near 0 or near 1."""
    d = np.sqrt(np.maximum(np.diag(K), 0.0))
    if len(K) < 2 or not d.all():
        return ""
    cosines = (K / d[:, None] / d)[np.triu_indices(len(K), 1)]
    if np.mean(np.abs(cosines) < 1e-3) >= 0.99:
        return "near 0"
    return "near 1" if np.mean(cosines > 1 - 1e-3) >= 0.99 else ""


def _duplicates(K: np.ndarray, most: int = 10) -> list[tuple[int, int]]:
    """Return pairs with zero distance k(x, x) + k(z, z) − 2k(x, z)."""
    d = np.diag(K)
    squared = d[:, None] + d[None, :] - 2 * K
    same = squared <= 1e-13 * np.maximum(np.abs(d)[:, None], np.abs(d)[None, :])
    pairs = np.argwhere(np.triu(same, 1))[:most]
    return [(int(i), int(j)) for i, j in pairs]


def _words(k: Kernel, c: Checkup) -> list[str]:
    low, high = c.diagonal
    smallest = f"the smallest eigenvalue is {c.eigenvalues[0]:.3g}"
    sign = "not negative" if c.positive else "negative, so the kernel is not valid"
    condition = "singular" if np.isinf(c.condition) else f"condition {c.condition:.3g}"
    lines = [
        f"{k!r} on {c.items} items",
        f"validity: {c.verdict}; {smallest}, {sign} (tolerance {c.tolerance:.2g})",
        f"symmetry: off by {c.asymmetry:.3g}" if c.skewed else "symmetry: to rounding",
        f"rank: {c.rank} of {c.items}, {condition}",
        f"diagonal: {low:.4g} everywhere" if low == high else f"diagonal: {low:.4g} to {high:.4g}",
    ]
    if c.saturation == "near 0":
        lines.append(
            "saturation: similarities of different items are all near 0: the kernel learns by "
            "heart; try a larger bandwidth"
        )
    elif c.saturation == "near 1":
        lines.append(
            "saturation: all similarities are near 1: the kernel sees no differences; try a "
            "smaller bandwidth"
        )
    if c.duplicates:
        pairs = ", ".join(f"{i} and {j}" for i, j in c.duplicates[:3])
        lines.append(f"duplicates: the kernel cannot tell apart items {pairs}")
    return lines
