"""Kernels on time series: similar if they can be aligned well."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np

from mercer.compiled import compiled
from mercer.domains import SERIES, Domain, Points, Series, Vectors
from mercer.engine.block import Block
from mercer.engine.distances import squared_distances
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.extended_range import LOG_UNIT, NOTHING, lowered, rescaled
from mercer.kernels.proof import Proof, proved, refute
from mercer.kernels.vectors.bandwidths import resolve_bandwidth
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

    def pair(self, x: object, z: object) -> float:
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

    def logarithms(self, block: Block) -> np.ndarray:
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
        distance = resolve_bandwidth("median", Vectors(points.steps), each, _distances)
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


@compiled
def logarithms(X, x_starts, Z, z_starts, inverse, weights, divisible, symmetric, out):
    """Write ln k of all pairs into `out`, or only those on and above the diagonal.

    Parameters
    ----------
    X, Z : array of shape (steps, channels)
        All series of each side, one after the other.
    x_starts, z_starts : array of int
        Where each of them begins, and where the last one ends.
    inverse : float
        1/(√2·σ).
    weights : array
        The weight of two steps at a distance of 0, 1, … in time, zero beyond; none: always 1.
    divisible : bool
        Whether the local similarity is g/(2 − g) instead of g.
    """
    longest = 0
    for j in range(len(z_starts) - 1):
        longest = max(longest, z_starts[j + 1] - z_starts[j])
    room = _room(longest)
    for i in range(len(x_starts) - 1):
        x = X[x_starts[i] : x_starts[i + 1]]
        for j in range(i if symmetric else 0, len(z_starts) - 1):
            z = Z[z_starts[j] : z_starts[j + 1]]
            out[i, j] = _aligned(x, z, inverse, weights, divisible, room)
            if symmetric:
                out[j, i] = out[i, j]


@compiled
def own_logarithms(X, starts, inverse, weights, divisible, out):
    """Write ln k(x, x) of each series into `out`."""
    for i in range(len(starts) - 1):
        x = X[starts[i] : starts[i + 1]]
        out[i] = _aligned(x, x, inverse, weights, divisible, _room(len(x)))


@compiled
def _room(longest):
    """Return memory for three rows of numbers with exponents."""
    return np.empty((3, longest + 2)), np.empty((3, longest + 2), np.int64)


@compiled
def _aligned(x, z, inverse, weights, divisible, room):
    """Return the logarithm of the sum over all alignments of two series, row by row."""
    n, m, band = len(x), len(z), len(weights)
    if band and abs(n - m) >= band:
        return -np.inf
    above, row, local = room[0][0], room[0][1], room[0][2]
    above_e, row_e, local_e = room[1][0], room[1][1], room[1][2]
    above[: m + 2], above_e[: m + 2] = 0.0, NOTHING
    row[: m + 2], row_e[: m + 2] = 0.0, NOTHING
    above[0], above_e[0] = 1.0, 0
    for i in range(n):
        first, last = 0, m
        if band:
            first, last = max(i - band + 1, 0), min(i + band, m)
        _similarities(x[i], z, i, first, last, inverse, weights, divisible, local, local_e)
        row[first], row_e[first] = 0.0, NOTHING  # what is left of the band
        _extend(above, above_e, row, row_e, local, local_e, first, last)
        row[last + 1], row_e[last + 1] = 0.0, NOTHING  # and what is right of it
        above, row, above_e, row_e = row, above, row_e, above_e
    if above[m] == 0.0:
        return -np.inf
    return math.log(above[m]) + LOG_UNIT * above_e[m]


@compiled
def _similarities(step, z, i, first, last, inverse, weights, divisible, local, local_e):
    """Write the local similarities of step i of x to some steps of z."""
    for j in range(first, last):
        total = 0.0
        for c in range(len(step)):
            difference = (step[c] - z[j, c]) * inverse
            total += difference * difference
        local[j] = total
    for j in range(first, last):
        distance, local_e[j] = local[j], 0
        # exp(−170) is still above 2^−256.
        if distance <= 170.0:
            local[j] = math.exp(-distance)
        elif distance < 1e18:  # beyond it a similarity is zero, so that exponents cannot overflow
            local_e[j] = -round(distance / LOG_UNIT)
            local[j] = math.exp(-local_e[j] * LOG_UNIT - distance)
        else:
            local[j] = 0.0
    if len(weights):
        for j in range(first, last):
            local[j] *= weights[abs(i - j)]
    if divisible:
        for j in range(first, last):
            local[j] /= 2.0 - local[j] if local_e[j] == 0 else 2.0


@compiled
def _extend(above, above_e, row, row_e, local, local_e, first, last):
    """Extend all alignments to one more step of x; entry j + 1 of a row belongs to step j of z."""
    a, a_e, c, c_e = above[first], above_e[first], row[first], row_e[first]
    for j in range(first, last):
        b, b_e, e = above[j + 1], above_e[j + 1], a_e
        if b_e == e and c_e == e:
            total = a + b + c
        else:
            e = max(a_e, b_e, c_e)
            total = lowered(a, a_e, e) + lowered(b, b_e, e) + lowered(c, c_e, e)
        total *= local[j]
        e += local_e[j]
        total, e = rescaled(total, e)
        row[j + 1], row_e[j + 1] = total, e
        a, a_e, c, c_e = b, b_e, total, e
