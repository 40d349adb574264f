"""The registry: every kernel, solver and machine of mercer, and what the laws should find.

A kernel is entered as its formula in code, with the name of a set of items. Beside the laws that
every kernel keeps there are some that claim nothing about some kernels; which those are is written
down here, so that a kernel cannot lose its features or its sparse form without a test that fails.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from mercer import (
    LPSVC,
    SVC,
    SVR,
    ExemplarClassifier,
    ExemplarRegressor,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelMeans,
    KernelNeighbors,
    KernelPCA,
    KernelQuantile,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    PrototypeClassifier,
    RBFNetwork,
    RBFNetworkClassifier,
)
from mercer.gram.engines import TorchEngine
from mercer.kernels import (
    Categorical,
    Chi2,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    assume_psd,
    from_function,
)
from mercer.solvers import Cholesky, Eigen, Iterative, Primal, SingleCholesky
from mercer.solvers.ridge.engine_cholesky import EngineCholesky
from mercer.solvers.ridge.engine_steps import EngineSteps
from mercer.testing import SolverCase
from tests.laws.entries import Entry, MachineEntry
from tests.laws.functions import shared
from tests.laws.generative_entries import GENERATIVE
from tests.laws.graph_entries import GRAPHS_AND_MOLECULES
from tests.laws.items import ITEMS
from tests.laws.sketched_entries import sketched
from tests.laws.string_entries import SETS, STRINGS
from tests.laws.structured_entries import GAPS, SERIES_AND_TREES

__all__ = ["KERNELS", "MACHINES", "SOLVERS"]

FINITE = "features sparse"  # finitely many features
SHIFT = "random sparse"  # shift-invariant
DENSE = "rows"  # rows of numbers, but not sparse ones

MATRIX = "[[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.0]]"
RANK_ONE = "[[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]"
FAR_MATRIX = (0.4 * np.ones((6, 6)) + np.diag([1.0, 2.0, 0.5, 0.5, 1.0, 3.0])).tolist()

KERNELS = [
    # dot products
    Entry("Linear()", "points", FINITE),
    Entry("Linear()", "far points", FINITE),
    Entry("Linear()", "uneven points", FINITE),
    Entry("Polynomial(1)", "points", FINITE),
    Entry("Polynomial(2)", "wide points", FINITE),
    Entry("Polynomial(3, offset=1.0)", "points", FINITE),
    Entry("Polynomial(3, offset=0.5, scale=2.0)", "uneven points", FINITE),
    Entry("Polynomial(2, scale=-1.0)", "points", "sparse"),
    Entry("Polynomial(2, offset=-1.0)", "points", "sparse", "refuted"),
    Entry("Polynomial(3, offset=1.0, scale=-2.0)", "points", "sparse", "refuted"),
    Entry("QuadraticForm([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])", "points", FINITE),
    Entry(
        "QuadraticForm([[1.0, 0.0, 0.0], [0.0, -0.5, 0.0], [0.0, 0.0, 3.0]])",
        "points", "sparse", "refuted",
    ),
    Entry("Constant(2.0)", "points", "features"),
    Entry("Constant(0.0)", "words", "features"),
    Entry("Sigmoid(0.5, 0.2)", "points", "sparse", "refuted"),
    Entry("Sigmoid(1.0, -1.0)", "wide points", "sparse", "refuted"),
    Entry("Sigmoid(-1.0, 0.0)", "points", "sparse", "refuted"),
    Entry("Sigmoid(0.0, 0.3)", "points", "sparse"),
    # stationary
    Entry("Gaussian(1.3)", "points", SHIFT),
    Entry("Gaussian(1.3)", "wide points", SHIFT),
    Entry("Gaussian(1.3)", "far points", SHIFT),
    Entry("Gaussian(1.3)", "far numbers", SHIFT),
    Entry("Gaussian(0.7)", "numbers", SHIFT),
    Entry("Gaussian(30.0)", "uneven points", SHIFT),
    Entry("Gaussian((0.5, 1.0, 2.0))", "points", SHIFT),
    Entry("Gaussian((0.5, 1.0, 2.0, 3.0, 1.0, 0.7))", "far points", SHIFT),
    Entry("Gaussian('median')", "points", "heuristic " + SHIFT),
    Entry("Gaussian('scale')", "wide points", "heuristic " + SHIFT),
    Entry("Laplacian(2.0)", "points", SHIFT),
    Entry("Laplacian((1.0, 2.0, 0.5))", "points", SHIFT),
    Entry("Laplacian(2.0)", "far points", SHIFT),
    Entry("Laplacian('median')", "wide points", "heuristic " + SHIFT),
    Entry("Exponential(2.0)", "points", SHIFT),
    Entry("Exponential(2.0)", "far points", SHIFT),
    Entry("Exponential('scale')", "wide points", "heuristic " + SHIFT),
    Entry("Matern(0.5, 2.0)", "wide points", SHIFT),
    Entry("Matern(1.5, 2.0)", "points", SHIFT),
    Entry("Matern(2.5, (1.0, 2.0, 3.0))", "points", SHIFT),
    Entry("Matern(0.8, 2.0)", "wide points", SHIFT),
    Entry("Matern(0.8, 2.0)", "far points", SHIFT),
    Entry("Matern(float('inf'), 2.0)", "points", SHIFT),
    Entry("Matern(1.5, 'median')", "points", "heuristic " + SHIFT),
    Entry("RationalQuadratic(0.7, 2.0)", "points", SHIFT),
    Entry("RationalQuadratic(3.0, 2.0)", "far points", SHIFT),
    Entry("RationalQuadratic(1.0, 'median')", "wide points", "heuristic " + SHIFT),
    Entry("Periodic(2.0, 1.0)", "points", "rows random"),
    Entry("Periodic(24.0, (1.0, 2.0))", "far numbers", "rows random"),
    # with a metric, and the family of which psychology has another parametrization
    Entry("Gaussian(1.3, metric=(1.0, 0.0, 2.0))", "points", SHIFT),
    Entry("Gaussian('median', metric=(1.0, 2.0, 0.5, 0.0, 1.0, 3.0, 1.0))", "wide points",
          "heuristic " + SHIFT),
    Entry(f"Gaussian(1.3, metric={MATRIX})", "points", SHIFT),
    Entry(f"Gaussian('scale', metric={MATRIX})", "points", "heuristic " + SHIFT),
    Entry(f"Gaussian(1.3, metric={FAR_MATRIX})", "far points", SHIFT),
    Entry(f"Laplacian(2.0, metric={FAR_MATRIX})", "far points", SHIFT, tolerance=1e-9),
    Entry("Laplacian('median', metric=(1.0, 2.0, 0.0))", "points", "heuristic " + SHIFT),
    Entry(f"Exponential(2.0, metric={RANK_ONE})", "points", SHIFT),
    Entry(f"Exponential('median', 0.7, 2.0, {MATRIX})", "points", "heuristic " + SHIFT),
    Entry("Exponential(2.0, exponent=1.5, order=1.5)", "points", "rows random"),
    Entry("Exponential(2.0, exponent=0.7, order=1.0, metric=(1.0, 2.0, 3.0))", "points", "sparse"),
    Entry(f"Exponential(2.0, exponent=1.0, order=3.0, metric={RANK_ONE})", "points", DENSE),
    Entry("Exponential(2.0, exponent=2.0, order=1.0)", "points", "sparse", "refuted"),
    Entry(f"Exponential(2.0, exponent=2.0, order=1.0, metric={MATRIX})", "points", "sparse",
          "refuted"),
    Entry(f"Matern(1.5, 2.0, {MATRIX})", "points", SHIFT),
    Entry(f"RationalQuadratic(0.7, 2.0, {RANK_ONE})", "points", SHIFT),
    Entry(f"Shepard(0.5, 1.5, 1.0, {MATRIX})", "points", DENSE),
    # psychology
    Entry("Shepard(1.0, 1.0, 1.0)", "points", SHIFT),
    Entry("Shepard(0.5, 2.0, 1.0)", "wide points", SHIFT),
    Entry("Shepard(0.5, 2.0, 2.0, (1.0, 0.0, 0.5))", "points", "rows random"),
    Entry("Shepard(1.0, 1.5, 1.5)", "points", "rows random"),
    Entry("Shepard(1.0, 0.5, 0.5)", "points", "rows random"),
    Entry("Shepard(1.0, 1.5, 0.7)", "points", DENSE),
    Entry("Shepard(1.0, 3.0, 1.0, (1.0, 0.0, 2.0))", "points", DENSE),
    Entry("Shepard(1.0, 1.0, 2.0, (0.0, 1.0, 0.0))", "points", DENSE),
    Entry("Shepard(1.0, 1.0, 2.0)", "points", "sparse", "refuted"),
    Entry("Shepard(2.0, 2.0, 3.0)", "points", "sparse", "refuted"),
    Entry("Shepard(1.0, 1.0, 1.5, (0.5, 3.0, 0.0))", "points", DENSE, "refuted"),
    # directions, amounts, equality
    Entry("Cosine()", "points", FINITE),
    Entry("Cosine()", "uneven points", FINITE),
    Entry("ArcCosine(0)", "points", "sparse"),
    Entry("ArcCosine(1)", "wide points", "sparse"),
    Entry("ArcCosine(2)", "uneven points", "sparse"),
    Entry("ArcCosine(1)", "far points", "sparse"),
    Entry("Tanimoto()", "fingerprints", "sparse"),
    Entry("Tanimoto()", "points", "sparse"),
    Entry("Chi2(2.0)", "histograms", DENSE),
    Entry("Chi2('median')", "far histograms", "heuristic " + DENSE),
    Entry("Intersection()", "histograms", "sparse"),
    Entry("Intersection()", "far histograms", "sparse"),
    Entry("Brownian()", "points", "sparse"),
    Entry("Brownian()", "wide points", "sparse"),
    Entry("Brownian()", "far points", "sparse"),
    Entry("Categorical()", "labels", "features"),
    Entry("Categorical()", "words", "features"),
    Entry("Categorical()", "fingerprints", "features"),
    Entry("Categorical()", "table", "features"),
    *GRAPHS_AND_MOLECULES,
    # algebra
    Entry("Gaussian(1.0) + Linear()", "wide points", "sparse"),
    Entry("Gaussian(1.0) + (Gaussian(2.0) + Gaussian((1.0, 2.0, 0.5)))", "points", SHIFT),
    Entry("Linear() + 1.0", "points", FINITE),
    Entry("Gaussian('median') + 0.5", "wide points", "heuristic " + SHIFT),
    Entry("2.0 * Laplacian(1.0) + 3.0 * Exponential(1.0)", "points", SHIFT),
    Entry("Sigmoid(1.0, -1.0) + Linear()", "points", "sparse", "refuted"),
    Entry("Gaussian(1.0) + Categorical()", "points", "rows"),
    Entry("Gaussian(1.0) * Linear()", "wide points", "sparse"),
    Entry("Gaussian(1.0) * Periodic(2.0, 1.0)", "points", "rows random"),
    Entry("Linear() * Linear() * Polynomial(2, offset=1.0)", "points", FINITE),
    Entry("2.0 * (Linear() * (Linear() + 1.0))", "points", FINITE),
    Entry("0.0 * Gaussian(1.0)", "points", SHIFT),
    Entry("Linear() ** 2", "points", FINITE),
    Entry("((Linear() + 1.0) ** 2) ** 2", "numbers", FINITE),
    Entry("(2.0 * Gaussian(1.0)) ** 3", "points", SHIFT),
    Entry("exp(0.3 * Linear())", "points", "sparse"),
    Entry("polynomial(Linear(), (1.0, 0.0, 2.0))", "points", FINITE),
    Entry("polynomial(Gaussian(1.0), (0.5, 1.0, 0.25))", "wide points", "sparse"),
    Entry("polynomial(Categorical(), (0.0, 3.0))", "labels", "features"),
    Entry("rescale(Linear(), damping)", "points", FINITE),
    Entry("rescale(Gaussian('median'), damping)", "wide points", "heuristic sparse"),
    Entry("rescale(from_function(shared), length)", "words", "", "unknown"),
    Entry("pullback(Gaussian(2.0), letters)", "words"),
    Entry("pullback(Gaussian('median'), folded)", "points", "heuristic"),
    Entry("pullback(Linear(), polar, batched=True)", "points", "features"),
    Entry("pullback(Categorical(), length)", "words", "features"),
    Entry("Gaussian(1.0).on(0)", "points", SHIFT),
    Entry("Linear().on(slice(0, 2)) + Gaussian(1.0).on(1, -1)", "wide points", "sparse"),
    Entry("Linear().on(0, 1) * Polynomial(2).on(2)", "points", FINITE),
    Entry("Gaussian(9.0).on('height', 'weight') * Categorical().on('species')", "table"),
    Entry("Gaussian('median').on('height') + Categorical().on('legs')", "table", "heuristic"),
    Entry("Categorical().on('species', 'legs')", "table", "features"),
    Entry("(Linear().on('legs') + 1.0) * Categorical().on('species')", "table", "features"),
    Entry("(Linear() + Gaussian(3.0)).on('height', 'legs')", "table"),
    Entry("normalize(Linear())", "uneven points", FINITE),
    Entry("normalize(Polynomial(2, offset=1.0))", "wide points", FINITE),
    Entry("normalize(from_function(shared))", "sets", "", "unknown"),
    Entry("normalize(Categorical() + Linear())", "points", "rows features"),
    Entry("gaussian_over(Linear(), 2.0)", "points", "sparse"),
    Entry("gaussian_over(Gaussian(1.0), 0.5)", "wide points", "sparse"),
    Entry("gaussian_over(Polynomial(2), 'median')", "points", "heuristic sparse"),
    Entry("gaussian_over(assume_psd(from_function(shared)), 1.5)", "sets"),
    *STRINGS,
    *SETS,
    *SERIES_AND_TREES,
    *GAPS,
    *GENERATIVE,
    # made by users
    Entry("from_features(letters)", "words", "features"),
    Entry("from_features(polar, batched=True)", "wide points", "features"),
    Entry("from_basis([one, first, square])", "points", "features"),
    Entry("from_function(shared)", "sets", "", "unknown"),
    Entry("from_function(closeness)", "words", "", "unknown"),
    Entry("assume_psd(from_function(shared))", "words"),
    Entry("assume_psd(Sigmoid(1.0, -1.0))", "points", "sparse", "refuted"),
    Entry("assume_psd(Linear())", "points", FINITE),
    Entry("precomputed()", "valid matrix", "matrix", "unknown"),
    Entry("precomputed()", "matrix", "matrix", "unknown"),
    Entry("assume_psd(precomputed())", "valid matrix", "matrix"),
    Entry("named('gaussian')", "points", "heuristic " + SHIFT),
    Entry("named('polynomial')", "points", FINITE),
    Entry("parse('2 * Gaussian(1.3) + Linear()')", "points", "sparse"),
]  # fmt: skip

SOLVERS = [
    SolverCase(Cholesky()),
    SolverCase(Cholesky("mixed")),
    SolverCase(Eigen()),
    SolverCase(Eigen("clip")),
    SolverCase(Eigen("flip")),
    SolverCase(Eigen("shift")),
    SolverCase(Iterative(tol=1e-14)),
    SolverCase(Iterative(rank=4, tol=1e-14)),
    SolverCase(SingleCholesky(tol=1e-14)),
    SolverCase(Primal(), features=True),
    SolverCase(Primal(Eigen()), features=True),
]
if importlib.util.find_spec("torch"):
    SOLVERS.append(SolverCase(EngineCholesky(TorchEngine("cpu"))))
    SOLVERS.append(SolverCase(EngineSteps(rank=4, tol=1e-14)))


def _machines() -> list[MachineEntry]:
    rng = np.random.default_rng(7)
    X, new = rng.normal(size=(30, 4)), rng.normal(size=(9, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    Y = np.column_stack([y, 100.0 * y**2])
    three = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    two = np.where(y > 0, 1, -1)
    words, counts = ITEMS["words"], np.array([float(len(w)) for w in ITEMS["words"]])  # type: ignore
    table = ITEMS["table"]
    gram = Gaussian(1.0)(X)
    rows = Gaussian(1.0)(new, X)
    objects, regression = frozenset({"estimator"}), frozenset({"certificate"})
    learned = frozenset({"certificate", "routes"})
    answers = learned | {"function"}
    unweighted = learned | {"repetition", "removal"}
    unrepeated = regression | {"repetition", "removal"}
    return [
        MachineEntry("gaussian ridge", KernelRidge(), X, y, new),
        MachineEntry(
            "interpolation", KernelRidge(Gaussian(1.0), 0.0), X, y, new,
            frozenset({"estimator", "repetition"}),
        ),
        MachineEntry("linear ridge", KernelRidge("linear", 0.1, intercept=True), X, Y, new),
        MachineEntry("small penalty", KernelRidge(Linear(), 1e-5), X, y, new),
        MachineEntry("polynomial ridge", KernelRidge(Polynomial(2, 1.0), 0.5), X, Y, new),
        MachineEntry(
            "single precision",
            KernelRidge(Gaussian(2.0), 1e-4),
            X.astype(np.float32), y, new.astype(np.float32),
        ),
        MachineEntry(
            "repaired ridge",
            KernelRidge(Sigmoid(0.5, 0.1), 0.1, indefinite="clip"),
            X, y, new, regression,
        ),
        MachineEntry(
            "histogram ridge", KernelRidge(Chi2("median"), 0.1), np.abs(X), y, np.abs(new), objects
        ),
        MachineEntry(
            "ridge on words",
            KernelRidge(assume_psd(from_function(shared)), 0.1, intercept=True),
            words, counts, ["owls", "x", "catnap"], objects,
        ),
        MachineEntry(
            "ridge on a table",
            KernelRidge(Gaussian("median").on("height", "weight") * Categorical().on("species")),
            table, table["legs"].to_numpy(float), table.iloc[::3], objects,  # type: ignore
        ),
        MachineEntry(
            "ridge on a matrix",
            KernelRidge("precomputed", 0.1),
            gram, y, rows, frozenset({"estimator", "repetition", "removal"}),
        ),
        MachineEntry("gaussian process", GaussianProcess(penalty=0.1), X, y, new),
        MachineEntry("linear process", GaussianProcess("linear", 0.1, intercept=True), X, Y, new),
        MachineEntry(
            "process on words",
            GaussianProcess(assume_psd(from_function(shared)), 0.1, intercept=True),
            words, counts, ["owls", "x", "catnap"], objects,
        ),
        MachineEntry(
            "two classes", KernelRidgeClassifier("laplacian", 0.1), X, two, new, regression
        ),
        MachineEntry(
            "three classes",
            # scikit-learn's checks have rows near (100, 100), whose cubes leave no digits.
            KernelRidgeClassifier(
                Polynomial(2, 1.0), 0.5, intercept=True, class_weight="balanced"
            ),
            X, three, new, regression,
        ),
        MachineEntry(
            "classes of words",
            KernelRidgeClassifier(Categorical(), 0.1),
            words, np.where(counts > 3, "long", "short"), ["cat", "owls"],
            frozenset({"estimator", "certificate"}),
        ),
        MachineEntry("perceptron", Perceptron(averaged=True), X, three, new, unweighted),
        MachineEntry(
            "kernel perceptron", Perceptron(Gaussian(1.0)), X, two, new, unweighted
        ),
        MachineEntry("prototypes", PrototypeClassifier("gaussian"), X, three, new, learned),
        MachineEntry("prototypes of a metric", PrototypeClassifier(metric="covariance"),
                     X, two, new, learned | {"estimator"}),
        MachineEntry("exemplars", ExemplarClassifier(Gaussian(1.0)), X, three, new, answers),
        MachineEntry("exemplars of words", ExemplarClassifier(from_function(shared)), words,
                     np.where(counts > 3, "long", "short"), ["cat", "owls"],
                     answers | {"estimator"}),
        MachineEntry("a smoother", ExemplarRegressor(Gaussian(1.0)), X, y, new, answers),
        MachineEntry("neighbors", KernelNeighbors(Gaussian(1.0)), X, three, new,
                     answers | unweighted),
        MachineEntry("clusters", KernelMeans(Gaussian(1.0), n_clusters=3), X, three, new, answers),
        MachineEntry("an interpolating network", RBFNetwork(Gaussian(1.0), penalty=0.0), X, Y, new,
                     unrepeated | {"estimator"}),
        MachineEntry("a network on clusters", RBFNetwork("gaussian", "kmeans", 5, penalty=1e-3,
                     random_state=0), X, y, new, unrepeated),
        MachineEntry("a network of words", RBFNetworkClassifier(from_function(shared), "ols", 4,
                     penalty=1e-3), words, np.where(counts > 3, "long", "short"),
                     ["cat", "owls"], unrepeated | {"estimator"}),
        MachineEntry("a network of classes", RBFNetworkClassifier(penalty=1e-3), X, three, new,
                     unrepeated),
        MachineEntry("logistic regression", KernelLogistic(tol=1e-11), X, two, new, regression),
        MachineEntry("linear logistic", KernelLogistic("linear", 0.1, tol=1e-11), X, two, new,
                     regression),
        MachineEntry("multinomial regression", KernelLogistic(Polynomial(2, 1.0), 0.5, tol=1e-11,
                     class_weight="balanced"), X, three, new, regression),
        MachineEntry("logistic on words", KernelLogistic(assume_psd(from_function(shared)),
                     tol=1e-11), words, np.where(counts > 3, "long", "short"), ["cat", "owls"],
                     regression | {"estimator"}),
        MachineEntry("components", KernelPCA(n_components=2), X, three, new, unrepeated),
        MachineEntry("linear components", KernelPCA("linear", 1), X, three, new, unrepeated),
        MachineEntry("partial components", KernelPCA(n_components=3, solver="partial",
                     random_state=0), X, three, new, unrepeated),
        MachineEntry("components of words", KernelPCA(assume_psd(from_function(shared)), 2),
                     words, counts, ["cat", "owls"], unrepeated | {"estimator"}),
        MachineEntry("discriminants", KernelDiscriminant(), X, three, new, regression),
        MachineEntry("linear program", LPSVC(C=10.0), X, two, new, learned),
        MachineEntry("linear program without slack", LPSVC(Gaussian(1.0), np.inf), X, two, new,
                     learned | {"estimator"}),
        MachineEntry("indefinite linear program", LPSVC(Sigmoid(0.5, -1.0)), X, two, new, learned),
        MachineEntry("linear programs that vote", LPSVC(Gaussian(1.0)), X, three, new, answers),
        MachineEntry("linear programs of classes", LPSVC(Gaussian(1.0), 5.0, multiclass="ovr",
                     class_weight="balanced"), X, three, new, learned),
        MachineEntry("linear program of words", LPSVC(from_function(shared)), words,
                     np.where(counts > 3, "long", "short"), ["cat", "owls"],
                     learned | {"estimator"}),
        MachineEntry("support vectors", SVC(tol=1e-10), X, two, new, regression),
        MachineEntry("a hard margin", SVC(Gaussian(1.0), np.inf, tol=1e-10), X, two, new,
                     regression | {"estimator"}),
        MachineEntry("linear support vectors", SVC("linear", 0.5, tol=1e-10), X, two, new,
                     regression),
        MachineEntry("support vectors that vote", SVC(Gaussian(1.0), 5.0, tol=1e-10), X, three,
                     new, regression | {"function"}),
        MachineEntry("support vectors of classes", SVC(Gaussian(1.0), 5.0, multiclass="ovr",
                     tol=1e-10, class_weight="balanced"), X, three, new, regression),
        MachineEntry("repaired support vectors", SVC(Sigmoid(0.5, 0.1), indefinite="clip",
                     tol=1e-10), X, two, new, regression),
        MachineEntry("support vectors of words", SVC(assume_psd(from_function(shared)), tol=1e-10),
                     words, np.where(counts > 3, "long", "short"), ["cat", "owls"],
                     regression | {"estimator"}),
        MachineEntry("support vectors of a matrix", SVC("precomputed", tol=1e-10), gram, two, rows,
                     regression | {"estimator", "repetition", "removal"}),
        MachineEntry("support vectors by nu", NuSVC(nu=0.3, tol=1e-11), X, two, new, regression),
        MachineEntry("many classes by nu", NuSVC(nu=0.3, tol=1e-11), X, three, new,
                     regression | {"function"}),
        MachineEntry("a tube", SVR(tol=1e-10), X, y, new, regression),
        MachineEntry("a tube by ν", NuSVR(tol=1e-10), X, y, new, regression),
        MachineEntry("a tube of words", SVR(assume_psd(from_function(shared)), tol=1e-10), words,
                     counts, ["cat", "owls"], regression | {"estimator"}),
        MachineEntry("a median", KernelQuantile(tol=1e-11), X, y, new, regression),
        MachineEntry("quantiles of words", KernelQuantile(assume_psd(from_function(shared)),
                     (0.2, 0.5), tol=1e-11), words, counts, ["cat", "owls"],
                     regression | {"estimator"}),
        MachineEntry("a quantile of words", KernelQuantile(assume_psd(from_function(shared)), 0.7,
                     tol=1e-11), words, counts, ["cat", "owls"], regression | {"estimator"}),
        MachineEntry("one class", OneClassSVM(tol=1e-11, nu=0.2), X, two, new, regression),
        MachineEntry("linear discriminant", KernelDiscriminant("linear"), X, two, new, regression),
        *sketched(X, y, new),
    ]  # fmt: skip


MACHINES = _machines()
