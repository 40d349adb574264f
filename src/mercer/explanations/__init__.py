"""Explanations: what a decision is made of, and who pulled it which way."""

from mercer.explanations.credit import Part
from mercer.explanations.explanation import Decision, Explanation
from mercer.explanations.reasons import explain

__all__ = ["Decision", "Explanation", "Part", "explain"]
