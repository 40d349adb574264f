"""Explanations: what a decision is made of, and who pulled it which way."""

from mercer.errors import renamed
from mercer.explanations.attribution import Attribution
from mercer.explanations.column_effects import EffectCurve, column_effect, interaction
from mercer.explanations.effects_of_parts import PartEffect, part_effects, part_interaction
from mercer.explanations.estimated_shares import estimate_shares
from mercer.explanations.explanation import Explanation, ItemExplanation, explain
from mercer.explanations.shapley import ColumnReasons, shapley, shapley_hsic, shapley_mmd

__all__ = [
    "Attribution",
    "ColumnReasons",
    "EffectCurve",
    "Explanation",
    "ItemExplanation",
    "PartEffect",
    "column_effect",
    "estimate_shares",
    "explain",
    "interaction",
    "part_effects",
    "part_interaction",
    "shapley",
    "shapley_hsic",
    "shapley_mmd",
]

__getattr__ = renamed(__name__, {"Decision": "ItemExplanation", "Part": "Attribution"})
