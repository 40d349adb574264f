"""Data: the problems of the textbooks, with what is known about them."""

from mercer.datasets.categories import shj_types
from mercer.datasets.curves import sinc
from mercer.datasets.dataset import Dataset
from mercer.datasets.digits import usps
from mercer.datasets.fasta import read_fasta
from mercer.datasets.gaussians import correlated_classes, two_gaussians
from mercer.datasets.libsvm import read_libsvm
from mercer.datasets.shapes import circle, connectivity, xor
from mercer.datasets.smiles import read_smiles
from mercer.datasets.tu import read_tu

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
