"""The prototype model: one exemplar for each category, its mean."""

from __future__ import annotations

import numpy as np

from mercer.cognition.gcm import LuceModel
from mercer.cognition.memory import Memory
from mercer.cognition.parameters import Layout

__all__ = ["PrototypeModel"]


class PrototypeModel(LuceModel):
    """Choice by similarity to the mean of each category (Reed, 1972; Nosofsky, 1987).

    P(A|i) = b_A s(i, Ā)^γ / Σ_K b_K s(i, K̄)^γ, the rule of the `GCM` with one row for each
    category: the mean of its exemplars, weighted by their strengths.

    Parameters
    ----------
    sensitivity, attention, bias, gamma, order, exponent, free, loss
        As in `GCM`, and so are starts, random_state and max_iter. As s^γ = exp(−γ·c·d^p), only
        the product of γ and c matters: if both are free, γ keeps its value and c is fitted, which
        counts as one parameter.

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

    def _layout(self, memory: Memory) -> Layout:
        layout = super()._layout(memory)
        names = {part.name for part in layout.parts}
        if {"sensitivity", "gamma"} <= names:
            kept = tuple(part for part in layout.parts if part.name != "gamma")
            return Layout(layout.given, kept)
        return layout

    @property
    def prototypes_(self) -> np.ndarray:
        """The mean of each category."""
        return self._memory.rows
