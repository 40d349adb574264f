"""Clusters: the same fits on many computers, of which any may go at any time."""

from mercer.cluster.cluster import Cluster, alone, current
from mercer.cluster.in_process import InProcess
from mercer.cluster.passes import run_all, run_sum
from mercer.cluster.predictions import answers, predict

__all__ = [
    "Cluster", "InProcess", "alone", "answers", "current", "predict", "run_all", "run_sum",
]  # fmt: skip
