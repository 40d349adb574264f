"""Assemble: kernel and points become an operator."""

from mercer.errors import renamed
from mercer.gram.engines import (
    Engine,
    assemble,
    assemble_sketch,
    choose_engine,
    engine_named,
    engine_names,
    multiply,
    register_engine,
)
from mercer.gram.operator import (
    Blocked,
    Dense,
    Gram,
    LowRank,
    Operator,
    Pieces,
    features_of,
    product,
)
from mercer.gram.stored import GramRanges, RowCache

__all__ = [
    "Blocked",
    "Dense",
    "Engine",
    "Gram",
    "GramRanges",
    "LowRank",
    "Operator",
    "Pieces",
    "RowCache",
    "assemble",
    "assemble_sketch",
    "choose_engine",
    "engine_named",
    "engine_names",
    "features_of",
    "multiply",
    "product",
    "register_engine",
]

__getattr__ = renamed(__name__, {"Rows": "RowCache", "Stored": "GramRanges"})
