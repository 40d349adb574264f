"""Plan: sizes, costs and memory become a route."""

from mercer.memory import available, human
from mercer.plans.plan import Plan, Size, plan_ridge

__all__ = ["Plan", "Size", "available", "human", "plan_ridge"]
