"""Machines: estimators whose fit walks through the rooms."""

from mercer.machines.calibrated import Calibrated
from mercer.machines.conformal import Conformal
from mercer.machines.discriminant import KernelDiscriminant
from mercer.machines.encode import Encode
from mercer.machines.exemplar import ExemplarClassifier, ExemplarRegressor
from mercer.machines.gaussian_process import GaussianProcess
from mercer.machines.learned_metric import LearnedMetric
from mercer.machines.logistic import KernelLogistic
from mercer.machines.lp import LPSVC
from mercer.machines.machine import Machine
from mercer.machines.means import KernelMeans
from mercer.machines.neighbors import KernelNeighbors
from mercer.machines.network import RBFNetwork, RBFNetworkClassifier
from mercer.machines.nusvc import NuSVC
from mercer.machines.nusvr import NuSVR
from mercer.machines.oneclass import OneClassSVM
from mercer.machines.pca import KernelPCA
from mercer.machines.perceptron import Perceptron
from mercer.machines.prototype import PrototypeClassifier
from mercer.machines.quantile import KernelQuantile
from mercer.machines.ridge import KernelRidge, KernelRidgeClassifier
from mercer.machines.scaled_target import ScaledTarget
from mercer.machines.standardize import Standardize
from mercer.machines.svc import SVC
from mercer.machines.svr import SVR

__all__ = [
    "LPSVC",
    "SVC",
    "SVR",
    "Calibrated",
    "Conformal",
    "Encode",
    "ExemplarClassifier",
    "ExemplarRegressor",
    "GaussianProcess",
    "KernelDiscriminant",
    "KernelLogistic",
    "KernelMeans",
    "KernelNeighbors",
    "KernelPCA",
    "KernelQuantile",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LearnedMetric",
    "Machine",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Perceptron",
    "PrototypeClassifier",
    "RBFNetwork",
    "RBFNetworkClassifier",
    "ScaledTarget",
    "Standardize",
]
