"""Resolve: kernels, their algebra, their proofs, their health on data."""

from mercer.kernels.angles import ArcCosine, Cosine, Tanimoto
from mercer.kernels.base import Kernel, VectorKernel, kernel
from mercer.kernels.block import Block
from mercer.kernels.categorical import Categorical
from mercer.kernels.compose import pullback, rescale
from mercer.kernels.doctor import check
from mercer.kernels.dot import Constant, Linear, Polynomial, QuadraticForm
from mercer.kernels.elementwise import exp, polynomial
from mercer.kernels.histogram import Brownian, Chi2, Intersection
from mercer.kernels.lengths import assume_psd, gaussian_over, normalize
from mercer.kernels.matern import Matern
from mercer.kernels.names import named
from mercer.kernels.proof import Proof, Witness
from mercer.kernels.shepard import Shepard
from mercer.kernels.sigmoid import Sigmoid
from mercer.kernels.stationary import (
    Exponential,
    Gaussian,
    Laplacian,
    Periodic,
    RationalQuadratic,
)
from mercer.kernels.user import from_basis, from_features, from_function, precomputed

__all__ = [
    "ArcCosine",
    "Block",
    "Brownian",
    "Categorical",
    "Chi2",
    "Constant",
    "Cosine",
    "Exponential",
    "Gaussian",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Periodic",
    "Polynomial",
    "Proof",
    "QuadraticForm",
    "RationalQuadratic",
    "Shepard",
    "Sigmoid",
    "Tanimoto",
    "VectorKernel",
    "Witness",
    "assume_psd",
    "check",
    "exp",
    "from_basis",
    "from_features",
    "from_function",
    "gaussian_over",
    "kernel",
    "named",
    "normalize",
    "polynomial",
    "precomputed",
    "pullback",
    "rescale",
]
