"""Cues: categories learned by the delta rule, from features or from all their conjunctions.

Weights follow the error, Δw = λ(t − o)·cue with targets t = ±1 (Widrow & Hoff, 1960). Gluck &
Bower (1988) explain people's learning by it, with a cue for each combination of values of one or
more dimensions: the configural-cue model. Two stimuli with m equal values share 2^m − 1 of those
combinations, so the model is the delta rule with that kernel.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.cognition.learners.learner import Learner, Trials, softmax
from mercer.cognition.learners.trial_loops import learn_delta_rule, simulate_delta_rule
from mercer.cognition.learners.trial_slopes import slope_delta_rule
from mercer.errors import DomainError
from mercer.kernels import Categorical, Kernel, Linear
from mercer.rkhs import Function
from mercer.values import positive

__all__ = ["ConfiguralCue", "DeltaRule"]


class Cues(Learner):
    """What both models share: the delta rule, and the choice 1/(1 + e^{−θo})."""

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "rate": (1e-4, 1.0),
        "choice": (0.1, 30.0),
    }
    sloped = ("rate", "choice")
    rate: float
    choice: float
    # Whether the weights are coefficients of stimuli, with rows of a Gram matrix as cues.
    _dual: bool

    def _learn(self, trials: Trials) -> Self:
        rows = self._prepare(trials.stimuli)
        w = np.zeros((rows.shape[1], len(trials.classes)))
        trace = np.empty((len(trials.order), len(trials.classes)))
        stop = learn_delta_rule(
            rows, trials.codes, trials.order, trials.control, self._dual,
            float(self.rate), self._slope, w, trace,
        )  # fmt: skip
        self._finish(trials, trace, stop, w)
        self._keep(trials.stimuli, w)
        return self

    def _slopes(self, trials: Trials, seeds: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        trace = np.empty((len(trials.order), len(trials.classes)))
        slopes = np.zeros((*trace.shape, seeds.shape[1]))
        halved = seeds * [[1.0], [0.5]]  # of the choice's slope, θ/2
        stop = slope_delta_rule(
            self._prepare(trials.stimuli), trials.codes, trials.order, trials.control, self._dual,
            (float(self.rate), self._slope), halved, trace, slopes,
        )  # fmt: skip
        return stop, trace, slopes

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        rate, slope = float(self.rate), self._slope
        simulate_delta_rule(task, codes, orders, self._dual, classes, rate, slope, errors)

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return softmax(self._slope * outputs)

    @property
    def _slope(self) -> float:
        # Two categories have outputs ±o, and e^{θo/2}/(e^{θo/2} + e^{−θo/2}) = 1/(1 + e^{−θo}).
        return float(self.choice) / 2

    def _check(self) -> None:
        for name in ("rate", "choice"):
            positive(self, name, getattr(self, name), zero=True)

    def _keep(self, stimuli: np.ndarray, w: np.ndarray) -> None:
        """Show what was learned."""
        raise NotImplementedError


class DeltaRule(Cues):
    """Learn a weight for each feature from the error in each trial (Widrow & Hoff, 1960).

    o = wᵀx + b and Δw = λ(t − o)x, where t is 1 for the right category and −1 for the others. With
    two categories P = 1/(1 + e^{−θo}); with more P(k) is proportional to e^{θo_k/2}, which is the
    same for two.

    Parameters
    ----------
    rate : float
        λ ≥ 0.
    choice : float
        θ ≥ 0.
    bias : bool
        Whether there is a cue that is always 1, with the weight b.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    coef_ : ndarray of shape (dimensions, categories)
    intercept_ : ndarray of shape (categories,)
    function_ : Function
        wᵀx, a column for each category; the intercept is separate.
    classes_ : ndarray

    Examples
    --------
    >>> from mercer.cognition.experiments.designs import shj
    >>> model = DeltaRule(rate=0.1, choice=4.0)
    >>> model.simulate(shj("I")).round(3)[[0, -1]]  # learned
    array([0.423, 0.019])
    >>> model.simulate(shj("VI")).round(3)[[0, -1]]  # no line divides these
    array([0.593, 0.566])
    """

    _dual = False

    def __init__(self, rate: float, choice: float = 1.0, bias: bool = True) -> None:
        self.rate = rate
        self.choice = choice
        self.bias = bias

    def _prepare(self, stimuli: np.ndarray) -> np.ndarray:
        ones = np.ones((len(stimuli), 1 if self.bias else 0))
        return np.ascontiguousarray(np.hstack([stimuli, ones]))

    def _keep(self, stimuli: np.ndarray, w: np.ndarray) -> None:
        d = stimuli.shape[1]
        self.coef_ = w[:d].copy()
        self.intercept_ = w[d].copy() if self.bias else np.zeros(w.shape[1])
        self.function_ = Function(Linear(), np.eye(d), self.coef_)

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        return self.function_(stimuli) + self.intercept_


class ConfiguralCue(Cues):
    """Learn a weight for each conjunction of feature values (Gluck & Bower, 1988).

    A cue is on if the stimulus has all of its values: for three binary dimensions there are
    6 + 12 + 8 = 26 cues. Learning is that of `DeltaRule`, without a bias. As the weights are sums
    of shown stimuli, o is an RKHS function of the kernel 2^matches − 1, and the cues need not be
    listed: λ(t − o) is added to the coefficient of the stimulus that was shown.

    The model finds type II of Shepard, Hovland & Jenkins harder than type III, which people do
    not: conjunctions of two values learn more slowly than single ones.

    Parameters
    ----------
    rate : float
        λ ≥ 0.
    choice : float
        θ ≥ 0.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    kernel_ : Kernel
        2^matches − 1.
    function_ : Function
        The outputs o, an expansion in the stimuli, a column for each category.
    classes_ : ndarray

    Examples
    --------
    >>> from mercer.cognition.experiments.designs import shj
    >>> model = ConfiguralCue(rate=0.02, choice=4.0)
    >>> [float(model.simulate(shj(kind)).mean().round(3)) for kind in ("I", "II", "III")]
    [0.061, 0.143, 0.102]
    >>> cube = shj("I").stimuli
    >>> ConfiguralCue.kernel(3)(cube[:1], cube[[0, 1, 3, 7]])  # 0, 1, 2, 3 values differ
    array([[7., 3., 1., 0.]])
    """

    _dual = True

    def __init__(self, rate: float, choice: float = 1.0) -> None:
        self.rate = rate
        self.choice = choice

    @staticmethod
    def kernel(dimensions: int) -> Kernel:
        """Return 2^matches − 1, the number of conjunctions that two stimuli share.

        It is a sum of products of equalities: with each dimension, what was shared before, the
        new value, and both together. Its `features` are the cues.

        Examples
        --------
        >>> ConfiguralCue.kernel(3).features([[0, 0, 0], [1, 1, 1]]).shape
        (2, 26)
        >>> ConfiguralCue.kernel(3).proof().verdict
        'proved'
        """
        if dimensions < 1:
            raise DomainError(f"there must be at least one dimension, found {dimensions}")
        shared = Categorical().on(0)
        for i in range(1, dimensions):
            value = Categorical().on(i)
            shared = shared + value + shared * value
        return shared

    def _prepare(self, stimuli: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.kernel(stimuli.shape[1])(stimuli))

    def _keep(self, stimuli: np.ndarray, w: np.ndarray) -> None:
        self.kernel_ = self.kernel(stimuli.shape[1])
        self.function_ = Function(self.kernel_, stimuli, w)

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        return self.function_(stimuli)
