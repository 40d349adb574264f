"""Identification: which parameters a design can tell, and which trade off against each other.

Near parameters θ the answers to a design inform about coordinates u by the matrix of Fisher,
I = Σ n Σ_k (∂p_k/∂u)(∂p_k/∂u)ᵀ/p_k. A direction in which it is nothing cannot be identified by any
number of people; two coordinates whose inverse information correlates strongly trade off: data
tell something like their sum or difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import Rule
from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.responses import log_softmax
from mercer.cognition.experiments.stimuli import memorize
from mercer.cognition.people.coordinates import Coordinates
from mercer.cognition.people.simulation import template_of
from mercer.errors import DomainError
from mercer.values import whole

__all__ = ["Identification", "identification", "identify"]

STEP = 1e-4
NOTHING = 1e-7  # of the largest eigenvalue: a direction that nothing informs about
STRONG = 0.9  # correlation from which on a trade-off is worth a warning


@dataclass(frozen=True)
class Identification:
    """What answers to a design can tell about parameters.

    Attributes
    ----------
    errors : Series
        Standard error of each coordinate (logarithm, contrast of logarithms) of one person;
        infinite where it cannot be identified.
    correlation : DataFrame
        Of the estimates.
    warnings : tuple of str

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four
    >>> found = identify(GCM(3.0, free=("sensitivity",)), five_four(), trials=20)
    >>> found.errors.round(2).to_dict(), found.warnings
    ({'sensitivity': 0.18}, ())
    """

    errors: pd.Series
    correlation: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def identified(self) -> bool:
        """Whether every parameter can be estimated at all."""
        return bool(np.isfinite(self.errors).all())

    def __str__(self) -> str:
        lines = [f"{name}: standard error {error:.3f}" for name, error in self.errors.items()]
        return "\n".join([*lines, *self.warnings])


def identify(
    model: ChoiceModel,
    design: Design | Experiment,
    trials: int = 10,
    free: Sequence[str] | None = None,
) -> Identification:
    """Say what one person's answers to a design tell about a choice model's parameters.

    Parameters
    ----------
    model : choice model
        Its parameters are where the question is asked: answers that are nearly certain inform
        about little.
    design : Design or Experiment
    trials : int
        Answers to each stimulus.
    free : sequence of str, optional

    Returns
    -------
    Identification
        Standard errors and correlations of the estimates, with warnings in words.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four
    >>> both = identify(GCM(8.0, free=("sensitivity", "gamma")), five_four())
    >>> print(both.warnings[0])
    sensitivity and gamma trade off here: their estimates correlate by -0.99
    """
    if not isinstance(model, ChoiceModel):
        raise DomainError(f"{type(model).__name__} is no choice model; for learners see recover()")
    shown = template_of(design)
    chosen = model if free is None else clone(model).set_params(free=tuple(free))
    memory = chosen._store(memorize(shown.exemplars, shown.categories, shown.strengths))
    space = Coordinates(chosen._layout(memory))
    rule = chosen._rule(memory, np.asarray(shown.stimuli, dtype=np.float64))
    totals = np.full(len(shown.stimuli), float(whole(identify, "trials", trials)))
    return identification(space, rule, space.of(space.layout.given), totals)


def identification(
    space: Coordinates, rule: Rule, u: np.ndarray, totals: np.ndarray
) -> Identification:
    """Say what so many answers to each stimulus tell about coordinates near u."""

    def P(at: np.ndarray) -> np.ndarray:
        return np.exp(log_softmax(rule(space.params(at))[0]))

    steps = STEP * np.eye(space.size)
    J = np.array([(P(u + step) - P(u - step)) / (2 * STEP) for step in steps])
    weight = totals[:, None] / np.maximum(P(u), 1e-12)
    return _report(np.einsum("imk,jmk,mk->ij", J, J, weight), space.names)


def _report(information: np.ndarray, names: tuple[str, ...]) -> Identification:
    values, vectors = np.linalg.eigh(information)
    empty = values <= NOTHING * max(values[-1], NOTHING)
    found = []
    for vector in vectors[:, empty].T:
        part = [n for n, v in zip(names, vector, strict=True) if abs(v) > 0.1]
        what = f"{' and '.join(part)} cannot be told apart" if len(part) > 1 else part[0]
        verb = "" if len(part) > 1 else " cannot be identified"
        found.append(f"{what}{verb} by any number of answers to this design; fix one parameter")
    inverse = (vectors[:, ~empty] / values[~empty]) @ vectors[:, ~empty].T
    lost = (vectors[:, empty] ** 2).sum(axis=1) > 1e-3
    errors = np.where(lost, np.inf, np.sqrt(np.maximum(np.diag(inverse), 0.0)))
    scale = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
    R = inverse / scale[:, None] / scale
    for i in range(len(names)):
        for j in range(i):
            if abs(R[i, j]) > STRONG and not (lost[i] or lost[j]):
                found.append(
                    f"{names[j]} and {names[i]} trade off here: their estimates correlate by "
                    f"{R[i, j]:.2f}"
                )
    index = list(names)
    table = pd.DataFrame(R, index=index, columns=index)
    return Identification(pd.Series(errors, index=index), table, tuple(found))
