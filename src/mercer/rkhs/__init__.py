"""Keep: functions of a reproducing kernel Hilbert space."""

from mercer.rkhs.discrepancy import mmd
from mercer.rkhs.embedding import Embedding, mean_embedding
from mercer.rkhs.empirical import EmpiricalMap, empirical_map
from mercer.rkhs.feature_function import Featured
from mercer.rkhs.function import Function, section
from mercer.rkhs.independence import hsic
from mercer.rkhs.statistic import Statistic

__all__ = [
    "Embedding",
    "EmpiricalMap",
    "Featured",
    "Function",
    "Statistic",
    "empirical_map",
    "hsic",
    "mean_embedding",
    "mmd",
    "section",
]
