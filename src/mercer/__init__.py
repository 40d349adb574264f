"""mercer: learning from similarity.

Say how alike two things are (a kernel), learn from examples (a machine), and know how far to
trust the answer. Kernels live in `mercer.kernels`, machines here. Importing mercer is cheap:
each part is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer import (
        cognition,
        datasets,
        domains,
        errors,
        explanations,
        files,
        gram,
        kernels,
        machines,
        models,
        plans,
        rkhs,
        selection,
        solvers,
        sources,
        studies,
        testing,
    )
    from mercer.domains import Stream
    from mercer.explanations import explain
    from mercer.files import load, save
    from mercer.machines import (
        LPSVC,
        SVC,
        SVR,
        Calibrated,
        Conformal,
        Encode,
        ExemplarClassifier,
        ExemplarRegressor,
        GaussianProcess,
        KernelDiscriminant,
        KernelLogistic,
        KernelMeans,
        KernelNeighbors,
        KernelPCA,
        KernelQuantile,
        KernelRidge,
        KernelRidgeClassifier,
        LearnedMetric,
        NuSVC,
        NuSVR,
        OneClassSVM,
        Perceptron,
        PrototypeClassifier,
        RBFNetwork,
        RBFNetworkClassifier,
        ScaledTarget,
        Standardize,
    )
    from mercer.plans import Nystrom, Plan, Random
    from mercer.studies import study

__version__ = "0.1.0"

_ROOMS = (
    "cognition", "datasets", "domains", "errors", "explanations", "files", "gram", "kernels",
    "machines", "models", "plans", "plots", "report", "rkhs", "selection", "solvers", "sources",
    "studies", "testing",
)  # fmt: skip
_HOMES = {
    "LPSVC": "mercer.machines",
    "SVC": "mercer.machines",
    "SVR": "mercer.machines",
    "Calibrated": "mercer.machines",
    "Conformal": "mercer.machines",
    "Encode": "mercer.machines",
    "ExemplarClassifier": "mercer.machines",
    "ExemplarRegressor": "mercer.machines",
    "GaussianProcess": "mercer.machines",
    "KernelDiscriminant": "mercer.machines",
    "KernelLogistic": "mercer.machines",
    "KernelMeans": "mercer.machines",
    "KernelNeighbors": "mercer.machines",
    "KernelPCA": "mercer.machines",
    "KernelQuantile": "mercer.machines",
    "KernelRidge": "mercer.machines",
    "KernelRidgeClassifier": "mercer.machines",
    "LearnedMetric": "mercer.machines",
    "NuSVC": "mercer.machines",
    "NuSVR": "mercer.machines",
    "OneClassSVM": "mercer.machines",
    "Perceptron": "mercer.machines",
    "PrototypeClassifier": "mercer.machines",
    "RBFNetwork": "mercer.machines",
    "RBFNetworkClassifier": "mercer.machines",
    "ScaledTarget": "mercer.machines",
    "Standardize": "mercer.machines",
    "Stream": "mercer.domains",
    "Nystrom": "mercer.plans",
    "Plan": "mercer.plans",
    "Random": "mercer.plans",
    "explain": "mercer.explanations",
    "load": "mercer.files",
    "save": "mercer.files",
    "study": "mercer.studies",
}

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
    "NuSVC",
    "NuSVR",
    "Nystrom",
    "OneClassSVM",
    "Perceptron",
    "Plan",
    "PrototypeClassifier",
    "RBFNetwork",
    "RBFNetworkClassifier",
    "Random",
    "ScaledTarget",
    "Standardize",
    "Stream",
    "cognition",
    "datasets",
    "domains",
    "errors",
    "explain",
    "explanations",
    "files",
    "gram",
    "kernels",
    "load",
    "machines",
    "models",
    "plans",
    "rkhs",
    "save",
    "selection",
    "solvers",
    "sources",
    "studies",
    "study",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"mercer.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
