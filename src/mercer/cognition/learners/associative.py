"""Associative learners: cues gain strength by prediction errors, and attention by their use.

Three answers to the question what an error changes. Rescorla & Wagner (1972): strengths, by the
error of all cues together. Mackintosh (1975): attention goes to the cue that predicts best. Pearce
& Hall (1980): attention goes to what is not yet understood. Several models of categorization are
made of them: the first is the delta rule of ALCOVE and of SUSTAIN, the second the attention of
EXIT.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.cognition.learners.associative_loops import (
    MACKINTOSH,
    PEARCE_HALL,
    RESCORLA_WAGNER,
    learn_associations,
    simulate_cues,
)
from mercer.cognition.learners.associative_slopes import slope_associations
from mercer.cognition.learners.learner import Learner, Trials, softmax
from mercer.errors import ValidityError
from mercer.kernels import Linear
from mercer.rkhs import Function
from mercer.values import positive

__all__ = ["Mackintosh", "PearceHall", "RescorlaWagner"]


class AssociativeLearner(Learner):
    """What the three share: strengths of cues for outcomes, summed, and a softmax."""

    rate: float
    choice: float
    absent: float
    salience: Any
    sloped = ("rate", "absent", "attention_rate", "least", "choice")
    _kind: int

    def _learn(self, trials: Trials) -> Self:
        d, K = trials.stimuli.shape[1], len(trials.classes)
        V, alpha = np.zeros((d, K)), np.zeros(d)
        trace = np.empty((len(trials.order), K))
        stop = learn_associations(
            self._kind, trials.stimuli, trials.codes, trials.order, trials.control, self._rule(),
            self._saliences(d), self._start, float(self.choice), V, alpha, trace,
        )  # fmt: skip
        self._finish(trials, trace, stop, V, alpha)
        self.strengths_, self.associability_ = V, alpha
        self.function_ = Function(Linear(), np.eye(d), V)
        return self

    def _slopes(self, trials: Trials, seeds: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        trace = np.empty((len(trials.order), len(trials.classes)))
        slopes = np.zeros((*trace.shape, seeds.shape[1]))
        stop = slope_associations(
            self._kind, trials.stimuli, trials.codes, trials.order, trials.control,
            (*self._rule(), float(self.choice)), seeds,
            self._saliences(trials.stimuli.shape[1]), self._start, trace, slopes,
        )  # fmt: skip
        return stop, trace, slopes

    def _prepare(self, stimuli: np.ndarray) -> np.ndarray:
        return stimuli

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        simulate_cues(
            self._kind, task, codes, orders, classes, self._rule(),
            self._saliences(task.shape[1]), self._start, float(self.choice), errors,
        )  # fmt: skip

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        return self.function_(stimuli)

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return softmax(self.choice * outputs)

    @property
    def _start(self) -> float:
        """How associable all cues are before the first trial."""
        return 1.0

    def _rule(self) -> tuple[float, ...]:
        return float(self.rate), float(self.absent), 0.0, 0.0

    def _saliences(self, cues: int) -> np.ndarray:
        values = np.asarray(self.salience, dtype=np.float64)
        if values.ndim > 1 or (values.ndim == 1 and len(values) != cues):
            raise ValidityError(
                f"salience of {type(self).__name__} must be one number, or one for each of {cues} "
                f"cues; found {self.salience!r}"
            )
        return np.ascontiguousarray(np.broadcast_to(values, (cues,)))

    def _check(self) -> None:
        for name in ("rate", "choice", "absent"):
            positive(self, name, getattr(self, name), zero=True)
        for value in np.ravel(self.salience):
            positive(self, "salience", value, zero=True)


class RescorlaWagner(AssociativeLearner):
    """Learn from the error of all cues together (Rescorla & Wagner, 1972).

    With Vᵢₖ the strength of cue i for outcome k, and λₖ = 1 for the outcome that came, else 0,

        ΔVᵢₖ = αᵢ βₖ (λₖ − Σⱼ Vⱼₖ xⱼ) xᵢ,  P(k) = e^{θ ΣVₖ} / Σ e^{θ ΣV}.

    A cue that comes with one that predicts everything already learns nothing: blocking. As a
    kernel, it is gradient descent on a function of the linear kernel; unlike in `DeltaRule` absent
    outcomes have the target 0, not −1, and there is no bias unless a cue is always there.

    Parameters
    ----------
    rate : float
        β ≥ 0 of the outcome that came.
    choice : float
        θ ≥ 0.
    salience : float or sequence of float
        αᵢ ≥ 0, of all cues or of each.
    absent : float
        β of outcomes that did not come, as a share of `rate`.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, outcomes)
        Probabilities of the outcomes in each trial, before its update.
    strengths_ : ndarray of shape (cues, outcomes)
    associability_ : ndarray of shape (cues,)
        Of this model all 1.
    function_ : Function
        The summed strengths, a column for each outcome.
    classes_ : ndarray

    Examples
    --------
    >>> light, both = [1, 0], [1, 1]
    >>> X, y = [light] * 20 + [both] * 20 + [[0, 0]], ["food"] * 40 + ["nothing"]
    >>> RescorlaWagner(0.3).fit(X, y).strengths_[:, 0].round(2)  # the second cue is blocked
    array([1., 0.])
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "rate": (0.001, 1.0),
        "choice": (0.1, 30.0),
    }
    _kind = RESCORLA_WAGNER

    def __init__(
        self, rate: float, choice: float = 1.0, salience: Any = 1.0, absent: float = 1.0
    ) -> None:
        self.rate = rate
        self.choice = choice
        self.salience = salience
        self.absent = absent


class Mackintosh(AssociativeLearner):
    """Attend to the cue that predicts best, and learn more about it (Mackintosh, 1975).

    Each cue has an error of its own, and an associability αᵢ that grows if the other cues predict
    worse than it does:

        ΔVᵢₖ = αᵢ sᵢ βₖ (λₖ − Vᵢₖxᵢ) xᵢ,
        Δαᵢ = ρ·meanₖ(|λₖ − Σ_{j≠i} Vⱼₖxⱼ| − |λₖ − Vᵢₖxᵢ|),  least ≤ αᵢ ≤ 1.

    Mackintosh says when associability changes, not by how much; the linear rule is that of Le
    Pelley, Mitchell, Beesley, George & Wills (2016), their equation 2. They have one outcome; with
    several, the mean over outcomes is ours, and for two exclusive outcomes is the same number.

    Parameters
    ----------
    rate : float
        β ≥ 0 of the outcome that came.
    attention_rate : float
        ρ ≥ 0.
    choice : float
        θ ≥ 0.
    start : float
        αᵢ before the first trial, from `least` to 1.
    least : float
        Smallest αᵢ.
    salience, absent
        As in `RescorlaWagner`; the former is sᵢ.

    Attributes
    ----------
    trace_, strengths_, function_, classes_
        As in `RescorlaWagner`.
    associability_ : ndarray of shape (cues,)
        αᵢ at the end.

    Examples
    --------
    >>> X, y = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]] * 10, ["a", "a", "b", "b"] * 10
    >>> Mackintosh(0.2, attention_rate=0.1).fit(X, y).associability_.argmax()  # it decides
    np.int64(0)
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "rate": (0.001, 1.0),
        "attention_rate": (0.001, 2.0),
        "choice": (0.1, 30.0),
    }
    _kind = MACKINTOSH

    def __init__(
        self,
        rate: float,
        attention_rate: float,
        choice: float = 1.0,
        start: float = 0.5,
        least: float = 0.1,
        salience: Any = 1.0,
        absent: float = 1.0,
    ) -> None:
        self.rate = rate
        self.attention_rate = attention_rate
        self.choice = choice
        self.start = start
        self.least = least
        self.salience = salience
        self.absent = absent

    @property
    def _start(self) -> float:
        return float(self.start)

    def _rule(self) -> tuple[float, ...]:
        rates = float(self.attention_rate), float(self.least)
        return float(self.rate), float(self.absent), *rates

    def _check(self) -> None:
        super()._check()
        for name in ("attention_rate", "start", "least"):
            positive(self, name, getattr(self, name), zero=True)
        if not self.least <= self.start <= 1:
            raise ValidityError(
                f"start of Mackintosh must be from least to 1, found {self.start!r} with "
                f"least={self.least!r}"
            )


class PearceHall(AssociativeLearner):
    """Attend to what is not yet understood (Pearce & Hall, 1980; Pearce, Kaye & Hall, 1982).

    A cue is as associable as its last trials were surprising:

        ΔVᵢₖ = αᵢ sᵢ βₖ λₖ xᵢ          if λₖ ≥ ΣVₖ (excitation),
        ΔVᵢₖ = αᵢ sᵢ βₖ (λₖ − ΣVₖ) xᵢ   otherwise (inhibition),
        Δαᵢ = ρ (meanₖ|λₖ − ΣVₖ| − αᵢ)  for the cues that are there.

    With ρ = 1 associability is the last error alone, as in 1980; smaller ρ average, as in 1982.
    Vᵢₖ is excitation minus inhibition. The mean over several outcomes is ours.

    Parameters
    ----------
    rate : float
        β ≥ 0 of the outcome that came.
    attention_rate : float
        ρ from 0 to 1.
    choice : float
        θ ≥ 0.
    start : float
        αᵢ before the first trial.
    salience, absent
        As in `RescorlaWagner`; the former is sᵢ.

    Attributes
    ----------
    trace_, strengths_, function_, classes_
        As in `RescorlaWagner`.
    associability_ : ndarray of shape (cues,)
        αᵢ at the end.

    Examples
    --------
    >>> def after(exposures):  # a cue that means nothing, until it means food
    ...     X = [[1, 0]] * exposures + [[1, 1]] * 3
    ...     y = ["nothing"] * exposures + ["food"] * 3
    ...     return PearceHall(0.2, 0.3).fit(X + [[0, 0]], [*y, "nothing"]).strengths_[0, 0]
    >>> bool(after(20) < after(0))  # latent inhibition
    True
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "rate": (0.001, 1.0),
        "attention_rate": (0.001, 1.0),
        "choice": (0.1, 30.0),
    }
    _kind = PEARCE_HALL

    def __init__(
        self,
        rate: float,
        attention_rate: float = 1.0,
        choice: float = 1.0,
        start: float = 1.0,
        salience: Any = 1.0,
        absent: float = 1.0,
    ) -> None:
        self.rate = rate
        self.attention_rate = attention_rate
        self.choice = choice
        self.start = start
        self.salience = salience
        self.absent = absent

    @property
    def _start(self) -> float:
        return float(self.start)

    def _rule(self) -> tuple[float, ...]:
        return float(self.rate), float(self.absent), float(self.attention_rate), 0.0

    def _check(self) -> None:
        super()._check()
        for name in ("attention_rate", "start"):
            positive(self, name, getattr(self, name), zero=True)
        if self.attention_rate > 1:
            raise ValidityError(
                f"attention_rate of PearceHall must be from 0 to 1, found {self.attention_rate!r}"
            )
