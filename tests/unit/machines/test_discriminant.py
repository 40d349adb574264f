"""Kernel discriminants maximize Fisher's criterion, by way of least squares."""

import numpy as np
import pytest
from scipy.linalg import eigh

from mercer.errors import DomainError, PlanError, SolveError, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid, from_function
from mercer.machines.discriminant import KernelDiscriminant, discriminants
from mercer.plans import Plan
from mercer.rkhs import Function


def data(n=60, classes=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(0, classes, n))
    codes[:classes] = np.arange(classes)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(classes, d))[codes]
    return X, codes


def scatters(Phi, codes, weights):
    """Return S_B and S_W of rows of features, summed over items."""
    mean = weights @ Phi / weights.sum()
    between = within = 0.0
    for c in np.unique(codes):
        w, rows = weights[codes == c], Phi[codes == c]
        own = w @ rows / w.sum()
        between = between + w.sum() * np.outer(own - mean, own - mean)
        within = within + ((rows - own) * w[:, None]).T @ (rows - own)
    return between, within


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_discriminants_solve_fishers_eigenvalue_problem(classes, penalty, weighted):
    X, codes = data(classes=classes)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    k = Polynomial(2, offset=1.0)
    Phi = k.features(X)
    between, within = scatters(Phi, codes, weights)
    values, W = eigh(between, within + penalty * np.eye(Phi.shape[1]))
    values, W = values[::-1][: classes - 1], W[:, ::-1][:, : classes - 1]
    machine = KernelDiscriminant(k, penalty).fit(X, codes, weights if weighted else None)
    np.testing.assert_allclose(machine.criterion_, values, rtol=1e-6)
    expected = (Phi - weights @ Phi / weights.sum()) @ W * np.sqrt(weights.sum())
    found = machine.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-5)
    np.testing.assert_allclose(machine.explained_variance_ratio_, values / values.sum(), rtol=1e-6)


def test_class_means_are_where_the_machine_says():
    X, codes = data()
    machine = KernelDiscriminant(Gaussian(2.0), 0.1).fit(X, codes)
    Z = machine.transform(X)
    for c in range(3):
        np.testing.assert_allclose(Z[codes == c].mean(axis=0), machine.means_[c], atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_distances_to_the_means_and_frequencies(classes):
    X, codes = data(classes=classes)
    machine = KernelDiscriminant(Gaussian(2.0), 0.1).fit(X, codes)
    Z = machine.transform(X)
    squares = ((Z[:, None, :] - machine.means_) ** 2).sum(axis=2)
    expected = np.log(machine.priors_) - squares / 2
    scores = machine.decision_function(X)
    if classes == 2:
        np.testing.assert_allclose(scores, expected[:, 1] - expected[:, 0], atol=1e-9)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1], atol=1e-9)
    p = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(machine.predict_proba(X), p, atol=1e-9)
    np.testing.assert_array_equal(machine.predict(X), p.argmax(axis=1))


def test_two_classes_give_the_direction_of_ridge_regression_on_labels():
    """Fisher's discriminant is least squares on labels (Bishop, 4.1.5)."""
    from mercer import KernelRidge

    X, codes = data(classes=2)
    ours = KernelDiscriminant(Gaussian(2.0), 0.1).fit(X, codes)
    ridge = KernelRidge(Gaussian(2.0), 0.1, intercept=True).fit(X, codes)
    a, b = ours.function_.coefficients, ridge.dual_coef_
    assert abs(a @ b) == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b), rel=1e-10)
    assert ours.solution_.certificate < 1e-10


def test_primal_and_dual_are_the_same():
    X, codes = data()
    one, other = (
        KernelDiscriminant("linear", 0.5, follow=Plan(route=route)).fit(X, codes)
        for route in ("primal", "dual")
    )
    assert one.coef_ is not None and other.coef_ is None
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-8)


def test_functions_of_the_kernels_space_are_kept():
    X, codes = data()
    machine = KernelDiscriminant(Gaussian(2.0), n_components=1).fit(X, codes)
    assert isinstance(machine.function_, Function)
    assert isinstance(machine.discriminants_, Function)
    found = machine.discriminants_(X) + machine.offset_
    np.testing.assert_allclose(machine.transform(X), found, atol=1e-12)
    assert machine.transform(X).shape == (60, 1)
    assert machine.get_feature_names_out().tolist() == ["kerneldiscriminant0"]


def test_the_number_of_components_does_not_change_predictions():
    X, codes = data(classes=4)
    all_ = KernelDiscriminant(Gaussian(2.0)).fit(X, codes)
    one = KernelDiscriminant(Gaussian(2.0), n_components=1).fit(X, codes)
    np.testing.assert_array_equal(all_.decision_function(X), one.decision_function(X))
    np.testing.assert_allclose(all_.transform(X)[:, :1], one.transform(X), atol=1e-12)


def test_fewer_dimensions_than_classes_have_fewer_discriminants():
    X, codes = data(classes=4, d=1)
    machine = KernelDiscriminant(Linear()).fit(X, codes)
    assert machine.transform(X).shape == (60, 1)
    with pytest.raises(ValidityError, match="only 1 discriminants; use n_components=1"):
        KernelDiscriminant(Linear(), n_components=2).fit(X, codes)


def test_python_objects_are_compared_by_a_function():
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    words = ["cat", "hat", "bat", "dig", "big", "pig", "dot", "hot", "pot"]
    machine = KernelDiscriminant(kernel, 0.1).fit(words, list("aaaiiiooo"))
    assert machine.predict(["rat", "wig", "lot"]).tolist() == ["a", "i", "o"]
    assert machine.transform(words).shape == (9, 2)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"penalty": 0.0}, ValidityError, "penalty of KernelDiscriminant must be"),
        ({"penalty": -1.0}, ValidityError, "penalty"),
        ({"n_components": 3}, ValidityError, "only 2 discriminants"),
        ({"n_components": 0}, ValidityError, "n_components"),
        ({"kernel": Sigmoid(1.0, -1.0)}, ValidityError, "KernelDiscriminant needs a positive"),
        ({"follow": Plan(memory=10_000)}, PlanError, "items would fit"),
        ({"penalty": 1e14}, SolveError, "smaller penalty"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    X, codes = data()
    machine = KernelDiscriminant(Gaussian(1.0)).set_params(**changes)
    with pytest.raises(error, match=message):
        machine.fit(X, codes)
    assert not [name for name in vars(machine) if name.endswith("_")]


def test_bad_labels_and_weights_are_refused():
    X, codes = data()
    with pytest.raises(DomainError, match="only 1 class"):
        KernelDiscriminant().fit(X, np.zeros(60))
    with pytest.raises(DomainError, match="all sample weights are zero"):
        KernelDiscriminant().fit(X, codes, np.zeros(60))
    with pytest.raises(DomainError, match="have weight zero"):
        KernelDiscriminant().fit(X, codes, (codes != 1).astype(float))


def test_classes_without_width_are_refused():
    with pytest.raises(SolveError, match="larger penalty"):
        discriminants(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, 2.0]), 1e-17)


def test_the_plan_is_that_of_a_ridge_regression():
    X, codes = data()
    machine = KernelDiscriminant("linear")
    assert machine.plan(X, classes=3).route == machine.fit(X, codes).plan_.route == "primal"
