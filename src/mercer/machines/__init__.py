"""Machines: estimators whose fit walks through the rooms."""

from mercer.machines.exemplar import ExemplarClassifier, ExemplarRegressor
from mercer.machines.machine import Machine
from mercer.machines.means import KernelMeans
from mercer.machines.neighbors import KernelNeighbors
from mercer.machines.perceptron import Perceptron
from mercer.machines.prototype import PrototypeClassifier
from mercer.machines.ridge import KernelRidge, KernelRidgeClassifier

__all__ = [
    "ExemplarClassifier",
    "ExemplarRegressor",
    "KernelMeans",
    "KernelNeighbors",
    "KernelRidge",
    "KernelRidgeClassifier",
    "Machine",
    "Perceptron",
    "PrototypeClassifier",
]
