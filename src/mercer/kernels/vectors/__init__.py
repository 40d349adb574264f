"""Kernels on vectors: functions of dot products, differences, directions and histograms."""

from mercer.kernels.vectors.cosine import ArcCosine, Cosine, Tanimoto
from mercer.kernels.vectors.dot import Constant, Linear, Polynomial, QuadraticForm, Sigmoid
from mercer.kernels.vectors.exponential import Exponential
from mercer.kernels.vectors.histogram import Brownian, Chi2, Intersection
from mercer.kernels.vectors.matern import Matern
from mercer.kernels.vectors.periodic import Periodic
from mercer.kernels.vectors.shepard import Shepard
from mercer.kernels.vectors.stationary import Gaussian, Laplacian, RationalQuadratic

__all__ = [
    "ArcCosine",
    "Brownian",
    "Chi2",
    "Constant",
    "Cosine",
    "Exponential",
    "Gaussian",
    "Intersection",
    "Laplacian",
    "Linear",
    "Matern",
    "Periodic",
    "Polynomial",
    "QuadraticForm",
    "RationalQuadratic",
    "Shepard",
    "Sigmoid",
    "Tanimoto",
]
