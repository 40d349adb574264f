"""A learned metric: similarity that finds out what matters.

Attention of psychology and learned features of engineering are one parameter, the metric of a
kernel. `mercer.machines.metric_path` says how it is learned.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from mercer.domains import Items, is_frame
from mercer.errors import ValidityError, suggestion
from mercer.kernels import named
from mercer.machines.chunks import require_fitted
from mercer.machines.folds import stratified_sample
from mercer.machines.metric_path import MetricRound, is_ridge
from mercer.machines.metric_race import (
    Kinds,
    MetricRace,
    MetricTask,
    MetricTrial,
    cheapest,
    deal,
    first_round,
    name_of,
    pairs_of,
)
from mercer.machines.metric_search import KEPT_PER_TERM
from mercer.machines.metric_terms import diagonal_of, metric_terms, takes_matrix
from mercer.plans import Decision

__all__ = ["LearnedMetric", "MetricTrial"]

KINDS = ("auto", "diagonal", "full")
MAX_FULL_WIDTH = 300  # columns, beyond which a full metric takes longer than the fits
MIN_ROWS_PER_DIRECTION = 4  # of a full metric; with fewer it learns the rows by heart
# Of the sample, beside those of the terms: the sums of two places and of a third that is made, an
# inverse in each of two threads with what it is made from, and the best one.
MATRICES_OF_SEARCH = 9


class LearnedMetric(BaseEstimator):
    """Let a machine learn how much each column, and each direction, matters.

    The machine is fitted, the mean outer product of the gradients of its function becomes the
    metric of its kernel, and it is fitted again, a few rounds long (Radhakrishnan et al., Science
    2024). Kind of metric and number of rounds are those with the smallest error on folds; none at
    all is among them. Bandwidth and penalty of ridge-like machines are searched in each round by
    exact leave-one-out errors, so that no rows are given away for validation.

    Parameters
    ----------
    machine : machine
        `KernelRidge`, `KernelRidgeClassifier`, `GaussianProcess`, `KernelLogistic`, `SVC`, … with
        a kernel that takes a metric: Gaussian, Exponential, Laplacian, Matern,
        RationalQuadratic, Shepard, or a sum of these, whose terms share what is learned.
    rounds : int
        The most rounds.
    metric : {"auto", "diagonal", "full"} or a sequence of them
        Weights of columns, a whole matrix, or whichever is better; of a sum also one for each
        term. Distances of another order than 2 have weights.
    sample : int
        Items that the metric is learned from; the machine then learns from all.
    search : bool
        Whether bandwidth and penalty are searched. Otherwise the penalty is the machine's own, and
        the bandwidth the median distance. Only ridge-like machines are searched.
    folds : int
        That compare kinds and rounds.
    random_state : int, RandomState or None
        Draws the sample and deals the folds.

    Attributes
    ----------
    machine_ : machine
        Fitted to all items, with the metric in its kernel.
    metric_ : ndarray of shape (d,) or (d, d), or None
        The mean outer product of the gradients, divided by its largest entry: what multiplies
        squared differences. None if no metric was better.
    attention_ : dict of str to float
        The share of each column in the metric's diagonal, by column name, as
        `mercer.plots.plot_attention` draws it.
    kind_, rounds_ : str, int
        What was chosen.
    history_ : list of MetricTrial
        What it was compared with.
    reason_ : str
        Why this metric, in words.
    held_out_, held_out_items_ : ndarray
        Predictions of the chosen path for items of the sample that it had not seen, and which
        items these are.

    Notes
    -----
    What the machine has learned (``kernel_``, ``function_``, ``plan_``, …) is found here too.
    Cost: about ten factors of the sample in each round, and one for each fold; then one fit.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Exponential
    >>> X = np.random.default_rng(0).uniform(-2, 2, (200, 6))
    >>> machine = LearnedMetric(KernelRidge(Exponential())).fit(X, np.sin(2 * X[:, 3]))
    >>> max(machine.attention_, key=machine.attention_.get)
    'x3'
    """

    delegate = "machine_"

    def __init__(
        self,
        machine: Any,
        rounds: int = 5,
        metric: str | Sequence[str] = "auto",
        *,
        sample: int = 1200,
        search: bool = True,
        folds: int = 3,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.machine = machine
        self.rounds = rounds
        self.metric = metric
        self.sample = sample
        self.search = search
        self.folds = folds
        self.random_state = random_state

    # ---- learning ---------------------------------------------------------------------------

    def fit(
        self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None, *,
        splits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> Self:  # fmt: skip
        """Learn the metric from some of the items, and then the machine from all of them.

        With `splits`, pairs of items to learn from and items to hold out, nothing is compared by
        other folds: bandwidths and penalty are then those with the smallest error on the parts
        that are held out, instead of on single items.
        """
        machine = self._checked(sample_weight)
        points = machine._admit(X)
        task = MetricTask.of(machine, points, y, sample_weight)
        rng = check_random_state(self.random_state)
        chosen = stratified_sample(task.codes, task.counted, int(self.sample), rng)
        some = task.part(chosen)
        kinds = self._kinds(machine, some.points.width, len(chosen))
        pairs = (
            pairs_of(deal(some.codes, int(self.folds), rng))
            if splits is None
            else _within(splits, chosen)
        )
        race = MetricRace(
            machine, some, pairs, int(self.rounds), self._searches, splits is not None
        )
        last, best = self._compare(race, kinds)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}

        self.machine_ = self._tuned(machine, last).fit(X, y, **given)
        self.metric_ = last.outer
        self.kind_, self.rounds_ = best.kind, best.round
        self.attention_ = _attention(self.metric_, _names(X, points.width))
        self.history_, self.reason_ = race.trials or [best], _reason(race, best, kinds)
        held = np.flatnonzero(race.held) if race.trials else np.empty(0, dtype=np.int64)
        self.held_out_items_ = chosen[held]
        self.held_out_ = (
            race.values[race.trials.index(best)][held] if race.trials else np.empty((0, 1))
        )
        return self

    def plan(self, X: Items) -> Decision:
        """Return what the last fit would do with these items, with the memory of the search.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelRidge
        >>> LearnedMetric(KernelRidge("gaussian")).plan(np.zeros((500, 3))).solver
        'cholesky'
        """
        machine = self._checked(None)
        decision = machine.plan(X)
        count = min(len(X), int(self.sample))  # type: ignore[arg-type]
        terms = len(metric_terms(machine.kernel) or [])
        search = 8 * (MATRICES_OF_SEARCH + KEPT_PER_TERM * terms) * count**2
        why = (
            f"before that, the metric is learned from {count} items in about "
            f"{10 * (int(self.rounds) + 1)} factors of their matrix"
        )
        needed = max(decision.bytes, search)
        return replace(decision, bytes=needed, reasons=(*decision.reasons, why))

    @property
    def _searches(self) -> bool:
        return bool(self.search) and is_ridge(self.machine)

    def _compare(self, race: MetricRace, kinds: list[Kinds]) -> tuple[MetricRound, MetricTrial]:
        """Return the best round of all kinds, and what folds say of it."""
        if not race.judges or not kinds or not race.rounds:
            terms = metric_terms(race.machine.kernel) or []
            none = tuple("diagonal" for _ in terms)
            found = first_round(race.machine, race.task, none, self._searches)
            return found, MetricTrial("none", 0, float("nan"))
        for one in kinds:
            race.run(one)
        best = cheapest(race.trials)
        chosen = next((one for one in kinds if name_of(one) == best.kind), kinds[0])
        return race.paths[chosen][best.round], best

    def _kinds(self, machine: BaseEstimator, width: int, count: int) -> list[Kinds]:
        """Return the kinds of metrics that so many items can teach, the simplest first."""
        terms = metric_terms(machine.kernel) or []
        if width < 2:
            return []
        if not isinstance(self.metric, str):
            return [tuple(self.metric)]
        diagonal = tuple("diagonal" for _ in terms)
        full = tuple("full" if takes_matrix(term) else "diagonal" for term in terms)
        if self.metric != "auto":
            return [full if self.metric == "full" else diagonal]
        if width <= MAX_FULL_WIDTH and count >= MIN_ROWS_PER_DIRECTION * width:
            return list(dict.fromkeys([diagonal, full]))
        return [diagonal]

    def _tuned(self, machine: BaseEstimator, last: MetricRound) -> Any:
        """Return the machine with the kernel of a round, and its penalty if that was searched."""
        chosen: dict[str, Any] = {"kernel": last.kernel}
        if self._searches:
            chosen["penalty"] = last.penalty
        return clone(machine).set_params(**chosen)

    def _checked(self, sample_weight: ArrayLike | None) -> Any:
        """Return the machine with its kernel as an object; refuse what cannot work."""
        machine = self.machine
        if not isinstance(machine, BaseEstimator) or not hasattr(machine, "kernel"):
            raise ValidityError(f"machine must be a mercer machine, found {machine!r}")
        machine = clone(machine)
        if isinstance(machine.kernel, str):
            machine.set_params(kernel=named(machine.kernel))
        terms = metric_terms(machine.kernel)
        if terms is None:
            raise ValidityError(
                f"{machine.kernel!r} takes no metric; those that do are Gaussian, Exponential, "
                "Laplacian, Matern, RationalQuadratic, Shepard, and sums of these"
            )
        if not (is_classifier(machine) or is_regressor(machine)):
            raise ValidityError(
                f"{type(machine).__name__} predicts neither labels nor numbers, so it cannot tell "
                "what matters"
            )
        for name, least in (("rounds", 0), ("sample", 4), ("folds", 2)):
            value = getattr(self, name)
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or value < least:
                raise ValidityError(
                    f"{name} must be a whole number from {least} on, found {value!r}"
                )
        self._check_metric(len(terms))
        if sample_weight is not None and not has_fit_parameter(machine, "sample_weight"):
            raise ValidityError(f"{type(machine).__name__} does not take sample_weight")
        return machine

    def _check_metric(self, terms: int) -> None:
        if isinstance(self.metric, str):
            if self.metric not in KINDS:
                raise ValidityError(
                    f"metric cannot be {self.metric!r}{suggestion(self.metric, KINDS)}"
                )
            return
        found = list(self.metric)
        if len(found) != terms or not set(found) <= set(KINDS[1:]):
            raise ValidityError(
                f"metric must name 'diagonal' or 'full' for each of the {terms} terms of the "
                f"kernel, found {self.metric!r}"
            )

    # ---- using ------------------------------------------------------------------------------

    def predict(self, X: Items) -> np.ndarray:
        """Return what the machine predicts."""
        require_fitted(self)
        return self.machine_.predict(X)

    @available_if(lambda self: hasattr(self.machine, "decision_function"))
    def decision_function(self, X: Items) -> np.ndarray:
        """Return the decision values of the machine."""
        require_fitted(self)
        return self.machine_.decision_function(X)

    @available_if(lambda self: hasattr(self.machine, "predict_proba"))
    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probabilities of the machine."""
        require_fitted(self)
        return self.machine_.predict_proba(X)

    def score(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or R²."""
        require_fitted(self)
        return float(self.machine_.score(X, y, sample_weight))

    def __getattr__(self, name: str) -> Any:
        """Return what the machine has learned."""
        if name.endswith("_") and not name.startswith("_") and "machine_" in vars(self):
            return getattr(self.machine_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.machine, BaseEstimator):
            own = get_tags(self.machine)
            tags.estimator_type, tags.target_tags = own.estimator_type, own.target_tags
            tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
            tags.input_tags = own.input_tags
        return tags


def _reason(race: MetricRace, best: MetricTrial, kinds: list[Kinds]) -> str:
    """Say why this metric."""
    points = race.task.points
    if points.width < 2:
        return "one column needs no metric"
    if not race.trials:
        return "no metric: there are too few items, or no rounds, to compare metrics"
    fewer = ""
    if not any("full" in one for one in kinds):
        fewer = f" ({len(points)} items are too few for a matrix of {points.width}²)"
    if best.kind == "none":
        return "no metric: none had a smaller error on folds" + fewer
    before = race.trials[0].error
    gain = 1 - best.error / before if before > 0 else 0.0
    rounds = "1 round" if best.round == 1 else f"{best.round} rounds"
    return f"{best.kind} metric after {rounds}: {gain:.0%} less error on folds" + fewer


def _within(
    splits: Sequence[tuple[np.ndarray, np.ndarray]], chosen: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return splits of all items as splits of those that were chosen, by their places there."""
    found = []
    for train, test in splits:
        own, held = (np.flatnonzero(np.isin(chosen, part)) for part in (train, test))
        if len(own) and len(held):
            found.append((own, held))
    return found


def _attention(metric: np.ndarray | None, names: list[str]) -> dict[str, float]:
    """Return the share of each column in the diagonal of a metric."""
    own = np.ones(len(names)) if metric is None else diagonal_of(metric)
    share = own / (float(own.sum()) or 1.0)
    return {name: float(value) for name, value in zip(names, share, strict=True)}


def _names(X: Items, width: int) -> list[str]:
    if is_frame(X):
        return [str(name) for name in X.columns]
    return [f"x{j}" for j in range(width)]
