"""Choice models: estimators that say how people would categorize.

All of them store exemplars, have a few parameters with names, and give scores whose softmax are
the probabilities of the answers. What they share is here: fitting to the responses of one or
several subjects, prediction, criteria and intervals.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.choices.fitting import (
    SMALLEST_START,
    Constraint,
    Fit,
    Minimum,
    ParameterLayout,
    PositiveReal,
    ResponseLoss,
    Rule,
    Simplex,
    search,
    summarize_fit,
)
from mercer.cognition.choices.intervals import (
    bootstrap_intervals,
    profile_intervals,
    simulate_counts,
)
from mercer.cognition.experiments.responses import (
    LOSSES,
    Responses,
    admit_responses,
    log_softmax,
    pooled_responses,
)
from mercer.cognition.experiments.stimuli import (
    Distances,
    Memory,
    admit_stimuli,
    memorize,
    named_columns,
)
from mercer.domains import Items
from mercer.errors import ConvergenceWarning, DomainError, ValidityError, suggestion
from mercer.kernels import Shepard
from mercer.rkhs import Function
from mercer.values import Seed, positive, whole

__all__ = ["ChoiceModel", "admit_shares"]

NUMBERS_AT_ONCE = 2**21  # that prediction holds
RESULTS = ("fit_", "log_likelihood_", "sse_", "aic_", "bic_", "subjects_", "_asked")


class ChoiceModel(ClassifierMixin, BaseEstimator):
    """What the models of categorization share: fit, predict, criteria, intervals."""

    # What each parameter is: "positive", or weights that sum to one, for each "dimension" or
    # "category".
    kinds: ClassVar[dict[str, str]]
    # Mean and spread of the logarithms of random starts; sensitivity in units of typical distance.
    spread: ClassVar[dict[str, tuple[float, float]]] = {
        "sensitivity": (1.0, 1.0),
        "gamma": (0.0, 0.7),
    }
    order: Any
    exponent: Any
    saved: ClassVar[tuple[str, ...]] = (
        "_asked",
        "_columns",
        "_layout_",
        "_memory",
    )  # in model files

    free: Any
    loss: Any
    starts: Any
    random_state: Any
    max_iter: Any

    def fit(
        self,
        exemplars: Items,
        categories: ArrayLike,
        stimuli: Items | None = None,
        responses: ArrayLike | None = None,
        strengths: ArrayLike | None = None,
    ) -> Self:
        """Store the exemplars and, if there are responses, fit what is free to them.

        Parameters
        ----------
        exemplars : array of shape (n, dimensions)
        categories : array of shape (n,)
            The category of each exemplar.
        stimuli : array of shape (m, dimensions), optional
            What was asked about; by default the exemplars.
        responses : array of shape (m, categories) or (subjects, m, categories), optional
            How often each category was answered, the categories in the order of `classes_`.
            Proportions are allowed with ``loss="sse"``.
        strengths : array of shape (n,), optional
            How well each exemplar is remembered; by default all 1.
        """
        memory = self._store(memorize(exemplars, categories, strengths))
        layout = self._layout(memory)
        width = memory.width
        columns = named_columns(exemplars)
        rows = None if stimuli is None else admit_stimuli(stimuli, "stimuli", width, columns)
        results: dict[str, Any] = {}
        params = dict(layout.given)
        if responses is not None:
            rows = admit_stimuli(exemplars, "exemplars") if rows is None else rows
            results = self._results(memory, layout, rows, responses)
            params = results["fit_"].params
        function = self._function(memory, params)

        for name in RESULTS:
            self.__dict__.pop(name, None)
        self.classes_, self.n_features_in_ = memory.classes, width
        self.params_, self.function_, self.kernel_ = params, function, function.kernel
        self.free_ = tuple(part.name for part in layout.parts)
        self._memory, self._layout_, self._columns = memory, layout, columns
        for name, value in results.items():
            setattr(self, name, value)
        return self

    def predict_proba(self, stimuli: Items, subject: int | None = None) -> np.ndarray:
        """Return the probability of each answer, of all subjects together or of one."""
        return np.exp(self.predict_log_proba(stimuli, subject))

    def predict_log_proba(self, stimuli: Items, subject: int | None = None) -> np.ndarray:
        """Return the logarithm of the probability of each answer."""
        check_is_fitted(self)
        params = self.params_ if subject is None else self._subject(subject).params
        rows = admit_stimuli(stimuli, "stimuli", self.n_features_in_, self._columns)
        size = max(1, NUMBERS_AT_ONCE // (len(self._memory.rows) * self.n_features_in_))
        parts = [rows[i : i + size] for i in range(0, len(rows), size)]
        scores = [self._rule(self._memory, part)(params)[0] for part in parts]
        return log_softmax(np.concatenate(scores))

    def predict(self, stimuli: Items) -> np.ndarray:
        """Return the most probable answer to each stimulus."""
        return self.classes_[self.predict_log_proba(stimuli).argmax(axis=1)]

    def log_likelihood(
        self, stimuli: Items, responses: ArrayLike, subject: int | None = None
    ) -> float:
        """Return Σ n log p of other responses, for example of held-out subjects."""
        log_p = self.predict_log_proba(stimuli, subject)
        many = admit_responses(responses, len(log_p), self.classes_)
        return sum(one.log_likelihood(log_p) for one in many)

    def simulate(
        self, stimuli: Items, trials: ArrayLike = 1, random_state: Seed = None
    ) -> np.ndarray:
        """Return random counts of answers, to so many trials of each stimulus."""
        rng = np.random.default_rng(random_state)
        return simulate_counts(self.predict_log_proba(stimuli), trials, rng)

    def intervals(
        self,
        level: float = 0.95,
        method: str = "profile",
        *,
        samples: int = 200,
        random_state: Seed = 0,
        subject: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Return a confidence interval for each free parameter.

        Parameters
        ----------
        level : float
            Share of experiments in which the interval should hold the true value.
        method : {"profile", "bootstrap"}
            Profile likelihood, or the quantiles of fits to simulated responses. Where parameters
            trade off against each other the profile is to be preferred.
        samples : int
            Simulated experiments of the bootstrap.
        random_state : int, Generator or None
        subject : int, optional
            Of one subject instead of all together.

        Returns
        -------
        dict
            Arrays of shape (2,), or (weights, 2) for attention and bias.
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValidityError(f"level must be between 0 and 1, found {level!r}")
        objective, best = self._objective(subject)
        if method == "profile":
            if self.loss == "sse":
                raise ValidityError(
                    'profiles are of the likelihood, but loss is "sse"; use method="bootstrap"'
                )
            return profile_intervals(objective, best, level)
        if method != "bootstrap":
            hint = suggestion(method, ("profile", "bootstrap"))
            raise ValidityError(f"method cannot be {method!r}{hint}")
        if not objective.data.are_counts:
            raise DomainError(
                "the responses are proportions, and nobody knows of how many responses to "
                "simulate; fit counts"
            )
        rng = np.random.default_rng(random_state)
        return bootstrap_intervals(objective, best, level, whole(self, "samples", samples), rng)

    def _results(
        self, memory: Memory, layout: ParameterLayout, rows: np.ndarray, responses: ArrayLike
    ) -> dict[str, Any]:
        """Fit all subjects together, and each of several alone."""
        subjects = admit_responses(responses, len(rows), memory.classes, self.loss)
        rule, starts = self._rule(memory, rows), self._starts(memory, layout, rows)
        together = pooled_responses(subjects)
        pooled = self._search(rule, layout, together, starts)
        fit = summarize_fit(rule, together, pooled, layout.count)
        results = {
            "fit_": fit,
            "log_likelihood_": fit.log_likelihood,
            "sse_": fit.sse,
            "aic_": fit.aic,
            "bic_": fit.bic,
            "_asked": (rows, together, subjects),
        }
        if np.ndim(responses) == 3:
            starts = [pooled.z, *starts]
            found = [self._search(rule, layout, one, starts) for one in subjects]
            results["subjects_"] = [
                summarize_fit(rule, one, minimum, layout.count)
                for one, minimum in zip(subjects, found, strict=True)
            ]
        return results

    def _search(
        self, rule: Rule, layout: ParameterLayout, data: Responses, starts: list[np.ndarray]
    ) -> Minimum:
        objective = ResponseLoss(rule, layout, data, self.loss)
        found = search(objective, starts, whole(self, "max_iter", self.max_iter))
        if not found.converged:
            warnings.warn(
                f"the best of {len(starts)} starts still has the slope {found.slope:.2g}; give "
                "more steps with max_iter, or more starts",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _starts(
        self, memory: Memory, layout: ParameterLayout, rows: np.ndarray
    ) -> list[np.ndarray]:
        """Return the given parameters and random ones, as coordinates."""
        rng = np.random.default_rng(self.random_state)
        few = rows[: max(1, NUMBERS_AT_ONCE // memory.rows.size)]
        typical = Distances(
            few, memory.rows, float(self.order), float(self.exponent)
        ).typical_distance()
        # What has no weight at first would have no slope either, and never get any.
        lifted = {
            name: np.maximum(value, SMALLEST_START) if np.ndim(value) else value
            for name, value in layout.given.items()
        }
        starts = [layout.coordinates(lifted)]
        for _ in range(whole(self, "starts", self.starts) - 1 if layout.parts else 0):
            starts.append(np.concatenate([self._draw(p, rng, typical) for p in layout.parts]))
        return starts

    def _draw(self, part: Constraint, rng: np.random.Generator, typical: float) -> np.ndarray:
        """Return random coordinates of one parameter."""
        if not isinstance(part, PositiveReal):
            return part.coordinates(rng.dirichlet(np.ones(part.size)))
        mean, deviation = self.spread[part.name]
        unit = 1 / typical if part.name == "sensitivity" else 1.0
        return part.coordinates(unit * np.exp(mean + deviation * rng.standard_normal()))

    def _objective(self, subject: int | None) -> tuple[ResponseLoss, Minimum]:
        if not hasattr(self, "fit_"):
            raise ValidityError(
                "there are no responses that parameters were fitted to; call fit with responses"
            )
        fit = self.fit_ if subject is None else self._subject(subject)
        rows, together, subjects = self._asked
        data = together if subject is None else subjects[subject]
        objective = ResponseLoss(self._rule(self._memory, rows), self._layout_, data, self.loss)
        z = self._layout_.coordinates(fit.params)
        log_p = log_softmax(objective.rule(fit.params)[0])
        value = (data.sse_loss if self.loss == "sse" else data.likelihood_loss)(log_p)[0]
        return objective, Minimum(z, fit.params, value, fit.slope)

    def _subject(self, subject: int) -> Fit:
        several = getattr(self, "subjects_", ())
        if subject not in range(len(several)):
            raise DomainError(f"there is no subject {subject!r}; {len(several)} were fitted alone")
        return several[subject]

    def _layout(self, memory: Memory) -> ParameterLayout:
        """Return all parameters as they are given, and which of them are free."""
        if self.loss not in LOSSES:
            raise ValidityError(f"loss cannot be {self.loss!r}{suggestion(self.loss, LOSSES)}")
        for name in ("order", "exponent"):
            positive(self, name, getattr(self, name))
        free = (self.free,) if isinstance(self.free, str) else tuple(self.free or ())
        for name in free:
            if name not in self.kinds:
                raise ValidityError(f"free names {name!r}{suggestion(name, self.kinds)}")
        given = {name: self._value(name, memory) for name in self.kinds}
        parts = (self._constraint(name, memory) for name in self.kinds if name in free)
        return ParameterLayout(given, tuple(parts))

    def _kernel(self, params: Mapping[str, Any]) -> Shepard:
        attention = tuple(float(w) for w in params["attention"])
        return Shepard(params["sensitivity"], self.order, self.exponent, attention)

    def _store(self, memory: Memory) -> Memory:
        """Return what is kept of the exemplars."""
        return memory

    def _value(self, name: str, memory: Memory) -> Any:
        """Return a parameter as it is given, checked."""
        kind, value = self.kinds[name], getattr(self, name)
        if kind == "positive":
            return positive(self, name, value)
        # A dimension may be ignored, but every category can be answered.
        return admit_shares(self, name, value, memory.count(kind), kind, zero=kind == "dimension")

    def _constraint(self, name: str, memory: Memory) -> Constraint:
        """Return what the values of a parameter have to obey."""
        kind = self.kinds[name]
        return PositiveReal(name) if kind == "positive" else Simplex(name, memory.count(kind))

    def _rule(self, memory: Memory, rows: np.ndarray) -> Rule:
        """Return the scores of stimuli as a function of the parameters."""
        raise NotImplementedError

    def _function(self, memory: Memory, params: Mapping[str, Any]) -> Function:
        """Return the function that was learned, a column for each category."""
        raise NotImplementedError


def admit_shares(
    owner: object, name: str, value: ArrayLike | None, count: int, per: str, zero: bool
) -> np.ndarray:
    """Return weights that sum to one, by default equal ones."""
    if value is None:
        return np.full(count, 1 / count)
    who = f"{name} of {type(owner).__name__}"
    try:
        weights = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValidityError(f"{who} must be numbers, one per {per}; found {value!r}") from error
    if weights.shape != (count,):
        raise ValidityError(f"{who} must have one number per {per}, {count} in all; found {value}")
    wrong = ~np.isfinite(weights) | (weights < 0) | ((weights == 0) & (not zero))
    if wrong.any():
        k = int(np.argmax(wrong))
        kind = "not negative" if zero else "positive"
        raise ValidityError(
            f"{who} must be finite and {kind}, but that of {per} {k} is {weights[k]}"
        )
    total = float(weights.sum())
    if abs(total - 1) > 1e-6:
        raise ValidityError(f"{who} must sum to 1, but sums to {total:.6g}; divide it by its sum")
    return weights
