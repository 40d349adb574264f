"""Pictures of reasons: what in a sequence, a molecule or a graph made a machine decide so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import Graph
from mercer.kernels import Molecule, WeightedDegree, WeisfeilerLehman, normalize
from mercer.plots.explanation import plot_atoms, plot_letters, plot_nodes
from mercer.plots.figures.registry import PAGE, picture
from mercer.plots.palette import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mercer.explanations import Explanation, ItemExplanation

BOXES = ((4, "TTGACA"), (24, "TATAAT"))  # of bacterial promoters, and about where they are

# Smaller molecules that mix with water, or dissolve in it well, and such that hardly do.
SOLUBLE = (
    "CO", "CCO", "CCCO", "CC(C)O", "OCCO", "OCC(O)CO", "CC(C)=O", "CC(=O)O", "CCC(=O)O",
    "NC(N)=O", "CC#N", "CN(C)C=O", "CCN", "C1COCCO1", "c1ccncc1", "NCC(=O)O", "OCC(O)C(O)C=O",
)  # fmt: skip
INSOLUBLE = (
    "CCCCCC", "CCCCCCCC", "C1CCCCC1", "c1ccccc1", "Cc1ccccc1", "CCc1ccccc1", "Clc1ccccc1",
    "c1ccc2ccccc2c1", "CCCCCCCCO", "C=Cc1ccccc1", "Brc1ccccc1", "CCCCCl", "C(Cl)(Cl)(Cl)Cl",
    "CCCCCCCCCCO", "c1ccc(cc1)c1ccccc1", "CC1CCCCC1", "CCCCCCC=C",
)  # fmt: skip
NEW = {
    "lactic acid": "CC(O)C(=O)O",
    "octanoic acid": "CCCCCCCC(=O)O",
    "ethyl benzoate": "CCOC(=O)c1ccccc1",
}
WITH = (True, True, False)  # boxes, or the group: what is drawn of strands and trees


@picture(
    "letters",
    "Letters that decided",
    "An SVC has learned from 160 made-up strands of DNA, half of which have two boxes "
    "(underlined), each with a wrong letter. Letters of new strands are colored by what they add "
    "to the score: warm for boxes, cold against. The last strand has none.",
    (PAGE, 2.9),
)
def letters(figure: Figure) -> None:
    found = promoters_explained()
    axes: Any = figure.subplots(len(found), 1)
    limit = max(float(why.units()["contribution"].abs().max()) for why in found)
    for ax, why, boxes in zip(axes, found, WITH, strict=True):
        plot_letters(why, ax=ax, limit=limit)
        ax.set_title(_score(why), loc="left", pad=1.0)
        for start, box in BOXES if boxes else ():
            ends = start - 0.4, start + len(box) - 0.6
            ax.plot(ends, (-0.52, -0.52), color=INK, linewidth=1.4, clip_on=False)
    _readable(axes)


@picture(
    "molecule",
    "Atoms that decided",
    "Does it dissolve in water? An SVC has learned from 34 small molecules. Atoms of three new "
    "ones are colored by what their fragments add to the score: warm for water, cold against. "
    "Oxygen and nitrogen like water, chains and rings of carbon do not.",
    (PAGE, 2.2),
    needs="rdkit",
)
def molecule(figure: Figure) -> None:
    found = molecules_explained()
    axes: Any = figure.subplots(1, len(found))
    for ax, why, name in zip(axes, found, NEW, strict=True):
        plot_atoms(why, ax=ax)
        ax.set_title(f"{name}\n{_score(why)}")
    _aligned(axes)


@picture(
    "graph-nodes",
    "Nodes that decided",
    "An SVC has learned from 160 random trees, half of which have a group O–N–O somewhere, which "
    "nobody pointed out. Nodes of new trees are colored by what their surroundings add to the "
    "score: warm for the group, cold against. The last tree has none.",
    (PAGE, 2.4),
)
def graph_nodes(figure: Figure) -> None:
    found = trees_explained()
    axes: Any = figure.subplots(1, len(found))
    for ax, why in zip(axes, found, strict=True):
        plot_nodes(why, ax=ax)
        ax.set_title(_score(why))
    _aligned(axes)


def promoters_explained() -> Explanation:
    """Return why three new strands, of which the last has no boxes, are judged as they are."""
    from mercer import SVC, explain

    rng = np.random.default_rng(3)
    y = np.arange(160) % 2
    strands = [strand(rng, boxes=bool(label)) for label in y]
    machine = SVC(normalize(WeightedDegree(4, shift=1)), C=10.0).fit(strands, y)
    return explain(machine, [strand(rng, boxes) for boxes in WITH], label=1)


def strand(rng: np.random.Generator, boxes: bool) -> str:
    """Return random letters, with or without both boxes, one letter of each replaced."""
    written = rng.choice(list("ACGT"), 38)
    for start, box in BOXES if boxes else ():
        written[start : start + len(box)] = list(box)
        written[start + rng.integers(len(box))] = rng.choice(list("ACGT"))
    return "".join(written)


def molecules_explained() -> Explanation:
    """Return why three new molecules are judged as they are."""
    from mercer import SVC, explain

    y = np.repeat([1, 0], (len(SOLUBLE), len(INSOLUBLE)))
    machine = SVC(Molecule(radius=1), C=10.0).fit([*SOLUBLE, *INSOLUBLE], y)
    return explain(machine, list(NEW.values()), label=1)


def trees_explained() -> Explanation:
    """Return why three new trees, of which the last has no group, are judged as they are."""
    from mercer import SVC, explain

    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    machine = SVC(normalize(WeisfeilerLehman(1)), C=10.0)
    machine.fit([tree(rng, group=bool(label)) for label in y], y)
    return explain(machine, [tree(rng, group) for group in WITH], label=1)


def tree(rng: np.random.Generator, group: bool) -> Graph:
    """Return a random tree of carbon, to which N, O and O are tied, together or apart."""
    edges = [(int(rng.integers(max(0, node - 3), node)), node) for node in range(1, 11)]
    here, there, elsewhere = rng.choice(11, 3, replace=False).tolist()
    edges += (
        [(here, 11), (11, 12), (11, 13)] if group else [(here, 11), (there, 12), (elsewhere, 13)]
    )
    return Graph(edges, labels=["C"] * 11 + ["N", "O", "O"])


def _score(why: ItemExplanation) -> str:
    return f"score {why.score:+.2f}".replace("-", "−")


def _aligned(axes: Any) -> None:
    """Draw everything to the same scale, with nothing cut off at the edges."""
    spans = np.array([[np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())] for ax in axes]).max(axis=0)
    for ax in axes:
        x, y = np.mean(ax.get_xlim()), np.mean(ax.get_ylim())
        ax.set(
            xlim=(x - spans[0] / 2, x + spans[0] / 2), ylim=(y - spans[1] / 2, y + spans[1] / 2)
        )
        for drawn in ax.collections:
            drawn.set(clip_on=False, sizes=[105.0])
    _readable(axes)


def _readable(axes: Any) -> None:
    """Write nothing smaller than what can be read in print."""
    for text in (text for ax in axes for text in ax.texts):
        text.set_fontsize(max(text.get_fontsize(), 7.0))
