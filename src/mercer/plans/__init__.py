"""Plan: sizes, costs and memory become a route."""

from mercer.plans.memory import available, human
from mercer.plans.plan import Plan, plan_ridge

__all__ = ["Plan", "available", "human", "plan_ridge"]
