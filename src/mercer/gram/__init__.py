"""Assemble: kernel and points become an operator."""

from mercer.gram.operator import Blocked, Dense, LowRank, Operator, Pieces, assemble, features_of
from mercer.gram.product import product
from mercer.gram.row_cache import Rows
from mercer.gram.stored import Stored

__all__ = [
    "Blocked",
    "Dense",
    "LowRank",
    "Operator",
    "Pieces",
    "Rows",
    "Stored",
    "assemble",
    "features_of",
    "product",
]
