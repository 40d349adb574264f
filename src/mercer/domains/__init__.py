"""Admit: the user's objects become validated, encoded, sliceable points."""

from mercer.domains.bags import ELEMENTS, BagDomain, Bags
from mercer.domains.categories import CATEGORIES, Categories, CategoryDomain
from mercer.domains.chunks import Chunk
from mercer.domains.columns import ANYTHING, COLUMNS, Anything, Columns
from mercer.domains.first_pass import Survey
from mercer.domains.graph import Graph
from mercer.domains.graph_conversion import as_graph
from mercer.domains.graphs import GRAPHS, GraphDomain, Graphs, Kind, Labels, Net, same_kind
from mercer.domains.molecules import SMILES, MoleculeDomain, Molecules
from mercer.domains.points import Domain, Items, Points, join
from mercer.domains.precomputed import (
    GRAM_ROWS,
    GramRows,
    made_symmetric,
    require_symmetric,
)
from mercer.domains.series import SERIES, Series, SeriesDomain
from mercer.domains.sets import SETS, SetDomain, Sets
from mercer.domains.streams import InMemory, Rows, Stream, Streamed, in_passes, is_stream
from mercer.domains.strings import STRINGS, StringDomain, Strings
from mercer.domains.tables import MISSING, Objects, Table, is_frame, things
from mercer.domains.targets import (
    admit_labels,
    admit_numbers,
    admit_target,
    admit_weights,
    real_numbers,
    weigh_classes,
)
from mercer.domains.trees import TREES, TreeDomain, Trees
from mercer.domains.vectors import VECTORS, ZERO, VectorDomain, Vectors, to_numpy

__all__ = [
    "ANYTHING",
    "CATEGORIES",
    "COLUMNS",
    "ELEMENTS",
    "GRAM_ROWS",
    "GRAPHS",
    "MISSING",
    "SERIES",
    "SETS",
    "SMILES",
    "STRINGS",
    "TREES",
    "VECTORS",
    "ZERO",
    "Anything",
    "BagDomain",
    "Bags",
    "Categories",
    "CategoryDomain",
    "Chunk",
    "Columns",
    "Domain",
    "GramRows",
    "Graph",
    "GraphDomain",
    "Graphs",
    "InMemory",
    "Items",
    "Kind",
    "Labels",
    "MoleculeDomain",
    "Molecules",
    "Net",
    "Objects",
    "Points",
    "Rows",
    "Series",
    "SeriesDomain",
    "SetDomain",
    "Sets",
    "Stream",
    "Streamed",
    "StringDomain",
    "Strings",
    "Survey",
    "Table",
    "TreeDomain",
    "Trees",
    "VectorDomain",
    "Vectors",
    "admit_labels",
    "admit_numbers",
    "admit_target",
    "admit_weights",
    "as_graph",
    "in_passes",
    "is_frame",
    "is_stream",
    "join",
    "made_symmetric",
    "real_numbers",
    "require_symmetric",
    "same_kind",
    "things",
    "to_numpy",
    "weigh_classes",
]
