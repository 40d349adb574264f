"""Resolve: kernels, their algebra, their proofs, their health on data."""

from mercer.kernels.alignment import GlobalAlignment
from mercer.kernels.angles import ArcCosine, Cosine, Tanimoto
from mercer.kernels.bags import SetKernel
from mercer.kernels.base import Kernel, VectorKernel, kernel
from mercer.kernels.block import Block
from mercer.kernels.categorical import Categorical
from mercer.kernels.compose import pullback, rescale
from mercer.kernels.doctor import check
from mercer.kernels.dot import Constant, Linear, Polynomial, QuadraticForm
from mercer.kernels.elementwise import exp, polynomial
from mercer.kernels.generative import (
    Density,
    Fisher,
    HiddenMarkov,
    LatentGaussian,
    LatentIntegral,
    Mixture,
    ProbabilityProduct,
)
from mercer.kernels.graphs import (
    Graphlet,
    Molecule,
    RandomWalk,
    ShortestPath,
    WeisfeilerLehman,
)
from mercer.kernels.histogram import Brownian, Chi2, Intersection
from mercer.kernels.lengths import assume_psd, gaussian_over, normalize
from mercer.kernels.matern import Matern
from mercer.kernels.names import named
from mercer.kernels.notation import parse
from mercer.kernels.proof import Proof, Witness
from mercer.kernels.sets import Jaccard, SubsetCount
from mercer.kernels.shepard import Shepard
from mercer.kernels.sigmoid import Sigmoid
from mercer.kernels.stationary import (
    Exponential,
    Gaussian,
    Laplacian,
    Periodic,
    RationalQuadratic,
)
from mercer.kernels.strings import Idf, Mismatch, Spectrum, Subsequence, Text, WeightedDegree
from mercer.kernels.trees import SubsetTree
from mercer.kernels.user import from_basis, from_features, from_function, precomputed

__all__ = [
    "ArcCosine",
    "Block",
    "Brownian",
    "Categorical",
    "Chi2",
    "Constant",
    "Cosine",
    "Density",
    "Exponential",
    "Fisher",
    "Gaussian",
    "GlobalAlignment",
    "Graphlet",
    "HiddenMarkov",
    "Idf",
    "Intersection",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "LatentGaussian",
    "LatentIntegral",
    "Linear",
    "Matern",
    "Mismatch",
    "Mixture",
    "Molecule",
    "Periodic",
    "Polynomial",
    "ProbabilityProduct",
    "Proof",
    "QuadraticForm",
    "RandomWalk",
    "RationalQuadratic",
    "SetKernel",
    "Shepard",
    "ShortestPath",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "SubsetCount",
    "SubsetTree",
    "Tanimoto",
    "Text",
    "VectorKernel",
    "WeightedDegree",
    "WeisfeilerLehman",
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
    "parse",
    "polynomial",
    "precomputed",
    "pullback",
    "rescale",
]
