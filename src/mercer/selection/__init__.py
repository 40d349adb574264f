"""Selection: which kernel and which penalty, and how well the choice will do on new data."""

from mercer.selection.gradient_search import Found, search
from mercer.selection.grid import GridSearchCV
from mercer.selection.loo import (
    HeldOut,
    generalized_cross_validation,
    leave_one_out,
    log_marginal_likelihood,
)
from mercer.selection.margin_path import MarginPath
from mercer.selection.nested import NestedScores, nested_cv
from mercer.selection.path import RidgePath
from mercer.selection.predicted import plan_nested_cv, plan_search
from mercer.selection.weights import Weighted, learn_weights

__all__ = [
    "Found",
    "GridSearchCV",
    "HeldOut",
    "MarginPath",
    "NestedScores",
    "RidgePath",
    "Weighted",
    "generalized_cross_validation",
    "learn_weights",
    "leave_one_out",
    "log_marginal_likelihood",
    "nested_cv",
    "plan_nested_cv",
    "plan_search",
    "search",
]
