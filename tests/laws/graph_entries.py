"""Entries of the registry: kernels on graphs and molecules."""

from __future__ import annotations

from tests.laws.entries import Entry

__all__ = ["GRAPHS_AND_MOLECULES"]

GRAPHS_AND_MOLECULES = [
    Entry("WeisfeilerLehman(0)", "graphs", "features"),
    Entry("WeisfeilerLehman()", "graphs", "features"),
    Entry("WeisfeilerLehman(3)", "plain graphs", "features"),
    Entry("WeisfeilerLehman(2)", "graphs with bonds", "features"),
    Entry("WeisfeilerLehman(2)", "molecules", "features"),
    Entry("WeisfeilerLehman(2, Categorical())", "graphs"),
    Entry("WeisfeilerLehman(2, Gaussian(1.0))", "graphs with attributes"),
    Entry("WeisfeilerLehman(1, Gaussian('median'))", "graphs with attributes", "heuristic"),
    Entry("WeisfeilerLehman(1, ShortestPath())", "graphs", "features"),
    Entry("WeisfeilerLehman(1, ShortestPath(Gaussian(1.0)))", "graphs with attributes"),
    Entry("WeisfeilerLehman(2, RandomWalk(0.01))", "graphs with bonds"),
    Entry("normalize(WeisfeilerLehman(2))", "graphs", "features"),
    Entry("ShortestPath()", "graphs", "features"),
    Entry("ShortestPath()", "plain graphs", "features"),
    Entry("ShortestPath()", "molecules", "features"),
    Entry("ShortestPath(Gaussian(0.7))", "graphs with attributes"),
    Entry("ShortestPath(Gaussian('median'))", "graphs with attributes", "heuristic"),
    Entry("ShortestPath(Categorical())", "graphs"),
    Entry("RandomWalk(0.01)", "graphs"),
    Entry("RandomWalk(0.04)", "plain graphs"),
    Entry("RandomWalk(0.02)", "graphs with bonds"),
    Entry("RandomWalk(0.5, 4)", "graphs with bonds"),
    Entry("RandomWalk(0.5, 4)", "plain graphs"),
    Entry("Graphlet()", "graphs", "features"),
    Entry("Graphlet(4)", "plain graphs", "features"),
    Entry("Graphlet(5, 60, 3)", "plain graphs", "features"),
    Entry("Molecule()", "molecules"),
    Entry("Molecule(1, 64)", "molecules"),
    Entry("Molecule() + 0.1 * WeisfeilerLehman(2) * ShortestPath()", "molecules"),
]
