"""Exemplars with weights: between remembering similarity and learning a perceptron.

A model that only sums similarities cannot learn from its mistakes, and one that solves for the
weights of exemplars exactly overfits. Ridge regression is in between (Jäkel, Schölkopf & Wichmann,
2007, section 3.2): with K the similarities of the exemplars, V their strengths and Y a column of
zeros and ones for each category,

    A = (1 + λ)(K + λV⁻¹)⁻¹Y        the weights,
    f_K(x) = Σⱼ A_jK s(x, xⱼ)        the evidence for category K (23),
    P(K|x) = exp φf_K(x) / Σ_L exp φf_L(x)        the answers.

λ = 0 gives the perceptron that knows every exemplar, A = K⁻¹Y (24). The factor 1 + λ, which could
as well be part of φ, keeps the evidence finite on the way to λ = ∞, where A = VY and f is the
summed similarity of the GCM: the weights then "only vary in their sign" and similarity alone
decides, as in (21). With two categories the log odds are φ times ridge regression on ±1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import (
    Constraint,
    ParameterLayout,
    PositiveReal,
    Rule,
    Slopes,
)
from mercer.cognition.experiments.stimuli import Distances, Memory
from mercer.errors import ValidityError
from mercer.gram import Dense
from mercer.rkhs import Function
from mercer.solvers import Cholesky, Problem
from mercer.values import Seed, positive

__all__ = ["ExemplarRidge", "WeightedSimilarity"]

# Logarithms of penalties that are searched: below and above nothing changes but rounding errors.
PENALTIES = (float(np.log(1e-6)), float(np.log(1e6)))


class ExemplarRidge(ChoiceModel):
    """Choice by weighted similarity to exemplars, the weights learned by ridge regression.

    Parameters
    ----------
    sensitivity, attention, order, exponent
        Of similarity, as in `GCM`; the kernel must be positive semi-definite, which needs
        exponent ≤ order ≤ 2.
    penalty : float
        λ ≥ 0: from 0, where the exemplars are learned perfectly, to infinity, where all weights
        are alike and only similarity counts.
    choice : float
        φ > 0: how deterministic the answers are.
    free : sequence of {"sensitivity", "attention", "penalty", "choice"}
        What is fitted to responses.
    loss, starts, random_state, max_iter
        As in `GCM`. Penalties are searched for between 1e-6 and 1e6.

    Attributes
    ----------
    params_, classes_, kernel_, log_likelihood_, sse_, aic_, bic_, fit_, subjects_, free_
        As in `GCM`.
    function_ : Function
        The evidence for each category, a column for each, without φ.

    Notes
    -----
    Strengths are the weights of the squared errors, so one of strength 2 counts like two.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> ExemplarRidge(penalty=0.0).fit(X, y).function_(X)[:, 1].round(6) + 0.0
    array([0., 1., 1., 0.])
    >>> model = ExemplarRidge(penalty=float("inf"), choice=2.0).fit(X, y)
    >>> model.predict_proba([[0, 0]]).round(3)  # the summed similarities differ by 0.155
    array([[0.577, 0.423]])
    """

    kinds: ClassVar[dict[str, str]] = {
        "sensitivity": "positive",
        "attention": "dimension",
        "penalty": "positive",  # or zero, or infinite
        "choice": "positive",
    }
    spread: ClassVar[dict[str, tuple[float, float]]] = {
        "sensitivity": (1.0, 1.0),
        "penalty": (0.0, 2.0),
        "choice": (0.7, 0.7),
    }

    def __init__(
        self,
        sensitivity: float = 1.0,
        attention: Sequence[float] | None = None,
        penalty: float = 1.0,
        choice: float = 1.0,
        order: float = 1,
        exponent: float = 1,
        free: Sequence[str] = ("sensitivity", "attention", "penalty", "choice"),
        loss: str = "likelihood",
        *,
        starts: int = 10,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.sensitivity = sensitivity
        self.attention = attention
        self.penalty = penalty
        self.choice = choice
        self.order = order
        self.exponent = exponent
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    def _value(self, name: str, memory: Memory) -> Any:
        if name != "penalty":
            return super()._value(name, memory)
        infinite = isinstance(self.penalty, float) and self.penalty == np.inf
        return np.inf if infinite else positive(self, "penalty", self.penalty, zero=True)

    def _constraint(self, name: str, memory: Memory) -> Constraint:
        if name == "penalty":
            return PositiveReal(name, PENALTIES)
        return super()._constraint(name, memory)

    def _layout(self, memory: Memory) -> ParameterLayout:
        layout = super()._layout(memory)
        solved = layout.given["penalty"] < np.inf or any(p.name == "penalty" for p in layout.parts)
        proof = self._kernel(layout.given).proof()
        if solved and proof.verdict == "refuted":
            raise ValidityError(
                f"ExemplarRidge needs a positive semi-definite similarity, but\n{proof}\nuse "
                "exponent ≤ order ≤ 2, or a fixed infinite penalty"
            )
        return layout

    def _rule(self, memory: Memory, rows: np.ndarray) -> Rule:
        return WeightedSimilarity(memory, rows, float(self.order), float(self.exponent))

    def _function(self, memory: Memory, params: Mapping[str, Any]) -> Function:
        rule = WeightedSimilarity(memory, memory.rows[:1], float(self.order), float(self.exponent))
        return Function(self._kernel(params), rule.rows, rule.weights(params))


class WeightedSimilarity:
    """The scores φ·Σⱼ A_jK s(x, xⱼ) of some stimuli, with their slopes.

    Parameters
    ----------
    memory : Memory
    rows : ndarray of shape (m, dimensions)
        The stimuli.
    order, exponent : float
    """

    def __init__(self, memory: Memory, rows: np.ndarray, order: float, exponent: float) -> None:
        kept = memory.strengths > 0
        self.rows, self.strengths = memory.rows[kept], memory.strengths[kept]
        self.targets = (memory.labels[kept] > 0).astype(np.float64)
        self.outside = Distances(rows, self.rows, order, exponent)
        self.inside = Distances(self.rows, self.rows, order, exponent)

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        c, w, penalty, choice = (params[name] for name in ExemplarRidge.kinds)
        D, decay = self.outside.distances(w)
        S = np.exp(-c * decay)
        A, solve, inside = self._solve(c, w, penalty)
        F = S @ A

        def slopes(G: np.ndarray) -> dict[str, Any]:
            for_c, for_w = self.outside.slopes(c, D, decay, choice * (G @ A.T) * S)
            for_penalty = 0.0
            if penalty < np.inf:
                # A = M⁻¹Y with M = (K + λV⁻¹)/(1 + λ), so dA = −M⁻¹dM·A.
                DK, decay_K, K = inside
                for_M = -solve(choice * (S.T @ G)) @ A.T
                more_c, more_w = self.inside.slopes(c, DK, decay_K, for_M * K / (1 + penalty))
                for_c, for_w = for_c + more_c, for_w + more_w
                change = np.diag(for_M) @ (1 / self.strengths) - np.vdot(for_M, K)
                for_penalty = float(change) / (1 + penalty) ** 2
            return {
                "sensitivity": for_c,
                "attention": for_w,
                "penalty": for_penalty,
                "choice": float(np.vdot(G, F)),
            }

        return choice * F, slopes

    def weights(self, params: Mapping[str, Any]) -> np.ndarray:
        """Return A, a column for each category."""
        return self._solve(params["sensitivity"], params["attention"], params["penalty"])[0]

    def _solve(self, c: float, w: np.ndarray, penalty: float) -> tuple[np.ndarray, Any, Any]:
        """Return A, the map by M⁻¹, and the distances and similarities of the exemplars."""
        if penalty == np.inf:
            return self.strengths[:, None] * self.targets, None, None
        D, decay = self.inside.distances(w)
        K = np.exp(-c * decay)
        solver = Cholesky()
        state = solver.prepare(Problem(Dense(K.copy()), self.strengths))

        def solve(R: np.ndarray) -> np.ndarray:
            solution = solver.solve(state, R, penalty).require_solved()
            return (1 + penalty) * solution.coefficients

        return solve(self.targets), solve, (D, decay, K)
