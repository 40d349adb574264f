"""Four ways to say how alike two graphs are, judged on the same graphs.

The graphs are the 188 molecules of MUTAG if `MERCER_DATA` has them. Otherwise they are made up:
random trees with labels C, N and O, of which half have a group O–N–O, while the others have the
same labels tied elsewhere; one label in ten is then drawn anew. Kernels that see labels and their
neighborhoods find the group; one that sees only shapes has a harder time. Parameters and C are
chosen by nested cross-validation. With ``--out FILE`` a graph is drawn, each node colored by what
it added to the decision.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, explain
from mercer.datasets import read_tu
from mercer.domains import Graph
from mercer.errors import SelectionWarning
from mercer.kernels import Graphlet, RandomWalk, ShortestPath, WeisfeilerLehman, normalize
from mercer.selection import nested_cv

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
KERNELS = {
    "surroundings of nodes": [normalize(WeisfeilerLehman(depth)) for depth in (1, 2, 3, 4)],
    "shortest paths": [normalize(ShortestPath())],
    "random walks": [normalize(RandomWalk(0.1, steps=4)), normalize(RandomWalk(1.0, steps=4))],
    "shapes of 3 or 4 nodes": [normalize(Graphlet(3)), normalize(Graphlet(4))],
}


def main(out: Path | None) -> None:
    graphs, y, name = data()
    most = max(np.mean(y == label) for label in np.unique(y))
    print(f"{len(graphs)} graphs, {name}; {most:.1%} are of the larger class")
    print(f"the first one: {graphs[0]}")
    print("\nRight on graphs that had no part in the choice (mean ± standard error)")
    for kind, kernels in KERNELS.items():
        grid = {"kernel": kernels, "C": [1.0, 10.0, 100.0, 1000.0]}
        with warnings.catch_warnings():  # the best C may be the largest
            warnings.simplefilter("ignore", SelectionWarning)
            found = nested_cv(SVC(), graphs, y, grid, FOLDS, inner=5)
        print(f"  {kind:24} {found.mean:.3f} ± {found.standard_error:.3f}")

    machine = SVC(normalize(WeisfeilerLehman(1)), C=10.0).fit(graphs[1:], y[1:])
    why = explain(machine, graphs[:1])[0]
    print("\nWhy the first one is judged as it is, by a machine that has not seen it")
    print(why)
    if out is not None:
        from mercer.plots import plot_nodes

        plot_nodes(why).figure.savefig(out, dpi=144)
        print(f"\nWrote {out.name}")


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """Return graphs, their classes, and where they come from."""
    folder = Path(os.environ.get("MERCER_DATA", "missing")) / "graphs" / "MUTAG"
    if folder.exists():
        found = read_tu(folder)
        return found.X, np.where(found.y == 1, "mutagenic", "not mutagenic"), "MUTAG"
    rng = np.random.default_rng(0)
    y = np.array(["group", "no group"])[np.arange(150) % 2]
    graphs = np.empty(len(y), dtype=object)
    graphs[:] = [made_up(rng, label == "group") for label in y]
    return graphs, y, "made up (set MERCER_DATA for MUTAG)"


def made_up(rng: np.random.Generator, group: bool) -> Graph:
    """Return a random tree to which N, O and O are tied, together or apart."""
    size = int(rng.integers(8, 20))
    edges = [(int(rng.integers(max(0, node - 3), node)), node) for node in range(1, size)]
    ties = rng.choice(size, 3, replace=False).tolist()
    N, one, other = size, size + 1, size + 2
    edges += [(ties[0], N), (N if group else ties[1], one), (N if group else ties[2], other)]
    labels = np.array(["C"] * size + ["N", "O", "O"])
    noisy = rng.random(len(labels)) < 0.1
    labels[noisy] = rng.choice(["C", "N", "O"], noisy.sum())
    return Graph(edges, labels=labels.tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
