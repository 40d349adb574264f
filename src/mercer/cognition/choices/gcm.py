"""Luce's choice rule on similarities: the generalized context model, and the prototype model.

P(A|i) = b_A (Σ_{j∈A} Vⱼ sᵢⱼ)^γ / Σ_K b_K (Σ_{j∈K} Vⱼ sᵢⱼ)^γ (Nosofsky, 1986; the power γ is Ashby
& Maddox's, 1993), with s = exp(−c·d^p), d = (Σ wₘ|xₘ − zₘ|^r)^{1/r}, Σw = 1 and Σb = 1. With γ = 1
and no bias it is Nadaraya-Watson regression on the categories; with r = p = 1 it is the context
model of Medin & Schaffer (1978). The prototype model has one exemplar for each category, its mean.

Everything is computed from log Σ V s, so that a stimulus that is far from all exemplars, whose
similarities are zero in double precision, still has probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import ParameterLayout, Rule, Slopes
from mercer.cognition.experiments.stimuli import Distances, Memory
from mercer.errors import ValidityError
from mercer.rkhs import Function
from mercer.values import Seed, positive

__all__ = ["GCM", "LuceModel", "PrototypeModel", "SummedSimilarity", "context_model"]


class SummedSimilarity:
    """The scores log b_K + γ log Σ_{j∈K} Vⱼ sᵢⱼ of some stimuli, with their slopes.

    Parameters
    ----------
    memory : Memory
    rows : ndarray of shape (m, dimensions)
        The stimuli.
    order, exponent : float
    """

    def __init__(self, memory: Memory, rows: np.ndarray, order: float, exponent: float) -> None:
        kept = np.flatnonzero(memory.strengths > 0)
        kept = kept[np.argsort(memory.codes[kept], kind="stable")]
        self.codes = memory.codes[kept]
        # Exemplars stand in the order of their categories: each is a run that starts here.
        self.runs = np.searchsorted(self.codes, np.arange(len(memory.classes)))
        self.log_strengths = np.log(memory.strengths[kept])
        self.space = Distances(rows, memory.rows[kept], order, exponent)

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        c, w, b, gamma = (params[name] for name in LuceModel.kinds)
        D, decay = self.space.distances(w)
        E = self.log_strengths - c * decay
        top = np.maximum.reduceat(E, self.runs, axis=1)
        R = np.exp(E - top[:, self.codes])
        sums = np.add.reduceat(R, self.runs, axis=1)
        L = top + np.log(sums)

        def slopes(G: np.ndarray) -> dict[str, Any]:
            A = (gamma * G / sums)[:, self.codes] * R
            for_c, for_w = self.space.slopes(c, D, decay, A)
            for_b = G.sum(axis=0) / b
            return {
                "sensitivity": for_c,
                "attention": for_w,
                "bias": for_b,
                "gamma": float(np.vdot(G, L)),
            }

        return np.log(b) + gamma * L, slopes


class LuceModel(ChoiceModel):
    """Choice by summed similarity to what is stored of each category."""

    kinds: ClassVar[dict[str, str]] = {
        "sensitivity": "positive",
        "attention": "dimension",
        "bias": "category",
        "gamma": "positive",
    }

    def __init__(
        self,
        sensitivity: float = 1.0,
        attention: Sequence[float] | None = None,
        bias: Sequence[float] | None = None,
        gamma: float = 1.0,
        order: float = 1,
        exponent: float = 1,
        free: Sequence[str] = ("sensitivity", "attention"),
        loss: str = "likelihood",
        *,
        starts: int = 10,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.sensitivity = sensitivity
        self.attention = attention
        self.bias = bias
        self.gamma = gamma
        self.order = order
        self.exponent = exponent
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    def _rule(self, memory: Memory, rows: np.ndarray) -> Rule:
        return SummedSimilarity(memory, rows, float(self.order), float(self.exponent))

    def _function(self, memory: Memory, params: Mapping[str, Any]) -> Function:
        return Function(self._kernel(params), memory.rows, memory.labels)


class GCM(LuceModel):
    """The generalized context model of categorization (Nosofsky, 1986).

    Parameters
    ----------
    sensitivity : float
        c > 0: how fast similarity falls off with distance.
    attention : sequence of float, optional
        Weights of the dimensions, which sum to one; by default all the same.
    bias : sequence of float, optional
        Weights of the categories, in the order of `classes_`, which sum to one; by default all
        the same. They apply after the power γ.
    gamma : float
        γ > 0: how deterministic the answers are. With 1 they match the summed similarities.
    order : float
        r of the metric: 1 for separable and 2 for integral dimensions.
    exponent : float
        p of the decay: 1 for exponential and 2 for Gaussian similarity.
    free : sequence of {"sensitivity", "attention", "bias", "gamma"}
        What is fitted to responses; the others keep their values. The values of the free ones are
        the first start.
    loss : {"likelihood", "sse"}
        Maximum likelihood of counts, or least squares of proportions.
    starts : int
        Searches, from the given parameters and from random ones.
    random_state : int, Generator or None
        Of the random starts.
    max_iter : int
        Largest number of L-BFGS steps of each.

    Attributes
    ----------
    params_ : dict
        The values of all four parameters, for all subjects together.
    classes_ : ndarray
    function_ : Function
        The summed similarity Σ V s to each category, a column for each.
    kernel_ : Shepard
    log_likelihood_, sse_, aic_, bic_ : float
        Σ n log p without the multinomial constant, squared errors of proportions (of two
        categories only one is counted), and the criteria, after a fit to responses. Where those
        were proportions there is no likelihood, and it is NaN.
    fit_ : Fit
        The same in one object, with the number of free parameters.
    subjects_ : list of Fit
        One for each, after a fit to responses of shape (subjects, m, categories): everyone has
        parameters of their own there, while the attributes above belong to the pooled responses.
    free_ : tuple of str
        What was fitted.

    Notes
    -----
    Gradients are analytic. A step costs O(m·n·dimensions) operations.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "a", "b", "a"]
    >>> model = GCM(sensitivity=2.0).fit(X, y)  # nothing is fitted
    >>> model.predict_proba([[0, 0]]).round(3)
    array([[0.803, 0.197]])
    >>> model = GCM().fit(X, y, responses=[[17, 3], [19, 1], [4, 16], [14, 6]])
    >>> model.params_["attention"].round(2)
    array([0.62, 0.38])
    >>> round(model.log_likelihood_, 2), model.fit_.parameters
    (-36.4, 2)
    >>> model.intervals()["sensitivity"].round(1)
    array([1.9, 4.4])
    """


def context_model(similarities: Sequence[float], **more: Any) -> GCM:
    """Return the context model (Medin & Schaffer, 1978) with these similarities of mismatches.

    The similarity of two stimuli is the product of sₘ over the dimensions in which they differ. As
    sₘ = exp(−c·wₘ), it is the GCM with order = exponent = 1 and c = −Σ log sₘ.

    Parameters
    ----------
    similarities : sequence of float
        sₘ of each binary dimension, 0 < sₘ ≤ 1, not all 1.
    **more
        Other parameters of the `GCM`.

    Returns
    -------
    GCM
        Not fitted, with sensitivity and attention that have these similarities.

    Examples
    --------
    >>> model = context_model([0.5, 0.25]).fit([[0, 0], [1, 1]], ["a", "b"])
    >>> model.function_([[0, 0], [0, 1]])
    array([[1.   , 0.125],
           [0.25 , 0.5  ]])
    """
    s = np.array([positive(GCM(), "similarities", value) for value in similarities])
    if len(s) == 0 or (s > 1).any() or (s == 1).all():
        raise ValidityError(
            "similarities must be positive, at most 1 and not all 1, one per dimension; found "
            f"{list(similarities)}"
        )
    rates = -np.log(s)
    c = float(rates.sum())
    return GCM(c, tuple((rates / c).tolist()), **more)


class PrototypeModel(LuceModel):
    """Choice by similarity to the mean of each category (Reed, 1972; Nosofsky, 1987).

    P(A|i) = b_A s(i, Ā)^γ / Σ_K b_K s(i, K̄)^γ, the rule of the `GCM` with one row for each
    category: the mean of its exemplars, weighted by their strengths.

    Parameters
    ----------
    starts, random_state, max_iter
        As in `GCM`.
    sensitivity, attention, bias, gamma, order, exponent, free, loss
        As in `GCM`. As s^γ = exp(−γ·c·d^p), only the product of γ and c matters: if both are
        free, γ keeps its value and c is fitted, which counts as one parameter.

    Attributes
    ----------
    prototypes_ : ndarray of shape (categories, dimensions)
    params_, classes_, function_, kernel_, log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`.
    free_ : tuple of str
        What was fitted, which is never both sensitivity and gamma.

    Examples
    --------
    >>> model = PrototypeModel(sensitivity=2.0).fit([[0.0], [2.0], [5.0]], ["a", "a", "b"])
    >>> model.prototypes_.ravel()
    array([1., 5.])
    >>> model.predict_proba([[1.0], [3.0]]).round(3)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    def _store(self, memory: Memory) -> Memory:
        return memory.means()

    def _layout(self, memory: Memory) -> ParameterLayout:
        layout = super()._layout(memory)
        names = {part.name for part in layout.parts}
        if {"sensitivity", "gamma"} <= names:
            kept = tuple(part for part in layout.parts if part.name != "gamma")
            return ParameterLayout(layout.given, kept)
        return layout

    @property
    def prototypes_(self) -> np.ndarray:
        """The mean of each category."""
        return self._memory.rows
