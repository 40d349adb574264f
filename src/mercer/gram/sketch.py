"""Sketches: few functions instead of one for each item.

A sketch is an n × M matrix C, one row for each item, and a core B (M × M). It stands for the
functions f(x) = C(x)ᵀa, whose norm is |f|² = aᵀBa:

- for centers z₁, …, z_M, C(x) = (k(x, z₁), …, k(x, z_M)) and B = k(Z, Z), so that f is
  Σ aⱼ k(·, zⱼ) (Nyström; Williams & Seeger, 2001);
- for random features φ, C = φ(X) and B = I (Rahimi & Recht, 2007).

C is never stored. Each question to a sketch is one pass over the items, in stripes of rows that
are used up where they are made; what is added up is added in an order that does not depend on the
number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.domains import Points, Rows
from mercer.engine.tiles import diagonal, fill, prepare_points, spans
from mercer.gram.fold import Fold
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.lapack import add_inner
from mercer.threads import in_threads, one_blas_thread

__all__ = ["CenterSketch", "FeatureSketch", "Sketch", "whiten"]

MOMENT_ROWS = 1024  # that are multiplied with themselves at a time
STRIPE_ENTRIES = 2**18  # of a stripe that is multiplied with few vectors, and stays in the cache
MIN_STRIPE_ROWS = 256  # below which the calls would cost more than the work
SUM_GROUPS = 16  # sums of vectors that are kept apart while several threads add to them


def moment_sums(count: int) -> int:
    """Return how many sums of M × M are kept apart while several threads add to them."""
    return max(min(8, 2**25 // count**2), 2)


class Sketch:
    """An n × M matrix that is computed again at each pass. A subclass gives `fill` and `core`.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.kernels import Linear
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0], [3.0]]), size=2)
    >>> sketch = CenterSketch(Linear(), rows, VECTORS.admit([[2.0]]))
    >>> sketch.product(np.array([[1.0]])).ravel(), sketch.moments()
    (array([2., 4., 6.]), array([[56.]]))
    """

    count: int
    uniform = False  # whether centers are a random sample of the items

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.passes = 0
        self._own = threading.local()

    @property
    def order(self) -> int:
        """Number of items."""
        return self.rows.count

    def fill(self, points: Points, out: np.ndarray) -> None:
        """Write the rows of some items."""
        raise NotImplementedError

    def core(self) -> np.ndarray:
        """Return B."""
        raise NotImplementedError

    def product(self, A: np.ndarray) -> np.ndarray:
        """Return C @ A."""
        result = np.empty((self.order, A.shape[1]))

        def use(place: slice, C: np.ndarray, group: int) -> None:
            np.matmul(C, A, out=result[place])

        self._pass(use, self._low)
        return result

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return Cᵀ @ V."""

        def use(place: slice, C: np.ndarray, sums: list[np.ndarray]) -> None:
            sums[0] += C.T @ V[place]

        return self._added([(self.count, V.shape[1])], use, self._low, SUM_GROUPS)[0]

    def normal(self, A: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return CᵀW(CA), with weights of the items, or of items and columns."""
        W = weights[:, None] if weights is not None and weights.ndim == 1 else weights

        def use(place: slice, C: np.ndarray, sums: list[np.ndarray]) -> None:
            values = C @ A
            if W is not None:
                values *= W[place]
            sums[0] += C.T @ values

        return self._added([(self.count, A.shape[1])], use, self._low, SUM_GROUPS)[0]

    def moments(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return CᵀWC."""
        return self.moments_and_adjoint(np.empty((self.order, 0)), weights)[0]

    def moments_and_adjoint(
        self, V: np.ndarray, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return CᵀWC and CᵀV, in one pass."""
        low, sums = self.lower_moments(V, weights)
        low = np.tril(low)
        return low + np.tril(low, -1).T, sums

    def lower_moments(self, V: np.ndarray, weights: np.ndarray | None = None) -> list[np.ndarray]:
        """Return CᵀWC, of which only the lower triangle counts, and CᵀV."""
        M = self.count
        roots = None if weights is None else np.sqrt(weights)

        def use(place: slice, C: np.ndarray, sums: list[np.ndarray]) -> None:
            sums[1] += C.T @ V[place]
            if roots is not None:
                C *= roots[place, None]
            add_inner(sums[0], C)

        return self._added([(M, M), (M, V.shape[1])], use, MOMENT_ROWS, moment_sums(M))

    def sampled(self, places: np.ndarray) -> np.ndarray:
        """Return the rows of some items; `places` ascend."""
        found = np.empty((len(places), self.count))
        for place, points in self.rows.pieces():
            a, b = np.searchsorted(places, [place.start, place.stop])
            if b > a:
                self.fill(points[places[a:b] - place.start], found[a:b])
        return found

    def diagonal_sum(self, kernel: Kernel) -> float:
        """Return Σ k(xᵢ, xᵢ) over all items."""
        return sum(float(np.sum(diagonal(kernel, part))) for _, part in self.rows.pieces())

    # ---- what solvers ask for -------------------------------------------------------------------

    def whitening(self) -> Any:
        """Return coordinates in which the core is the identity: a `Whitening`, or the like."""
        return Whitening(self.core())

    def whitened_moments(self, white: Whitening, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return TᵀCᵀCT and TᵀCᵀV, in one pass.

        The sums are those of CT. They are accurate where Tᵀ(CᵀC)T, with its magnified rounding
        errors, is not.
        """
        return whiten(self, white).moments_and_adjoint(V)

    def preconditioner(self, white: Whitening, penalty: float) -> Callable[..., np.ndarray] | None:
        """Return what nearly solves (TᵀCᵀCT + λI)β = g; None leaves that to the solver."""
        return None

    @property
    def _low(self) -> int:
        """Rows of a stripe that stays in the cache."""
        return max(STRIPE_ENTRIES // self.count, MIN_STRIPE_ROWS)

    def _added(
        self,
        shapes: list[tuple[int, int]],
        use: Callable[[slice, np.ndarray, list[np.ndarray]], None],
        height: int,
        groups: int,
    ) -> list[np.ndarray]:
        """Go through all items once and return what `use` has added to arrays of some shapes.

        Rows in memory are added up in one go. Of chunks each has its own sums.
        """
        self.passes += 1
        sums = [np.zeros((groups, *shape)) for shape in shapes]

        def some(place: slice, C: np.ndarray, group: int) -> None:
            use(place, C, [one[group] for one in sums])

        if not self.rows.chunked:
            for place, points in self.rows.pieces():
                self._stripes(place, points, some, height, groups)
            return _joined(sums)
        fold = Fold()
        with one_blas_thread:  # whose number must not show in the sums
            for place, points in self.rows.pieces():
                self._stripes(place, points, some, height, groups)
                fold.add([one.copy() for one in _joined(sums)])
                for one in sums:
                    one[...] = 0.0
        return fold.total()

    def _pass(self, use: Callable[[slice, np.ndarray, int], None], height: int) -> None:
        """Go through all items once."""
        self.passes += 1
        for place, points in self.rows.pieces():
            self._stripes(place, points, use, height, SUM_GROUPS)

    def _stripes(
        self,
        place: slice,
        points: Points,
        use: Callable[[slice, np.ndarray, int], None],
        height: int,
        groups: int,
    ) -> None:
        """Go through some items, each group of stripes in its own order."""
        stripes = spans(len(points), height)

        def group(number: int) -> None:
            for some in stripes[number::groups]:
                C = self._buffer(height)[: some.stop - some.start]
                self.fill(points[some], C)
                use(slice(place.start + some.start, place.start + some.stop), C, number)

        in_threads(group, range(min(groups, len(stripes))), self._threads)

    _threads = True

    def _buffer(self, height: int, name: str = "stripe") -> np.ndarray:
        """Return memory for rows, one for each thread."""
        own: dict[str, Any] = self._own.__dict__
        if name not in own or len(own[name]) < height:
            own[name] = np.empty((height, self.count))
        return own[name]


def _joined(sums: list[np.ndarray]) -> list[np.ndarray]:
    """Return what all groups have added up; it stays where the first one is."""
    for groups in sums:
        for other in groups[1:]:
            groups[0] += other
    return [groups[0] for groups in sums]


class CenterSketch(Sketch):
    """Similarities to centers.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    rows : Rows
    centers : Points
    uniform : bool
        Whether they are a random sample of the items.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.kernels import Linear
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0]]), size=2)
    >>> CenterSketch(Linear(), rows, VECTORS.admit([[3.0]])).adjoint(np.ones((2, 1)))
    array([[9.]])
    """

    def __init__(self, kernel: Kernel, rows: Rows, centers: Points, uniform: bool = False) -> None:
        super().__init__(rows)
        self.kernel = kernel
        self.uniform = uniform
        self.centers = prepare_points(kernel, centers)
        self.count = len(centers)
        self._threads = bool(kernel.threads)

    def fill(self, points: Points, out: np.ndarray) -> None:
        fill(self.kernel, points, self.centers, out=out)

    def core(self) -> np.ndarray:
        return np.asarray(fill(self.kernel, self.centers, dtype=np.float64))


def whiten(sketch: Sketch, white: Whitening) -> FeatureSketch:
    """Return the same functions in coordinates in which the core is the identity.

    Sums of their products are accurate where TᵀCᵀCT, with its magnified rounding errors, is not.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.gram.whitening import Whitening
    >>> from mercer.kernels import Linear
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0]]), size=2)
    >>> sketch = CenterSketch(Linear(), rows, VECTORS.admit([[3.0]]))
    >>> whiten(sketch, Whitening(sketch.core())).moments().round(12)
    array([[5.]])
    """
    T = white.matrix

    def features(points: Points) -> np.ndarray:
        C = sketch._buffer(max(MOMENT_ROWS, len(points)), "raw")[: len(points)]
        sketch.fill(points, C)
        return C @ T

    found = FeatureSketch(features, sketch.rows, white.rank)
    found._threads = sketch._threads
    return found


class FeatureSketch(Sketch):
    """Explicit features, exact or random ones.

    Parameters
    ----------
    features : callable
        From points to an array of `count` columns.
    rows : Rows
    count : int

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0]]), size=2)
    >>> FeatureSketch(lambda points: points.array**2, rows, 1).product(np.ones((1, 1))).ravel()
    array([1., 4.])
    """

    def __init__(self, features: Callable[[Points], Any], rows: Rows, count: int) -> None:
        super().__init__(rows)
        self.features = features
        self.count = count

    def fill(self, points: Points, out: np.ndarray) -> None:
        out[...] = self.features(points)

    def core(self) -> np.ndarray:
        return np.eye(self.count)
