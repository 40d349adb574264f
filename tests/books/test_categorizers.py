"""The categorizers of the seeds, equation by equation.

Numbers in the names of tests are those of Jäkel, Schölkopf & Wichmann (2007), A tutorial on kernel
methods for categorization. The perceptron's theorem and Minsky and Papert's examples are those of
the lecture "Perceptrons and Support Vector Machines".
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelRidgeClassifier
from mercer.errors import ConvergenceWarning
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.machines.exemplar import ExemplarClassifier
from mercer.machines.perceptron import Perceptron
from mercer.machines.prototype import PrototypeClassifier
from mercer.rkhs import mean_embedding

ROUNDING = {"rtol": 1e-10, "atol": 1e-12}


def two_classes(n=40, d=2, seed=0, balanced=True):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 2 if balanced else np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, d)) + 1.5 * y[:, None], y


def new_items(n=300, d=2, seed=1):
    return np.random.default_rng(seed).normal(scale=3.0, size=(n, d))


# ---- 1. prototypes ------------------------------------------------------------------------------


def test_5_the_prototype_classifier_answers_with_the_nearer_mean():
    X, y = two_classes()
    machine = PrototypeClassifier().fit(X, y)
    a, b, new = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0), new_items()
    nearer = np.sum((new - b) ** 2, axis=1) > np.sum((new - a) ** 2, axis=1)
    np.testing.assert_array_equal(machine.predict(new), nearer.astype(int))


def test_5_the_weight_vector_is_the_difference_of_the_means():
    X, y = two_classes()
    machine = PrototypeClassifier().fit(X, y)
    a, b = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0)
    np.testing.assert_allclose(machine.coef_, a - b, **ROUNDING)
    assert machine.threshold_ == pytest.approx((a @ a - b @ b) / 2)


def test_5_the_threshold_is_a_bias_that_might_be_chosen_differently():
    X, y = two_classes()
    a, b, new = X[y == 1].mean(axis=0), X[y == 0].mean(axis=0), new_items()
    for theta in (-1.0, 0.0, 2.5):
        found = PrototypeClassifier(threshold=theta).fit(X, y).predict(new)
        np.testing.assert_array_equal(found, (new @ (a - b) > theta).astype(int))


@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(1.0), Laplacian(2.0)])
def test_11_the_prototype_classifier_in_a_linearization_space(kernel):
    X, y = two_classes()
    new, theta = new_items(), 0.05
    machine = PrototypeClassifier(kernel, threshold=theta).fit(X, y)
    A, B = X[y == 1], X[y == 0]
    scores = [
        np.mean([kernel.pair(a, x) for a in A]) - np.mean([kernel.pair(b, x) for b in B]) - theta
        for x in new[:50]
    ]
    np.testing.assert_allclose(machine.decision_function(new[:50]), scores, **ROUNDING)
    difference = mean_embedding(kernel, A) - mean_embedding(kernel, B)
    assert machine.function_.distance(difference) == pytest.approx(0.0, abs=1e-6)


def test_11_the_monomials_of_9_give_the_same_prototypes_without_being_computed():
    X, y = two_classes()
    new = new_items()

    def phi(Z):
        return np.column_stack([Z[:, 0] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])

    kernel = PrototypeClassifier(1.0 * Polynomial(2)).fit(X, y)
    plain = PrototypeClassifier().fit(phi(X), y)
    np.testing.assert_allclose(
        kernel.decision_function(new), plain.decision_function(phi(new)), rtol=1e-9, atol=1e-9
    )


def test_fig_2_the_inverse_covariance_is_the_right_idea_of_orthogonality():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    spread = np.linalg.cholesky([[1.0, 0.95], [0.95, 1.0]])
    X = rng.normal(size=(200, 2)) @ spread.T + np.outer(y, [1.6, 0.0])
    plain = PrototypeClassifier().fit(X, y)
    metric = PrototypeClassifier(metric="covariance").fit(X, y)
    assert plain.score(X, y) < 0.85 < 0.98 < metric.score(X, y)
    # It is the standard inner product of the rotated and rescaled space on the right.
    rest = X - np.array([X[y == c].mean(axis=0) for c in range(2)])[y]
    values, vectors = np.linalg.eigh(rest.T @ rest / len(X))
    turned = X @ (vectors / np.sqrt(values))
    same = PrototypeClassifier().fit(turned, y)
    np.testing.assert_allclose(
        metric.decision_function(X), same.decision_function(turned), rtol=1e-8, atol=1e-8
    )


# ---- 2. exemplars -------------------------------------------------------------------------------


@pytest.mark.parametrize("balanced", [True, False])
def test_21_the_exemplar_model_compares_mean_similarities(balanced):
    X, y = two_classes(balanced=balanced)
    k, new = Gaussian(1.0), new_items()
    machine = ExemplarClassifier(k).fit(X, y)
    A, B = k(new, X[y == 1]).mean(axis=1), k(new, X[y == 0]).mean(axis=1)
    np.testing.assert_array_equal(machine.predict(new), (A > B).astype(int))
    np.testing.assert_allclose(machine.predict_proba(new)[:, 1], A / (A + B), rtol=1e-9)
    np.testing.assert_allclose(2 * machine.function_(new), A - B, **ROUNDING)


@pytest.mark.parametrize("balanced", [True, False])
def test_21_the_kernel_prototype_without_a_bias_is_the_exemplar_model(balanced):
    X, y = two_classes(balanced=balanced)
    new = new_items()
    prototype = PrototypeClassifier(Gaussian(1.0), threshold=0.0).fit(X, y)
    exemplar = ExemplarClassifier(Gaussian(1.0)).fit(X, y)
    np.testing.assert_array_equal(prototype.predict(new), exemplar.predict(new))
    np.testing.assert_allclose(
        prototype.decision_function(new), 2 * exemplar.function_(new), **ROUNDING
    )


def test_21_ridge_with_a_large_penalty_has_the_boundary_of_the_exemplar_model():
    X, y = two_classes()
    new = new_items()
    exemplar = ExemplarClassifier(Gaussian(1.0)).fit(X, y)
    gaps = []
    for penalty in (1e2, 1e4, 1e6):
        ridge = KernelRidgeClassifier(Gaussian(1.0), penalty=penalty).fit(X, y)
        # w = (K + λI)⁻¹y tends to y/λ, the weights ±1/|A| of (21) up to a factor.
        f = ridge.function_ * (penalty / len(X))
        gaps.append(f.distance(exemplar.function_) / exemplar.function_.norm())
    assert gaps[0] > 50 * gaps[1] > 2500 * gaps[2] > 0
    np.testing.assert_array_equal(ridge.predict(new), exemplar.predict(new))


# ---- 3. perceptrons -----------------------------------------------------------------------------


def separable(seed, n=30, d=3, gap=0.05):
    """Return items and labels, and a vector (w₀, w) that separates them."""
    rng = np.random.default_rng(seed)
    a, X = rng.normal(size=d + 1), rng.normal(size=(20 * n, d)) * rng.uniform(0.2, 5.0)
    scores = X @ a[1:] + a[0]
    keep = np.flatnonzero(np.abs(scores) > gap)[:n]
    return X[keep], (scores[keep] > 0).astype(int), a


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    gap=st.floats(0.05, 1.0),
    margin=st.sampled_from([0.0, 0.5]),
    rate=st.sampled_from([1.0, 0.25]),
    rule=st.sampled_from(["single", "batch"]),
)
def test_the_convergence_theorem_bounds_the_number_of_updates(seed, gap, margin, rate, rule):
    X, y, a = separable(seed, gap=gap)
    if len(np.unique(y)) < 2:
        return
    machine = Perceptron(
        rule=rule, margin=margin, learning_rate=rate, threshold=0.0, max_epochs=10**6
    ).fit(X, y)
    assert machine.converged_
    assert machine.n_updates_ <= machine.bound(a)
    assert machine.n_updates_ <= machine.bound(machine.function_, machine.intercept_)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_the_convergence_theorem_holds_in_a_kernels_space(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 2)), np.arange(25) % 2
    machine = Perceptron(Gaussian(0.5), max_epochs=10**5).fit(X, y)  # always separable (24)
    assert machine.converged_
    assert machine.n_updates_ <= machine.bound(machine.function_, machine.intercept_)


def test_examples_orthogonal_to_the_solution_are_difficult_to_learn():
    a, y = np.array([0.0, 1.0, 0.0]), np.arange(40) % 2
    along = np.random.default_rng(0).normal(size=40)
    near, far = (Perceptron().fit(np.column_stack([g * (2 * y - 1), along]), y) for g in (0.1, 1))
    assert near.bound(a) > 50 * far.bound(a)
    assert near.n_updates_ > far.n_updates_


TABLES = {
    "XOR": ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
    "connectivity": ([[1, 1], [0, 1], [1, 0], [0, 0]], [0, 1, 1, 0]),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rule", ["single", "batch"])
def test_a_linear_perceptron_cannot_decide_connectivity(table, rule):
    X, y = TABLES[table]
    with pytest.warns(ConvergenceWarning, match="may not be separable by a hyperplane"):
        machine = Perceptron(rule=rule).fit(X, y)
    assert not machine.converged_
    assert machine.score(X, y) < 1.0


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("rule", ["single", "batch"])
def test_a_quadratic_perceptron_decides_connectivity(table, rule):
    X, y = TABLES[table]
    machine = Perceptron(Polynomial(2, offset=1.0), rule=rule).fit(X, y)
    assert machine.converged_
    assert machine.score(X, y) == 1.0


def test_the_quadratic_map_and_its_kernel_learn_the_same_function():
    """y = (1, x, x²) splits the line into parts that are not connected."""
    X = np.array([[-3.0], [-2.0], [-0.5], [0.0], [0.5], [2.0], [3.0]])
    y = (np.abs(X[:, 0]) < 1).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert not Perceptron(max_epochs=200).fit(X, y).converged_
    mapped = Perceptron().fit(np.column_stack([X, X**2]), y)
    kernel = Perceptron(Linear() + Polynomial(2)).fit(X, y)
    assert mapped.converged_
    np.testing.assert_array_equal(kernel.dual_coef_, mapped.dual_coef_)


def test_22_the_kernel_perceptron_is_an_inner_product_in_its_space():
    X, y = two_classes()
    machine = Perceptron(Gaussian(0.5)).fit(X, y)
    new = new_items(20)
    expected = [
        sum(w * Gaussian(0.5).pair(x, z) for w, z in zip(machine.dual_coef_, X, strict=True))
        for x in new
    ]
    np.testing.assert_allclose(machine.function_(new), expected, **ROUNDING)


def test_23_the_kernel_perceptron_lies_in_the_span_of_the_exemplars():
    X, y = two_classes()
    machine = Perceptron(Gaussian(0.5)).fit(X, y)
    f = machine.function_
    assert f.distance(f.project(X)) < 1e-6 * f.norm()
    used = X[machine.dual_coef_ != 0]
    assert len(used) < len(X)  # only exemplars that were once mistaken
    assert f.distance(f.project(used)) < 1e-6 * f.norm()
    # The coefficients are the signs times the number of corrections.
    np.testing.assert_array_equal(
        np.sign(machine.dual_coef_[machine.dual_coef_ != 0]),
        np.where(y, 1, -1)[machine.dual_coef_ != 0],
    )
    assert np.abs(machine.dual_coef_).sum() == machine.n_updates_
