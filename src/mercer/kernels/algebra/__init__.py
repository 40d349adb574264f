"""The algebra of kernels: new kernels of given ones, by rules that keep validity."""

from mercer.kernels.algebra.arithmetic import Product, Sum
from mercer.kernels.algebra.compose import pullback, rescale
from mercer.kernels.algebra.composite import Composite
from mercer.kernels.algebra.custom import from_basis, from_features, from_function, precomputed
from mercer.kernels.algebra.elementwise import Exp, PolynomialOf, Power, Scale, exp, polynomial
from mercer.kernels.algebra.normalization import assume_psd, gaussian_over, normalize

__all__ = [
    "Composite",
    "Exp",
    "PolynomialOf",
    "Power",
    "Product",
    "Scale",
    "Sum",
    "assume_psd",
    "exp",
    "from_basis",
    "from_features",
    "from_function",
    "gaussian_over",
    "normalize",
    "polynomial",
    "precomputed",
    "pullback",
    "rescale",
]
