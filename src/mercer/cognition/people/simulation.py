"""Simulated people: a population that is known, answering an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import ParameterLayout, PositiveReal
from mercer.cognition.choices.intervals import simulate_counts
from mercer.cognition.choices.random_walk import EBRW
from mercer.cognition.choices.reals import Share
from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.stimuli import memorize
from mercer.cognition.learners.learner import Learner
from mercer.cognition.people.coordinates import Coordinates
from mercer.cognition.people.timed import timed_layout, wants_times
from mercer.errors import DomainError, ValidityError
from mercer.values import whole

__all__ = ["SimulatedPeople", "simulate_people"]


@dataclass(frozen=True)
class SimulatedPeople:
    """People that were made up, with what they answered.

    Attributes
    ----------
    experiment : Experiment
    space : Coordinates
    truth : ndarray of shape (people, D)
        Their coordinates.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four
    >>> made = simulate_people(GCM(3.0, free=("sensitivity",)), five_four(), subjects=5, trials=20)
    >>> made.truth.shape, made.experiment.responses.shape
    ((5, 1), (5, 9, 2))
    """

    experiment: Experiment
    space: Coordinates
    truth: np.ndarray

    @property
    def persons(self) -> pd.DataFrame:
        """Return the parameters of each person, a row for each."""
        return pd.DataFrame([self.space.readable(u) for u in self.truth])


def simulate_people(
    model: Any,
    design: Design | Experiment,
    subjects: int = 20,
    trials: int | None = 10,
    spread: float | Mapping[str, float] = 0.3,
    free: Sequence[str] | None = None,
    seed: int = 0,
) -> SimulatedPeople:
    """Make up people around the parameters of a model, and let them answer.

    Parameters
    ----------
    model : choice model or learner
        Its parameters are those of the person in the middle.
    design : Design or Experiment
        For learners a design, whose trials each person gets in a random order. For choice models
        what was learned and asked; the stimuli of a design are both.
    subjects : int
    trials : int or None
        How often a choice model is asked about each stimulus. With None it answers in the trials
        of a design, in their order, as learners do: by all that is to be learned, from the first
        one on.
    spread : float or mapping
        Standard deviation of the coordinates (logarithms, log odds), of all or by name of the
        parameter.
    free : sequence of str, optional
        What differs between people; by default as in `fit_people`.
    seed : int

    Returns
    -------
    SimulatedPeople
        An experiment with their answers, and the parameters that made them.

    Examples
    --------
    >>> from mercer.cognition import ALCOVE, shj
    >>> made = simulate_people(ALCOVE(6.0, 2.0, 0.1, 0.5), shj("II", blocks=2), subjects=3)
    >>> len(made.experiment.trials), list(made.persons.columns)[:2]
    (96, ['sensitivity', 'choice'])
    """
    rng = np.random.default_rng([seed, 7])
    count = whole(simulate_people, "subjects", subjects)
    if isinstance(model, ChoiceModel):
        chosen = model if free is None else clone(model).set_params(free=tuple(free))
        if trials is not None:
            whole(simulate_people, "trials", trials)
        if trials is None or wants_times(chosen):
            return _one_by_one(chosen, design, count, trials, spread, seed, rng)
        return _choosing(chosen, design, count, trials, spread, rng)
    if isinstance(model, Learner):
        if not isinstance(design, Design):
            raise DomainError(f"learners need a Design, such as shj('II'), found {design!r}")
        return _learning(model, design, count, spread, free, seed, rng)
    raise DomainError(
        f"{type(model).__name__} cannot be simulated; give a choice model or learner"
    )


def _choosing(
    chosen: ChoiceModel, design: Any, count: int, trials: int, spread: Any,
    rng: np.random.Generator,
) -> SimulatedPeople:  # fmt: skip
    shown = template_of(design)
    memory = chosen._store(memorize(shown.exemplars, shown.categories, shown.strengths))
    space = Coordinates(chosen._layout(memory))
    truth = _draw(space, space.of(space.layout.given), spread, count, rng)
    rule = chosen._rule(memory, np.asarray(shown.stimuli, dtype=np.float64))
    responses = []
    for u in truth:
        scores = rule(space.params(u))[0]
        log_p = scores - scores.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        responses.append(simulate_counts(log_p, trials, rng))
    answered = Experiment(
        shown.exemplars, shown.categories, shown.stimuli, np.array(responses), shown.strengths,
        shown.names, shown.source,
    )  # fmt: skip
    return SimulatedPeople(answered, space, truth)


def _one_by_one(
    model: ChoiceModel, design: Any, count: int, trials: int | None, spread: Any, seed: int,
    rng: np.random.Generator,
) -> SimulatedPeople:  # fmt: skip
    """Let a choice model answer trial by trial, with times if it has any."""
    shown = template_of(design)
    memory = model._store(memorize(shown.exemplars, shown.categories, shown.strengths))
    if trials is None:
        if not isinstance(design, Design):
            raise DomainError(
                "trials=None takes the trials of a Design; say how many, or give one"
            )
        orders = design.orders(count, seed)
    else:
        asked = np.tile(np.arange(len(shown.stimuli)), trials)
        orders = np.stack([rng.permutation(asked) for _ in range(count)])
    given = {name: model._value(name, memory) for name in model.kinds}
    timed = isinstance(model, EBRW) and wants_times(model)
    layout = timed_layout(model, memory.width, given) if timed else model._layout(memory)
    space = Coordinates(layout)
    truth = _draw(space, space.of(layout.given), spread, count, rng)
    tables = []
    for person, (u, order) in enumerate(zip(truth, orders, strict=True)):
        rows = np.asarray(shown.stimuli, dtype=np.float64)[order]
        table = pd.DataFrame(rows, columns=[f"x{i + 1}" for i in range(rows.shape[1])])
        table.insert(0, "subject", person)
        if trials is None:
            table["category"] = np.asarray(shown.categories)[order]
        one = clone(model).set_params(**_as_given(space.params(u)), free=())
        one.fit(shown.exemplars, shown.categories, strengths=shown.strengths)
        if timed:
            table["answer"], table["time"] = one.simulate_times(rows, rng)
        else:
            picks = simulate_counts(one.predict_log_proba(rows), 1, rng).argmax(axis=1)
            table["answer"] = one.classes_[picks]
        tables.append(table)
    answered = Experiment.from_trials(
        pd.concat(tables, ignore_index=True), shown.exemplars, shown.categories, shown.source
    )
    return SimulatedPeople(answered, space, truth)


def _as_given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a model is given them."""
    return {name: float(value) if np.ndim(value) == 0 else tuple(value)
            for name, value in params.items()}  # fmt: skip


def _learning(
    model: Learner, design: Design, count: int, spread: Any, free: Any, seed: int,
    rng: np.random.Generator,
) -> SimulatedPeople:  # fmt: skip
    names = tuple(model.fittable) if free is None else tuple(free)
    if not names:
        raise ValidityError("no parameter is free, so people cannot differ")
    parts = tuple(
        Share(name) if model.fittable[name][1] <= 1 else PositiveReal(name) for name in names
    )
    given = {name: float(getattr(model, name)) for name in names}
    space = Coordinates(ParameterLayout(given, parts))
    truth = _draw(space, space.of(given), spread, count, rng)
    tables = []
    for person, (u, order) in enumerate(zip(truth, design.orders(count, seed), strict=True)):
        X, y = design.stimuli[order], design.categories[order]
        one = clone(model).set_params(**space.params(u)).fit(X, y)
        sums = np.cumsum(one.trace_, axis=1)
        picks = (rng.random((len(order), 1)) > sums / sums[:, -1:]).sum(axis=1)
        table = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
        table.insert(0, "subject", person)
        tables.append(table.assign(category=y, answer=one.classes_[picks]))
    answered = Experiment.from_trials(pd.concat(tables, ignore_index=True), source=design.source)
    return SimulatedPeople(answered, space, truth)


def template_of(design: Design | Experiment) -> Experiment:
    """Return what is learned and asked; the stimuli of a design are both."""
    if isinstance(design, Experiment):
        return design
    if isinstance(design, Design):
        return Experiment(design.stimuli, design.categories, design.stimuli, None)
    raise DomainError(f"design must be a Design or an Experiment, found {type(design).__name__}")


def _draw(
    space: Coordinates, center: np.ndarray, spread: Any, count: int, rng: np.random.Generator
) -> np.ndarray:
    scale = np.empty(space.size)
    for i, name in enumerate(space.names):
        scale[i] = spread.get(name.split(" ")[0], 0.0) if isinstance(spread, Mapping) else spread
    if (scale < 0).any() or not np.isfinite(scale).all():
        raise ValidityError(f"spread must not be negative, found {spread!r}")
    return np.asarray(center + scale * rng.standard_normal((count, space.size)))
