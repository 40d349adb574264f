"""Likelihoods of people: how probable the answers of each are, as a function of their parameters.

All that is above this file, population and posterior, asks one thing of a model: the
log-likelihoods of many people at once, each with coordinates of their own. For models of summed
similarity they are computed together, for others one after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import ParameterLayout, PositiveReal, Simplex
from mercer.cognition.choices.gcm import LuceModel, SummedSimilarity
from mercer.cognition.choices.reals import Share
from mercer.cognition.experiments.experiment import Experiment, remarks
from mercer.cognition.experiments.responses import Responses, admit_responses, log_softmax
from mercer.cognition.experiments.stimuli import admit_stimuli, memorize
from mercer.cognition.experiments.trials import TrialSequence
from mercer.cognition.learners.learner import Learner, Trials, admit_trials
from mercer.cognition.people.coordinates import FARTHEST, Coordinates
from mercer.cognition.people.timed import TimedPeople, wants_times
from mercer.errors import DomainError, SolveError, ValidityError, suggestion

__all__ = ["ChoicePeople", "LearningPeople", "People", "people_of"]

IMPOSSIBLE = -1e6  # the log-likelihood of what no learner does, or of learning that diverges
NUMBERS_AT_ONCE = 2**23  # that many people together take
LEAST = 1e-12  # probability that is told from 0


class People(Protocol):
    """The answers of some people, with the likelihood of a model."""

    explains: str  # what the likelihood is of
    space: Coordinates
    count: int

    def log_likelihoods(self, U: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of person who[i] with the coordinates U[i]."""

    def pointwise(self, u: np.ndarray, person: int) -> np.ndarray:
        """Return the log-likelihood of each observation of a person."""

    def observations(self) -> int:
        """Return the number of answers of all people."""

    def remarks(self) -> list[str]:
        """Return what a reader of the answers should know."""

    def start(self) -> np.ndarray:
        """Return coordinates where a search may begin."""

    def only(self, who: np.ndarray) -> Self:
        """Return some of the people."""

    def deal(self, folds: int, rng: np.random.Generator) -> list[tuple[Self, Self]]:
        """Deal the answers of each person to folds; return, for each, the others and its own."""


class ChoicePeople:
    """Answers of people to stimuli, with a choice model."""

    explains = "answers"

    def __init__(self, model: ChoiceModel, experiment: Experiment) -> None:
        data = experiment
        memory = model._store(memorize(data.exemplars, data.categories, data.strengths))
        self.layout = model._layout(memory)
        if not self.layout.parts:
            raise ValidityError("no parameter is free, so people cannot differ")
        rows = admit_stimuli(data.stimuli, "stimuli", memory.width)
        if np.ndim(data.responses) != 3:
            raise DomainError(
                "people need responses of shape (subjects, stimuli, categories), found "
                f"{np.shape(data.responses)}; for one group of answers use the model's fit"
            )
        subjects = admit_responses(data.responses, len(rows), memory.classes)
        self.counts = np.array([one.counts for one in subjects])
        self.model, self.memory, self.rows = model, memory, rows
        self.names = data.subjects
        self.space, self.count = Coordinates(self.layout), len(self.counts)
        self.rule = model._rule(memory, rows)
        self.together = self._together()

    def log_likelihoods(self, U: np.ndarray, who: np.ndarray) -> np.ndarray:
        if self.together is not None:
            size = max(1, NUMBERS_AT_ONCE // self.together.numbers)
            pieces = [slice(i, i + size) for i in range(0, len(U), size)]
            return np.concatenate([self._together_of(U[p], who[p]) for p in pieces])
        found = np.empty(len(U))
        for i, (u, person) in enumerate(zip(U, who, strict=True)):
            found[i] = np.vdot(self.counts[person], self._log_p(u))
        return np.where(np.isfinite(found), found, IMPOSSIBLE)

    def _together_of(self, U: np.ndarray, who: np.ndarray) -> np.ndarray:
        assert self.together is not None
        return np.asarray(np.einsum("smk,smk->s", self.counts[who], self.together(U)))

    def pointwise(self, u: np.ndarray, person: int) -> np.ndarray:
        counts = self.counts[person]
        return np.sum(counts * self._log_p(u), axis=1)[counts.sum(axis=1) > 0]

    def observations(self) -> int:
        return int(self.counts.sum())

    def remarks(self) -> list[str]:
        """Return what a reader of the answers should know."""
        return remarks(self.counts, self.names, self.memory.classes)

    def only(self, who: np.ndarray) -> Self:
        return self._with(self.counts[who], [self.names[i] for i in who])

    def deal(self, folds: int, rng: np.random.Generator) -> list[tuple[Self, Self]]:
        held = np.zeros((folds, *self.counts.shape))
        for person, counts in enumerate(self.counts):
            cells = np.repeat(np.arange(counts.size), counts.astype(np.int64).ravel())
            fold = rng.permutation(np.arange(len(cells)) % folds)
            np.add.at(held[:, person].reshape(folds, -1), (fold, cells), 1)
        return [(self._with(self.counts - one, self.names), self._with(one, self.names))
                for one in held]  # fmt: skip

    def _with(self, counts: np.ndarray, names: list[Any]) -> Self:
        """Return people with these answers."""
        found = copy.copy(self)
        found.counts, found.names, found.count = counts, names, len(counts)
        return found

    def start(self) -> np.ndarray:
        """Return what fits all people together."""
        pooled = Responses(self.counts.sum(axis=0))
        starts = self.model._starts(self.memory, self.layout, self.rows)
        found = self.model._search(self.rule, self.layout, pooled, starts)
        return self.space.of(found.params)

    def _log_p(self, u: np.ndarray) -> np.ndarray:
        return np.maximum(log_softmax(self.rule(self.space.params(u))[0]), np.log(LEAST))

    def _together(self) -> LuceTogether | None:
        """Return what gives the log probabilities of several people at once, or None."""
        if isinstance(self.model, LuceModel) and isinstance(self.rule, SummedSimilarity):
            return LuceTogether(self.rule, self.space)
        return None


class LuceTogether:
    """Log probabilities by summed similarity, for many sets of parameters at once."""

    def __init__(self, rule: SummedSimilarity, space: Coordinates) -> None:
        self.rule, self.space = rule, space
        self.places: dict[str, tuple[slice, bool]] = {}
        start = 0
        for part in space.layout.parts:
            self.places[part.name] = (slice(start, start + part.size), isinstance(part, Simplex))
            start += part.size

    @property
    def numbers(self) -> int:
        """How many numbers one set of parameters takes while it is computed."""
        m, n = self.rule.space.shape
        return 3 * m * n

    def __call__(self, U: np.ndarray) -> np.ndarray:
        Z = np.clip(U @ self.space.basis.T, -FARTHEST, FARTHEST)
        c, w, b, gamma = (self._values(name, Z) for name in LuceModel.kinds)
        rule, (m, n) = self.rule, self.rule.space.shape
        D = (w @ rule.space.terms).reshape(len(U), m, n)
        decay = D if rule.space.power == 1 else D**rule.space.power
        E = rule.log_strengths - c[:, :, None] * decay
        top = np.maximum.reduceat(E, rule.runs, axis=2)
        E -= top[:, :, rule.codes]
        np.exp(E, out=E)
        scores = np.log(b)[:, None, :] + gamma[:, :, None] * (
            top + np.log(np.add.reduceat(E, rule.runs, axis=2))
        )
        scores -= scores.max(axis=2, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=2, keepdims=True))
        return np.maximum(scores, np.log(LEAST))

    def _values(self, name: str, Z: np.ndarray) -> np.ndarray:
        """Return the values of a parameter, a row for each set."""
        if name not in self.places:
            given = np.atleast_1d(self.space.layout.given[name])
            return np.broadcast_to(given, (len(Z), len(given)))
        where, simplex = self.places[name]
        values = np.exp(Z[:, where])
        return values / values.sum(axis=1, keepdims=True) if simplex else values


@dataclass(frozen=True)
class Lesson:
    """The trials of one person, admitted once, and which of them were answered how.

    Attributes
    ----------
    trials : Trials
    answered : ndarray of int
        Numbers of the trials with an answer.
    columns : ndarray of int
        The category that was answered in each of these.
    known : ndarray of bool
        Whether that was a category that the person had been told of.
    """

    trials: Trials
    answered: np.ndarray
    columns: np.ndarray
    known: np.ndarray

    def among(self, rows: np.ndarray) -> Lesson:
        """Return the same trials with some of the answers."""
        return Lesson(self.trials, self.answered[rows], self.columns[rows], self.known[rows])


def _lesson(one: TrialSequence) -> Lesson:
    told = {category for category in one.categories if category is not None}
    if len(told) == 1:
        raise DomainError(
            f"subject {one.subject!r} was told one category only, {next(iter(told))!r}; there is "
            "nothing to tell apart, so leave that subject out"
        )
    trials = admit_trials(one.stimuli, one.feedback(), one.control())
    place = {name: k for k, name in enumerate(trials.classes.tolist())}
    answered = np.flatnonzero(one.answered())
    columns = np.array([place.get(one.answers[t], -1) for t in answered], dtype=np.int64)
    return Lesson(trials, answered, np.maximum(columns, 0), columns >= 0)


class LearningPeople:
    """Answers of people while they learn, with a learner: trial by trial, in their own order."""

    explains = "answers"

    def __init__(self, model: Learner, experiment: Experiment, free: Sequence[str] | None) -> None:
        if not model.fittable:
            raise DomainError(
                f"{type(model).__name__} has no likelihood of answers: they are made of chances "
                "inside it; simulate it, and compare learning curves"
            )
        names = tuple(model.fittable) if free is None else tuple(free)
        for name in names:
            if name not in model.fittable:
                raise ValidityError(f"{name!r} cannot be fitted{suggestion(name, model.fittable)}")
        if not names:
            raise ValidityError("no parameter is free, so people cannot differ")
        if experiment.trials is None:
            raise DomainError(
                "learners need the trials of each person in their order; make the experiment with "
                "Experiment.from_csv or Experiment.from_trials"
            )
        self.model, self.names = model, names
        self.sequences = experiment.sequences()
        self.count = len(self.sequences)
        self.lessons = [_lesson(one) for one in self.sequences]
        parts = tuple(
            Share(name) if model.fittable[name][1] <= 1 else PositiveReal(name) for name in names
        )
        given = {name: self._inside(name) for name in names}
        self.space = Coordinates(ParameterLayout(given, parts))
        model._check()
        model._learn(self.lessons[0].trials)  # complains about stimuli that are not for this model

    def log_likelihoods(self, U: np.ndarray, who: np.ndarray) -> np.ndarray:
        pairs = zip(U, who, strict=True)
        return np.array([float(self.pointwise(u, person).sum()) for u, person in pairs])

    def pointwise(self, u: np.ndarray, person: int) -> np.ndarray:
        lesson = self.lessons[person]
        model = copy.copy(self.model)  # a clone would look at all parameters again
        model.__dict__.update(self.space.params(u))
        try:
            model._check()
            trace = model._learn(lesson.trials).trace_
        except (SolveError, ValidityError):
            many = max(1, len(lesson.answered))
            return np.full(len(lesson.answered), IMPOSSIBLE / many)
        P = trace[lesson.answered, lesson.columns]
        return np.log(np.maximum(np.where(lesson.known, P, 0.0), LEAST))

    def observations(self) -> int:
        return sum(len(one.answered) for one in self.lessons)

    def only(self, who: np.ndarray) -> Self:
        found = copy.copy(self)
        found.lessons = [self.lessons[i] for i in who]
        found.sequences = [self.sequences[i] for i in who]
        found.count = len(who)
        return found

    def deal(self, folds: int, rng: np.random.Generator) -> list[tuple[Self, Self]]:
        sizes = [len(one.answered) for one in self.lessons]
        fold = [rng.permutation(np.arange(n) % folds) for n in sizes]
        return [(self._among([one != k for one in fold]), self._among([one == k for one in fold]))
                for k in range(folds)]  # fmt: skip

    def _among(self, chosen: list[np.ndarray]) -> Self:
        """Return people with some of their answers, who have learned from all trials."""
        found = copy.copy(self)
        found.lessons = [one.among(rows) for one, rows in zip(self.lessons, chosen, strict=True)]
        return found

    def remarks(self) -> list[str]:
        """Return what a reader of the answers should know."""
        found = []
        for one in self.sequences:
            given = {answer for answer in one.answers if answer is not None}
            if len(given) == 1:
                (only,) = given
                trials = int(one.answered().sum())
                found.append(f"subject {one.subject!r} answered {only!r} in all {trials} trials")
        return found

    def start(self) -> np.ndarray:
        """Return the best of some sets of parameters for all people together, improved."""
        from scipy.optimize import minimize

        rng = np.random.default_rng(0)
        low, high = np.log([self.model.fittable[name] for name in self.names]).T
        drawn = np.exp(rng.uniform(low, high, (30, len(self.names))))
        rows = (dict(zip(self.names, row, strict=True)) for row in drawn)
        sets = [self.space.layout.given, *rows]
        U = np.array([self.space.of(one) for one in sets])
        bounds = list(zip(*(self.space.of(dict(zip(self.names, ends, strict=True)))
                            for ends in self._edges()), strict=True))  # fmt: skip

        def loss(u: np.ndarray) -> float:
            everyone = np.arange(self.count)
            return -float(self.log_likelihoods(np.tile(u, (self.count, 1)), everyone).sum())

        first = min(U, key=loss)
        options = {"maxfev": 60 * len(self.names), "xatol": 1e-2, "fatol": 1e-2}
        return np.asarray(
            minimize(loss, first, method="Nelder-Mead", options=options, bounds=bounds).x
        )

    def _edges(self) -> tuple[list[float], list[float]]:
        """Return the lowest and highest values that a search begins with."""
        low, high = zip(*(self.model.fittable[name] for name in self.names), strict=True)
        return list(low), [min(value, 0.999) if value <= 1 else value for value in high]

    def _inside(self, name: str) -> float:
        low, high = self.model.fittable[name]
        most = min(high, 0.999) if high <= 1 else high  # log odds of 1 are infinite
        return float(np.clip(getattr(self.model, name), low, most))


def people_of(model: Any, experiment: Experiment, free: Sequence[str] | None = None) -> People:
    """Return the answers of people with the likelihood of a choice model or learner."""
    if not isinstance(experiment, Experiment):
        raise DomainError(f"experiment must be an Experiment, found {type(experiment).__name__}")
    if isinstance(model, ChoiceModel):
        if getattr(model, "loss", "likelihood") != "likelihood":
            raise ValidityError('people are fitted by likelihood, but loss is "sse"')
        chosen = model if free is None else clone(model).set_params(free=tuple(free))
        if wants_times(chosen):
            return TimedPeople(chosen, experiment)
        return ChoicePeople(chosen, experiment)
    if isinstance(model, Learner):
        return LearningPeople(model, experiment, free)
    raise DomainError(
        f"{type(model).__name__} has no likelihood of answers; give a choice model such as GCM, "
        "or a learner such as ALCOVE"
    )
