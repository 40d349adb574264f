"""ALCOVE: exemplars, associations learned from error, and attention learned by descent.

Kruschke (1992), Psychological Review 99, 22–44. With similarities a_j of a stimulus to the nodes
and associations w, the output for a category is o_k = Σ_j w_jk a_j: with the attention held fixed
an RKHS function of Shepard's kernel, learned by gradient descent on its coefficients.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.learners.learner import (
    Learner,
    Trials,
    admit_new,
    admit_trials,
    distinct_rows,
    softmax,
)
from mercer.cognition.learners.trial_loops import learn_alcove, simulate_alcove
from mercer.cognition.learners.trial_slopes import slope_alcove
from mercer.domains import Items
from mercer.errors import ValidityError, suggestion
from mercer.kernels import Shepard
from mercer.rkhs import Function
from mercer.values import finite, positive

__all__ = ["ALCOVE"]

TEACHERS = ("strict", "humble")
RULES = ("gradient", "simple")
RESPONSES = ("softmax", "background")
CONSTRAINTS = ("sum", "simplex")


class ALCOVE(Learner):
    """Learn categories trial by trial, and what to attend to (Kruschke, 1992).

    A stimulus x activates the nodes h_j, and these the categories, which are chosen with
    probability P:

        a_j = exp(−c·(Σᵢ αᵢ|h_ji − xᵢ|^r)^(q/r)),  o_k = Σ_j w_jk a_j,
        P(k) = (e^{φo_k} + b) / Σ (e^{φo} + b).

    Then the right answer is told, as targets t, and both w and α go down the gradient of
    E = ½Σ(t_k − o_k)², computed before either has changed:

        Δw_jk = λ_w (t_k − o_k) a_j,
        Δαᵢ = −λ_α Σ_j [Σ_k (t_k − o_k) w_jk] a_j c (q/r) D_j^(q/r − 1) |h_ji − xᵢ|^r,

    where D_j = Σ αᵢ|h_ji − xᵢ|^r; then α ← max(α, 0). Nodes with D_j = 0 do not move attention. At
    the start w = 0 and α = 1/dimensions.

    Parameters
    ----------
    sensitivity : float
        c > 0.
    choice : float
        φ ≥ 0, how decided the answers are.
    association_rate : float
        λ_w ≥ 0.
    attention_rate : float
        λ_α ≥ 0.
    order : float
        r > 0: 1 for separable, 2 for integral dimensions.
    exponent : float
        q > 0: 1 for exponential, 2 for Gaussian similarity.
    teacher : {"humble", "strict"}
        The strict teacher's targets are 1 for the right category and −1 for the others; the
        humble one does not correct outputs that are beyond them: max(1, o) and min(−1, o).
    attention_rule : {"gradient", "simple"}
        "simple" replaces c(q/r)D^(q/r − 1)|h − x|^r by c|h − x|, the gradient for r = q = 1, as
        published for all metrics.
    response : {"softmax", "background"}
        The choice rule: the P above, or (max(o_k, 0) + b) / Σ(max(o, 0) + b), without φ, as in
        the fit of Nosofsky, Gluck, Palmeri, McKinley & Glauthier (1994).
    noise : float
        b ≥ 0, background noise that all categories have in common.
    absent : float
        Target of the other categories, below 1: −1, or 0, as in 1994.
    attention_constraint : {None, "sum", "simplex"}
        None: only α ≥ 0. "sum": attention is then divided by its sum (if all of it is zero, it
        stays what it was). "simplex": it is projected onto the nearest point with α ≥ 0 and sum 1.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    association_ : ndarray of shape (nodes, categories)
        w at the end.
    attention_ : ndarray of shape (dimensions,)
        α at the end.
    nodes_ : ndarray of shape (nodes, dimensions)
    function_ : Function
        The outputs o of Shepard's kernel with the learned attention, a column for each category.
    classes_ : ndarray
    search_ : Search
        How the parameters were found, if by `fit_curves` or `fit_alcove`.

    Examples
    --------
    >>> from mercer.cognition.experiments.designs import shj
    >>> model = ALCOVE(sensitivity=6.0, choice=2.0, association_rate=0.1, attention_rate=0.5)
    >>> model.simulate(shj("I"), subjects=20).round(3)[:4]  # errors of the first four blocks
    array([0.24 , 0.019, 0.018, 0.018])
    >>> problem = shj("I")
    >>> trials = problem.trials(np.random.default_rng(0))
    >>> model.fit(problem.stimuli[trials], problem.categories[trials]).attention_.round(2)
    array([0.79, 0.  , 0.  ])
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "sensitivity": (0.1, 30.0),
        "choice": (0.1, 20.0),
        "association_rate": (1e-4, 1.0),
        "attention_rate": (1e-5, 10.0),
    }
    sloped = (
        "sensitivity", "choice", "association_rate", "attention_rate", None, None, "noise",
        "absent",
    )  # fmt: skip

    def __init__(
        self,
        sensitivity: float,
        choice: float,
        association_rate: float,
        attention_rate: float,
        order: float = 1,
        exponent: float = 1,
        teacher: str = "humble",
        attention_rule: str = "gradient",
        response: str = "softmax",
        noise: float = 0.0,
        attention_constraint: str | None = None,
        absent: float = -1.0,
    ) -> None:
        self.sensitivity = sensitivity
        self.choice = choice
        self.association_rate = association_rate
        self.attention_rate = attention_rate
        self.order = order
        self.exponent = exponent
        self.teacher = teacher
        self.attention_rule = attention_rule
        self.response = response
        self.noise = noise
        self.attention_constraint = attention_constraint
        self.absent = absent

    def fit(
        self,
        X: Items,
        categories: ArrayLike,
        nodes: ArrayLike | None = None,
        *,
        control: ArrayLike | None = None,
    ) -> Self:
        """Learn trial by trial, in the order of the rows.

        Parameters
        ----------
        X : array of shape (trials, dimensions)
            The stimulus of each trial.
        categories : sequence of shape (trials,)
            The right answer of each trial.
        nodes : array of shape (nodes, dimensions), optional
            By default the distinct rows of `X`, in the order in which they first appear.
        control : sequence of int, optional
            What each trial does: 0 (learn, the default), 1 (forget everything, then learn) or 2
            (answer without learning).
        """
        self._check()
        trials = admit_trials(X, categories, control)
        if nodes is None:
            return self._learn(trials)
        return self._learn(trials, admit_new(nodes, "nodes", trials.stimuli.shape[1]))

    def _learn(self, trials: Trials, nodes: np.ndarray | None = None) -> Self:
        d = trials.stimuli.shape[1]
        H = distinct_rows(trials.stimuli) if nodes is None else nodes
        w, alpha = np.zeros((len(H), len(trials.classes))), np.full(d, 1.0 / d)
        trace = np.empty((len(trials.order), len(trials.classes)))
        stop = learn_alcove(
            trials.stimuli, trials.codes, trials.order, trials.control, H,
            self._rule(), self._options(), w, alpha, trace,
        )  # fmt: skip
        self._finish(trials, trace, stop, w, alpha)
        self.nodes_, self.association_, self.attention_ = H, w, alpha
        self.kernel_ = Shepard(
            float(self.sensitivity), float(self.order), float(self.exponent), tuple(alpha.tolist())
        )
        self.function_ = Function(self.kernel_, H, w)
        return self

    def _slopes(self, trials: Trials, seeds: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        trace = np.empty((len(trials.order), len(trials.classes)))
        slopes = np.zeros((*trace.shape, seeds.shape[1]))
        stop = slope_alcove(
            trials.stimuli, trials.codes, trials.order, trials.control,
            distinct_rows(trials.stimuli), self._rule(), self._options(), seeds, trace, slopes,
        )  # fmt: skip
        return stop, trace, slopes

    def _prepare(self, stimuli: np.ndarray) -> Any:
        return stimuli, distinct_rows(stimuli)

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        stimuli, nodes = task
        rule, options = self._rule(), self._options()
        simulate_alcove(stimuli, codes, orders, nodes, classes, rule, options, errors)

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        return self.function_(stimuli)

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        if self.response == "softmax":
            return softmax(self.choice * outputs, self.noise)
        shares = np.maximum(outputs, 0.0) + self.noise
        total = shares.sum(axis=1, keepdims=True)
        even = np.full(shares.shape, 1 / shares.shape[1])
        return np.divide(shares, total, out=even, where=total > 0)

    def _rule(self) -> tuple[float, ...]:
        names = (
            "sensitivity", "choice", "association_rate", "attention_rate", "order", "exponent",
            "noise", "absent",
        )  # fmt: skip
        return tuple(float(getattr(self, name)) for name in names)

    def _options(self) -> tuple[int, ...]:
        constraint = (None, *CONSTRAINTS).index(self.attention_constraint)
        humble, simple = self.teacher == "humble", self.attention_rule == "simple"
        return int(humble), int(simple), constraint, int(self.response == "background")

    def _check(self) -> None:
        for name in ("sensitivity", "order", "exponent"):
            positive(self, name, getattr(self, name))
        for name in ("choice", "association_rate", "attention_rate", "noise"):
            positive(self, name, getattr(self, name), zero=True)
        if finite(self, "absent", self.absent) >= 1:
            raise ValidityError(
                f"absent must be below 1, the target of the right category, found {self.absent!r}"
            )
        choices = {"teacher": TEACHERS, "attention_rule": RULES, "response": RESPONSES}
        if self.attention_constraint is not None:
            choices["attention_constraint"] = CONSTRAINTS
        for name, known in choices.items():
            value = getattr(self, name)
            if value not in known:
                raise ValidityError(f"{name} cannot be {value!r}{suggestion(value, known)}")
