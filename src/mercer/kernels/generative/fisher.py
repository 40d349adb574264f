"""The Fisher kernel: alike because both pull the parameters of a model in the same direction."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg

from mercer.domains import Points, Vectors, real_numbers
from mercer.engine.block import Array, Block, multiply, squares
from mercer.engine.tiles import quiet
from mercer.errors import DomainError, ModelWarning, ValidityError, suggestion
from mercer.kernels.base import in_library_of, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.generative.model_kernel import ModelKernel, numpy_points
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity, positive

__all__ = ["Fisher"]

LEARNED = ("empirical", "diagonal")
NAMES = (*LEARNED, "exact", "identity")
DEFAULT_RIDGE = 1e-3  # where nothing was said and the information is singular
SINGULAR_SHARE = 1e-10  # of a parameter's variance, that the other parameters leave unexplained


@kernel
class Fisher(ModelKernel):
    """g(x)ᵀF⁻¹g(z) (6.33), where g(x) = ∇ ln p(x|θ) is the score of x under a model (6.32).

    The score says how the parameters would have to change to make x more probable. Two things are
    alike if they ask for the same change (Jaakkola & Haussler, 1999). The information F measures
    changes in units that do not depend on what the parameters are called: (6.33) stays the same
    under θ → ψ(θ).

    Valid as the inner product of the whitened scores F^(−1/2)·g(x), which are the features: one
    for each parameter, so that linear machines work with any number of items. An item that is
    impossible under the model has no score and is refused.

    Parameters
    ----------
    model : Model
        Or what `mercer.models.as_model` makes one of.
    information : {"empirical", "exact", "diagonal", "identity"} or array
        F: "empirical" is the mean of g·gᵀ over the items on which the kernel is resolved (6.35);
        "exact" is the model's own expectation (6.34), if it is known; "diagonal" keeps only the
        diagonal of the empirical one, for models with thousands of parameters, and is invariant
        only to units of single parameters; "identity" leaves it out (6.36), which is not
        invariant. An array is a matrix or the diagonal of one.
    ridge : float, optional
        F + ridge·t·I is inverted, where t is the mean of the diagonal of F. With fewer items than
        parameters the empirical F is singular, and without a ridge all training items would be
        equally unlike. By default there is none for an F of full rank; for a singular one it is
        0.001, and a warning says so.
    fit_model : bool
        Whether the model is fitted to the items on which the kernel is resolved: the training
        items of each fold.

    Examples
    --------
    >>> from mercer.models import GaussianDensity
    >>> k = Fisher(GaussianDensity([1.0], [[4.0]], fixed=("covariance",)), information="exact")
    >>> k([[3.0], [5.0]])
    array([[1., 2.],
           [2., 4.]])
    >>> k.features([[3.0], [5.0]])
    array([[1.],
           [2.]])
    """

    model: Any
    information: Any = "empirical"
    ridge: float | None = None
    fit_model: bool = False
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.information, str):
            if self.information not in NAMES:
                hint = suggestion(self.information, NAMES)
                raise ValidityError(f"information of Fisher cannot be {self.information!r}{hint}")
        else:
            self._normalize("information", _checked(self.information))
        if self.ridge is not None:
            self._normalize("ridge", positive(self, "ridge", self.ridge, zero=True))

    # ---- what is learned from data ----------------------------------------------------------

    def unresolved(self) -> list[str]:
        name = self.information
        learned = isinstance(name, str) and name in LEARNED
        mine = [f"information={name!r} of {self!r}"] if learned else []
        return mine + super().unresolved()

    def resolve_heuristics(self, points: Points, weights: np.ndarray | None) -> Self:
        fitted = super().resolve_heuristics(points, weights)
        if not (isinstance(self.information, str) and self.information in LEARNED):
            return fitted
        G = fitted._scores(points)
        w = np.full(len(G), 1 / len(G)) if weights is None else weights / np.sum(weights)
        if self.information == "diagonal":
            F = w @ (G * G)
        else:
            F = (G * w[:, None]).T @ G
            F = (F + F.T) / 2
        return fitted.set_params(information=F, ridge=_ridge(F, self.ridge))

    # ---- values -----------------------------------------------------------------------------

    def pair(self, x: object, z: object) -> float:
        left, right = (self.model.score([thing])[0] for thing in (x, z))
        F = self._matrix
        if F is None:
            return float(left @ right)
        F = np.diag(F) if F.ndim == 1 else F
        size = float(self._whitener[1]) * np.trace(F) / len(F)
        return float(left @ np.linalg.solve(F + size * np.eye(len(F)), right))

    def evaluate(self, block: Block) -> Any:
        left, right = (self._features(points) for points in (block.left, block.right))
        return in_library_of(multiply(block, left, right), block.left)

    def evaluate_diagonal(self, points: Points) -> Any:
        return in_library_of(squares(self._features(points)), points)

    def map_features(self, points: Points) -> FeatureMap:
        count = self._features(points).shape[1]
        return FeatureMap(count, self._features)

    def encode(self, points: Points) -> None:
        self._features(points)

    def prove(self) -> Proof:
        if isinstance(self.information, str) and self.information == "identity":
            return proved(self, "it is an inner product of scores (6.1, 6.36)")
        return proved(
            self, "it is xᵀAz (6.20) of scores, and A = F⁻¹ is positive definite (6.33, 6.34)"
        )

    def _features(self, points: Points) -> np.ndarray:
        """Return the whitened scores, computed once."""
        key = "fisher", Identity(self.model), Identity(self.information), self.ridge
        return points.view(key, self._whitened).array  # type: ignore[attr-defined]

    def _whitened(self, points: Points) -> Vectors:
        G = self._scores(points)
        root = self._whitener[0]
        if root is None:
            return Vectors(G)
        if root.shape[-1] != G.shape[1]:
            raise ValidityError(
                f"information of Fisher is made for {root.shape[-1]} parameters, but "
                f"{type(self.model).__name__} has {G.shape[1]}"
            )
        if root.ndim == 1:
            return Vectors(G / root)
        # Solved from the right: the rows of G are the columns of a Fortran-ordered Gᵀ.
        whitened = linalg.solve_triangular(root, G.T, lower=True, check_finite=False)
        return Vectors(np.ascontiguousarray(whitened.T))

    def _scores(self, points: Points) -> np.ndarray:
        try:
            with quiet():
                return self.model.score(numpy_points(points))
        except NotImplementedError as error:
            raise ValidityError(f"{error}, which Fisher compares (6.32)") from error

    @cached_property
    def _matrix(self) -> np.ndarray | None:
        """F without a ridge: a matrix, the diagonal of one, or None for the identity."""
        if not isinstance(self.information, str):
            return self.information
        if self.information == "identity":
            return None
        self.model.require_fitted()
        found = self.model.information()
        if found is None:
            raise ValidityError(
                f"{type(self.model).__name__} does not know its exact information (6.34); use "
                "information='empirical' (6.35) or 'identity' (6.36)"
            )
        return _checked(found)

    @cached_property
    def _whitener(self) -> tuple[np.ndarray | None, float]:
        """Return a root of the information with its ridge, and the ridge."""
        F = self._matrix
        if F is None:
            return None, 0.0
        ridge = _ridge(F, self.ridge)
        size = ridge * float(np.mean(F if F.ndim == 1 else np.diag(F)))
        if F.ndim == 1:
            if not (F + size > 0).all():
                raise _singular(int(np.sum(F + size > 0)), len(F))
            return np.sqrt(F + size), ridge
        try:
            return linalg.cholesky(F + size * np.eye(len(F)), lower=True), ridge
        except linalg.LinAlgError:
            raise _singular(_rank(F), len(F)) from None


def _checked(values: Array) -> np.ndarray:
    """Return an information matrix, or the diagonal of one, that is not written to any more."""
    try:
        F = real_numbers(values, "information of Fisher").copy()
    except DomainError as error:
        raise ValidityError(str(error)) from error
    if F.size == 0 or F.shape not in ((len(F),), (len(F), len(F))):
        raise ValidityError(
            f"information of Fisher is a square matrix or its diagonal, found shape {F.shape}"
        )
    if not np.isfinite(F).all():
        raise ValidityError("information of Fisher holds NaN or infinity")
    smallest = F.min() if F.ndim == 1 else np.diag(F).min()
    if F.ndim == 2:
        size = np.sqrt(np.maximum(np.diag(F), 0.0))
        if (np.abs(F - F.T) > 1e-10 * np.outer(size, size)).any():
            raise ValidityError("information of Fisher must be symmetric (6.34)")
        if smallest >= 0:
            smallest = _smallest(_correlations(F))
    if smallest < -SINGULAR_SHARE:
        raise ValidityError(
            f"information of Fisher must be positive semi-definite (6.34), but has the eigenvalue "
            f"{smallest:.3g} in units of its diagonal"
        )
    F.setflags(write=False)
    return F


def _correlations(F: np.ndarray) -> np.ndarray:
    """Return F in units in which its diagonal is 1, without parameters that change nothing."""
    kept = np.diag(F) > 0
    size = np.sqrt(np.diag(F)[kept])
    return F[np.ix_(kept, kept)] / np.outer(size, size)


def _smallest(C: np.ndarray) -> float:
    """Return the smallest eigenvalue, or 0 where it is certainly not clearly negative."""
    try:
        linalg.cholesky(C + SINGULAR_SHARE * np.eye(len(C)))
        return 0.0
    except linalg.LinAlgError:
        return float(np.linalg.eigvalsh(C)[0])


def _rank(F: np.ndarray) -> int:
    """Return how many parameters are not a linear function of others, as far as numbers tell."""
    C = _correlations(F)
    return 0 if C.size == 0 else int(linalg.lapack.dpstrf(C, tol=SINGULAR_SHARE)[2])


def _ridge(F: np.ndarray, ridge: float | None) -> float:
    """Return the ridge that was asked for, or the one that is needed, saying so."""
    if ridge is not None:
        return ridge
    rank = int(np.sum(F > 0)) if F.ndim == 1 else _rank(F)
    if rank == len(F):
        return 0.0
    if not F.any():
        raise _singular(0, len(F))
    warnings.warn(
        f"the Fisher information of {len(F)} parameters has only rank {rank}; "
        f"ridge={DEFAULT_RIDGE} of the mean of its diagonal is added to the diagonal. Say "
        "ridge=... to choose it (by cross-validation, where items are few), or "
        "information='diagonal'",
        ModelWarning,
        stacklevel=2,
    )
    return DEFAULT_RIDGE


def _singular(rank: int, order: int) -> ValidityError:
    return ValidityError(
        f"the Fisher information of {order} parameters has only rank {rank} and cannot be "
        "inverted (6.33); give a ridge > 0"
    )
