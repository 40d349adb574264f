"""Plan: sizes, costs and memory become a route."""

from mercer.memory import available, human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.plan import Plan, Size
from mercer.plans.ridge import plan_ridge
from mercer.plans.sketches import plan_sketch

__all__ = [
    "Nystrom",
    "Plan",
    "Random",
    "Size",
    "available",
    "human",
    "plan_ridge",
    "plan_sketch",
]
