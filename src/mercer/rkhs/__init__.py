"""Keep: functions of a reproducing kernel Hilbert space."""

from mercer.rkhs.embedding import Statistic, hsic, mean_embedding, mmd
from mercer.rkhs.empirical import EmpiricalMap, empirical_map
from mercer.rkhs.featured import Featured
from mercer.rkhs.function import Function, section

__all__ = [
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
