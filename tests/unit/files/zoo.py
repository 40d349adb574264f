"""Some fitted machines of every sort, small ones, with things to ask them about.

``format1.mercer`` was made of them, and is kept as it was made: files of format 1 exist, so every
later mercer must read them. Whoever makes a format 2 writes ``format2.mercer`` with `keep`, and
leaves the older file alone.
"""

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    Calibrated,
    ExemplarClassifier,
    GaussianProcess,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    OneClassSVM,
    Standardize,
)
from mercer.cognition import ALCOVE, GCM
from mercer.domains import Graph
from mercer.kernels import (
    Categorical,
    Fisher,
    Gaussian,
    GlobalAlignment,
    Jaccard,
    Polynomial,
    Spectrum,
    SubsetTree,
    Text,
    WeisfeilerLehman,
    normalize,
)
from mercer.models import MarkovChain
from tests.unit.files.answers import answers

WORDS = ["gattaca", "gattac", "attaca", "ccgcgg", "ccgcg", "gcgcgg"]
TEXTS = ["the cat sat", "a cat ran", "the cat", "stocks fell", "the stocks rose", "fell"]
TREES = ["(S (NP she) (VP sleeps))", "(S (NP it) (VP (V ran) (RB off)))", "(S (NP she) (VP ran))"]
GRAPHS = [Graph([(0, 1), (1, 2)], labels=["C", "O", "C"]), Graph([(0, 1)], labels=["C", "O"]),
          Graph([(0, 1), (1, 2), (0, 2)], labels=["C", "N", "C"])]  # fmt: skip
SERIES = [[[0.0], [1.0], [0.5]], [[0.2], [0.9]], [[2.0], [1.5], [1.0], [0.0]]]
SETS = [frozenset("abc"), frozenset("ab"), frozenset("xyz")]


def zoo():
    """Return machines that have learned, and what to ask each of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y, two, halves = X[:, 0] ** 2, np.arange(12) % 2, [0, 0, 0, 1, 1, 1]
    gaps = np.where(np.arange(24).reshape(12, 2) % 7 == 0, np.nan, X)
    table = pd.DataFrame({
        "height": X[:, 0], "word": (WORDS * 2)[:12], "day": pd.to_datetime(["2001-02-03"] * 12),
        "kind": pd.Categorical((["x", "y", "x"] * 4)[:12]), "legs": pd.array([2, 4] * 6, "Int64"),
    })  # fmt: skip
    mixed = Gaussian(1.0).on("height", "legs") + Spectrum(2).on("word")
    mixed = mixed + 0.5 * Categorical().on("kind")
    calibrated = Calibrated(KernelRidgeClassifier(Gaussian("median")), folds=3)
    chain = Pipeline([("standardize", Standardize()), ("machine", calibrated)])
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    sides = ["a", "b", "b", "a"]
    letters = MarkovChain(1, None, "acgt").fit(WORDS)
    return {
        "ridge": (KernelRidge(Polynomial(2, 1.0), 0.1).fit(X, y), X),
        "process": (GaussianProcess(Gaussian(1.0), 0.1).fit(X, y), X),
        "components": (KernelPCA(Gaussian(1.0), 1).fit(X), X),
        "one class": (OneClassSVM(Gaussian(1.0), nu=0.3).fit(X), X),
        "classes": (SVC("gaussian", probability=True, random_state=0).fit(X, list("abc") * 4), X),
        "chain": (chain.fit(gaps, two), gaps),
        "scaler": (Pipeline([("s", StandardScaler()), ("m", SVC())]).fit(X, two), X),
        "table": (KernelRidge(mixed, 0.1).fit(table, y), table),
        "words": (SVC(normalize(Spectrum(2)), C=10.0).fit(WORDS, halves), WORDS),
        "texts": (SVC(Text()).fit(TEXTS, halves), TEXTS),
        "trees": (KernelRidge(SubsetTree(0.5)).fit(TREES, [1.0, 2.0, 3.0]), TREES),
        "graphs": (KernelRidge(WeisfeilerLehman(2)).fit(GRAPHS, [1.0, 2.0, 3.0]), GRAPHS),
        "series": (KernelRidge(GlobalAlignment(1.0)).fit(SERIES, [1.0, 2.0, 3.0]), SERIES),
        "sets": (ExemplarClassifier(Jaccard()).fit(SETS, ["a", "a", "b"]), SETS),
        "model": (KernelRidge(Fisher(letters, "identity")).fit(WORDS, halves), WORDS),
        "exemplars": (GCM(2.0).fit(corners, sides), corners),
        "network": (ALCOVE(2.0, 1.0, 0.1, 0.1).fit(corners, sides), corners),
    }  # fmt: skip


def keep(path):
    """Write the machines into one file, with what they were asked and what they answered."""
    found = zoo()
    notes = {name: (items, answers(machine, items)) for name, (machine, items) in found.items()}
    mercer.save({name: machine for name, (machine, _) in found.items()}, path, notes)
