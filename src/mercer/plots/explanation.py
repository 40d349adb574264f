"""Pictures of reasons: letters, nodes and atoms, colored by what they contributed.

Nodes of a graph are placed by stress majorization (Gansner, Koren & North, 2004): of all places,
those are sought whose distances differ least from the lengths of the shortest paths, near nodes
counting most. Each step solves a linear system, and none makes it worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components, shortest_path

from mercer.domains import Graph, as_graph
from mercer.errors import DomainError
from mercer.explanations import ItemExplanation
from mercer.plots.axes import axes_for
from mercer.plots.palette import INK, MUTED, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["layout", "plot_atoms", "plot_letters", "plot_nodes", "skeleton"]

BONDS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3}  # how many strokes


def plot_letters(
    letters: ItemExplanation | Sequence[str],
    contributions: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    per_line: int = 60,
    limit: float | None = None,
) -> Axes:
    """Draw a sequence with each letter on its color: warm for, cold against.

    Parameters
    ----------
    letters : ItemExplanation, or sequence of str
        ``explain(machine, X)[i]``, or the letters (or words) themselves.
    contributions : array, optional
        One number for each letter, if it is not a decision that is drawn.
    ax : Axes, optional
    per_line : int
        Letters in a line; longer sequences take several.
    limit : float, optional
        The contribution that has the strongest color; by default the largest.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_letters("gattaca", [0.0, 1.0, 0.5, 0.5, 0.0, -1.0, 0.0])
    >>> "".join(text.get_text() for text in ax.texts[:7])
    'gattaca'
    """
    names, values = _units(letters, contributions)
    if len(names) != len(values):
        raise DomainError(f"there are {len(names)} parts, but {len(values)} contributions")
    rows = _lines(names, per_line)
    width = max(max((x + w for _, x, w in row), default=1.0) for row in rows)
    ax = axes_for(ax, (max(2.4, 0.16 * width + 0.6), 0.42 * len(rows) + 0.35))
    limit = _limit(values, limit)
    for line, row in enumerate(rows):
        for k, x, w in row:
            share = float(np.clip(values[k] / limit, -1.0, 1.0))
            ax.add_patch(_box(x, -line, w, shades()(0.5 + 0.5 * share)))
            ax.text(
                x + w / 2 - 0.5, -line, _printable(names[k]), ha="center", va="center",
                color=_ink(share), family="monospace", fontsize=8, parse_math=False,
            )  # fmt: skip
    for line, row in enumerate(rows):
        number = str(row[0][0] + 1) if row else ""
        ax.text(-0.9, -line, number, ha="right", va="center", fontsize=7, color=MUTED)
    ax.set(xlim=(-1.6, width - 0.4), ylim=(-len(rows) + 0.4, 0.6))
    ax.axis("off")
    return ax


def _lines(names: list[str], per_line: int) -> list[list[tuple[int, float, float]]]:
    """Return, line by line, which parts stand there, where they begin and how wide they are."""
    gap = 1.0 if any(len(name) > 1 for name in names) else 0.0  # between words
    rows: list[list[tuple[int, float, float]]] = [[]]
    x = 0.0
    for k, name in enumerate(names):
        wide = float(max(len(name), 1))
        if rows[-1] and x + wide > per_line:
            rows.append([])
            x = 0.0
        rows[-1].append((k, x, wide))
        x += wide + gap
    return rows


def plot_nodes(
    graph: ItemExplanation | Graph,
    contributions: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    limit: float | None = None,
) -> Axes:
    """Draw a graph with each node colored: warm for, cold against.

    Parameters
    ----------
    graph : ItemExplanation or Graph
    contributions : array, optional
        One number for each node, if it is not a decision that is drawn.
    ax : Axes, optional
    limit : float, optional
        The contribution that has the strongest color; by default the largest.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_nodes(Graph([(0, 1), (1, 2)], labels="CCO"), [0.1, 0.2, -0.3])
    >>> [text.get_text() for text in ax.texts]
    ['C', 'C', 'O']
    """
    values = _units(graph, contributions)[1]
    found = _item(graph)
    if isinstance(found, str):
        return plot_atoms(found, values, ax, limit=limit)
    found = as_graph(found)
    if len(values) != found.nodes:
        raise DomainError(f"{len(values)} contributions do not belong to the nodes of {found!r}")
    names = [""] * found.nodes if found.labels is None else [str(name) for name in found.labels]
    return _draw_graph(
        ax, layout(found), found.edges, [1] * len(found.edges), names, values, limit
    )


def plot_atoms(
    smiles: ItemExplanation | str,
    contributions: Any = None,
    ax: Axes | None = None,
    *,
    limit: float | None = None,
) -> Axes:
    """Draw a molecule with each atom colored: warm for, cold against. Needs RDKit.

    Parameters
    ----------
    smiles : ItemExplanation or str
    contributions : array, optional
        One number for each atom in the order of the SMILES.
    ax : Axes, optional
    limit : float, optional
        The contribution that has the strongest color; by default the largest.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_atoms("CC=O", [0.1, 0.2, -0.3])
    >>> [text.get_text() for text in ax.texts]
    ['C', 'C', 'O']
    """
    values = _units(smiles, contributions)[1]
    found = _item(smiles)
    if isinstance(found, Graph):  # a kernel on graphs has forgotten the molecule
        return plot_nodes(found, values, ax, limit=limit)
    places, edges, strokes, names = skeleton(found)
    if len(values) != len(names):
        raise DomainError(f"there are {len(names)} atoms, but {len(values)} contributions")
    return _draw_graph(ax, places, edges, strokes, names, values, limit)


def _draw_graph(
    ax: Axes | None,
    places: np.ndarray,
    edges: np.ndarray,
    strokes: list[int],
    names: list[str],
    values: np.ndarray,
    limit: float | None,
) -> Axes:
    """Draw nodes on their places, joined by one or more strokes."""
    ax = axes_for(ax, (3.6, 3.2))
    limit = _limit(values, limit)
    for (i, j), count in zip(edges, strokes, strict=True):
        along = places[j] - places[i]
        aside = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-12) * 0.1
        for k in range(count):
            shift = (k - (count - 1) / 2) * aside
            ends = np.array([places[i] + shift, places[j] + shift])
            ax.plot(*ends.T, color=MUTED, linewidth=1.0, zorder=1)
    size = float(np.clip(6000 / max(len(names), 1), 40, 220))
    ax.scatter(
        places[:, 0], places[:, 1], s=size, c=values, cmap=shades(), vmin=-limit, vmax=limit,
        edgecolors=MUTED, linewidths=0.6, zorder=2, clip_on=False,
    )  # fmt: skip
    for (x, y), name, value in zip(places, names, values, strict=True):
        if name:
            ax.text(
                x, y, _printable(name), ha="center", va="center",
                fontsize=min(8.0, size**0.5 / 1.6), color=_ink(value / limit), zorder=3,
                parse_math=False,
            )  # fmt: skip
    ax.set_aspect("equal")
    low, high = places.min(axis=0, initial=0.0) - 0.6, places.max(axis=0, initial=0.0) + 0.6
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.axis("off")
    return ax


def _item(asked: Any) -> Any:
    """Return what is drawn: of a row of a table, the one column that has parts to color."""
    if not isinstance(asked, ItemExplanation):
        return asked
    thing = asked.thing
    if isinstance(thing, dict):
        parts = [part for part in asked.explanation.parts if part.places is not None]
        column = next((part.columns[0] for part in parts if len(part.columns) == 1), None)
        return thing.get(column, thing)
    return thing


def _units(thing: object, contributions: ArrayLike | None) -> tuple[list[str], np.ndarray]:
    """Return the names of the parts and their contributions, of a decision or as given."""
    if isinstance(thing, ItemExplanation):
        table = thing.units()
        if all(part.places is None for part in thing.explanation.parts):
            raise DomainError("the kernel of this machine has no parts to color")
        return table["unit"].tolist(), table["contribution"].to_numpy()
    if contributions is None:
        raise DomainError("what is drawn needs a contribution for each of its parts")
    values = np.asarray(contributions, dtype=float)
    names = [str(name) for name in thing] if isinstance(thing, str | list | tuple) else []
    return names, values


def _printable(name: str) -> str:
    """Return a text with something that fonts have for what cannot be printed."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in name)


def _limit(values: np.ndarray, limit: float | None) -> float:
    return limit or float(np.abs(values).max(initial=0.0)) or 1.0


def _ink(share: float) -> str:
    return "white" if abs(share) > 0.8 else INK


def _box(x: float, y: float, width: float, face: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.42), width, 0.84, facecolor=face, edgecolor="none")


def layout(graph: Graph) -> np.ndarray:
    """Return places for the nodes, connected parts side by side, about one apart."""
    n = graph.nodes
    if n == 0:
        return np.empty((0, 2))
    i, j = graph.edges.T
    A = sparse.csr_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    count, part = connected_components(A, directed=False)
    places, right = np.zeros((n, 2)), 0.0
    for k in range(count):
        nodes = np.flatnonzero(part == k)
        some = _majorize_stress(shortest_path(A[nodes][:, nodes], unweighted=True))
        some = _rotate(some)
        some[:, 0] += right - some[:, 0].min(initial=0.0)
        places[nodes] = some
        right = float(some[:, 0].max()) + 1.6  # between parts that are not connected
    return places


def _majorize_stress(D: np.ndarray, steps: int = 60) -> np.ndarray:
    """Return places of connected nodes with path lengths `D`."""
    n = len(D)
    if n == 1:
        return np.zeros((1, 2))
    X = _classical_scaling(D)
    with np.errstate(divide="ignore"):
        W = np.where(D > 0, 1.0 / D**2, 0.0)
    V = np.diag(W.sum(axis=1)) - W
    inverse = np.linalg.pinv(V)
    for _ in range(steps):
        E = np.hypot(*(X[:, None, :] - X[None, :, :]).transpose(2, 0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            B = np.where(E > 0, -W * D / E, 0.0)
        np.fill_diagonal(B, 0.0)
        np.fill_diagonal(B, -B.sum(axis=1))
        X = inverse @ (B @ X)
    return X


def _classical_scaling(D: np.ndarray) -> np.ndarray:
    """Return a first guess: the two directions of largest spread (Torgerson, 1952)."""
    n = len(D)
    J = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    X = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    # Nodes that look the same from everywhere would stay in one place for ever.
    angles = 2.4 * np.arange(n)
    return X + 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])


def _rotate(X: np.ndarray) -> np.ndarray:
    """Return places turned so that the longest direction is horizontal."""
    X = X - X.mean(axis=0)
    return X @ np.linalg.svd(X, full_matrices=False)[2].T if len(X) > 1 else X


def skeleton(smiles: object) -> tuple[np.ndarray, np.ndarray, list[int], list[str]]:
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
