"""Assemble: kernel and points become an operator."""

from mercer.errors import renamed
from mercer.gram.cluster_engine import ClusterEngine
from mercer.gram.engines import (
    Engine,
    assemble,
    assemble_features,
    assemble_sketch,
    choose_engine,
    engine_named,
    engine_names,
    multiply,
    name_of,
    register_engine,
    surveying_engine,
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
    "assemble_features",
    "assemble_sketch",
    "choose_engine",
    "engine_named",
    "engine_names",
    "features_of",
    "multiply",
    "name_of",
    "product",
    "register_engine",
    "surveying_engine",
]

register_engine("cluster", ClusterEngine())

__getattr__ = renamed(__name__, {"Rows": "RowCache", "Stored": "GramRanges"})
