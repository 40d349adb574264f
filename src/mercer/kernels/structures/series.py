"""Kernels on time series: similar if they can be aligned well."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import SERIES, Domain, Points, Series, Vectors
from mercer.engine.block import Block
from mercer.engine.distances import squared_distances
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.proof import Proof, proved, refute
from mercer.kernels.vectors.bandwidths import resolved
from mercer.kernels.vectors.stationary import Gaussian
from mercer.values import positive, whole

__all__ = ["GlobalAlignment"]

LOCAL = ("divisible", "gaussian")
# In units of the bandwidth. Found by a search: their Gram matrix under local="gaussian" has a
# negative eigenvalue.
COUNTEREXAMPLE = ((-0.77,), (-0.3,), (0.3,), (0.77,), (0.46, -0.67), (0.67, -0.46))


@kernel
class GlobalAlignment(Kernel):
    """How well two time series can be aligned, summed over all alignments (Cuturi, 2007, 2011).

    An alignment walks through both series to their ends, each time to the next step of one or of
    both. Its value is the product of the local similarities κ of all pairs of steps that it
    passes, and k(x, z) is the sum over all alignments. Series may have different lengths, in
    steps, but must have the same channels.

    With g = exp(−d²/2σ²) for two steps at a distance d, the local similarity is κ = g/(2 − g), so
    that κ/(1 + κ) = g/2 is positive definite. This is the condition under which the sum is a valid
    kernel. A plain κ = g does not meet it, and is refuted.

    The sums of long series are far beyond floating-point numbers, so they are computed as
    logarithms and normalized, k(x, z)/√(k(x, x)·k(z, z)), which is right for thousands of steps. A
    pair takes time proportional to the product of the lengths and memory to one of them.

    Parameters
    ----------
    bandwidth : float or "median"
        σ. "median" is the median distance between two steps, of any of the series, times the
        square root of the median length, as Cuturi advises; multiples of it are worth trying.
    triangular : int, optional
        Steps at times i and j count with the weight 1 − |i − j|/triangular, none beyond: g is
        multiplied by it. Alignments then stay near the diagonal, which is also faster. Series
        whose lengths differ by as much or more have the similarity 0.
    normalized : bool
        False gives the sum itself, which overflows for series of a few hundred steps.
    local : {"divisible", "gaussian"}
        κ = g/(2 − g), or κ = g.

    Examples
    --------
    >>> k = GlobalAlignment(bandwidth=1.0)
    >>> k([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]).round(3)
    array([[1.   , 0.747, 0.202],
           [0.747, 1.   , 0.302],
           [0.202, 0.302, 1.   ]])
    """

    bandwidth: float | str = "median"
    triangular: int | None = None
    normalized: bool = True
    local: str = "divisible"
    domain: ClassVar[Domain] = SERIES
    threads: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    heuristic: ClassVar[tuple[str, ...]] = ("bandwidth",)
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.bandwidth != "median":
            self._normalize("bandwidth", positive(self, "bandwidth", self.bandwidth))
        if self.triangular is not None:
            self._normalize("triangular", whole(self, "triangular", self.triangular))
        if not isinstance(self.normalized, bool | np.bool_):
            raise ValidityError(
                f"normalized of GlobalAlignment is True or False, found {self.normalized!r}"
            )
        self._normalize("normalized", bool(self.normalized))
        if self.local not in LOCAL:
            hint = suggestion(self.local, LOCAL)
            raise ValidityError(f"local of GlobalAlignment cannot be {self.local!r}{hint}")

    def pair(self, x: Any, z: Any) -> float:
        x, z = (SERIES.admit([series]).steps for series in (x, z))
        log = self._log_sum(x, z)
        if self.normalized:
            log -= (self._log_sum(x, x) + self._log_sum(z, z)) / 2
        return math.exp(log) if log < 709 else math.inf

    def _log_sum(self, x: np.ndarray, z: np.ndarray) -> float:
        """Return the logarithm of the sum over all alignments, by its recursion in logarithms."""
        M: dict[tuple[int, int], float] = {(-1, -1): 0.0}
        for i in range(len(x)):
            for j in range(len(z)):
                before = [
                    M[place] for place in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if place in M
                ]
                M[i, j] = self._log_local(x[i], z[j], abs(i - j)) + _log_add(before)
        return M[len(x) - 1, len(z) - 1]

    def _log_local(self, a: np.ndarray, b: np.ndarray, apart: int) -> float:
        """Return ln κ of two steps."""
        scaled = math.dist(a, b) / float(self.bandwidth)
        phi = scaled * scaled / 2
        if self.triangular is not None:
            weight = 1 - apart / self.triangular
            phi = phi - math.log(weight) if weight > 0 else math.inf
        return -phi - (math.log(2 - math.exp(-phi)) if self.local == "divisible" else 0.0)

    def evaluate(self, block: Block) -> np.ndarray:
        K = self.logarithms(block)
        return np.exp(K, out=K)

    def evaluate_diagonal(self, points: Series) -> np.ndarray:
        return np.exp(self.log_diagonal(points))

    def logarithms(self, block: Block) -> np.ndarray:
        from mercer.kernels.structures.alignment_loops import logarithms

        left, right = block.left, block.right
        if left.channels != right.channels:
            raise DomainError(
                f"series with {left.channels} and with {right.channels} channels cannot be "
                "aligned; they must have the same number"
            )
        K = block.empty()
        sides = left.steps, left.starts, right.steps, right.starts
        logarithms(*sides, *self._local(), block.symmetric, K)
        if self.normalized:
            K -= self._own(left)[:, None] / 2
            K -= self._own(right)[None, :] / 2
        return K

    def log_diagonal(self, points: Series) -> np.ndarray:
        return np.zeros(len(points)) if self.normalized else self._own(points)

    def encode(self, points: Series) -> None:
        self._own(points)

    def _own(self, points: Points) -> np.ndarray:
        """Return the logarithm of the sum over all alignments of each series with itself."""
        key = ("own alignments", self.bandwidth, self.triangular, self.local)
        return points.view(key, self._align_own).array[:, 0]  # type: ignore[attr-defined]

    def _align_own(self, points: Series) -> Vectors:
        from mercer.kernels.structures.alignment_loops import own_logarithms

        logs = np.empty(len(points))
        own_logarithms(points.steps, points.starts, *self._local(), logs)
        return Vectors(logs[:, None])

    def _local(self) -> tuple[float, np.ndarray, bool]:
        """Return what the loops need to know about the local similarity."""
        inverse = min(1 / (math.sqrt(2) * float(self.bandwidth)), 1e300)
        reach = self.triangular or 0
        weights = 1 - np.arange(reach) / max(reach, 1)
        return inverse, weights, self.local == "divisible"

    def resolve_heuristics(self, points: Series, weights: np.ndarray | None) -> Self:
        if not isinstance(self.bandwidth, str):
            return self
        lengths = points.lengths
        each = None if weights is None else np.repeat(weights, lengths)
        distance = resolved("median", Vectors(points.steps), each, _distances)
        length = _median(lengths, weights)
        return self.set_params(bandwidth=distance * math.sqrt(length))

    def prove(self) -> Proof:
        step = Gaussian(self.bandwidth).proof()
        sums = "it is a sum over alignments of products of local similarities κ"
        g, where = "g", "g is"
        if self.triangular is not None:
            g, where = "ωg", "ω is the triangular kernel of times (6.18), and g is"
        if self.local == "divisible":
            rule = (
                f"{sums} with κ/(1 + κ) = {g}/2, so that κ is geometrically divisible (Cuturi, "
                f"2007, 2011), where {where}"
            )
            return proved(self, rule, step)
        reason = (
            f"{sums} = {g}, and κ/(1 + κ) is not positive definite (Cuturi, 2007), where {where}"
        )
        return refute(self, reason, self._candidates(), (step,))

    def _candidates(self) -> list[np.ndarray]:
        if isinstance(self.bandwidth, str):
            return []
        points = np.empty(len(COUNTEREXAMPLE), dtype=object)
        for i, series in enumerate(COUNTEREXAMPLE):
            points[i] = tuple(step * self.bandwidth for step in series)
        return [points]


def _log_add(logs: list[float]) -> float:
    """Return the logarithm of a sum of numbers given by their logarithms."""
    largest = max(logs)
    if largest == -math.inf:
        return largest
    return largest + math.log(sum(math.exp(log - largest) for log in logs))


def _distances(block: Block) -> np.ndarray:
    return np.sqrt(squared_distances(block))


def _median(lengths: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the median, where a weight counts like repetitions."""
    if weights is None:
        return float(np.median(lengths))
    middle = np.quantile(
        lengths, [0.5 - 1e-12, 0.5 + 1e-12], method="inverted_cdf", weights=weights
    )
    return float(np.mean(middle))
