"""Kernels on structured things: time series, sets, bags and trees."""

from mercer.kernels.structures.bags import SetKernel
from mercer.kernels.structures.series import GlobalAlignment
from mercer.kernels.structures.sets import Jaccard, SubsetCount
from mercer.kernels.structures.trees import SubsetTree

__all__ = ["GlobalAlignment", "Jaccard", "SetKernel", "SubsetCount", "SubsetTree"]
