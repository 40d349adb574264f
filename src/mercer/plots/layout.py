"""Layout: places in the plane for the nodes of a graph, whose distances are those of its paths.

Stress majorization (Gansner, Koren & North, 2004): of all places, those are sought whose distances
differ least from the lengths of the shortest paths, near nodes counting most. Each step solves a
linear system, and none makes it worse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, shortest_path

from mercer.domains import Graph

__all__ = ["layout", "skeleton"]

STEPS = 60
APART = 1.6  # between parts that are not connected
BONDS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3}  # how many strokes


def layout(graph: Graph) -> np.ndarray:
    """Return places for the nodes, connected parts side by side, about one apart.

    Examples
    --------
    >>> places = layout(Graph([(0, 1), (1, 2)]))
    >>> bool(np.allclose(np.hypot(*np.diff(places, axis=0).T), 1.0, atol=0.01))
    True
    """
    n = graph.nodes
    if n == 0:
        return np.empty((0, 2))
    i, j = graph.edges.T
    A = sparse.csr_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    count, part = connected_components(A, directed=False)
    places, right = np.zeros((n, 2)), 0.0
    for k in range(count):
        nodes = np.flatnonzero(part == k)
        some = _spread(shortest_path(A[nodes][:, nodes], unweighted=True))
        some = _lying(some)
        some[:, 0] += right - some[:, 0].min(initial=0.0)
        places[nodes] = some
        right = float(some[:, 0].max()) + APART
    return places


def _spread(D: np.ndarray) -> np.ndarray:
    """Return places of connected nodes with path lengths `D`."""
    n = len(D)
    if n == 1:
        return np.zeros((1, 2))
    X = _classical(D)
    with np.errstate(divide="ignore"):
        W = np.where(D > 0, 1.0 / D**2, 0.0)
    V = np.diag(W.sum(axis=1)) - W
    inverse = np.linalg.pinv(V)
    for _ in range(STEPS):
        E = np.hypot(*(X[:, None, :] - X[None, :, :]).transpose(2, 0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            B = np.where(E > 0, -W * D / E, 0.0)
        np.fill_diagonal(B, 0.0)
        np.fill_diagonal(B, -B.sum(axis=1))
        X = inverse @ (B @ X)
    return X


def _classical(D: np.ndarray) -> np.ndarray:
    """Return a first guess: the two directions of largest spread (Torgerson, 1952)."""
    n = len(D)
    J = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    X = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    # Nodes that look the same from everywhere would stay in one place for ever.
    angles = 2.4 * np.arange(n)
    return X + 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])


def _lying(X: np.ndarray) -> np.ndarray:
    """Return places turned so that the longest direction is horizontal."""
    X = X - X.mean(axis=0)
    return X @ np.linalg.svd(X, full_matrices=False)[2].T if len(X) > 1 else X


def skeleton(smiles: Any) -> tuple[np.ndarray, np.ndarray, list[int], list[str]]:
    """Return how a molecule is drawn: places of atoms, bonds, their strokes, the atoms' symbols.

    Needs RDKit.

    Examples
    --------
    >>> places, bonds, strokes, symbols = skeleton("CC=O")
    >>> places.shape, bonds.tolist(), strokes, symbols
    ((3, 2), [[0, 1], [1, 2]], [1, 2], ['C', 'C', 'O'])
    """
    from mercer.domains.molecules import read_molecule

    molecule = read_molecule(smiles)
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    molecule = Chem.Mol(molecule)
    Chem.Kekulize(molecule)
    rdDepictor.Compute2DCoords(molecule)
    bonds = list(molecule.GetBonds())
    places = np.asarray(molecule.GetConformer().GetPositions())[:, :2]
    edges = np.array([(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in bonds], int).reshape(-1, 2)
    strokes = [BONDS.get(str(b.GetBondType()), 1) for b in bonds]
    return places, edges, strokes, [atom.GetSymbol() for atom in molecule.GetAtoms()]
