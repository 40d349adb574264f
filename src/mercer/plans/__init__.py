"""Plan: what solvers need and cost, and the memory that there is, become a decision."""

from mercer.memory import available, human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.chooser import size_of
from mercer.plans.plan import Decision, Plan, asks_for_sketch, requested
from mercer.plans.ridge import plan_ridge, plan_sketch
from mercer.solvers.cost import Size

__all__ = [
    "Decision",
    "Nystrom",
    "Plan",
    "Random",
    "Size",
    "asks_for_sketch",
    "available",
    "human",
    "plan_ridge",
    "plan_sketch",
    "requested",
    "size_of",
]
