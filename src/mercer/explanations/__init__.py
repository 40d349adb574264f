"""Explanations: what a decision is made of, and who pulled it which way."""

from mercer.errors import renamed
from mercer.explanations.attribution import Attribution
from mercer.explanations.explanation import Explanation, ItemExplanation, explain

__all__ = ["Attribution", "Explanation", "ItemExplanation", "explain"]

__getattr__ = renamed(__name__, {"Decision": "ItemExplanation", "Part": "Attribution"})
