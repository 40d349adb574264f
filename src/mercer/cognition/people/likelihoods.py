"""Likelihoods of people: how probable the answers of each are, as a function of their parameters.

All that is above this file, population and posterior, asks one thing of a model: the
log-likelihoods of many people at once, each with coordinates of their own. For models of summed
similarity they are computed together, for others one after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import Simplex
from mercer.cognition.choices.gcm import LuceModel, SummedSimilarity
from mercer.cognition.experiments.experiment import Experiment, remarks
from mercer.cognition.experiments.responses import Responses, admit_responses, log_softmax
from mercer.cognition.experiments.stimuli import admit_stimuli, memorize
from mercer.cognition.learners.learner import Learner
from mercer.cognition.people.coordinates import FARTHEST, Coordinates
from mercer.cognition.people.learning import IMPOSSIBLE, LEAST, LearningPeople
from mercer.cognition.people.timed import TimedPeople, wants_times
from mercer.errors import DomainError, ValidityError

__all__ = ["ChoicePeople", "People", "people_of"]

NUMBERS_AT_ONCE = 2**23  # that many people together take


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
