"""Evaluate: formulas of kernels on blocks of points, in tiles that fit a processor's cache.

A kernel says what is computed of two things, and knows nothing of tiles, threads, precision or
array libraries. This room does: it has the blocks that formulas are written for, the products and
distances that they share, and the NumPy implementation that fills Gram matrices tile by tile.
"""

from mercer.engine.block import Block, Formula, dots, norms
from mercer.engine.distances import cityblock, minkowski, squared_distances

__all__ = [
    "Block",
    "Formula",
    "cityblock",
    "dots",
    "minkowski",
    "norms",
    "squared_distances",
]
