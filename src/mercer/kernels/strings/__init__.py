"""Kernels on strings: what two sequences of letters have in common."""

from mercer.kernels.strings.idf import Idf
from mercer.kernels.strings.mismatch import Mismatch
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.strings.subsequence import Subsequence
from mercer.kernels.strings.text import Text
from mercer.kernels.strings.weighted_degree import WeightedDegree

__all__ = ["Idf", "Mismatch", "Spectrum", "Subsequence", "Text", "WeightedDegree"]
