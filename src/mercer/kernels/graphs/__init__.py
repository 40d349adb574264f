"""Kernels on graphs and molecules: what two of them have in common."""

from mercer.domains import Graph
from mercer.kernels.graphs.graphlet import Graphlet
from mercer.kernels.graphs.molecule import Molecule
from mercer.kernels.graphs.random_walk import RandomWalk
from mercer.kernels.graphs.shortest_path import ShortestPath
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman

__all__ = ["Graph", "Graphlet", "Molecule", "RandomWalk", "ShortestPath", "WeisfeilerLehman"]
