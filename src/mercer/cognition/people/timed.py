"""People whose answers have times: the likelihood of the exemplar-based random walk for both."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from mercer.cognition.choices.fitting import ParameterLayout, PositiveReal
from mercer.cognition.choices.gcm import SummedSimilarity
from mercer.cognition.choices.races import (
    TIMING,
    admit_times,
    log_densities,
    race,
    whole_barriers,
)
from mercer.cognition.choices.random_walk import EBRW
from mercer.cognition.choices.walks import mean_steps
from mercer.cognition.experiments.experiment import Experiment, remarks
from mercer.cognition.experiments.stimuli import admit_stimuli, memorize
from mercer.cognition.people.coordinates import Coordinates
from mercer.errors import DomainError, ValidityError

__all__ = ["TimedPeople", "timed_layout", "wants_times"]

FIRST_RESIDUAL = 0.7  # of the fastest response, where a search begins


def wants_times(model: Any) -> bool:
    """Return whether a model's free parameters say something about times."""
    return isinstance(model, EBRW) and bool(set(model.free or ()) & set(TIMING))


def timed_layout(model: EBRW, width: int, given: dict[str, Any]) -> ParameterLayout:
    """Return the parameters of answers with their times, which have whole barriers."""
    free = tuple(model.free)
    if {"upper", "lower"} & set(free):
        raise ValidityError(
            "with response times barriers are whole numbers, which people cannot differ in by a "
            "little; leave upper and lower out of free, give them, and compare several by BIC"
        )
    whole_barriers(given)
    known = copy.copy(model)
    known.free = tuple(name for name in free if name not in TIMING)
    memory = known._store(memorize(np.eye(2, width), ["a", "b"], None))
    plain = known._layout(memory)
    timing = tuple(PositiveReal(name) for name in TIMING if name in free)
    return ParameterLayout({**plain.given, **given}, (*plain.parts, *timing))


@dataclass(frozen=True)
class TimedAnswers:
    """The answers of one person, with their times.

    Attributes
    ----------
    summed : SummedSimilarity
        Of the distinct stimuli.
    where, codes : ndarray of int
        The number of the stimulus, and of the answer, in each trial.
    times : ndarray of shape (trials,)
    """

    summed: SummedSimilarity
    where: np.ndarray
    codes: np.ndarray
    times: np.ndarray

    def among(self, rows: np.ndarray) -> TimedAnswers:
        """Return some of the trials."""
        return TimedAnswers(self.summed, self.where[rows], self.codes[rows], self.times[rows])


class TimedPeople:
    """Answers of people and their times, with the exemplar-based random walk."""

    explains = "answers with their times"

    def __init__(self, model: EBRW, experiment: Experiment) -> None:
        if experiment.trials is None or experiment.trials["time"].isna().all():
            raise DomainError(
                f"{', '.join(sorted(set(model.free) & set(TIMING)))} can be fitted to response "
                "times only; read them with Experiment.from_csv(..., time=...), or leave these "
                "parameters out of free"
            )
        memory = model._store(
            memorize(experiment.exemplars, experiment.categories, experiment.strengths)
        )
        self.model, self.classes = model, memory.classes
        self.names = experiment.subjects
        self.answers = [self._admit(one, memory) for one in experiment.sequences()]
        self.count = len(self.answers)
        values = {name: model._value(name, memory) for name in model.kinds}
        fastest = min(float(one.times.min()) for one in self.answers)
        if "residual" in model.free and not 0 < values["residual"] < fastest:
            values["residual"] = FIRST_RESIDUAL * fastest
        if "step" in model.free and values["step"] == 0:
            values["step"] = 1.0
        self.space = Coordinates(timed_layout(model, memory.width, values))

    def log_likelihoods(self, U: np.ndarray, who: np.ndarray) -> np.ndarray:
        pairs = zip(U, who, strict=True)
        return np.array([float(self.pointwise(u, person).sum()) for u, person in pairs])

    def pointwise(self, u: np.ndarray, person: int) -> np.ndarray:
        one = self.answers[person]
        return log_densities(one.summed, one.where, one.codes, one.times, self.space.params(u))

    def observations(self) -> int:
        return sum(len(one.times) for one in self.answers)

    def remarks(self) -> list[str]:
        """Return what a reader of the answers should know."""
        counts = np.array([np.bincount(one.codes, minlength=2) for one in self.answers])
        return [note for note in remarks(counts[:, None], self.names, self.classes)
                if note.startswith("subject")]  # fmt: skip

    def only(self, who: np.ndarray) -> Self:
        found = copy.copy(self)
        found.answers = [self.answers[i] for i in who]
        found.names, found.count = [self.names[i] for i in who], len(who)
        return found

    def deal(self, folds: int, rng: np.random.Generator) -> list[tuple[Self, Self]]:
        fold = [rng.permutation(np.arange(len(one.times)) % folds) for one in self.answers]
        return [(self._among([one != k for one in fold]), self._among([one == k for one in fold]))
                for k in range(folds)]  # fmt: skip

    def start(self) -> np.ndarray:
        """Return what fits all people together, more or less."""
        given = dict(self.space.layout.given)
        if "scale" in self.model.free:
            given["scale"] = self._unit(given)
        everyone = np.arange(self.count)

        def loss(u: np.ndarray) -> float:
            total = self.log_likelihoods(np.tile(u, (self.count, 1)), everyone).sum()
            return -float(total) / self.observations()

        options = {"maxiter": 30, "ftol": 1e-5}
        return np.asarray(minimize(loss, self.space.of(given), method="L-BFGS-B",
                                   options=options).x)  # fmt: skip

    def _unit(self, given: dict[str, Any]) -> float:
        """Return the scale at which the mean time is that of the answers."""
        A, B = whole_barriers(given)
        ratios = []
        for one in self.answers:
            L, rate, _ = race(one.summed, given)
            expected = (mean_steps(L, A, B) * (given["step"] + 1 / rate))[one.where].mean()
            ratios.append(float(one.times.mean() - given["residual"]) / float(expected))
        return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-6)))))

    def _among(self, chosen: list[np.ndarray]) -> Self:
        found = copy.copy(self)
        found.answers = [one.among(rows) for one, rows in zip(self.answers, chosen, strict=True)]
        return found

    def _admit(self, one: Any, memory: Any) -> TimedAnswers:
        said = one.answered()
        missing = said & np.isnan(one.times)
        if missing.any():
            raise DomainError(
                f"trial {int(np.argmax(missing))} of subject {one.subject!r} has an answer, but "
                "no response time"
            )
        if not said.any():
            raise DomainError(f"subject {one.subject!r} has no answers; leave that subject out")
        rows = admit_stimuli(one.stimuli[said], "stimuli", memory.width)
        shown, where = np.unique(rows, axis=0, return_inverse=True)
        model, place = self.model, {name: k for k, name in enumerate(memory.classes.tolist())}
        summed = SummedSimilarity(memory, shown, float(model.order), float(model.exponent))
        codes = np.array([place[answer] for answer in one.answers[said]], dtype=np.int64)
        times = admit_times(one.times[said], int(said.sum()))
        return TimedAnswers(summed, where.ravel(), codes, times)
