"""Approximations: fewer functions than items, for data too large for exact answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import ValidityError, suggestion
from mercer.values import Value, frozen, whole

__all__ = ["Nystrom", "Random"]

RULES = ("uniform", "pivoted", "k-means")
MAX_SHOWN_CENTERS = 10  # given centers that are shown


@frozen
class Nystrom(Value):
    """Functions Σ aⱼ k(·, zⱼ) of M centers, instead of one for each item.

    Parameters
    ----------
    centers : int or sequence of items
        How many, or the centers themselves.
    choose : {"uniform", "pivoted", "k-means"}
        Items at random; items by randomly pivoted Cholesky, which spreads them over what earlier
        ones have not seen; or means of clusters, for vectors. The last two look at a sample.
    seed : int

    Examples
    --------
    >>> Nystrom(500, "pivoted")
    Nystrom(centers=500, choose='pivoted', seed=0)
    """

    centers: Any = 1000
    choose: str = "uniform"
    seed: int = 0

    def __post_init__(self) -> None:
        if np.ndim(self.centers) == 0 and not hasattr(self.centers, "__len__"):
            self._normalize("centers", whole(self, "centers", self.centers))
        elif not len(self.centers):
            raise ValidityError("centers of Nystrom is empty; give at least one")
        if self.choose not in RULES:
            raise ValidityError(
                f"choose of Nystrom cannot be {self.choose!r}{suggestion(self.choose, RULES)}"
            )
        self._normalize("seed", whole(self, "seed", self.seed, least=0))

    def __repr__(self) -> str:
        if self.given and self.count > MAX_SHOWN_CENTERS:
            return f"Nystrom(centers=<{self.count} items>)"
        return super().__repr__()

    @property
    def given(self) -> bool:
        """Whether the centers themselves were given."""
        return not isinstance(self.centers, int)

    @property
    def count(self) -> int:
        """Number of centers."""
        return len(self.centers) if self.given else self.centers

    def describe(self, count: int | None = None) -> str:
        """Say in words what this is; fewer items than centers leave fewer."""
        how = {"uniform": "chosen at random", "pivoted": "chosen by pivots",
               "k-means": "that are means"}[self.choose]  # fmt: skip
        count = self.count if count is None else count
        return f"Nyström with {count} centers {'that were given' if self.given else how}"


@frozen
class Random(Value):
    """Random cosines and sines, for kernels that depend on the difference x − z.

    Parameters
    ----------
    features : int
        How many, an even number.
    seed : int

    Examples
    --------
    >>> Random(2000)
    Random(features=2000, seed=0)
    """

    features: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        count = whole(self, "features", self.features, least=2)
        if count % 2:
            raise ValidityError(f"features of Random must be an even number, found {count}")
        self._normalize("features", count)
        self._normalize("seed", whole(self, "seed", self.seed, least=0))

    @property
    def count(self) -> int:
        """Number of features."""
        return self.features

    def describe(self, count: int | None = None) -> str:
        """Say in words what this is."""
        return f"{self.features} random features"
