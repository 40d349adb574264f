"""Plan: sizes, costs and memory become a route."""

from mercer.memory import available, human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.plan import Decision, Plan, Size, requested
from mercer.plans.ridge import plan_ridge
from mercer.plans.sketches import plan_sketch

__all__ = [
    "Decision",
    "Nystrom",
    "Plan",
    "Random",
    "Size",
    "available",
    "human",
    "plan_ridge",
    "plan_sketch",
    "requested",
]
