"""Machines: estimators whose fit walks through the rooms."""

from mercer.machines.machine import Machine
from mercer.machines.ridge import KernelRidge, KernelRidgeClassifier

__all__ = ["KernelRidge", "KernelRidgeClassifier", "Machine"]
