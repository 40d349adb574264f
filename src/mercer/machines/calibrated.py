"""Calibrated machines: probabilities for classifiers that only have scores.

Scores say which class wins, not how sure that is. Those of items that a machine has not seen, with
their labels, tell how much a score is worth. With two classes that is a sigmoid (Platt 2000); with
more it is one factor for all scores, whose exponentials are then divided by their sum (Guo et al.
2017, who call its inverse a temperature).
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import _num_samples, has_fit_parameter

from mercer.domains import Items, admit_weights
from mercer.errors import ValidityError
from mercer.machines.calibration import agree_with, fit_sigmoid
from mercer.machines.chunks import require_fitted
from mercer.machines.folds import stratified_folds, stratified_sample
from mercer.machines.planned import bytes_kept, bytes_of, plan_of
from mercer.machines.ridge_scores import bytes_of_inverse, held_out_scores
from mercer.machines.scores import ScoreClassifier
from mercer.plans import Decision

__all__ = ["Calibrated", "deal", "fit_slope", "probabilities_of_scores", "scores_of"]

# The smallest factor, in units of the largest difference of scores: nearly even odds, but the
# order of the classes stays.
MIN_SLOPE = 1e-6
# Scores are looked at in portions of about so many numbers.
BLOCK_NUMBERS = 1 << 20

MIN_CHANCE = 1e-12  # a probability below it, 0 for example, has this one's logarithm
MIN_IN_SAMPLE = 3  # items of each class, so that two are learned from while one is held out


class Calibrated(ClassifierMixin, BaseEstimator):
    """Give a machine with scores probabilities.

    The machine learns from all items; copies of it learn from all but one fold at a time, and
    their scores of that fold decide how scores become probabilities. `predict` is the machine's
    own, and the most probable class is always the one that it names.

    With two classes the probability of the second is 1/(1 + exp(−(slope·score + shift))). With
    more they are softmax(slope·scores), with one slope for all. The usual alternative, a sigmoid
    for each class against the rest and a division by their sum, looks at one score at a time,
    where their differences decide, and may name another winner. On iris, wine and digits, with
    seven machines, it was worse in 19 of 20 cases, and its log loss 30% higher on average.

    Parameters
    ----------
    machine : classifier
        With a `decision_function`, such as `KernelRidgeClassifier` or `PrototypeClassifier`.
    folds : int
        How many parts the items are dealt into. A class with fewer items is in fewer of them, and
        one with a single item is learned from everywhere and held out nowhere.
    random_state : int, RandomState or None
        Deals the items.
    sample : int, optional
        Of more items only so many are learned from and held out in turn, which saves time where
        a fit takes long. The machine itself always learns from all.
    costs : ndarray of shape (classes, classes), optional
        What each answer (column) costs for each true class (row). `predict` then gives the class
        that is expected to cost least; with two classes that is a threshold of the probability,
        such as 1/11 where missing one class costs ten times as much as a false alarm (Elkan 2001).

    Attributes
    ----------
    machine_ : classifier
        Fitted to all items.
    classes_ : ndarray
    slope_, shift_ : float
        With more than two classes the shift is 0.

    Notes
    -----
    What the machine has learned (``kernel_``, ``function_``, ``n_features_in_``, …) is found here
    too. Cost: ``folds`` more fits; of ridge classification one inverse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = Calibrated(KernelRidgeClassifier("gaussian", penalty=0.1)).fit(X[::2], y[::2])
    >>> machine.predict_proba(X[[1, 133]]).round(1)
    array([[1. , 0. , 0. ],
           [0. , 0.6, 0.4]])
    """

    delegate = "machine_"

    machine_: Any
    classes_: np.ndarray
    slope_: float
    shift_: float

    def __init__(
        self,
        machine: BaseEstimator,
        folds: int = 5,
        random_state: int | np.random.RandomState | None = 0,
        *,
        sample: int | None = None,
        costs: np.ndarray | None = None,
    ) -> None:
        self.machine = machine
        self.folds = folds
        self.random_state = random_state
        self.sample = sample
        self.costs = costs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *,
        splits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> Self:  # fmt: skip
        """Learn from items `X` with labels `y`.

        With `splits`, pairs of items to learn from and items to hold out, these are used instead
        of folds: where items belong together, as those of one person, or follow each other.
        """
        self._check(sample_weight is not None)
        machine = _fitted(self.machine, X, y, sample_weight)
        labels, classes = np.asarray(y).reshape(-1), machine.classes_
        codes = np.searchsorted(classes, labels)
        weights = admit_weights(sample_weight, len(codes))
        self._check_costs(len(classes))
        some = self._some(codes)
        own = None if weights is None else weights[some]
        if splits is None:
            dealt = deal(codes[some], int(self.folds), self.random_state, own)
            splits = [(some[dealt != k], some[dealt == k]) for k in range(dealt.max() + 1)]
        else:
            splits = [pair for pair in splits if len(np.unique(codes[pair[0]])) == len(classes)]
        scores, held = self._held_out(machine, X, labels, weights, splits, len(classes))
        w = np.ones(len(held)) if weights is None else weights[held]
        if not len(held):  # nothing is known about new items: nearly even odds
            slope, shift = MIN_SLOPE / (float(np.ptp(scores_of(machine, X))) or 1.0), 0.0
        elif len(classes) == 2:
            slope, shift = (-found for found in fit_sigmoid(scores[:, 0], codes[held] == 1, w))
        else:
            slope, shift = fit_slope(scores, codes[held], w), 0.0

        self.machine_, self.classes_ = machine, classes
        self.slope_, self.shift_ = slope, shift
        return self

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need: the machine, and after it one fitted to a part.

        Examples
        --------
        >>> from mercer import SVC
        >>> Calibrated(SVC()).plan(np.ones((500, 3))).bytes > SVC().plan(np.ones((500, 3))).bytes
        True
        """
        decision = plan_of(self.machine, X)
        kept = (
            8 * _num_samples(X) * (3 * classes + 4)
        )  # scores, and what probabilities are made of
        kept += bytes_of(X) + bytes_kept(self.machine, X)  # the part, and the whole machine
        count = min(_num_samples(X), self.sample or _num_samples(X))
        kept += max(bytes_of_inverse(self.machine, count) - decision.bytes, 0)
        return decision.beside(kept, "scores of items that were held out, fold after fold")

    def predict(self, X: Items) -> np.ndarray:
        """Return the label that the machine gives, or with costs the one that is cheapest."""
        require_fitted(self)
        if self.costs is not None:
            return self.decide(self.predict_proba(X))
        return self.machine_.predict(X)

    def decide(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the label for each row of probabilities."""
        require_fitted(self)
        if self.costs is None:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[(probabilities @ np.asarray(self.costs)).argmin(axis=1)]

    def decision_function(self, X: Items) -> np.ndarray:
        """Return the scores of the machine; of one without them, logarithms of probabilities."""
        require_fitted(self)
        return scores_of(self.machine_, X)

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each class.

        Without costs the most probable one is that of `predict`.
        """
        scores = self.decision_function(X)
        with np.errstate(over="ignore"):  # the probability is then 0 or 1
            if scores.ndim == 1:
                z = self.slope_ * scores + self.shift_
                P = np.column_stack([expit(-z), expit(z)])
            else:
                P = softmax(self.slope_ * (scores - scores.max(axis=1, keepdims=True)), axis=1)
        return P if self.costs is not None else agree_with(P, self._winners(X, scores))

    def predict_log_proba(self, X: Items) -> np.ndarray:
        """Return the logarithm of the probability of each class."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))

    def __getattr__(self, name: str) -> Any:
        """Return what the machine has learned."""
        if name.endswith("_") and not name.startswith("_") and "machine_" in vars(self):
            return getattr(self.machine_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.machine, BaseEstimator):
            tags.input_tags = get_tags(self.machine).input_tags
        return tags

    def _winners(self, X: Items, scores: np.ndarray) -> np.ndarray:
        """Return which class `predict` names, without computing the scores twice if possible."""
        if type(self.machine_).predict is ScoreClassifier.predict:
            return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.searchsorted(self.classes_, self.machine_.predict(X))

    def _held_out(
        self, machine: BaseEstimator, X: Items, labels: np.ndarray, weights: np.ndarray | None,
        splits: Sequence[tuple[np.ndarray, np.ndarray]], count: int,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return scores of items that were held out, and which items these are."""
        X = _divisible(X)
        closed = held_out_scores(machine, X, labels, weights, splits)
        if closed is not None:
            return closed, np.concatenate([test for _, test in splits])
        pairwise = get_tags(self.machine).input_tags.pairwise
        scores, places = [np.empty((0, 1 if count == 2 else count))], [np.empty(0, dtype=int)]
        for train, test in splits:
            own = None if weights is None else weights[train]
            part = _part(X, train, train, pairwise)
            fitted = _fitted(self.machine, part, labels[train], own)
            found = scores_of(fitted, _part(X, test, train, pairwise))
            found = np.asarray(found, dtype=np.float64).reshape(len(test), -1)
            if found.shape[1] != scores[0].shape[1]:
                raise ValidityError(_NOT_OF_CLASSES)
            scores.append(found)
            places.append(test)
        return np.concatenate(scores), np.concatenate(places)

    def _some(self, codes: np.ndarray) -> np.ndarray:
        """Return the items that are learned from and held out in turn, all or a sample."""
        if self.sample is None or len(codes) <= self.sample:
            return np.arange(len(codes))
        rng = check_random_state(self.random_state)
        return stratified_sample(
            codes, np.arange(len(codes)), int(self.sample), rng, MIN_IN_SAMPLE
        )

    def _check_costs(self, count: int) -> None:
        if self.costs is None:
            return
        costs = np.asarray(self.costs, dtype=np.float64)
        if costs.shape != (count, count) or not np.isfinite(costs).all():
            raise ValidityError(
                f"costs must be a table of {count} true classes by {count} answers without gaps, "
                f"found shape {costs.shape}"
            )

    def _check(self, weighted: bool) -> None:
        """Refuse parameters that cannot work before the work begins."""
        machine = self.machine
        if not isinstance(machine, BaseEstimator) or not is_classifier(machine):
            raise ValidityError(f"machine must be a classifier, found {machine!r}")
        if not (hasattr(machine, "decision_function") or hasattr(machine, "predict_proba")):
            raise ValidityError(
                f"machine must have scores (decision_function), but {machine!r} has none"
            )
        if getattr(machine, "decision_function_shape", None) == "ovo":
            raise ValidityError(_NOT_OF_CLASSES)
        whole = isinstance(self.folds, numbers.Integral) and not isinstance(self.folds, bool)
        if not whole or self.folds < 2:
            raise ValidityError(f"folds must be a whole number from 2 on, found {self.folds!r}")
        whole = isinstance(self.sample, numbers.Integral) and not isinstance(self.sample, bool)
        if self.sample is not None and (not whole or self.sample < 2):
            raise ValidityError(
                f"sample must be a whole number from 2 on, or None, found {self.sample!r}"
            )
        if weighted and not has_fit_parameter(machine, "sample_weight"):
            raise ValidityError(f"{type(machine).__name__} does not take sample_weight")


_NOT_OF_CLASSES = (
    "machine must have one score for each class, but this one has scores of pairs; use "
    'decision_function_shape="ovr"'
)


def deal(
    codes: np.ndarray, folds: int, random_state: Any, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the fold in which each item is held out, −1 for items that never are.

    Every class is dealt evenly, and goes on where the one before has ended, so that folds are
    of the same size. Something of each class is left to learn from, whatever fold is held out:
    a class with one item that counts is not dealt, and an item without weight neither.

    Examples
    --------
    >>> deal(np.array([0, 0, 1, 1, 2]), 5, random_state=0)
    array([ 0,  1,  2,  3, -1])
    """
    counted = None if weights is None else np.flatnonzero(weights > 0)
    return stratified_folds(codes, folds, check_random_state(random_state), counted, min_count=2)


def probabilities_of_scores(
    scores: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return probabilities of held-out items by their scores, as `Calibrated` would give them.

    Examples
    --------
    >>> probabilities_of_scores(np.array([-2.0, 1.0, 2.0, -1.0]), np.array([0, 0, 1, 1])).shape
    (4, 2)
    """
    weights = np.ones(len(codes)) if weights is None else weights
    table = scores.reshape(len(codes), -1)
    if table.shape[1] == 1:
        slope, shift = (-found for found in fit_sigmoid(table[:, 0], codes == 1, weights))
        p = expit(slope * table[:, 0] + shift)
        return np.column_stack([1 - p, p])
    slope = fit_slope(table, codes, weights)
    return softmax(slope * (table - table.max(axis=1, keepdims=True)), axis=1)


def fit_slope(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Return the a > 0 for which softmax(a·scores) gives the labels the largest likelihood.

    As with Platt's sigmoid, labels are not certain: of n of them, the share 1/(n + 2) of each
    speaks for the other classes alike, so that a stays finite when no score is wrong.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.9, 0.0]])
    >>> bool(fit_slope(scores, np.array([0, 1, 2, 1]), np.ones(4)) > 1)
    True
    """
    count, total = scores.shape[1], float(weights.sum())
    s = scores - scores.max(axis=1, keepdims=True)
    scale = float(-s.min()) or 1.0
    s /= scale
    doubt = 1 / (total + 2)
    own = s[np.arange(len(s)), codes]
    aim = weights @ ((1 - doubt) * own + doubt * (s.sum(axis=1) - own) / (count - 1))
    if _means(s, weights, MIN_SLOPE)[0] >= aim:  # scores are worth nothing
        return MIN_SLOPE / scale
    # The likelihood is concave in a, so Newton's steps lead to the root of its derivative; where
    # one would leave the interval that is known to hold the root, that is divided.
    low, high, a = MIN_SLOPE, np.inf, 1.0
    for _ in range(200):
        mean, variance = _means(s, weights, a)
        low, high = (a, high) if mean < aim else (low, a)
        if abs(mean - aim) <= 1e-13 * total or high - low <= 1e-13 * low:
            break
        step = (aim - mean) / variance if variance > 0 else np.inf
        if not (low < a + step < high and step < 10 * a):
            step = (10 * a if high == np.inf else float(np.sqrt(low * high))) - a
        a += step
    return a / scale


def _means(s: np.ndarray, weights: np.ndarray, a: float) -> tuple[float, float]:
    """Return Σ wᵢ E[s] and Σ wᵢ Var[s] under the probabilities softmax(a·s)."""
    mean = variance = 0.0
    step = max(1, BLOCK_NUMBERS // s.shape[1])
    for start in range(0, len(s), step):
        part, w = s[start : start + step], weights[start : start + step]
        p = softmax(a * part, axis=1)
        center = np.einsum("ij,ij->i", p, part)
        mean += float(w @ center)
        variance += float(w @ np.einsum("ij,ij->i", p, (part - center[:, None]) ** 2))
    return mean, variance


def scores_of(machine: BaseEstimator, X: Items) -> np.ndarray:
    """Return the scores of a machine, or the logarithms of its probabilities, as log odds of two.

    A machine that is right more often than it claims is wrong about a factor of these.
    """
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(X))
    logs = np.log(np.maximum(machine.predict_proba(X), MIN_CHANCE))
    return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs


def _fitted(machine: BaseEstimator, X: Items, y: ArrayLike, weights: np.ndarray | None) -> Any:
    given = {} if weights is None else {"sample_weight": weights}
    return clone(machine).fit(X, y, **given)


def _divisible(X: Any) -> Any:
    """Return a container of which parts can be taken."""
    if sparse.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "__getitem__") else np.asarray(X)


def _part(X: Items, rows: np.ndarray, train: np.ndarray, pairwise: bool) -> Any:
    """Return some items; of similarities only those to the training items."""
    return np.asarray(X)[np.ix_(rows, train)] if pairwise else _safe_indexing(X, rows)
