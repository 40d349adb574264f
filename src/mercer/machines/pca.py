"""Kernel principal components: the directions in a kernel's space in which items differ most.

The principal axes are functions f = Σ αᵢ k(·, xᵢ) with |f| = 1. With the centered Gram matrix HKH
= VΛVᵀ their coefficients are α = v/√λ, and the component of an item is f(x) minus the mean of f
(Schölkopf, Smola & Müller, 1998; Bishop, 12.3). Because Σ αᵢ = 0, centering a new item needs only
a constant: the machine is an RKHS function and an intercept, like any other.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.domains import Items, Points, in_passes
from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.gram import LowRank, Operator, assemble
from mercer.gram.centered import center_gram
from mercer.gram.stored import Striped
from mercer.kernels import Kernel
from mercer.lapack import EPS
from mercer.machines.chunks import require_fitted
from mercer.machines.components import components_of
from mercer.machines.preimage import fixed_point, preimage_method, rows_of, train_preimages
from mercer.machines.scores import ExpansionMachine, weights_of
from mercer.machines.sketching import (
    TrainingSet,
    decide_approximation,
    plan_sketched_fit,
    read_training_set,
)
from mercer.plans import Decision, Plan, asks_for_sketch, requested, size_of
from mercer.plans.products import decide_spectrum
from mercer.rkhs import Function
from mercer.rkhs.primal_function import function_of
from mercer.solvers.davidson import Davidson
from mercer.solvers.eigenpairs import DenseEigensolver, Eigenpairs
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.status import caller_of_mercer
from mercer.values import Seed, whole

__all__ = ["KernelPCA"]

RANDOMIZED_PASSES = 6  # products of the randomized solver
JUDGING_MATRICES = 3  # Gram matrices of a sample in memory while it is decomposed
MAX_NEGATIVE_SHARE = 1e-8  # of the largest eigenvalue; below minus that, one is no rounding error


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExpansionMachine):
    """Kernel principal component analysis.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    n_components : int, optional
        By default as many as the centered Gram matrix has eigenvalues above rounding.
    center : bool
        Whether to take the mean of the items, in the kernel's space, away first.
    solver : {"auto", "dense", "partial", "randomized"}
        "dense": all eigenvalues by LAPACK. "partial": only the largest, by block Lanczos
        iteration or Davidson's method to a residual of 1e-10. "randomized": the same with six
        products by the Gram matrix, as accurate as that turns out to be. "auto": partial, where
        that is faster.
    preimage : {"auto", "fixed-point", "ridge"} or regressor
        How `inverse_transform` works: by the fixed-point iteration of Gaussian kernels, or by a
        regression from components to items, trained when it is first needed. "auto" takes the
        fixed point for Gaussian kernels, the exact answer for the linear one, else "ridge".
    random_state : int, RandomState or None
        For the first vectors of the iteration.
    follow : Plan, optional
        Choices of yours about route and memory.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centered Gram matrix, descending.
    eigenvectors_ : ndarray of shape (n, n_components)
        The entry of largest magnitude of each is positive.
    explained_variance_ : ndarray
        Variance of each component: eigenvalue/(n − 1), or /n without centering.
    explained_variance_ratio_ : ndarray
        Share of the total variance.
    function_ : Function
        The principal axes, a column for each; orthonormal.
    intercept_ : ndarray
        Minus the mean of each axis over the training items.
    coef_ : ndarray or None
        The axes as weights of the kernel's features, where those are fewer than the items.
    rank_ : int
        How many of the eigenvalues that were asked for are above rounding.
    solution_ : Eigenpairs
        Its `certificate` is the largest |Kv − λv|/λ.
    kernel_, plan_
        As in `KernelRidge`.

    Notes
    -----
    Cost: n² kernel evaluations, then about 9n³ operations (dense) or 2n² for each of about ten
    products with each of a few vectors more than components (partial). If the Gram matrix does
    not fit, or from 10,000 rows of numbers on, its tiles are computed for each product, of which
    about five are needed then, with the help of a randomly pivoted Cholesky factor (Davidson's
    method). The partial solver sees only the largest eigenvalues; a kernel without a proof is
    looked at on up to 2000 of the items, and on all of a stored matrix by a few Lanczos steps, and
    refused where a negative eigenvalue shows. Interrupting it keeps the components that were found
    so far, with a warning that names their residual.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> X = [[0.0, 0.0], [1.0, 1.1], [2.0, 1.9], [3.0, 3.0]]
    >>> machine = KernelPCA(Linear(), n_components=1).fit(X)
    >>> machine.explained_variance_ratio_.round(3)
    array([0.999])
    >>> machine.inverse_transform(machine.transform([[1.5, 1.5]])).round(2)
    array([[1.5, 1.5]])
    """

    cached = ("_inverse",)
    _inverse: Any = None  # the regressor from components to items, once it is needed

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int | None = None,
        *,
        center: bool = True,
        solver: str = "auto",
        preimage: Any = "auto",
        random_state: Seed = None,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.center = center
        self.solver = solver
        self.preimage = preimage
        self.random_state = random_state
        self.follow = follow

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> print(KernelPCA(n_components=10).plan(np.ones((1000, 2))).explain())
        Route dual, solver lanczos, double precision.
        Needs about ... of ... available.
        - dual, because ...
        - only the 10 largest eigenvalues, by an iteration with blocks of vectors
        """
        if in_passes(X) or asks_for_sketch(self.follow):
            count = None if self.n_components is None else self.n_components
            return plan_sketched_fit(self, X, count or 1, whole=True, judging=JUDGING_MATRICES)
        points = self._admit(X)
        return self._decide(self._resolve(points), points)

    def fit(self, X: Items, y: Any = None) -> Self:
        """Find the principal components of items `X`, or of a `Stream`; `y` is ignored."""
        if in_passes(X) or asks_for_sketch(self.follow):
            return self._fit_sketch(read_training_set(self, X, None, None))
        points = self._own(X, self._admit(X))
        kernel = self._resolve(points)
        decision = self._decide(kernel, points)
        gram = assemble(kernel, points, decision)
        if decision.stored and not isinstance(gram, LowRank):
            gram = Striped(gram.matrix())
        moved, means = center_gram(gram) if self.center else (gram, np.zeros(len(points)))
        doubt = ""
        if decision.method != "dense" and not isinstance(gram, LowRank):  # which sees them all
            groups = [slice(0, len(points))] if self.center else []
            doubt = self._require_curvature(kernel, gram, groups)
        height = float(np.max(np.abs(gram.diagonal())))
        proved = kernel.proof().verdict == "proved"
        spectrum, rank = self._spectrum(moved, decision, proved, height)
        if doubt:
            spectrum = replace(spectrum, message=f"{spectrum.message}; {doubt}".removeprefix("; "))
        alpha = spectrum.vectors / np.sqrt(spectrum.values)
        if self.center:
            alpha -= alpha.mean(axis=0)
        weights = weights_of(gram, alpha)
        function = function_of(kernel, points, alpha, weights)
        trace, freedom = float(np.sum(moved.diagonal())), len(points) - bool(self.center)

        self._remember(X, points)
        self.kernel_, self.solution_ = kernel, spectrum
        self.plan_: Decision = decision
        self.function_, self.intercept_ = function, -(means @ alpha)
        self.coef_ = weights
        self.eigenvalues_, self.rank_ = spectrum.values, rank
        self.eigenvectors_: Any = spectrum.vectors  # or None, for a stream
        self.explained_variance_ = spectrum.values / freedom
        self.explained_variance_ratio_ = spectrum.values / trace
        return self

    def _fit_sketch(self, given: TrainingSet) -> Self:
        """Find components among the functions of a sketch."""
        items, center = given.items, bool(self.center)
        kernel = self._resolve(items.sample)
        self._require_valid(kernel, "error")
        count = None
        if self.n_components is not None:
            count = whole(self, "n_components", self.n_components)
        size = items.size(kernel, count or 1, judging=JUDGING_MATRICES)
        decision = decide_approximation(self.follow, kernel, items, size, whole=True)
        found = components_of(kernel, items, decision, count, center)
        _warn_unless_solved(found.solution)

        self._remember(given.X, items.sample)
        self.kernel_, self.plan_, self.solution_ = kernel, decision, found.solution
        self.function_, self.intercept_, self.coef_ = found.function, -found.means, None
        self.eigenvalues_, self.rank_ = found.values, len(found.values)  # others are left out
        self.eigenvectors_ = None if found.scores is None else found.solution.vectors
        self.explained_variance_ = found.values / (items.count - center)
        self.explained_variance_ratio_ = found.values / found.trace
        return self

    def transform(self, X: Items) -> np.ndarray:
        """Return the components of each item, an array of shape (items, n_components)."""
        return self._decision_values(X)

    def fit_transform(self, X: Items, y: ArrayLike | None = None) -> np.ndarray:
        """Return the components of the training items, without evaluating the kernel again."""
        self.fit(X)
        if self.eigenvectors_ is None:  # a stream, which is read once more
            return self.transform(X)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Return a vector for each row of components whose own components are near."""
        require_fitted(self)
        Z = np.asarray(Z, dtype=np.float64)
        if not isinstance(self.function_, Function):
            raise ValidityError("random features have no items to go back to; use Nystrom(...)")
        axes = self.function_.coefficients
        if Z.ndim != 2 or Z.shape[1] != axes.shape[1]:
            raise DomainError(
                f"expected rows of {axes.shape[1]} components, found an array of shape {Z.shape}"
            )
        points = self.function_.points
        # Centers alone do not know the mean of all items, so that a regression goes back.
        sketched = self.plan_.sketched and not hasattr(self.preimage, "fit")
        X = rows_of(points)
        way = preimage_method("ridge" if sketched else self.preimage, self.kernel_)
        if hasattr(way, "fit"):
            if self._inverse is None:
                self._inverse = train_preimages(way, self._training_components(), X)
            return self._inverse.predict(Z)
        gamma = Z @ axes.T + (1 / len(X) if self.center else 0.0)
        if way == "linear":
            return gamma @ X
        return fixed_point(self.kernel_, points, gamma, X[self._nearest(Z)])

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _training_components(self) -> np.ndarray:
        """Return the components of the items that the axes are made of."""
        if self.plan_.sketched:
            return self.function_(self.function_.points) + self.intercept_
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _nearest(self, Z: np.ndarray) -> np.ndarray:
        """Return the training items with the nearest components."""
        T = self._training_components()
        squares = np.sum(T**2, axis=1)
        return np.array([np.argmin(squares - 2 * (T @ z)) for z in Z])

    def _decide(self, kernel: Kernel, points: Points) -> Decision:
        self._require_valid(kernel, "error")
        count = None
        if self.n_components is not None:
            count = whole(self, "n_components", self.n_components)
            if count > len(points):
                items = f"items (n_samples={len(points)})"
                raise ValidityError(_too_many(count, len(points), items))
        size = size_of(kernel, points, products=True)
        return decide_spectrum(requested(self.follow), kernel, points, size, count, self.solver)

    def _spectrum(
        self, gram: Operator, decision: Decision, proved: bool, height: float
    ) -> tuple[Eigenpairs, int]:
        """Return the eigenvalues that were asked for, and how many of them are not zero.

        `height` is the largest similarity of an item with itself: centering takes its rounding
        along, so that eigenvalues below that are zero, however large the others are.
        """
        count = None if self.n_components is None else int(self.n_components)
        if count is None or decision.method == "dense":
            spectrum = DenseEigensolver().solve(gram, count)
            if not proved:  # a proof leaves nothing but rounding below zero
                _require_positive(spectrum, height)
        else:
            passes = RANDOMIZED_PASSES if decision.method == "randomized" else None
            few: Any = Lanczos(passes=passes, random_state=self.random_state)
            if decision.rank is not None:
                few = Davidson(
                    decision.rank, passes=passes, random_state=self.random_state, definite=proved
                )
            spectrum = few.solve(gram, count)
        floor = gram.order * EPS * height if self.center else 0.0
        rank = min(spectrum.rank, int(np.sum(spectrum.values > floor)))
        if rank:  # of noise alone every vector is as good
            _warn_unless_solved(spectrum)
        return self._accept(spectrum, rank, count), rank

    def _accept(self, spectrum: Eigenpairs, rank: int, count: int | None) -> Eigenpairs:
        """Return the components above rounding, refusing fewer than were asked for."""
        if rank == 0:
            raise DomainError(
                f"all items (n_samples={len(spectrum.vectors)}) are the same to the kernel, so "
                "there are no components; give items that differ, or another kernel"
            )
        if count is not None and count > rank:
            raise ValidityError(_too_many(count, rank, "eigenvalues above rounding"))
        return spectrum.first(rank)


def _warn_unless_solved(spectrum: Eigenpairs) -> None:
    if spectrum.status != "solved":
        residual = f"{spectrum.certificate:.2g}: {spectrum.message}"
        message = f"components have the residual |Kv − λv|/λ = {residual}"
        warnings.warn(message, ConvergenceWarning, stacklevel=caller_of_mercer())


def _too_many(count: int, found: int, what: str) -> str:
    return f"n_components is {count}, but there are only {found} {what}; use {found} or fewer"


def _require_positive(spectrum: Eigenpairs, height: float) -> None:
    smallest, largest = spectrum.smallest or 0.0, float(spectrum.values.max(initial=height))
    if smallest < -MAX_NEGATIVE_SHARE * largest:
        raise ValidityError(
            f"the Gram matrix has the eigenvalue {smallest:.3g}, so the kernel is not positive "
            "semi-definite and has no principal components; use a valid kernel"
        )
