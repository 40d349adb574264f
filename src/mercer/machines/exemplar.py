"""Exemplars: remember every example, and answer by similarity to all of them.

x belongs to A and not to B if its mean similarity to the exemplars of A is the greater one,
(1/|A|)Σk(a, x) > (1/|B|)Σk(b, x), which is (21) of Jäkel, Schölkopf & Wichmann (2007). Either side
is a Parzen estimate of the density of a class (Ashby & Alfonso-Reese, 1995), so Bayes' rule gives
the probabilities of the classes. The same idea for numbers is the mean of the targets, weighted by
similarity: Nadaraya-Watson regression (Bishop, section 6.3.1).

Something that is like no exemplar, its similarities all being zero in double precision, gets the
answer of someone who has not seen it: the priors of the classes, or the mean of the targets, with
a warning that names it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from mercer.domains import Items, Points, Vectors, admit_labels, admit_target, admit_weights
from mercer.errors import ValidityError, suggestion
from mercer.gram import assemble, product
from mercer.kernels import Gaussian, Kernel
from mercer.machines.chunks import require_fitted
from mercer.machines.machine import Machine
from mercer.machines.scores import averages, require_weight
from mercer.plans import Decision
from mercer.plans.sums import SumOverItems, choose_sum
from mercer.rkhs import Function
from mercer.solvers.status import caller_of_mercer

__all__ = ["ExemplarClassifier", "ExemplarRegressor"]


class ExemplarClassifier(ClassifierMixin, Machine):
    """Classification by mean similarity to the exemplars of each class.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "laplacian", "linear", "polynomial", "precomputed"}
        Any similarity; it need not be positive semi-definite. Probabilities need one that is not
        negative.
    priors : {None, "empirical"} or sequence of float
        Probabilities of the classes before anything is seen. None: all the same, as in (21) of
        Jäkel, Schölkopf & Wichmann (2007); "empirical": their shares of the examples; or one
        number for each class, in the order of `classes_`, with sum 1.

    Attributes
    ----------
    classes_ : ndarray
    priors_ : ndarray of shape (classes,)
    embeddings_ : Function
        The mean similarity to each class (21), a column for each: its mean embedding.
    function_ : Function
        Two classes: p₂μ₂ − p₁μ₁, with the sign of the decision. More: the columns pμ.
    kernel_ : Kernel
        With its heuristics resolved.

    Notes
    -----
    There is no `decision_function`: the probabilities, being ratios, do not rise with the
    difference `function_`. Cost: nothing to fit, O(n) similarities for each new item.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> machine = ExemplarClassifier(Gaussian(1.0)).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    >>> machine.predict([[1.5], [3.0]]).tolist()
    ['a', 'b']
    >>> machine.predict_proba([[2.0]]).round(2)
    array([[0.73, 0.27]])
    """

    def __init__(
        self, kernel: Any = "gaussian", *, priors: str | Sequence[float] | None = None
    ) -> None:
        self.kernel = kernel
        self.priors = priors

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> print(ExemplarClassifier().plan(np.ones((500, 3))).explain())
        Route dual, solver exemplars, double precision.
        Needs about ... of ... available.
        - every item is remembered, and nothing is solved for
        """
        return _plan(self, X, classes)

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._own(X, self._admit(X))
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        require_weight(codes, classes, weights)
        shares = np.bincount(codes, weights, len(classes))
        priors = self._priors(shares / shares.sum())
        kernel = self._resolve(points, weights)
        assemble(kernel, points)  # refuses a precomputed matrix that is not square
        means = averages(codes, len(classes), weights)
        joint = means * priors
        embeddings = Function(kernel, points, means)
        function = Function(
            kernel, points, joint[:, 1] - joint[:, 0] if len(classes) == 2 else joint
        )

        self._remember(X, points)
        self.classes_, self.priors_, self.kernel_ = classes, priors, kernel
        self.embeddings_, self.function_ = embeddings, function
        return self

    def predict(self, X: Items) -> np.ndarray:
        """Return the label with the highest prior times mean similarity."""
        joint = self._joint(X)
        return self.classes_[joint.argmax(axis=1)]

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each class: prior times density, divided by their sum."""
        joint = self._joint(X)
        _refuse_negative(joint, "of each class")
        return joint / joint.sum(axis=1, keepdims=True)

    def log_density(self, X: Items) -> np.ndarray:
        """Return log p(x|class), the Parzen estimate of each class; −∞ where it is zero.

        It is normalized if the kernel is a `Gaussian` on vectors. For other kernels it is the
        logarithm of the mean similarity.
        """
        require_fitted(self)
        similarity = self.embeddings_(self._admit_new(X, self.kernel_))
        _refuse_negative(similarity, "to each class")
        with np.errstate(divide="ignore"):
            return np.log(similarity) - _log_integral(self.kernel_, self.embeddings_.points)

    def _joint(self, X: Items) -> np.ndarray:
        """Return prior times mean similarity; the prior alone where there is no similarity."""
        require_fitted(self)
        joint = self.embeddings_(self._admit_new(X, self.kernel_)) * self.priors_
        unlike = ~joint.any(axis=1)
        _warn_unlike(unlike, "the priors of the classes")
        joint[unlike] = self.priors_
        return joint

    def _priors(self, shares: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return np.full(len(shares), 1 / len(shares))
        if isinstance(self.priors, str):
            if self.priors != "empirical":
                hint = suggestion(self.priors, ("empirical",))
                raise ValidityError(f"priors cannot be {self.priors!r}{hint}")
            return shares
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != shares.shape or not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
            raise ValidityError(
                f"priors must be {len(shares)} positive numbers with sum 1, one for each class; "
                f"found {self.priors!r}"
            )
        return given


class ExemplarRegressor(MultiOutputMixin, RegressorMixin, Machine):
    """Regression by the mean of the targets, weighted by similarity (Nadaraya-Watson).

    f(x) = Σk(x, xᵢ)yᵢ / Σk(x, xᵢ), which lies between the smallest and the largest
    target.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "laplacian", "linear", "polynomial", "precomputed"}
        A similarity that is not negative; it need not be positive semi-definite.

    Attributes
    ----------
    function_ : Function
        The numerator, with as many outputs as there are targets.
    density_ : Function
        The denominator. Both are divided by the sum of the weights.
    mean_ : float or ndarray
        The mean of the targets, the answer for things that are like no exemplar.
    kernel_ : Kernel
        With its heuristics resolved.

    Notes
    -----
    A mean over all exemplars needs a narrower bandwidth than a function that is solved for: the
    median distance, which "gaussian" stands for, is wide, so choose the bandwidth by
    cross-validation. Cost: nothing to fit, O(n) similarities for each new item.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> machine = ExemplarRegressor(Gaussian(1.0)).fit([[0.0], [2.0]], [0.0, 10.0])
    >>> machine.predict([[1.0], [2.0]]).round(2)
    array([5. , 8.81])
    """

    def __init__(self, kernel: Any = "gaussian") -> None:
        self.kernel = kernel

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # with the median bandwidth; see the notes
        return tags

    def plan(self, X: Items, targets: int = 1) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> ExemplarRegressor().plan(np.ones((500, 3))).solver
        'exemplars'
        """
        return _plan(self, X, targets)

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets)."""
        points = self._own(X, self._admit(X))
        target = admit_target(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        kernel = self._resolve(points, weights)
        assemble(kernel, points)  # refuses a precomputed matrix that is not square
        shares = np.full(len(points), 1.0) if weights is None else weights
        shares = shares / shares.sum()
        density = Function(kernel, points, shares)
        function = Function(kernel, points, (shares * target.T).T)

        self._remember(X, points)
        self.kernel_, self.function_, self.density_ = kernel, function, density
        self.mean_ = shares @ target
        return self

    def predict(self, X: Items) -> np.ndarray:
        """Return the weighted mean of the targets for each item."""
        require_fitted(self)
        points, shares = self._admit_new(X, self.kernel_), self.density_.coefficients
        columns = np.column_stack([shares, self.function_.coefficients])
        values = product(self.kernel_, points, self.function_.points, columns)
        below, above = values[:, 0], values[:, 1:]
        _refuse_negative(below[:, None], "to the exemplars")
        unlike = below == 0
        _warn_unlike(unlike, "the mean of the targets")
        answer = above / np.where(unlike, 1.0, below)[:, None]
        answer[unlike] = self.mean_
        return answer.reshape(len(points), *self.function_.coefficients.shape[1:])


def _plan(machine: Machine, X: Items, targets: int) -> Decision:
    points = machine._admit(X)
    why = "every item is remembered, and nothing is solved for"
    kernel = machine._resolve(points)
    return choose_sum("exemplars", kernel, points, SumOverItems(columns=4), why, targets=targets)


def _log_integral(kernel: Kernel, points: Points) -> float:
    """Return the logarithm of ∫k(x, z)dx, if it is known, otherwise 0."""
    if not isinstance(kernel, Gaussian) or not isinstance(points, Vectors):
        return 0.0
    weights = np.ones(points.width)
    if kernel.metric is not None:
        given = np.asarray(kernel.metric)
        weights = given if given.ndim == 1 else np.linalg.eigvalsh(given)
        if weights.min() <= 1e-12 * weights.max():  # constant in some direction, so infinite
            return 0.0
    widths = np.broadcast_to(kernel.widths, (points.width,)) / np.sqrt(weights)
    return float(points.width / 2 * math.log(2 * math.pi) + np.sum(np.log(widths)))


def _refuse_negative(similarity: np.ndarray, what: str) -> None:
    if (similarity < 0).any():
        item = int(np.flatnonzero((similarity < 0).any(axis=1))[0])
        raise ValidityError(
            f"the mean similarity {what} is negative for item {item} "
            f"({similarity[item].min():.3g}), so it cannot be a density; use a kernel that is "
            "never negative, such as Gaussian()"
        )


def _warn_unlike(unlike: np.ndarray, answer: str) -> None:
    """Warn about items that are like no exemplar."""
    if unlike.any():
        warnings.warn(
            f"{int(unlike.sum())} of {len(unlike)} items, the first being item "
            f"{int(np.argmax(unlike))}, are like no exemplar: all similarities are zero in double "
            f"precision. The answer for them is {answer}; use a larger bandwidth, or a kernel "
            "with longer tails such as Exponential()",
            UserWarning,
            stacklevel=caller_of_mercer(),
        )
