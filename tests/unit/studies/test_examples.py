"""Examples are what their reasons say, and cost no matrix of all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline

from mercer import KernelRidge, KernelRidgeClassifier, PrototypeClassifier
from mercer.kernels import Categorical, Gaussian, Linear, Spectrum, kernel
from mercer.machines import Calibrated, Standardize
from mercer.studies import examples as module
from mercer.studies.examples import find_examples
from mercer.studies.results import HeldOutPredictions

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data.iloc[:, :2], IRIS.target_names[IRIS.target].astype(str).astype(object)
KERNEL = Gaussian(1.0)


def held(prediction, probabilities=None):
    fold = np.zeros(len(prediction), dtype=int)
    return HeldOutPredictions(prediction, probabilities, fold, np.arange(len(prediction)))


def normalized(kernel, A):
    """Return k(x, z)/√(k(x, x)·k(z, z)), pair by pair."""
    K = np.array([[kernel.pair(a, b) for b in A] for a in A])
    return K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))


@pytest.fixture(scope="module")
def flowers():
    """Return a fitted machine, its predictions and probabilities of the rows."""
    machine = KernelRidgeClassifier(KERNEL, penalty=10.0)
    model = Pipeline([("standardize", Standardize()), ("machine", Calibrated(machine))]).fit(X, Y)
    return model, model.predict(X), model.predict_proba(X)


def test_typical_rows_and_neighbors_are_those_of_a_plain_search(flowers):
    model, prediction, P = flowers
    typical, _ = find_examples(model, X, Y, held(prediction, P), 0)
    rows = Standardize().fit_transform(X).to_numpy()
    S = normalized(KERNEL, rows)
    assert [one.reason for one in typical] == [f"most typical {c!r}" for c in model.classes_]
    for label, one in zip(model.classes_, typical, strict=True):
        score = {
            i: np.mean([S[i, j] for j in range(150) if Y[j] == label and j != i])
            - np.mean([S[i, j] for j in range(150) if Y[j] != label])
            for i in range(150)
            if Y[i] == label == prediction[i]
        }
        assert one.place == max(score, key=score.get)
        others = sorted(set(range(150)) - {one.place}, key=lambda j: -round(S[one.place, j], 12))
        assert [n.place for n in one.neighbors] == others[:3]
        assert [n.similarity for n in one.neighbors] == pytest.approx(S[one.place, others[:3]])


def test_a_typical_row_was_predicted_right_if_one_was(flowers):
    model, prediction, P = flowers
    first = find_examples(model, X, Y, held(prediction, P), 0)[0][0].place
    prediction = prediction.copy()
    prediction[first] = "virginica"
    assert find_examples(model, X, Y, held(prediction, P), 0)[0][0].place != first
    prediction[Y == "setosa"] = "virginica"
    assert find_examples(model, X, Y, held(prediction, P), 0)[0][0].place == first


def test_confused_rows_are_those_of_which_the_machine_was_surest(flowers):
    model, prediction, P = flowers
    _, confused = find_examples(model, X, Y, held(prediction, P), 0)
    wrong = np.flatnonzero(prediction != Y)
    surest = wrong[np.argsort(-P[wrong].max(axis=1), kind="stable")]
    assert len(wrong) >= 8 and len(confused) == 8  # otherwise the test says nothing
    assert confused[0].place == surest[0]
    assert all(one.place in wrong for one in confused)
    i = confused[0].place
    share = round(100 * P[i].max())
    assert confused[0].reason == f"{Y[i]!r}, taken for {prediction[i]!r} ({share} %)"


def test_different_confusions_are_preferred(flowers):
    model, prediction, P = flowers
    P, prediction = P.copy(), prediction.copy()
    prediction[3], P[3] = "virginica", [0.3, 0.3, 0.4]  # the least sure, but the only one so
    _, confused = find_examples(model, X, Y, held(prediction, P), 0)
    pairs = {(Y[i], prediction[i]) for i in np.flatnonzero(prediction != Y)}
    assert {(Y[one.place], prediction[one.place]) for one in confused} == pairs
    assert 3 in [one.place for one in confused] and len(confused) == 8


def test_rows_that_could_not_be_right_come_last(flowers):
    model, prediction, P = flowers
    y, P = Y.copy(), P.copy()
    y[:2] = "never learned"
    prediction, P[:2] = y.copy(), [1.0, 0.0, 0.0]
    prediction[[0, 1, 149]] = "setosa", "setosa", "versicolor"
    typical, confused = find_examples(model, X, y, held(prediction, P), 0)
    assert [one.place for one in confused] == [149, 0, 1]
    assert "over 99 %" in confused[1].reason
    assert not any("never" in one.reason for one in typical)


def test_without_probabilities_resemblance_to_the_wrong_class_decides():
    A = np.array([[0.0], [0.5], [1.0], [4.0], [8.0], [8.5], [9.0], [1.5]])
    y = np.array(["low"] * 4 + ["high"] * 4, dtype=object)
    prediction = y.copy()
    prediction[[3, 7]] = "high", "low"
    machine = PrototypeClassifier(Gaussian(2.0)).fit(A, y)
    _, confused = find_examples(machine, A, y, held(prediction), 0)
    assert [(one.place, one.reason) for one in confused] == [
        (7, "'high', taken for 'low'"),
        (3, "'low', taken for 'high'"),
    ]


def test_resemblance_is_that_to_other_rows():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 2))
    y = np.array(["a"] * 3 + ["b"] * 7 + ["c"] * 30, dtype=object)
    prediction = y[rng.permutation(40)]
    machine = PrototypeClassifier(KERNEL).fit(A, y)
    _, confused = find_examples(machine, A, y, held(prediction), 0)
    S = normalized(KERNEL, A)

    def mean(i, label):
        return np.mean([S[i, j] for j in range(40) if y[j] == label and j != i])

    surety = {
        i: mean(i, prediction[i]) - mean(i, y[i]) for i in range(40) if y[i] != prediction[i]
    }
    ordered = sorted(surety, key=surety.get, reverse=True)
    first = {(y[i], prediction[i]): i for i in reversed(ordered)}
    chosen = {*sorted(first.values(), key=ordered.index)}
    chosen |= {*[i for i in ordered if i not in chosen][: 8 - len(chosen)]}
    assert [one.place for one in confused] == sorted(chosen, key=ordered.index)


def test_nothing_is_confused_if_nothing_was_wrong(flowers):
    model, _, P = flowers
    assert find_examples(model, X, Y, held(Y, P), 0)[1] == ()
    assert find_examples(model, X, Y, held(Y), 0)[1] == ()


def test_numbers_have_low_middle_and_high_examples_and_the_largest_residuals():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(100, 2))
    y = 10 * A[:, 0]
    machine = KernelRidge(Gaussian(0.3), penalty=0.1).fit(A, y)
    prediction = y + 0.1 * rng.normal(size=100)
    prediction[[4, 50]] = y[4] - 5, y[50] + 7
    typical, confused = find_examples(machine, A, y, held(prediction), 0)
    assert [one.reason.split()[2] for one in typical] == ["low", "middle", "high"]
    for level, one in zip((0.1, 0.5, 0.9), typical, strict=True):
        assert abs(y[one.place] - np.quantile(y, level)) < 1
        assert one.reason.endswith(f": {y[one.place]:.4g}")
        assert one.place not in (4, 50)
        # The neighbors are near, and the row is not at the edge of what surrounds it.
        assert np.abs(A[[n.place for n in one.neighbors]] - A[one.place]).max() < 0.3
        assert 0.1 < A[one.place, 1] < 0.9
    wrong = prediction.copy()
    wrong[typical[1].place] += 4
    again, _ = find_examples(machine, A, y, held(wrong), 0)
    assert again[1].place != typical[1].place and again[0] == typical[0]
    assert [one.place for one in confused][:2] == [50, 4] and len(confused) == 8
    assert confused[0].reason == f"{y[50]:.4g}, predicted {prediction[50]:.4g}"
    off = [abs(y[one.place] - prediction[one.place]) for one in confused]
    assert off == sorted(off, reverse=True)


def test_three_rows_are_three_examples():
    A, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
    machine = KernelRidge(Gaussian(1.0), penalty=0.1).fit(A, y)
    typical, confused = find_examples(machine, A, y, held(y), 0)
    assert sorted(one.place for one in typical) == [0, 1, 2] and confused == ()
    assert all(len(one.neighbors) == 2 for one in typical)


def test_at_most_six_classes_have_an_example_the_largest():
    sizes = [3, 9, 4, 8, 5, 7, 6, 2]
    y = np.repeat([f"c{i}" for i in range(8)], sizes).astype(object)
    A = np.random.default_rng(1).normal(size=(len(y), 2))
    machine = PrototypeClassifier(Gaussian(1.0)).fit(A, y)
    typical, _ = find_examples(machine, A, y, held(y), 0)
    assert [y[one.place] for one in typical] == ["c1", "c3", "c5", "c6", "c4", "c2"]


SOME = np.array(["p", "q"] * 6, dtype=object)
STRINGS = ["abab", "caca", "babab", "acac", "ba", "ca"] * 2
FRAME = pd.DataFrame({"size": np.arange(12.0), "word": SOME})


@pytest.mark.parametrize(
    "rows, kernel",
    [
        (STRINGS, Spectrum(2)),
        (FRAME, Gaussian(2.0).on("size") + Categorical().on("word")),
        (sparse.csr_array(np.tri(12)), Linear()),
        (np.tri(12), Linear()),
    ],
    ids=["strings", "frame", "sparse", "array"],
)
def test_rows_may_be_anything_that_the_kernel_compares(rows, kernel):
    machine = PrototypeClassifier(kernel).fit(rows, SOME)
    typical, confused = find_examples(machine, rows, SOME, held(SOME[::-1].copy()), 0)
    assert len(typical) == 2 and len(confused) == 8
    whole = np.asarray(kernel(rows))
    for one in typical + confused:
        for near in one.neighbors:
            length = np.sqrt(whole[one.place, one.place] * whole[near.place, near.place])
            assert near.similarity == pytest.approx(whole[one.place, near.place] / length)
            assert near.similarity <= 1 and near.place != one.place


def test_a_row_of_zeros_is_like_nothing():
    A = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [0.0, 2.0]])
    y = np.array(["a"] * 3 + ["b"] * 3, dtype=object)
    machine = PrototypeClassifier(Linear()).fit(A, y)
    prediction = y.copy()
    prediction[0] = "b"
    typical, confused = find_examples(machine, A, y, held(prediction), 0)
    assert confused[0].place == 0
    assert [near.similarity for near in confused[0].neighbors] == [0.0, 0.0, 0.0]
    assert typical[0].place == 1 and typical[0].neighbors[0] == module.Neighbor(2, 1.0)


def test_many_rows_are_compared_with_a_sample_and_twice_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(3000, 3))
    y = np.where(A[:, 0] + 0.5 * rng.normal(size=3000) > 0, "up", "down").astype(object)
    sizes = []

    @kernel
    class Counted(Gaussian):
        def __call__(self, P, Q=None):
            sizes.append((len(P), len(Q)))
            return super().__call__(P, Q)

    machine = PrototypeClassifier(Counted(1.0)).fit(A[:200], y[:200])
    prediction = machine.predict(A)
    monkeypatch.setattr(module, "MAX_COMPARED", 400)
    sizes.clear()
    first = find_examples(machine, A, y, held(prediction), 0)
    assert max(p for p, _ in sizes) <= 500 and max(q for _, q in sizes) <= 400
    assert first == find_examples(machine, A, y, held(prediction), 0)
    assert first[0] != find_examples(machine, A, y, held(prediction), 1)[0]
    for one in first[0] + first[1]:  # neighbors are the nearest of all rows
        far = np.linalg.norm(A - A[one.place], axis=1)
        assert [near.place for near in one.neighbors] == np.argsort(far)[1:4].tolist()


def test_residuals_that_cannot_be_seen_are_not_shown():
    A = np.arange(10.0)[:, None]
    y = 1000 * A[:, 0]
    machine = KernelRidge(Gaussian(1.0), penalty=0.1).fit(A, y)
    prediction = y + 1e-6
    prediction[3] = 3004.2
    _, confused = find_examples(machine, A, y, held(prediction), 0)
    assert [one.reason for one in confused][:1] == ["3000, predicted 3004"]
    assert all(one.place in (0, 3) for one in confused)  # 0 and 1e-6 are different
