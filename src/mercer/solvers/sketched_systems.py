"""One step of Newton's method on a sketch: a system that is solved as far as is worthwhile.

In whitened coordinates f = C(·)ᵀTβ + b has features Φ = [CT, 1] and the coordinates x = (β, b),
and a step solves

    A δ = −g,    A = ΦᵀHΦ + Λ,    Λ = diag(λ, …, λ, 0),

with the curvature H of the loss. Where H is a number for each item and column, the columns are
systems of their own and Aδ takes one pass over the items; where it mixes the classes of an item
it takes two. Conjugate gradients stop as soon as the residual is small enough (Dembo, Eisenstat &
Steihaug, 1982).

The preconditioner is P = ΦₛᵀHₛΦₛ + Λ on a sample of rows, drawn in proportion to their curvature,
so that items which hardly count take no places, and divided by their chances. Where few centers
make it cheap, ΦᵀHΦ itself is taken.

For the softmax Hᵢ = wᵢ(diag(pᵢ) − pᵢpᵢᵀ). The same change of all classes alters no probability,
so that g and δ have none of it; a projection Q, away from the mean over the classes, sees to that.
P is one matrix for all classes, unless that would be too large. Then, because the pseudo-inverse
of Hᵢ is Q diag(wᵢpᵢ)⁻¹ Q, there is one for each class, with H replaced by diag(wᵢpᵢ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from mercer.errors import SolveError
from mercer.gram.sketch import Sketch
from mercer.gram.whitening import Whitening
from mercer.lapack import EPS

__all__ = [
    "FactoredInverse",
    "Preconditioner",
    "RowSample",
    "SketchFeatures",
    "factor",
    "joined",
    "moments_pay",
]


class SketchFeatures:
    """Φ = [CT, 1] of a sketch, or CT without an intercept, with its passes counted.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.gram.sketch import FeatureSketch
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0]]), size=2)
    >>> sketch = FeatureSketch(lambda points: points.array, rows, 1)
    >>> SketchFeatures(sketch, Whitening(sketch.core()), intercept=True).scores(
    ...     np.ones((2, 1))
    ... ).ravel()
    array([2., 3.])
    """

    def __init__(self, sketch: Sketch, white: Whitening, intercept: bool) -> None:
        self.sketch, self.white, self.intercept = sketch, white, intercept
        self.rank = white.rank
        self.count = white.rank + intercept
        self.passes = 0

    def ridge(self, penalty: float) -> np.ndarray:
        """Return the diagonal of Λ as a column."""
        ridge = np.full((self.count, 1), penalty)
        ridge[self.rank :] = 0.0
        return ridge

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Return Φx."""
        self.passes += 1
        F = self.sketch.product(self.white.into(x[: self.rank]))
        return F + x[self.rank] if self.intercept else F

    def pull(self, V: np.ndarray) -> np.ndarray:
        """Return ΦᵀV."""
        self.passes += 1
        top = self.white.back(self.sketch.adjoint(V))
        return np.vstack([top, V.sum(axis=0)]) if self.intercept else top

    def normal(self, x: np.ndarray, W: np.ndarray, sums: np.ndarray | None) -> np.ndarray:
        """Return ΦᵀWΦx for each column and its weights, with `sums` = ΦᵀW."""
        self.passes += 1
        top = self.white.back(self.sketch.normal(self.white.into(x[: self.rank]), W))
        if not self.intercept:
            return top
        assert sums is not None
        top += sums[:-1] * x[-1]
        return np.vstack([top, np.sum(sums * x, axis=0)])

    def moments(self, w: np.ndarray, sums: np.ndarray | None = None) -> np.ndarray:
        """Return ΦᵀWΦ for one column of weights; `sums` = Φᵀw takes a pass if it is not known."""
        if self.intercept and sums is None:
            sums = self.pull(w[:, None])[:, 0]
        self.passes += 1
        G = np.empty((self.count, self.count))
        G[: self.rank, : self.rank] = self.white.around(self.sketch.moments(w))
        if self.intercept:
            G[-1] = G[:, -1] = sums
        return G

    def rows(self, places: np.ndarray) -> np.ndarray:
        """Return some rows of Φ."""
        found = self.white.back(self.sketch.sampled(places).T).T
        return np.column_stack([found, np.ones(len(places))]) if self.intercept else found


class RowSample:
    """Rows of Φ that stand for all; they are drawn again when others have come to count.

    Parameters
    ----------
    features : SketchFeatures
    count : int
        Number of draws; from as many as there are items on, every item is taken once.
    seed : int
    """

    def __init__(self, features: SketchFeatures, count: int, seed: int) -> None:
        self.features, self.count = features, count
        self.complete = count >= features.sketch.order
        self.random = np.random.default_rng(seed)
        self.first: np.ndarray | None = None
        self.last: np.ndarray | None = None
        self.rows = np.empty((0, features.count))

    def renew(self, D: np.ndarray) -> None:
        """Make sure that the rows suit these curvatures, of shape (n, columns)."""
        if not self.complete:
            self._draw(_chances(D))
        elif not len(self.rows):
            self.places = np.arange(self.features.sketch.order)
            self.share = np.ones(len(self.places))
            self.rows = self.features.rows(self.places)

    def moments(self, w: np.ndarray) -> np.ndarray:
        """Return about ΦᵀWΦ."""
        scaled = np.sqrt(self.share * w[self.places])[:, None] * self.rows
        return np.asarray(scaled.T @ scaled)

    def _draw(self, chances: np.ndarray) -> None:
        if self.first is None:
            self.first = chances
        # Others are drawn once the total variation of the rows' chances is more than a half.
        if self.last is not None and np.abs(chances - self.last).sum() / 2 <= 0.5:
            return
        # Half of the chances remain what they were at f = 0, where every item counts by its
        # weight; so no row that is drawn stands for more than twice as much as it does there.
        mixed = (self.first + chances) / 2
        drawn = self.random.choice(len(mixed), self.count, p=mixed / mixed.sum())
        self.places, times = np.unique(drawn, return_counts=True)
        self.share = times / (self.count * mixed[self.places])
        self.rows, self.last = self.features.rows(self.places), chances


def _chances(D: np.ndarray) -> np.ndarray:
    """Return the mean over the columns of each row's share of the curvature."""
    totals = D.sum(axis=0)
    shares = D[:, totals > 0] / totals[totals > 0]
    if not shares.shape[1]:
        return np.full(len(D), 1 / len(D))
    return np.asarray(shares.mean(axis=1))


def moments_pay(centers: int, columns: int, mixed: bool, steps: float) -> bool:
    """Tell whether all matrices CᵀWC cost less than so many steps of conjugate gradients.

    An entry of C takes about 30 operations each time. A product with it and its transpose takes 4
    more for each column, in one pass, or in two for classes that are mixed. A matrix takes M more,
    in a pass of its own, but four of those take as long as one of the others, as measured for 300
    and 1000 centers; there is one for each column, or for each pair of classes.

    Examples
    --------
    >>> moments_pay(200, 1, False, 8), moments_pay(1000, 1, False, 8)
    (True, False)
    """
    evaluation = 30
    matrices = columns * (columns - 1) // 2 if mixed else columns
    step = 4 * columns + evaluation * (2 if mixed else 1)
    return matrices * (evaluation + centers / 4) < steps * step


def joined(
    moments: Callable[[np.ndarray], np.ndarray], P: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Return ΦᵀHΦ of the softmax for all classes at once, from ΦᵀWΦ for weights of the items.

    H has −w p_c p_d beside the diagonal, and its rows sum to zero.

    Examples
    --------
    >>> P = np.array([[0.5, 0.5]])
    >>> joined(lambda w: np.array([[w.sum()]]), P, np.ones(1))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    classes = P.shape[1]
    blocks: list[list[Any]] = [[0.0] * classes for _ in range(classes)]
    for c in range(classes):
        for d in range(c):
            G = moments(w * P[:, c] * P[:, d])
            blocks[c][d] = blocks[d][c] = -G
            blocks[c][c] = blocks[c][c] + G
            blocks[d][d] = blocks[d][d] + G
    return np.block(blocks)


def factor(G: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Return the upper Cholesky factor of G + Λ, to be used as a preconditioner.

    Rounding may have left G with negative eigenvalues beyond a small λ; then a little more is
    added to the diagonal, which costs steps but not accuracy.

    Examples
    --------
    >>> factor(np.array([[3.0]]), np.array([[1.0]]))
    array([[2.]])
    """
    size = float(np.trace(G)) / len(G)
    if not np.isfinite(G).all():
        raise SolveError(
            "the preconditioner is not finite: similarities or sample weights are too large; "
            "scale them down"
        )
    jitter = EPS * size
    for _ in range(8):  # each time with a hundred times more
        A = np.array(G, order="F")
        # Where nothing counts, G is zero and so is every gradient: any number serves.
        A[np.diag_indices(len(A))] += ridge[:, 0] + jitter + (size == 0)
        U, info = lapack.dpotrf(A, lower=0, overwrite_a=1, clean=1)
        if info == 0:
            return U
        jitter *= 100
    raise SolveError(
        f"the preconditioner of {len(G)} rows could not be factored, even with {jitter / 100:.1e} "
        "added to its diagonal; use a larger penalty, fewer centers, or a valid kernel"
    )


class FactoredInverse:
    """V ↦ P⁻¹V by Cholesky factors: of each column, shared by all, or of the whole.

    Parameters
    ----------
    factors : list of ndarray
        Upper ones.
    mixed : bool
        Whether to project away what all columns have in common.
    whole : bool
        Whether the only factor is that of all columns, one below the other.

    Examples
    --------
    >>> FactoredInverse([np.array([[2.0]])], mixed=False)(np.array([[4.0, 8.0]]), np.arange(2))
    array([[1., 2.]])
    """

    def __init__(self, factors: list[np.ndarray], mixed: bool, whole: bool = False) -> None:
        self.factors, self.mixed, self.whole = factors, mixed, whole

    def __call__(self, V: np.ndarray, live: np.ndarray) -> np.ndarray:
        if self.mixed:
            V = V - V.mean(axis=1, keepdims=True)
        if self.whole:
            Z = lapack.dpotrs(self.factors[0], V.T.reshape(-1), lower=0)[0]
            Z = Z.reshape(V.shape[1], -1).T
        elif len(self.factors) == 1:
            Z = lapack.dpotrs(self.factors[0], V, lower=0)[0]
        else:
            pairs = zip(live, V.T, strict=True)
            Z = np.column_stack([lapack.dpotrs(self.factors[j], v, lower=0)[0] for j, v in pairs])
        return Z - Z.mean(axis=1, keepdims=True) if self.mixed else Z


class Preconditioner:
    """Makes the preconditioners of the systems of a descent, and learns what they are worth.

    Parameters
    ----------
    features : SketchFeatures
    sample : RowSample
    ridge : ndarray
        The diagonal of Λ as a column.
    room : float
        Bytes for the factors. Where there is not one for each column, they share one.
    """

    def __init__(
        self, features: SketchFeatures, sample: RowSample, ridge: np.ndarray, room: float
    ) -> None:
        self.features, self.sample, self.ridge, self.room = features, sample, ridge, room
        self.expected = 8.0  # steps of conjugate gradients, before any were seen
        self.sampled = True  # what the last one was made of

    def learn(self, steps: int) -> None:
        """Remember how many steps of conjugate gradients the last one has left to take."""
        if self.sampled:
            self.expected = steps

    def inverse(
        self, near: Any, sums: np.ndarray | None, columns: np.ndarray, mixed: bool
    ) -> FactoredInverse:
        """Return the inverse for these columns, of a loss that may mix them."""
        features, count = self.features, len(columns)
        each = 8.0 * features.count**2 * count <= self.room
        whole = mixed and features.count * count <= 3000  # rows of one matrix for all classes
        whole = whole and each and 8.0 * (features.count * count) ** 2 <= self.room
        D = near.classes() if mixed else near.curvature[:, columns]
        if not each:
            D = near.scale()[:, None]
        pay = moments_pay(features.sketch.count, count, mixed, self.expected)
        exact = pay and not self.sample.complete and (whole if mixed else each)
        self.sampled = not exact
        if self.sampled:
            self.sample.renew(D)
        moments = features.moments if exact else self.sample.moments
        if whole:
            G = joined(moments, near.probabilities, near.weights)
            if features.intercept:  # the same for all classes, where Q never leads
                last = np.arange(features.count - 1, len(G), features.count)
                G[np.ix_(last, last)] += G[last, last].mean() / count
            return FactoredInverse([factor(G, np.tile(self.ridge, (count, 1)))], True, whole=True)
        if exact and sums is not None:
            pairs = zip(D.T, sums[:, columns].T, strict=True)
            found = [features.moments(w, s) for w, s in pairs]
        else:
            found = [moments(w) for w in D.T]
        return FactoredInverse([factor(G, self.ridge) for G in found], mixed)
