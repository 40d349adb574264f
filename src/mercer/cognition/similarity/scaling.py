"""Multidimensional scaling: a map on which similar stimuli lie close together.

Classical scaling (Torgerson, 1952) is the start: the largest eigenvectors of −½HD²H, the Gram
matrix of points at such distances. scikit-learn's SMACOF goes on from there, by the distances
themselves (metric) or by their order alone (non-metric; Kruskal, 1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from mercer.cognition.similarity.similarity_axioms import admit_square, first_true, name_items
from mercer.errors import DomainError, suggestion
from mercer.gram import Dense
from mercer.gram.centered import Centered
from mercer.solvers.eigenpairs import DenseEigensolver

__all__ = ["StimulusMap", "classical_scaling", "stimulus_map"]

KINDS = ("dissimilarities", "similarities")
# Kruskal's words (1964) for stress up to these values.
WORDS = ((0.025, "excellent"), (0.05, "good"), (0.1, "fair"), (np.inf, "poor"))


@dataclass(frozen=True)
class StimulusMap:
    """Stimuli as points; `plots.plot_map` draws it.

    Attributes
    ----------
    coordinates : ndarray of shape (n, dimensions)
        Around their mean, along the axes in which they differ most.
    labels : tuple
    stress : float
        Kruskal's stress-1: √(Σ(d − d̂)² / Σd²) over pairs.
    metric : bool
    distances : ndarray of shape (n, n)
        Of the points: d.
    disparities : ndarray of shape (n, n)
        What they should be: d̂, the dissimilarities (metric) or the best numbers in their order,
        equal ones staying equal.

    Examples
    --------
    >>> found = stimulus_map([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 1, labels=["p", "q", "r"])
    >>> found.coordinates.shape, round(found.stress, 6)
    ((3, 1), 0.0)
    """

    coordinates: np.ndarray
    labels: tuple
    stress: float
    metric: bool
    distances: np.ndarray = field(repr=False)
    disparities: np.ndarray = field(repr=False)

    @property
    def worst(self) -> Any:
        """The stimulus that fits worst."""
        return self.labels[
            int(np.argmax(np.sum((self.distances - self.disparities) ** 2, axis=1)))
        ]

    def __str__(self) -> str:
        n, dimensions = self.coordinates.shape
        word = next(word for bound, word in WORDS if self.stress <= bound)
        kind = "metric" if self.metric else "non-metric"
        space = "1 dimension" if dimensions == 1 else f"{dimensions} dimensions"
        width = max(len(str(label)) for label in self.labels)
        lines = [
            f"{n} stimuli in {space}, {kind}: stress {self.stress:.3f}, {word}; "
            f"{self.worst} fits worst"
        ]
        for label, point in zip(self.labels, self.coordinates, strict=True):
            lines.append(f"  {label!s:<{width}}" + "".join(f" {x:7.3f}" for x in point))
        return "\n".join(lines)


def stimulus_map(
    matrix: ArrayLike,
    dimensions: int = 2,
    *,
    metric: bool = True,
    kind: str = "dissimilarities",
    labels: Sequence[object] | None = None,
    starts: int = 8,
    random_state: int = 0,
) -> StimulusMap:
    """Place stimuli so that their distances are like their dissimilarities.

    Parameters
    ----------
    matrix : array of shape (n, n), or DataFrame with labels
        Symmetric. Its diagonal is not looked at if it holds similarities.
    dimensions : int
    metric : bool
        Whether the dissimilarities themselves count, or only their order.
    kind : {"dissimilarities", "similarities"}
        Similarities s become 1 − s, or (the largest) − s if some are above 1. Where Shepard's
        law should hold, give −log(s) as dissimilarities.
    labels : sequence, optional
    starts : int
        The first is classical scaling, the others are random; the least stress wins.
    random_state : int

    Returns
    -------
    StimulusMap
        Coordinates, with the stress that is left.

    Examples
    --------
    >>> towns = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]
    >>> print(stimulus_map(towns, labels=["a", "b", "c", "d"]))
    4 stimuli in 2 dimensions, metric: stress 0.000, excellent; ... fits worst
      a   2.000   1.500
      b   2.000  -1.500
      c  -2.000   1.500
      d  -2.000  -1.500
    """
    D, known = _dissimilarities(matrix, kind, labels)
    n = len(D)
    if not 1 <= int(dimensions) < n or dimensions != int(dimensions):
        raise DomainError(f"{n} stimuli lie in 1 to {n - 1} dimensions, found {dimensions!r}")
    rng = np.random.default_rng(random_state)
    first_try = classical_scaling(D, int(dimensions))
    spread = float(first_try.std()) or 1.0
    others = [rng.normal(0.0, spread, first_try.shape) for _ in range(1, starts)]
    tries = [_improve(D, start, metric, 1e-5) for start in (first_try, *others)]
    best = min(tries, key=lambda one: one[1])
    X, stress, disparities = _improve(D, best[0], metric, 1e-9)
    X = principal_axes(X)
    return StimulusMap(X, known, stress, metric, squareform(pdist(X)), squareform(disparities))


def classical_scaling(dissimilarities: ArrayLike, dimensions: int = 2) -> np.ndarray:
    """Return coordinates whose inner products are closest to those that distances imply.

    Exact where the dissimilarities are Euclidean distances of so few dimensions.

    Parameters
    ----------
    dissimilarities : array of shape (n, n)
    dimensions : int

    Returns
    -------
    ndarray of shape (n, dimensions)

    Examples
    --------
    >>> classical_scaling([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]], 1).round(3)
    array([[-1.333],
           [-0.333],
           [ 1.667]])
    """
    D, _ = _dissimilarities(dissimilarities, "dissimilarities", None)
    found = DenseEigensolver().solve(Centered(Dense(-0.5 * D**2)), dimensions)
    return found.vectors * np.sqrt(np.maximum(found.values, 0.0))


def principal_axes(X: np.ndarray) -> np.ndarray:
    """Return points turned around their mean so that they differ most along the first axis."""
    X = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(X, full_matrices=False)
    turned = X @ axes.T
    size = np.abs(turned)
    # The first of those that are as far out as any decides, so that rounding does not.
    far = (size > (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)
    return turned * np.where(turned[far, np.arange(turned.shape[1])] < 0, -1.0, 1.0)


def _improve(
    D: np.ndarray, start: np.ndarray, metric: bool, eps: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return points, stress-1 and disparities after SMACOF."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.manifold import smacof

    # A dissimilarity of 0 is a missing one for non-metric SMACOF; only the order matters there.
    shown = D if metric else D + (1.0 - np.eye(len(D))) * float(D.mean())
    X, _ = smacof(shown, metric=metric, init=start, n_init=1, n_components=start.shape[1],
                  max_iter=1000, eps=eps, normalized_stress=False)  # fmt: skip
    distances, wanted = pdist(X), squareform(D, checks=False)
    if not metric:
        wanted = IsotonicRegression().fit_transform(wanted, distances)
        wanted = wanted * (distances @ wanted) / (wanted @ wanted)
    size = float(distances @ distances)
    stress = float(np.sqrt(np.sum((distances - wanted) ** 2) / size)) if size else 1.0
    return X, stress, wanted


def _dissimilarities(
    matrix: ArrayLike, kind: str, labels: Sequence[object] | None
) -> tuple[np.ndarray, tuple]:
    """Return symmetric dissimilarities with zeros on the diagonal, and labels."""
    if kind not in KINDS:
        raise DomainError(f"kind cannot be {kind!r}{suggestion(kind, KINDS)}")
    M, known = admit_square(matrix, labels, kind)
    apart = np.abs(M - M.T) > 1e-8 * np.abs(M).max()
    if apart.any():
        i, j = first_true(apart)
        raise DomainError(
            f"{kind} must be symmetric, but those of {name_items((i, j), known)} are {M[i, j]:g} "
            f"and {M[j, i]:g}; average both directions, or fit MDSChoice to confusions"
        )
    M = (M + M.T) / 2
    if kind == "similarities":
        M = max(1.0, float(M.max())) - M
    elif np.diag(M).any():
        i = int(np.flatnonzero(np.diag(M))[0])
        raise DomainError(
            f"the dissimilarity of {known[i]} to itself must be 0, found {M[i, i]:g}; if these "
            "are similarities, say kind='similarities'"
        )
    M = M.copy()
    np.fill_diagonal(M, 0.0)
    if (M < 0).any():
        i, j = first_true(M < 0)
        raise DomainError(
            f"dissimilarities cannot be negative, found {M[i, j]:g} for "
            f"{name_items((i, j), known)}"
        )
    if not M.any():
        raise DomainError("all stimuli are alike, so there is no map")
    return M, known
