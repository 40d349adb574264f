"""Probability products: alike because the same values are probable under both distributions."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import ClassVar, Self

import numpy as np

from mercer.domains import SERIES, Domain, Points, Series, Vectors
from mercer.engine.block import Block
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.proof import Proof, proved
from mercer.values import positive

__all__ = ["ProbabilityProduct"]

SHAPES = ("full", "diagonal", "spherical")
VARIANCE_SHARE = 0.1  # of the variance of all rows, which is added to that of each sample


@kernel
class ProbabilityProduct(Kernel):
    """∫ p(y)^ρ·q(y)^ρ dy of the Gaussians p and q that two samples look like (Jebara, Kondor &
    Howard, 2004).

    An item is a sample: rows of numbers in any order, as many as there are. A Gaussian is fitted
    to each, and two samples are alike if the same values are probable under both. With ρ = ½ it is
    Bhattacharyya's affinity, which is 1 for equal distributions; with ρ = 1 it is the expected
    density of one sample under the other. With d columns, and means apart by δ,

        ln k = ½(1 − 2ρ)·d·ln 2π − ½·d·ln ρ + ½(1 − ρ)·(ln|Σ| + ln|Σ'|) − ½ ln|Σ + Σ'|
               − ½ρ·δᵀ(Σ + Σ')⁻¹δ.

    Valid as an inner product of the functions p^ρ (6.1). Samples may be small: to the maximum
    likelihood covariance of each sample a ridge is added, Σ = S + ridge·I, so that one row alone
    is a distribution too.

    Parameters
    ----------
    power : float
        ρ > 0.
    covariance : {"full", "diagonal", "spherical"}
        What is kept of the covariance of a sample.
    ridge : float or "scale"
        A variance. "scale" is a tenth of the mean variance of the columns, over the rows of all
        samples on which the kernel is resolved.

    Examples
    --------
    >>> k = ProbabilityProduct(ridge=0.1)
    >>> samples = [[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [[0.1, 0.0], [2.1, 2.0]], [[3.0, -1.0]]]
    >>> k(samples).round(3)
    array([[1.   , 0.984, 0.   ],
           [0.984, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    power: float = 0.5
    covariance: str = "full"
    ridge: float | str = "scale"
    domain: ClassVar[Domain] = SERIES
    threads: ClassVar[bool] = True
    heuristic: ClassVar[tuple[str, ...]] = ("ridge",)
    arrays: ClassVar[int] = 3

    def __post_init__(self) -> None:
        self._normalize("power", positive(self, "power", self.power))
        if self.covariance not in SHAPES:
            hint = suggestion(self.covariance, SHAPES)
            raise ValidityError(
                f"covariance of ProbabilityProduct cannot be {self.covariance!r}{hint}"
            )
        if self.ridge != "scale":
            self._normalize("ridge", positive(self, "ridge", self.ridge))

    @property
    def costly(self) -> bool:  # type: ignore[override]
        return self.covariance == "full"

    def resolve_heuristics(self, points: Series, weights: np.ndarray | None) -> Self:
        if self.ridge != "scale":
            return self
        w = np.ones(len(points)) if weights is None else weights
        each = np.repeat(w, points.lengths)
        mean = np.average(points.steps, axis=0, weights=each)
        variance = np.average((points.steps - mean) ** 2, axis=0, weights=each)
        ridge = VARIANCE_SHARE * float(np.mean(variance))
        if not 0 < ridge < math.inf:
            raise DomainError(
                f"all rows of all samples of X are the same, or too large: their mean variance is "
                f"{ridge / VARIANCE_SHARE}, so that there is no scale for the ridge; give a number"
            )
        return self.set_params(ridge=ridge)

    def pair(self, x: object, z: object) -> float:
        (m, S), (n, T) = (self._gaussian(SERIES.admit([sample]).steps) for sample in (x, z))
        rho, apart = self.power, m - n
        # p^ρ is a Gaussian of covariance Σ/ρ times |2πΣ|^(−ρ/2)·|2πΣ/ρ|^(1/2), and the integral of
        # a product of two Gaussians is a Gaussian of the difference of their means.
        log = -0.5 * rho * (apart @ np.linalg.solve(S + T, apart))
        log -= 0.5 * np.linalg.slogdet(2 * np.pi * (S + T) / rho)[1]
        for C in (S, T):
            log += 0.5 * np.linalg.slogdet(2 * np.pi * C / rho)[1]
            log -= 0.5 * rho * np.linalg.slogdet(2 * np.pi * C)[1]
        return math.exp(log) if log < 709 else math.inf

    def _gaussian(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of a sample, by the definition."""
        mean = rows.mean(axis=0)
        S = (rows - mean).T @ (rows - mean) / len(rows)
        if self.covariance == "diagonal":
            S = np.diag(np.diag(S))
        if self.covariance == "spherical":
            S = np.eye(len(S)) * np.trace(S) / len(S)
        return mean, S + float(self.ridge) * np.eye(len(S))

    # ---- the fast form ----------------------------------------------------------------------

    def logarithms(self, block: Block) -> np.ndarray:
        if block.left.channels != block.right.channels:
            raise DomainError(
                f"samples with {block.left.channels} and with {block.right.channels} columns "
                "cannot be compared; they must have the same number"
            )
        d, rho = block.left.channels, self.power
        left, right = self._fitted(block.left), self._fitted(block.right)
        K = _far(left[0], left[1], right[0], right[1], rho)
        K += 0.5 * d * ((1 - 2 * rho) * math.log(2 * math.pi) - math.log(rho))
        K += 0.5 * (1 - rho) * (left[2][:, None] + right[2][None, :])
        return K

    def log_diagonal(self, points: Series) -> np.ndarray:
        d, rho = points.channels, self.power
        constant = 0.5 * d * ((1 - 2 * rho) * math.log(2 * math.pi) - math.log(2 * rho))
        return constant + (0.5 - rho) * self._fitted(points)[2]

    def encode(self, points: Series) -> None:
        self._fitted(points)

    def _fitted(self, points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return means, covariances (or variances), and logarithms of their determinants."""
        key: Hashable = ("fitted Gaussians", self.covariance, self.ridge)
        found = points.view(key, self._fit).array  # type: ignore[attr-defined]
        d = points.channels  # type: ignore[attr-defined]
        covariances = found[:, d:-1]
        if self.covariance == "full":
            covariances = covariances.reshape(-1, d, d)
        return found[:, :d], covariances, found[:, -1]

    def _fit(self, points: Series) -> Vectors:
        d = points.channels
        entries = d * d if self.covariance == "full" else d
        found = np.empty((len(points), d + entries + 1))
        for i, rows in enumerate(points.items()):
            mean = rows.mean(axis=0)
            centered = rows - mean
            if self.covariance == "full":
                S = centered.T @ centered / len(rows)
                S[np.diag_indices(d)] += self.ridge
                found[i, -1] = np.linalg.slogdet(S)[1]
            else:
                S = np.mean(centered**2, axis=0)
                S = (np.full(d, S.mean()) if self.covariance == "spherical" else S) + self.ridge
                found[i, -1] = np.sum(np.log(S))
            found[i, :d], found[i, d:-1] = mean, S.ravel()
        return Vectors(found)

    def prove(self) -> Proof:
        return proved(
            self, "it is an inner product ∫ f·g of the functions p^ρ (6.1; Jebara et al., 2004)"
        )


def _far(m: np.ndarray, S: np.ndarray, n: np.ndarray, T: np.ndarray, rho: float) -> np.ndarray:
    """Return −½ ln|Σ + Σ'| − ½ρ·δᵀ(Σ + Σ')⁻¹δ of all pairs, one row after the other."""
    K = np.empty((len(m), len(n)))
    for i in range(len(m)):
        apart, both = m[i] - n, S[i] + T
        if both.ndim == 2:
            K[i] = np.sum(np.log(both) + rho * apart**2 / both, axis=1)
            continue
        root = np.linalg.cholesky(both)
        whitened = np.linalg.solve(root, apart[:, :, None])[:, :, 0]
        logs = np.log(np.einsum("jdd->jd", root))
        K[i] = 2 * logs.sum(axis=1) + rho * np.einsum("jd,jd->j", whitened, whitened)
    return -0.5 * K
