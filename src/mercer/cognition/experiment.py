"""Experiments: what was shown to people, and what they answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cognition.responses import admit_responses, pooled_responses

__all__ = ["Experiment"]


@dataclass(frozen=True)
class Experiment:
    """A categorization experiment: exemplars that were learned, stimuli that were asked about.

    Attributes
    ----------
    exemplars : ndarray of shape (n, dimensions)
    categories : ndarray of shape (n,)
        The category of each exemplar.
    stimuli : ndarray of shape (m, dimensions)
    responses : ndarray of shape (m, categories) or (subjects, m, categories)
        How often each category was answered, the categories in sorted order; or proportions.
    strengths : ndarray of shape (n,), optional
        How well each exemplar is remembered, for example how often it was shown.
    names : sequence of str, optional
        Of the stimuli.
    source : str
        Where the numbers come from.

    Examples
    --------
    >>> shown = Experiment([[0.0], [1.0]], ["a", "b"], [[0.2]], [[9, 1]])
    >>> shown.proportions
    array([[0.9, 0.1]])
    """

    exemplars: Any
    categories: Any
    stimuli: Any
    responses: Any
    strengths: Any = None
    names: Any = None
    source: str = ""

    @property
    def proportions(self) -> np.ndarray:
        """Share of each category in the answers to each stimulus, over all subjects."""
        classes = np.unique(np.asarray(self.categories))
        many = admit_responses(self.responses, len(self.stimuli), classes, loss="sse")
        return pooled_responses(many).shares
