"""Data: the problems of the textbooks, with what is known about them."""

from mercer.datasets.categories import shj_types
from mercer.datasets.curves import sinc
from mercer.datasets.dataset import Dataset
from mercer.datasets.digits import usps
from mercer.datasets.gaussians import correlated_classes, two_gaussians
from mercer.datasets.shapes import circle, connectivity, xor

__all__ = [
    "Dataset",
    "circle",
    "connectivity",
    "correlated_classes",
    "shj_types",
    "sinc",
    "two_gaussians",
    "usps",
    "xor",
]
