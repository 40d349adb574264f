"""The perceptron: its rules against the lecture's pseudocode, in the primal and in the dual."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from mercer.errors import ConvergenceWarning, DomainError, PlanError, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid
from mercer.machines.perceptron import Perceptron
from mercer.rkhs import Function

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LABELS = np.array([0, 1, 1, 0])


def separable(n=40, d=3, seed=0, gap=0.3):
    """Return items and labels with a solution vector (w₀, w)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=d + 1)
    X = rng.normal(size=(4 * n, d))
    scores = X @ a[1:] + a[0]
    keep = np.abs(scores) > gap
    return X[keep][:n], (scores[keep][:n] > 0).astype(int), a


def overlapping(n=60, d=3, classes=3, seed=0):
    """Return whole numbers that no hyperplane separates; sums of them are exact."""
    rng = np.random.default_rng(seed)
    return rng.integers(-5, 6, size=(n, d)).astype(float), np.arange(n) % classes


def textbook_single(X, z, margin=0.0, eta=1.0, epochs=1000):
    """Fixed-increment single-sample perceptron, as on the slide, with all vectors on the way."""
    Y = np.column_stack([np.ones(len(X)), X]) * z[:, None]
    a, updates, way = np.zeros(Y.shape[1]), 0, []
    for _ in range(epochs):
        before = updates
        for y in Y:
            if a @ y <= margin:
                a = a + eta * y
                updates += 1
            way.append(a)
        if updates == before:
            break
    return a, updates, np.mean(way, axis=0)


def textbook_batch(X, z, eta, theta, margin=0.0, epochs=1000):
    """Batch perceptron, as on the slide: repeat … until |η(k)Σy| < θ."""
    Y = np.column_stack([np.ones(len(X)), X]) * z[:, None]
    a, k, way = np.zeros(Y.shape[1]), 0, []
    while k < epochs:
        a = a + eta(k) * Y[margin >= Y @ a].sum(axis=0)
        way.append(a)
        k += 1
        wrong = Y[margin >= Y @ a]
        if len(wrong) == 0 or np.linalg.norm(eta(k) * wrong.sum(axis=0)) < theta:
            break
    return a, k, np.mean(way, axis=0)


def vector(machine):
    return np.concatenate([[machine.intercept_], machine.coef_])


def quiet(machine, X, y):
    """Fit without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(X, y)


# ---- the rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("averaged", [False, True])
def test_the_single_rule_is_that_of_the_lecture(margin, averaged):
    for seed in range(5):
        X, y, _ = separable(seed=seed)
        machine = Perceptron(margin=margin, averaged=averaged).fit(X, y)
        a, updates, mean = textbook_single(X, 2 * y - 1, margin)
        np.testing.assert_allclose(vector(machine), mean if averaged else a, rtol=1e-10)
        assert machine.n_updates_ == updates
        assert machine.converged_


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("eta", [1.0, lambda k: 1.0 / (k + 1)])
def test_the_batch_rule_is_that_of_the_lecture(eta, averaged):
    for seed in range(5):
        X, y, _ = separable(seed=seed)
        machine = quiet(
            Perceptron(rule="batch", learning_rate=eta, threshold=0.05, averaged=averaged), X, y
        )
        schedule = eta if callable(eta) else lambda k: eta
        a, updates, mean = textbook_batch(X, 2 * y - 1, schedule, 0.05)
        np.testing.assert_allclose(vector(machine), mean if averaged else a, rtol=1e-9)
        assert machine.n_updates_ == updates


def test_errors_that_are_left_are_counted():
    X, y = overlapping(classes=2)
    machine = quiet(Perceptron(max_epochs=7), X, y)
    a, updates, _ = textbook_single(X, 2 * y - 1, epochs=7)
    wrong = np.sum((2 * y - 1) * (X @ a[1:] + a[0]) <= 0)
    assert machine.n_updates_ == updates
    assert machine.solution_.wrong.tolist() == [wrong]
    assert machine.solution_.certificate == wrong / len(X)
    assert sum(machine.solution_.history) == updates
    assert (machine.n_epochs_, machine.converged_) == (7, False)


@pytest.mark.parametrize("rule", ["single", "batch"])
@pytest.mark.parametrize("classes", [2, 3])
def test_primal_and_dual_walk_the_same_way(rule, classes):
    X, y = overlapping(classes=classes)
    shared = {"rule": rule, "max_epochs": 9, "margin": 1.0}
    primal = quiet(Perceptron("linear", **shared), X, y)
    dual = quiet(Perceptron(1.0 * Linear(), **shared), X, y)
    assert dual.coef_ is None
    np.testing.assert_array_equal(primal.n_updates_, dual.n_updates_)
    np.testing.assert_array_equal(primal.dual_coef_, dual.dual_coef_)
    np.testing.assert_array_equal(primal.intercept_, dual.intercept_)
    np.testing.assert_allclose(primal.decision_function(X), dual.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("rule", ["single", "batch"])
def test_sparse_rows_walk_the_same_way(rule):
    X, y = overlapping()
    dense = quiet(Perceptron(rule=rule, max_epochs=5), X, y)
    thin = quiet(Perceptron(rule=rule, max_epochs=5), sparse.csr_array(X), y)
    np.testing.assert_array_equal(thin.dual_coef_, dense.dual_coef_)
    np.testing.assert_array_equal(thin.coef_, dense.coef_)
    np.testing.assert_array_equal(
        thin.decision_function(sparse.csr_array(X)), X @ thin.coef_ + thin.intercept_
    )


def test_a_constant_rate_only_scales_the_vector():
    X, y, _ = separable()
    one, half = Perceptron().fit(X, y), Perceptron(learning_rate=0.5).fit(X, y)
    np.testing.assert_allclose(half.coef_, one.coef_ / 2)
    assert half.n_updates_ == one.n_updates_


def test_a_margin_keeps_every_item_at_a_distance():
    X, y, _ = separable()
    machine = Perceptron(margin=5.0).fit(X, y)
    assert ((2 * y - 1) * machine.decision_function(X)).min() > 5.0


def test_more_classes_are_learned_one_against_the_rest():
    X, y = overlapping()
    machine = quiet(Perceptron(max_epochs=4), X, y)
    for c in range(3):
        one = quiet(Perceptron(max_epochs=4), X, y == c)
        np.testing.assert_array_equal(machine.coef_[:, c], one.coef_)
        assert machine.n_updates_[c] == one.n_updates_
    scores = X @ machine.coef_ + machine.intercept_
    np.testing.assert_array_equal(machine.predict(X), scores.argmax(axis=1))


def test_shuffled_passes_depend_on_the_seed_alone():
    X, y = overlapping()
    settings = {"shuffle": True, "max_epochs": 3}
    first = quiet(Perceptron(random_state=1, **settings), X, y)
    again = quiet(Perceptron(random_state=1, **settings), X, y)
    other = quiet(Perceptron(random_state=2, **settings), X, y)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)


def test_the_function_is_the_decision_without_the_bias():
    X, y = overlapping()
    for kernel in ("linear", Gaussian(2.0)):
        machine = quiet(Perceptron(kernel, max_epochs=5), X, y)
        found = machine.function_(X) + machine.intercept_
        np.testing.assert_allclose(found, machine.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(machine.dual_coef_.sum(axis=0), machine.intercept_)


def test_the_averaged_vector_serves_data_that_cannot_be_separated():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + 2.0 * (y[:, None] - 0.5)
    last = quiet(Perceptron(max_epochs=20), X[:200], y[:200]).score(X[200:], y[200:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean = Perceptron(max_epochs=20, averaged=True).fit(X[:200], y[:200])
    assert not mean.converged_
    assert mean.score(X[200:], y[200:]) > max(last, 0.8)


# ---- what cannot be separated -------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["single", "batch"])
def test_xor_ends_with_a_warning_that_says_what_to_do(rule):
    with pytest.warns(ConvergenceWarning, match=r"4 of 4 items are still on the wrong") as caught:
        machine = Perceptron(rule=rule).fit(XOR, LABELS)
    message = str(caught[0].message)
    assert "Polynomial(2, offset=1.0)" in message
    assert "averaged=True" in message
    assert not machine.converged_
    assert machine.solution_.status == "stalled"
    assert caught[0].filename == __file__


@pytest.mark.parametrize("rule", ["single", "batch"])
def test_xor_is_learned_with_a_quadratic_kernel(rule):
    machine = Perceptron(Polynomial(2, offset=1.0), rule=rule).fit(XOR, LABELS)
    assert machine.converged_
    np.testing.assert_array_equal(machine.predict(XOR), LABELS)


def test_the_warning_names_the_classes_that_are_not_separated():
    X = np.array([[-3.0], [-2.0], [0.0], [1.0], [3.0], [4.0]])
    y = ["left", "left", "middle", "middle", "right", "right"]
    with pytest.warns(ConvergenceWarning, match=r"of 6 items, \d for 'middle' against the rest"):
        Perceptron(max_epochs=200).fit(X, y)


def test_a_step_shorter_than_the_threshold_ends_the_batch_rule():
    X, y = overlapping(classes=2)
    with pytest.warns(ConvergenceWarning, match=r"steps shorter than threshold=5\.0"):
        machine = Perceptron(
            rule="batch", learning_rate=lambda k: 1 / (1 + k) ** 2, threshold=5.0
        ).fit(X, y)
    assert machine.n_epochs_ < 1000


# ---- the bound ----------------------------------------------------------------------------------


def test_the_bound_is_the_formula():
    X, y, a = separable()
    machine = Perceptron().fit(X, y)
    Y = np.column_stack([np.ones(len(X)), X]) * (2 * y - 1)[:, None]
    expected = (Y**2).sum(axis=1).max() * (a @ a) / (Y @ a).min() ** 2
    assert machine.bound(a) == pytest.approx(expected)
    assert machine.bound(Function(Linear(), [a[1:]], [1.0]), a[0]) == pytest.approx(expected)


def test_the_bound_of_a_kernel_is_that_of_its_features():
    X, y, a = separable()
    primal = Perceptron().fit(X, y)
    dual = Perceptron(1.0 * Linear()).fit(X, y)
    function = Function(1.0 * Linear(), [a[1:]], [1.0])
    assert dual.bound(function, a[0]) == pytest.approx(primal.bound(a))
    assert dual.n_updates_ <= dual.bound(dual.function_, dual.intercept_)


def test_there_is_a_bound_for_each_class():
    X, y = np.array([[0.0, 4.0], [4.0, 0.0], [-4.0, -4.0]]), [0, 1, 2]
    machine = Perceptron().fit(X, y)
    bounds = machine.bound(machine.function_, machine.intercept_)
    vectors = np.vstack([machine.intercept_, machine.coef_])
    np.testing.assert_allclose(machine.bound(vectors), bounds)
    assert (machine.n_updates_ <= bounds).all()


def test_the_bound_refuses_what_is_no_solution():
    X, y, a = separable()
    machine = Perceptron().fit(X, y)
    with pytest.raises(ValidityError, match="no solution vector: item"):
        machine.bound(-a)
    with pytest.raises(DomainError, match="has 4 entries"):
        machine.bound(a[:3])
    with pytest.raises(DomainError, match="one vector for each class"):
        machine.bound(np.column_stack([a, a]))
    with pytest.raises(ValidityError, match=r"walks in the space of Linear\(\)"):
        machine.bound(Function(Gaussian(1.0), X, 2.0 * y - 1))
    with pytest.raises(DomainError, match="pass a Function"):
        Perceptron(Gaussian(1.0)).fit(X, y).bound(a)
    with pytest.raises(ValidityError, match="fixed increment"):
        Perceptron(learning_rate=lambda k: 1.0).fit(X, y).bound(a)


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rule": "singel"}, "did you mean 'single'"),
        ({"margin": -1.0}, "margin must be a finite number, not negative"),
        ({"threshold": np.nan}, "threshold must be"),
        ({"max_epochs": 0}, "max_epochs .* whole number from 1 on"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"learning_rate": lambda k: 1.0 - k}, "it is 0 in pass 1"),
        ({"learning_rate": "fast"}, "learning_rate of pass 0 must be"),
        ({"kernel": Sigmoid(1.0, -1.0)}, "positive semi-definite"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(settings, words):
    with pytest.raises(ValidityError, match=words):
        Perceptron(**settings).fit(XOR, LABELS)


def test_numbers_too_large_to_square_are_refused():
    with pytest.raises(ValidityError, match=r"item 1 .* scale the data down"):
        Perceptron().fit([[1.0], [1e200], [2.0]], [0, 1, 1])


def test_a_gram_matrix_that_does_not_fit_is_refused_before_work_starts(free_memory):
    free_memory(1_000)
    X, y, _ = separable()
    with pytest.raises(PlanError, match=r"Gram matrix of 40 items needs .* but 1.0 kB"):
        Perceptron(Gaussian(1.0)).fit(X, y)
    assert Perceptron().fit(X, y).converged_


def test_numba_waits_until_a_perceptron_is_fitted():
    code = "import sys, mercer.machines.perceptron; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
