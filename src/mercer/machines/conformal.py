"""Conformal prediction: intervals and sets that hold the truth as often as they promise.

A machine is wrong about rows that it has not seen; about new rows drawn alike it is as wrong. So
an interval that would have held the held-out truths in a share of the cases holds a new one in the
same share (Vovk, Gammerman & Shafer, 2005), whatever the machine and the data. Only that rows are
drawn alike, in any order, is assumed.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags

from mercer.domains import Items, admit_weights
from mercer.errors import ValidityError
from mercer.machines.chunks import require_fitted
from mercer.machines.conforming.arguments import (
    admit_rows,
    check_parameters,
    column_of,
    count_of,
)
from mercer.machines.conforming.closed_form import (
    LeftOutAnswers,
    bytes_without,
    has_closed_form,
)
from mercer.machines.conforming.fold_machines import FoldMachine, TrainingRows
from mercer.machines.conforming.guarantees import guarantee
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.label_scores import label_scores
from mercer.machines.conforming.learning import (
    HoldingOut,
    Learned,
    chances,
    method_of,
    parts_for,
    widths_of,
)
from mercer.machines.conforming.levels import check_level
from mercer.machines.conforming.shift import learn_ratio, ratio_of
from mercer.machines.planned import bytes_kept, plan_of
from mercer.plans import Decision

__all__ = ["Conformal"]

BLOCK_NUMBERS = 4_000_000  # answers of fold machines that are held at once


class Conformal(BaseEstimator):
    """Give a machine intervals, or sets of labels, with a guarantee.

    Parameters
    ----------
    machine : regressor or classifier
        Of mercer's or in scikit-learn's contract; also a pipeline.
    level : float
        The share of new items whose target is to lie in the interval or set. `predict_interval`
        and `predict_set` take any other level too.
    method : {"auto", "jackknife+", "cv+", "split"}
        "jackknife+" leaves out one item at a time (one group, if there are groups), in closed form
        and for about the cost of one fit: ridge regression and Gaussian processes, with constant
        widths. "cv+" leaves out folds, in closed form too where there is one. "split" learns from
        one part alone. "auto" takes the first of these that can be had, the jackknife up to 1000
        items.
    widths : {"constant", "normalized", "quantile"}
        Of intervals: the same for all items; in proportion to the size of errors, which another
        machine learns from held-out errors; or around two quantiles in the place of the mean. A
        `KernelQuantile` of several levels is always treated as the last.
    sets : {"adaptive", "least ambiguous"}
        How labels are ranked: sets that grow where the answer is open, or those that are smallest
        on average.
    by : optional
        "class", or a column (its name or number) whose categories shall each have the level by
        themselves.
    folds : int
        Of "cv+".
    share : float
        Of the items, that are held out by "split".
    sizes : machine, optional
        What learns the logarithm of the size of errors for "normalized", or the quantiles for
        "quantile"; by default a ridge regression, or a `KernelQuantile`, with the machine's
        kernel.
    empty : bool
        Whether a set may be empty, where no label is likely enough. Otherwise the predicted label
        is in it, and the level may be exceeded.
    random_state : int, RandomState or None
        Deals the folds.

    Attributes
    ----------
    machine_ : fitted machine
        Fitted to all items, except with "split".
    method_, widths_ : str
        What was taken.
    scores_ : HeldOutScores
        Of items that were held out.
    folds_ : list of FoldMachine
        Empty where answers without some items are in closed form.
    left_out_ : LeftOutAnswers or None
    ratio_ : fitted machine or None
        Tells how much more frequent items are where predictions are asked for.
    classes_ : ndarray
        Of a classifier.

    Notes
    -----
    Marginal, for all new items together and over all training sets: "split" holds the level p
    exactly; "jackknife+" and "cv+" hold 2p − 1 whatever happens (about, for folds), and p unless
    the machine is unstable (Barber, Candès, Ramdas & Tibshirani, 2021). `guarantee` says it in
    words.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> machine = Conformal(KernelRidge("gaussian", 0.1), level=0.9).fit(X[:100], y[:100])
    >>> low, high = machine.predict_interval(X[100:]).T
    >>> bool(0.8 <= np.mean((low <= y[100:]) & (y[100:] <= high)) <= 1.0), machine.method_
    (True, 'jackknife+')
    """

    delegate = "machine_"

    machine_: Any
    scores_: HeldOutScores
    folds_: list[FoldMachine]
    left_out_: LeftOutAnswers | None
    ratio_: Any

    def __init__(
        self,
        machine: BaseEstimator,
        level: float = 0.9,
        *,
        method: str = "auto",
        widths: str = "constant",
        sets: str = "adaptive",
        by: Any = None,
        folds: int = 10,
        share: float = 0.25,
        sizes: BaseEstimator | None = None,
        empty: bool = False,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.machine = machine
        self.level = level
        self.method = method
        self.widths = widths
        self.sets = sets
        self.by = by
        self.folds = folds
        self.share = share
        self.sizes = sizes
        self.empty = empty
        self.random_state = random_state

    # ---- learning ----------------------------------------------------------------------------

    def fit(
        self, X: Items, y: Any, sample_weight: Any = None, *, groups: Any = None,
        ratio: Any = None, new: Items | None = None,
    ) -> Self:  # fmt: skip
        """Learn from items `X` with targets `y`, and how wrong that is.

        Parameters
        ----------
        X, y, sample_weight
            As for the machine; what items weigh in learning says nothing about how often they
            will come.
        groups : sequence, optional
            What each item comes from, such as a person. Groups are held out as a whole, and count
            as one: the level is that of items of new groups.
        ratio : array, optional
            How much more frequent each item would be where predictions are asked for, up to a
            constant; then `predict_interval` and `predict_set` need the ratio of new items too.
        new : items, optional
            From where predictions are asked for, without targets. The ratio is learned from them,
            which makes the guarantee an approximate one.
        """
        level = check_level(self.level)
        check_parameters(self, X)
        rows, codes, classes = admit_rows(self.machine, X, y, sample_weight, groups)
        if ratio is not None and new is not None:
            raise ValidityError("give either the ratio itself, or new items to learn it from")
        given = None if ratio is None else admit_weights(ratio, count_of(X))
        if given is not None and rows.weights is not None:
            given = given[np.asarray(sample_weight, dtype=float) > 0]
        kinds = self._category(rows.X, codes, classes)
        none = np.zeros(len(rows), dtype=np.int64)
        # Before any work: more than all cannot be held out.
        self._kept(rows, none, none, given, *kinds).require(level)
        rng = check_random_state(self.random_state)
        widths = widths_of(self.machine, self.widths)
        method = method_of(self.machine, self.method, widths, len(rows))
        found = self._learn(rows, codes, classes, method, widths, level, rng)
        if found is None:  # the closed form loses too many digits
            method = "cv+"
            found = self._learn(rows, codes, classes, method, widths, level, rng)
        assert found is not None
        taught = None
        if new is not None:
            taught = learn_ratio(self.machine, rows.X, new, rng)
            given = ratio_of(taught, rows.X)
        kept = self._kept(rows, found.scores, found.fold, given, *kinds)
        kept.require(level)

        self.machine_, self.folds_, self.left_out_ = found.machine, found.folds, found.left_out
        self.scores_, self.ratio_, self.method_, self.widths_ = kept, taught, method, widths
        if classes is not None:
            self.classes_ = classes
        return self

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would need: the machine, and what is kept of its folds.

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> print(Conformal(KernelRidge()).plan(np.ones((500, 3))).explain())
        Route dual, solver cholesky, double precision.
        Needs about ... of ... available.
        - ...
        - jackknife+: an inverse matrix and a function for each fold, beside the machine
        """
        count = count_of(X)
        decision = plan_of(self.machine, X)
        widths = widths_of(self.machine, self.widths)
        method = method_of(self.machine, self.method, widths, count)
        folds = {"jackknife+": count, "split": 1}.get(method, int(self.folds))
        if method != "split" and widths == "constant" and has_closed_form(self.machine):
            kept = bytes_without(self.machine, X, folds)
            why = "an inverse matrix and a function for each fold, beside the machine"
            return decision.beside(kept, f"{method}: {why}")
        kept = (folds + 1) * bytes_kept(self.machine, X)
        return decision.beside(kept, f"{method}: {folds} machines of folds are kept")

    def _learn(
        self, rows: TrainingRows, codes: np.ndarray | None, classes: np.ndarray | None,
        method: str, widths: str, level: float, rng: np.random.RandomState,
    ) -> Learned | None:  # fmt: skip
        how = HoldingOut(
            self.machine, method, widths, self.sizes, self.sets, level, int(self.folds),
            float(self.share), rng, must=self.method != "auto",
        )  # fmt: skip
        if codes is None or classes is None:
            return how.numbers(rows)
        return how.labels(rows, codes, classes)

    def _kept(
        self, rows: TrainingRows, scores: np.ndarray, fold: np.ndarray, ratio: np.ndarray | None,
        category: np.ndarray | None, categories: np.ndarray | None,
    ) -> HeldOutScores:  # fmt: skip
        """Return the scores of items that were held out."""
        there = np.flatnonzero(fold >= 0)
        parts = (rows.groups, ratio, category)
        groups, some, kinds = (None if one is None else one[there] for one in parts)
        return HeldOutScores(scores[there], fold[there], groups, some, kinds, categories)

    # ---- answers -----------------------------------------------------------------------------

    def predict(self, X: Items) -> np.ndarray:
        """Return what the machine says."""
        require_fitted(self)
        return self.machine_.predict(X)

    def predict_interval(self, X: Items, level: float | None = None, ratio: Any = None) -> Any:
        """Return an interval for each item, of shape (items, 2); its ends may be infinite.

        Parameters
        ----------
        X : items
        level : float, optional
            By default that of the machine.
        ratio : array, optional
            Of the items, where `fit` was given one.
        """
        require_fitted(self)
        if is_classifier(self.machine):
            raise ValidityError("a classifier has sets of labels, no intervals; use predict_set")
        level = check_level(self.level if level is None else level)
        self.scores_.require(level)
        own, category = self._own(X, ratio), self._new_category(X)
        found = np.empty((count_of(X), 2))
        width = len(self.folds_) or len(self.left_out_.offsets)  # type: ignore[union-attr]
        for some in _blocks(len(found), width):
            part = _safe_indexing(X, np.arange(len(found))[some])
            low, high, scale = self._bounds(part)
            kinds = None if category is None else category[some]
            found[some] = self.scores_.intervals(
                low, high, scale, level, kinds, None if own is None else own[some]
            )
        return found

    def predict_set(self, X: Items, level: float | None = None, ratio: Any = None) -> np.ndarray:
        """Return which of `classes_` are in the set of each item, of shape (items, classes)."""
        require_fitted(self)
        if not is_classifier(self.machine):
            raise ValidityError("a regressor has intervals, no sets; use predict_interval")
        level = check_level(self.level if level is None else level)
        self.scores_.require(level)
        answers = [chances(one.machine, X, self.classes_) for one in self.folds_]
        part = parts_for(self.sets, self.machine_, X)
        ranked = np.stack([label_scores(P, self.sets, part) for P in answers], axis=1)
        category = self._new_category(X)
        if self.by == "class":
            category = np.tile(np.arange(len(self.classes_)), (len(ranked), 1))
        elif category is not None:
            category = np.repeat(category[:, None], len(self.classes_), axis=1)
        found = self.scores_.sets(ranked, level, category, self._own(X, ratio))
        if not self.empty:
            bare = np.flatnonzero(~found.any(axis=1))
            if len(bare):
                named = self.machine_.predict(_safe_indexing(X, bare))
                found[bare, np.searchsorted(self.classes_, named)] = True
        return found

    def guarantee(self, level: float | None = None) -> str:
        """Say in words what is promised, and what that assumes."""
        require_fitted(self)
        level = check_level(self.level if level is None else level)
        return guarantee(self.scores_, self.method_, level, self.by, self.ratio_ is not None)

    def score(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the machine's own score."""
        require_fitted(self)
        return self.machine_.score(X, y, sample_weight=sample_weight)

    def _bounds(self, X: Items) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return what each fold's machine says of items, between which bounds, in which unit."""
        if self.left_out_ is not None:
            machine = self.machine_
            found = self.left_out_(machine._admit_new(X, machine.kernel_))
            return found, found, None
        bounds = [one.bounds(X) for one in self.folds_]
        scales = [one.scale(X) for one in self.folds_]
        low, high = (np.column_stack(parts) for parts in zip(*bounds, strict=True))
        known = [scale for scale in scales if scale is not None]
        return low, high, np.column_stack(known) if known else None

    def _own(self, X: Items, ratio: Any) -> np.ndarray | None:
        """Return the ratio of new items."""
        if self.ratio_ is not None:
            return ratio_of(self.ratio_, X)
        if (self.scores_.ratio is None) != (ratio is None):
            told = "was" if ratio is None else "was not"
            raise ValidityError(
                f"fit {told} given the ratio of its items, so that new ones need it "
                f"{'too' if ratio is None else 'no more than they'}"
            )
        return None if ratio is None else admit_weights(ratio, count_of(X))

    # ---- arguments ---------------------------------------------------------------------------

    def _category(
        self, X: Items, codes: np.ndarray | None, classes: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the category of each training item, and what they are called."""
        if self.by is None:
            return None, None
        if self.by == "class" and codes is not None:
            return codes, classes
        named, found = np.unique(column_of(X, self.by), return_inverse=True)
        return found, named

    def _new_category(self, X: Items) -> np.ndarray | None:
        if self.by is None or (self.by == "class" and is_classifier(self.machine)):
            return None
        return self.scores_.codes(column_of(X, self.by))

    def __getattr__(self, name: str) -> Any:
        """Return what the machine has learned, or can say."""
        if "machine_" in vars(self) and not name.startswith("_"):
            if name.endswith("_") or name in ("predict_proba", "decision_function"):
                return getattr(self.machine_, name)
        elif name == "predict_proba" and "machine" in vars(self):
            return getattr(self.machine, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.machine, BaseEstimator):
            own = get_tags(self.machine)
            tags.input_tags, tags.estimator_type = own.input_tags, own.estimator_type
            tags.target_tags = own.target_tags
            tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
            if tags.regressor_tags is not None:
                tags.target_tags.multi_output = False
        return tags


def _blocks(count: int, width: int) -> list[slice]:
    size = max(BLOCK_NUMBERS // max(width, 1), 1)
    return [slice(i, min(i + size, count)) for i in range(0, count, size)] or [slice(0, 0)]
