"""Explanations: what a decision is made of, and who pulled it which way."""

from mercer.errors import renamed
from mercer.explanations.attribution import Attribution
from mercer.explanations.column_effects import EffectCurve, column_effect, interaction
from mercer.explanations.explanation import Explanation, ItemExplanation, explain
from mercer.explanations.shapley import ColumnReasons, shapley, shapley_hsic, shapley_mmd

__all__ = [
    "Attribution",
    "ColumnReasons",
    "EffectCurve",
    "Explanation",
    "ItemExplanation",
    "column_effect",
    "explain",
    "interaction",
    "shapley",
    "shapley_hsic",
    "shapley_mmd",
]

__getattr__ = renamed(__name__, {"Decision": "ItemExplanation", "Part": "Attribution"})
