"""Data: the problems of the textbooks, with what is known about them."""

from mercer.datasets.dataset import Dataset
from mercer.datasets.digits import usps
from mercer.datasets.gaussians import correlated_classes, two_gaussians
from mercer.datasets.problems import circle, connectivity, shj_types, sinc, xor
from mercer.datasets.readers import read_fasta, read_libsvm, read_smiles, read_tu

__all__ = [
    "Dataset",
    "circle",
    "connectivity",
    "correlated_classes",
    "read_fasta",
    "read_libsvm",
    "read_smiles",
    "read_tu",
    "shj_types",
    "sinc",
    "two_gaussians",
    "usps",
    "xor",
]
