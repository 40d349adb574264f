"""Plan: what solvers need and cost, and the memory that there is, become a decision."""

from mercer.errors import renamed
from mercer.memory import available, format_bytes
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.chooser import size_of
from mercer.plans.plan import Decision, Plan, asks_for_sketch, requested
from mercer.plans.ridge import choose_ridge, choose_sketch
from mercer.solvers.cost import Size

__all__ = [
    "Decision",
    "Nystrom",
    "Plan",
    "Random",
    "Size",
    "asks_for_sketch",
    "available",
    "choose_ridge",
    "choose_sketch",
    "format_bytes",
    "requested",
    "size_of",
]

__getattr__ = renamed(__name__, {"human": "format_bytes"})
