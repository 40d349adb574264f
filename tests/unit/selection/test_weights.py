"""Weights of a sum of kernels: what matters counts, what does not is left out."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import MercerError, PlanError, SelectionError, ValidityError
from mercer.kernels import Categorical, Constant, Gaussian, Linear, from_function, precomputed
from mercer.selection.weights import learn_weights
from mercer.solvers.ridge.objective import along_penalties, criterion

BOTH = ("alignment", "leave-one-out")
PARTS = [Gaussian(1.0).on(0), Linear().on(1), Gaussian(0.5).on(2)]


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def centered(K, w=None):
    w = np.ones(len(K)) if w is None else w
    H = np.eye(len(K)) - np.outer(np.ones(len(K)), w) / w.sum()
    return H @ K @ H.T


@pytest.mark.parametrize("name", BOTH)
def test_a_kernel_of_noise_gets_next_to_nothing(name):
    X, y = data()
    found = learn_weights(PARTS, X, y, criterion=name)
    assert found.weights[2] < 0.02
    assert found.weights[:2].min() > 0.1
    np.testing.assert_allclose(found.weights.sum(), 1.0)
    assert found.criterion == name


def test_alignment_solves_the_problem_of_cortes_mohri_and_rostamizadeh():
    X, y = data()
    found = learn_weights(PARTS, X, y)
    K = [centered(k(X)) for k in PARTS]
    K = [k * len(X) / np.trace(k) for k in K]
    Y = np.outer(y - y.mean(), y - y.mean())
    M = np.array([[np.sum(a * b) for b in K] for a in K])
    a = np.array([np.sum(k * Y) for k in K])
    L = np.linalg.cholesky(M)
    v, _ = nnls(L.T, np.linalg.solve(L, a))
    np.testing.assert_allclose(found.weights, v / v.sum(), rtol=1e-8, atol=1e-12)
    cosine = lambda k: np.sum(k * Y) / np.linalg.norm(k) / np.linalg.norm(Y)
    np.testing.assert_allclose(found.alignment, [cosine(k) for k in K])
    np.testing.assert_allclose(found.value, cosine(centered(found.kernel(X))))
    rng = np.random.default_rng(0)
    others = [sum(c * k for c, k in zip(rng.random(3), K, strict=True)) for _ in range(50)]
    assert max(map(cosine, others)) <= found.value


def test_a_weight_counts_like_repetitions():
    X, y = data(30)
    times = np.random.default_rng(0).integers(1, 4, 30)
    again = np.repeat(np.arange(30), times)
    found = learn_weights(PARTS, X, y, sample_weight=times)
    repeated = learn_weights(PARTS, X[again], y[again])
    np.testing.assert_allclose(found.weights, repeated.weights, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.alignment, repeated.alignment, rtol=1e-8)
    assert found.kernel.get_params().keys() == repeated.kernel.get_params().keys()


def test_the_error_is_that_of_a_machine_with_the_kernel_and_the_penalty():
    X, y = data(40)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    found = learn_weights(PARTS, X, y, criterion="leave-one-out", sample_weight=w)
    errors = []
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        machine = KernelRidge(found.kernel, found.penalty, intercept=True)
        errors.append(machine.fit(X[rest], y[rest], w[rest]).predict(X[[i]])[0] - y[i])
    np.testing.assert_allclose(found.value, np.average(np.square(errors), weights=w), rtol=1e-6)


@pytest.mark.slow
def test_no_other_weights_have_a_smaller_error():
    X, y = data(50)
    found = learn_weights(PARTS, X, y, criterion="leave-one-out")
    K = [centered(k(X)) * 50 / np.trace(centered(k(X))) for k in PARTS]
    rng = np.random.default_rng(0)
    for v in [*rng.dirichlet(np.ones(3), 60), *np.eye(3), found.weights]:
        mixed = sum(c * k for c, k in zip(v, K, strict=True))
        heights = along_penalties(
            "leave-one-out", mixed, np.logspace(-6, 3, 40), y, intercept=True
        )
        assert heights.min() >= found.value * (1 - 1e-6)
    aligned = learn_weights(PARTS, X, y)
    heights = along_penalties(
        "leave-one-out", aligned.kernel(X), np.logspace(-6, 3, 40), y, intercept=True
    )
    assert found.value <= heights.min()


def test_a_penalty_that_is_given_is_kept():
    X, y = data(50)
    free = learn_weights(PARTS, X, y, criterion="leave-one-out")
    bound = learn_weights(PARTS, X, y, criterion="leave-one-out", penalty=1.0)
    assert bound.penalty == 1.0
    np.testing.assert_allclose(bound.value, free.value, rtol=1e-2)  # only the ratio matters
    value = criterion("leave-one-out", bound.kernel(X), 1.0, y, None, True).value
    np.testing.assert_allclose(value, bound.value, rtol=1e-6)


@pytest.mark.parametrize("name", BOTH)
def test_labels_are_told_from_numbers(name):
    X, y = data(60)
    two = np.where(y > 0, "yes", "no")
    found = learn_weights(PARTS, X, two, criterion=name)
    for same in (y > 0, (y > 0).astype(int), np.where(y > 0, 1.0, -1.0), pd.Series(two)):
        again = learn_weights(PARTS, X, same, criterion=name)
        np.testing.assert_allclose(again.weights, found.weights, rtol=1e-2, atol=1e-4)
    three = np.digitize(y, [-0.7, 0.7])
    many = learn_weights(PARTS, X, three, criterion=name)
    ordered = learn_weights(PARTS, X, three, criterion=name, classify=False)
    assert abs(many.value - ordered.value) > 1e-3
    asked = learn_weights(PARTS, X, three.astype(float), criterion=name, classify=True)
    np.testing.assert_allclose(asked.value, many.value, rtol=1e-6)
    machine = KernelRidgeClassifier(many.kernel, many.penalty or 0.1).fit(X, three)
    assert machine.score(X, three) > 0.6


def test_many_whole_numbers_are_a_target():
    X, y = data(60)
    counts = np.round(20 * y).astype(int)
    found = learn_weights(PARTS, X, counts)
    same = learn_weights(PARTS, X, counts.astype(float))
    np.testing.assert_array_equal(found.weights, same.weights)


@pytest.mark.parametrize("name", BOTH)
def test_kernels_of_different_columns_and_heuristics(name):
    X, y = data(50)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": list("xy") * 25})
    parts = [Gaussian("median").on("a", "b"), Categorical().on("c"), 3.0 * Linear().on("b")]
    found = learn_weights(parts, table, y + 2.0 * (table["c"] == "x"), criterion=name)
    assert found.weights.min() > 0 or name == "alignment"
    assert found.value < 0.05 or name == "alignment"  # the noise is 0.01
    assert found.weights[1] > 0
    assert found.kernel.unresolved() == []
    KernelRidge(found.kernel, 0.1, intercept=True).fit(table, y)


@pytest.mark.parametrize("name", BOTH)
def test_a_kernel_that_is_constant_gets_nothing(name):
    X, y = data(40)
    found = learn_weights([Constant(5.0), Gaussian(1.0), Constant(0.0)], X, y, criterion=name)
    np.testing.assert_array_equal(found.weights, [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(found.alignment[[0, 2]], 0.0)
    assert found.kernel.kernel == Gaussian(1.0)
    assert "Constant" not in repr(found.kernel)


@pytest.mark.parametrize("name", BOTH)
def test_equal_kernels_share_what_one_would_get(name):
    X, y = data(40)
    one = learn_weights([Gaussian(1.0), Linear()], X, y, criterion=name)
    two = learn_weights([Gaussian(1.0), Gaussian(1.0), Linear()], X, y, criterion=name)
    np.testing.assert_allclose(two.value, one.value, rtol=1e-4)
    np.testing.assert_allclose(two.weights[:2].sum(), one.weights[0], atol=0.01)


def test_without_normalization_weights_are_the_factors():
    X, y = data(40)
    found = learn_weights([1e3 * Gaussian(1.0), Linear()], X, y, normalize=False)
    raw = found.weights
    assert found.kernel.left.factor == raw[0] and found.kernel.right.factor == raw[1]
    same = learn_weights([1e3 * Gaussian(1.0), Linear()], X, y)
    np.testing.assert_allclose(same.value, found.value, rtol=1e-9)
    np.testing.assert_allclose(raw.sum(), 1.0)
    ratio = same.kernel.left.factor / same.kernel.right.factor
    np.testing.assert_allclose(raw[0] / raw[1], ratio, rtol=1e-9)


def test_words_can_have_weights():
    words = ["cat", "hat", "dog", "horse", "a", "banana", "ananas", "seal"]
    shared = from_function(lambda a, b: float(len(set(a) & set(b))))
    sizes = from_function(lambda a, b: float(len(a) * len(b)))
    found = learn_weights([shared, sizes], words, [float(len(w)) for w in words])
    assert found.weights[1] > 0.9


def test_the_result_can_be_read():
    X, y = data(40)
    text = str(learn_weights(PARTS, X, y, criterion="leave-one-out"))
    assert "leave-one-out 0.0" in text and "penalty" in text and "Linear().on(1)" in text


@pytest.mark.parametrize(
    ("kernels", "options", "message"),
    [
        ([], {}, "kernels is empty"),
        (Gaussian(1.0), {}, "must be a list of kernels"),
        ("gaussian", {}, "must be a list of kernels"),
        ([Gaussian(1.0), 3.0], {}, "kernel must be a kernel or its name"),
        ([Gaussian], {}, r"write Gaussian\(\)"),
        (PARTS, {"criterion": "aligned"}, "did you mean 'alignment'"),
        (PARTS, {"penalty": -1.0, "criterion": "leave-one-out"}, "penalty must be"),
        (PARTS, {"classify": "yes"}, "classify must be"),
        ([Constant(1.0)], {}, "all weights are zero"),
        (PARTS, {"sample_weight": [1.0]}, "sample_weight has 1 entries"),
        (["linear"], {"penalty": 0.0, "criterion": "leave-one-out"}, "use a larger"),
    ],
)
def test_bad_input_has_a_named_error(kernels, options, message):
    X, y = data(20)
    with pytest.raises(MercerError, match=message):
        learn_weights(kernels, X, y, **options)


def test_targets_that_say_nothing_are_refused():
    X, _ = data(20)
    with pytest.raises(SelectionError, match="y is constant"):
        learn_weights(PARTS, X, np.ones(20))
    with pytest.raises(MercerError, match="inconsistent numbers of samples"):
        learn_weights(PARTS, X, np.ones(19))


def test_kernels_of_different_things_are_refused():
    with pytest.raises(ValidityError, match="compare different things"):
        learn_weights([Gaussian(1.0), precomputed()], np.eye(3), np.arange(3.0))


def test_too_many_matrices_are_refused_before_they_are_made(free_memory):
    X, y = data(20)
    free_memory(100)
    with pytest.raises(PlanError, match="Gram matrices of 3 kernels"):
        learn_weights(PARTS, X, y)


# ---- several minima, and sizes of targets -----------------------------------------------------


def cubic(n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] ** 3 + X[:, 1] + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("seed", [3, 4, 11])
def test_no_kernel_alone_is_better_than_all(seed):
    """From where all have a share the way to one alone may lead over a hill."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] * X[:, 1] + (X[:, 2] > 0) + 0.2 * rng.normal(size=50)
    kernels = [Gaussian(width) for width in (0.3, 1.0, 3.0, 10.0, 30.0)]
    found = learn_weights(kernels, X, y, criterion="leave-one-out")
    alone = [learn_weights([k], X, y, criterion="leave-one-out").value for k in kernels]
    assert found.value <= min(alone) * (1 + 1e-4)


@pytest.mark.parametrize("criterion", ["alignment", "leave-one-out"])
@pytest.mark.parametrize("unit", [1e-150, 1e-80, 1e80, 1e150])
def test_units_of_the_target(criterion, unit):
    X, y = cubic(30)
    kernels = [Gaussian(1.0).on(0), Gaussian(1.0).on(1)]
    found, same = (learn_weights(kernels, X, size * y, criterion=criterion) for size in (unit, 1))
    np.testing.assert_allclose(found.weights, same.weights, rtol=1e-3)
    power = 0 if criterion == "alignment" else 2
    np.testing.assert_allclose(found.value, same.value * float(unit) ** power, rtol=1e-6)


def test_alignment_knows_no_penalty():
    with pytest.raises(SelectionError, match="alignment knows no penalty"):
        learn_weights([Gaussian(1.0)], *cubic(20), penalty=0.1)
