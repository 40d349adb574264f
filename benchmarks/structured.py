"""Kernels on strings, texts, graphs and molecules: speed beside their peers, errors on real data.

Speed is the time of a whole Gram matrix, encoding included, ours and the peer's in one run, on the
same items and with values that agree; of texts both sides have the features already, because the
peer's product begins with them. Accuracies are those of nested cross-validation: what is
chosen (depths, lengths, C) is chosen inside each outer training part. Both need `MERCER_DATA`; the
peers are installed by ``pip install -r benchmarks/requirements.txt``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.structured_tasks import accuracies
from mercer.bench.measure import Row, at_least, at_most, best_of, peak_growth, render, seconds
from mercer.datasets import read_tu
from mercer.kernels import ShortestPath, Spectrum, Subsequence, Text, WeisfeilerLehman, normalize

SECONDS = "{:.3f} s"
SLOW = 20.0  # seconds after which a peer is not asked twice
PAIRS = 150  # strings whose subsequences are compared


def report() -> str:
    """Return the table of speeds and that of accuracies."""
    if "MERCER_DATA" not in os.environ:
        return "nothing measured: MERCER_DATA does not say where the data are"
    return f"{render(rows())}\n\n{accuracies()}"


def rows() -> list[Row]:
    """Measure and return the rows of the table of speeds."""
    return [*graph_rows(), *string_rows(), *text_rows(), memory_row()]


def folder() -> Path:
    """Return where the data are."""
    return Path(os.environ["MERCER_DATA"])


def graph_rows() -> list[Row]:
    """Weisfeiler-Lehman on NCI1 and shortest paths on ENZYMES, against GraKeL."""
    if find_spec("grakel") is None:
        return []
    import grakel

    found = []
    for name, ours, peer, bar in (
        ("NCI1", WeisfeilerLehman(5), grakel.WeisfeilerLehman(n_iter=5), 10),
        ("ENZYMES", ShortestPath(), grakel.ShortestPath(), 5),
    ):
        graphs = read_tu(folder() / "graphs" / name).X
        theirs = [_for_grakel(graph) for graph in graphs]
        task = f"{type(ours).__name__} on {name}, {len(graphs)} graphs"
        found += comparison(
            task, "GraKeL", lambda k=ours, X=graphs: k(X),
            lambda k=peer, X=theirs: k.fit_transform(X), bar,
        )  # fmt: skip
    return found


def string_rows() -> list[Row]:
    """Substrings and subsequences of splice junctions, against strkernels."""
    if find_spec("strkernels") is None:
        return []
    from strkernels import SpectrumStringKernel, SubsequenceStringKernel

    lines = (folder() / "splice" / "splice.csv").read_text().split()[1:]
    strings = [line.split(",")[2] for line in lines]
    plain = [text for text in strings if set(text) <= set("ACGT")]  # all that the peer knows
    # The peer's order 3 adds up the lengths 1 to 3, so ours has three kernels to compute.
    k, peer = Spectrum(1) + Spectrum(2) + Spectrum(3), SpectrumStringKernel(order=3)
    found = comparison(
        f"Spectrum(1) + (2) + (3) on splice, {len(plain)} strings", "strkernels",
        lambda: normalize(k)(plain), lambda: peer(plain, plain), 50,
    )  # fmt: skip
    some, gaps = plain[:PAIRS], SubsequenceStringKernel(maxlen=3, ssk_lambda=0.5)
    return found + comparison(
        f"Subsequence(3, 0.5), {PAIRS} strings of 60 letters", "strkernels",
        lambda: normalize(Subsequence(3, 0.5))(some), lambda: gaps(some, some), 5,
    )  # fmt: skip


def text_rows() -> list[Row]:
    """The Gram matrix of R8's training documents, against scikit-learn's sparse product."""
    from sklearn.metrics.pairwise import linear_kernel

    from benchmarks.structured_tasks import r8

    texts = r8("train").X
    k = Text().resolve(texts)
    points = k.admit(texts)
    features = k.features(texts)
    mine, other = best_of(
        lambda: k(points), lambda: linear_kernel(features, dense_output=True), repeats=3
    )
    gap = float(np.abs(k(points) - linear_kernel(features, dense_output=True)).max())
    task = f"Text on R8, {len(texts)} documents"
    return [
        Row(task, SECONDS.format(mine), SECONDS.format(other), other / mine, at_least(1)),
        Row("  largest difference", "", "", gap, at_most(1e-10, "{:.0e}")),
    ]


def comparison(
    task: str, name: str, ours: Callable[[], Any], peer: Callable[[], Any], bar: float
) -> list[Row]:  # fmt: skip
    """Return the ratio of two times, and how far the two Gram matrices are apart."""
    K = np.asarray(ours())
    (mine,) = best_of(ours, repeats=3)
    matrices: list[np.ndarray] = []
    other = seconds(lambda: matrices.append(np.asarray(peer())))
    if other < SLOW:  # the first call may have loaded something
        other = min(other, seconds(peer))
    gap = float(np.abs(matrices[0] - K).max() / np.abs(K).max())
    limit = at_most(1e-6, "{:.0e}")
    return [
        Row(f"{task} ({name})", SECONDS.format(mine), SECONDS.format(other), other / mine,
            at_least(bar)),
        Row("  largest relative difference", "", "", gap, limit),
    ]  # fmt: skip


def memory_row() -> Row:
    """Return what the Gram matrix of NCI1 takes, beside the graphs themselves."""
    grown = peak_growth(_gram_of_nci1, _nci1, 4110)
    form = "{:.0f} MB"
    mb = grown / 1e6
    return Row("WeisfeilerLehman(5) on NCI1, peak memory", form.format(mb), "", mb,
               at_most(1000, form))  # fmt: skip


def _nci1(n: int) -> tuple[list[Any]]:
    return (list(read_tu(folder() / "graphs" / "NCI1").X)[:n],)


def _gram_of_nci1(graphs: list[Any]) -> None:
    WeisfeilerLehman(5)(graphs)


def _for_grakel(graph: Any) -> list[Any]:
    """Return a graph as GraKeL reads it: neighbors by node, and labels by node."""
    neighbors: dict[int, dict[int, float]] = {node: {} for node in range(graph.nodes)}
    for i, j in graph.edges.tolist():
        neighbors[i][j] = neighbors[j][i] = 1.0
    return [neighbors, dict(enumerate(graph.labels))]
