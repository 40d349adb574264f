"""Admit: the user's objects become validated, encoded, sliceable points."""

from mercer.domains.categories import CATEGORIES, Categories
from mercer.domains.columns import ANYTHING, COLUMNS, Anything, Columns
from mercer.domains.gramrows import GRAM_ROWS, GramRows, require_symmetric
from mercer.domains.objects import Objects
from mercer.domains.points import Domain, Points, join
from mercer.domains.tables import Table, is_frame
from mercer.domains.targets import (
    admit_labels,
    admit_numbers,
    admit_target,
    admit_weights,
    real_numbers,
    weigh_classes,
)
from mercer.domains.vectors import VECTORS, ZERO, VectorDomain, Vectors, to_numpy

__all__ = [
    "ANYTHING",
    "CATEGORIES",
    "COLUMNS",
    "GRAM_ROWS",
    "VECTORS",
    "ZERO",
    "Anything",
    "Categories",
    "Columns",
    "Domain",
    "GramRows",
    "Objects",
    "Points",
    "Table",
    "VectorDomain",
    "Vectors",
    "admit_labels",
    "admit_numbers",
    "admit_target",
    "admit_weights",
    "is_frame",
    "join",
    "real_numbers",
    "require_symmetric",
    "to_numpy",
    "weigh_classes",
]
