"""People while they learn: the likelihood of a learner, trial by trial, and its slopes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.cognition.choices.fitting import ParameterLayout, PositiveReal
from mercer.cognition.choices.reals import Share
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.trials import TrialSequence
from mercer.cognition.learners.learner import Learner, Trials, admit_trials
from mercer.cognition.people.coordinates import Coordinates
from mercer.errors import DomainError, SolveError, ValidityError, suggestion

__all__ = ["IMPOSSIBLE", "LEAST", "LearningPeople"]

IMPOSSIBLE = -1e6  # the log-likelihood of what no learner does, or of learning that diverges
REPEATS = 5  # of a simulated likelihood, with other random numbers
LEAST = 1e-12  # probability that is told from 0


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

    @property
    def answers(self) -> np.ndarray:
        """The category that was answered in each trial, by number; −1 for none that is known."""
        found = np.full(len(self.trials.order), -1, dtype=np.int64)
        found[self.answered[self.known]] = self.columns[self.known]
        return found

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
        model = self._with(u)
        try:
            model._check()
            chances = model._chances(lesson.trials, lesson.answers)[lesson.answered]
        except (SolveError, ValidityError):
            many = max(1, len(lesson.answered))
            return np.full(len(lesson.answered), IMPOSSIBLE / many)
        return np.log(np.maximum(np.where(lesson.known, chances, 0.0), LEAST))

    def _with(self, u: np.ndarray) -> Learner:
        """Return the model with the parameters of a person."""
        model = copy.copy(self.model)  # a clone would look at all parameters again
        model.__dict__.update(self.space.params(u))
        return model

    @property
    def sloped(self) -> bool:
        """Whether the likelihood has slopes with respect to all that differs between people."""
        return set(self.names) <= set(self.model.sloped)

    @property
    def rough(self) -> bool:
        """Whether the likelihood is simulated, and so has a grain that small steps would see."""
        return self.model.rough

    def with_slopes(
        self, U: np.ndarray, who: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log-likelihoods, their slopes, and the information, for coordinates of people.

        The information is that of the trials, given the answers that were told in those before:
        the sum over trials and categories of ∂p·∂pᵀ/p. It is what Fisher's scoring needs.
        """
        n, D = len(U), len(self.names)
        values, slopes, information = np.empty(n), np.zeros((n, D)), np.zeros((n, D, D))
        seeds = self.model.seeds(self.names)
        for i, (u, person) in enumerate(zip(U, who, strict=True)):
            values[i], slopes[i], information[i] = self._sloped(u, self.lessons[person], seeds)
        return values, slopes, information

    def _sloped(
        self, u: np.ndarray, lesson: Lesson, seeds: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        D, model = len(u), self._with(u)
        lost = IMPOSSIBLE, np.zeros(D), np.zeros((D, D))
        try:
            model._check()
        except ValidityError:
            return lost
        stop, trace, changes = model._slopes(lesson.trials, seeds)
        if stop >= 0 or not np.isfinite(changes).all():
            return lost
        params = self.space.params(u)
        scale = [_stretch(part, float(params[part.name])) for part in self.space.layout.parts]
        changes = changes[lesson.answered] * np.array(scale)
        P = np.maximum(trace[lesson.answered], LEAST)
        at = np.arange(len(P)), lesson.columns
        chances = np.where(lesson.known, P[at], LEAST)
        counted = (chances > LEAST)[:, None]  # what is told from 0 changes
        slopes = np.where(counted, changes[at] / chances[:, None], 0.0).sum(axis=0)
        flat = (changes / np.sqrt(P)[:, :, None]).reshape(-1, D)
        return float(np.log(chances).sum()), slopes, flat.T @ flat

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
        found = self._grain() if self.rough else []
        for one in self.sequences:
            given = {answer for answer in one.answers if answer is not None}
            if len(given) == 1:
                (only,) = given
                trials = int(one.answered().sum())
                found.append(f"subject {one.subject!r} answered {only!r} in all {trials} trials")
        return found

    def _grain(self) -> list[str]:
        """Return by how much simulated likelihoods change with other random numbers."""
        U = np.tile(self.space.of(self.space.layout.given), (self.count, 1))
        values, other = [], copy.copy(self)
        for seed in range(REPEATS):
            other.model = copy.copy(self.model)
            other.model.__dict__["random_state"] = seed
            values.append(other.log_likelihoods(U, np.arange(self.count)))
        each, all_of_them = np.std(values, axis=0, ddof=1), np.std(np.sum(values, axis=1), ddof=1)
        return [
            "log-likelihoods are simulated: with other random numbers that of one person changes "
            f"by up to {each.max():.1f}, that of all by {all_of_them:.1f} (standard deviations); "
            "smaller differences mean nothing, and more particles make it smaller"
        ]

    def start(self) -> np.ndarray:
        """Return the best of some sets of parameters for all people together, improved.

        By slopes, where there are any (L-BFGS, with bounds), else by the simplex method of Nelder
        & Mead (1965), which also follows where the likelihood jumps.
        """
        from scipy.optimize import minimize

        rng = np.random.default_rng(0)
        low, high = np.log([self.model.fittable[name] for name in self.names]).T
        drawn = np.exp(rng.uniform(low, high, (30, len(self.names))))
        rows = (dict(zip(self.names, row, strict=True)) for row in drawn)
        sets = [self.space.layout.given, *rows]
        U = np.array([self.space.of(one) for one in sets])
        bounds = list(zip(*(self.space.of(dict(zip(self.names, ends, strict=True)))
                            for ends in self._edges()), strict=True))  # fmt: skip
        everyone = np.arange(self.count)

        def loss(u: np.ndarray) -> float:
            return -float(self.log_likelihoods(np.tile(u, (self.count, 1)), everyone).sum())

        def sloped_loss(u: np.ndarray) -> tuple[float, np.ndarray]:
            values, slopes, _ = self.with_slopes(np.tile(u, (self.count, 1)), everyone)
            return -float(values.sum()), -slopes.sum(axis=0)

        first = min(U, key=loss)
        if self.sloped and not self.model.jumps:
            near = {"maxiter": 100, "ftol": 1e-7}
            found = minimize(sloped_loss, first, jac=True, bounds=bounds, options=near)
            return np.asarray(found.x)
        options = {"maxfev": 60 * len(self.names), "xatol": 1e-2, "fatol": 1e-2}
        found = minimize(loss, first, method="Nelder-Mead", options=options, bounds=bounds)
        return np.asarray(found.x)

    def _edges(self) -> tuple[list[float], list[float]]:
        """Return the lowest and highest values that a search begins with."""
        low, high = zip(*(self.model.fittable[name] for name in self.names), strict=True)
        return list(low), [min(value, 0.999) if value <= 1 else value for value in high]

    def _inside(self, name: str) -> float:
        low, high = self.model.fittable[name]
        most = min(high, 0.999) if high <= 1 else high  # log odds of 1 are infinite
        return float(np.clip(getattr(self.model, name), low, most))


def _stretch(part: Any, value: float) -> float:
    """Return by how much a parameter changes with its coordinate: a logarithm, or log odds."""
    return value * (1 - value) if isinstance(part, Share) else value
