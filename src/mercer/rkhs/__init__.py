"""Keep: functions of a reproducing kernel Hilbert space."""

from mercer.rkhs.discrepancy import mmd
from mercer.rkhs.embedding import Embedding, mean_embedding
from mercer.rkhs.empirical import EmpiricalMap, empirical_map
from mercer.rkhs.feature_function import Featured
from mercer.rkhs.function import Function, section
from mercer.rkhs.gradients import gradient_outer_product
from mercer.rkhs.independence import hsic
from mercer.rkhs.primal_function import PrimalFunction
from mercer.rkhs.statistic import Statistic

__all__ = [
    "Embedding",
    "EmpiricalMap",
    "Featured",
    "Function",
    "PrimalFunction",
    "Statistic",
    "empirical_map",
    "gradient_outer_product",
    "hsic",
    "mean_embedding",
    "mmd",
    "section",
]
