"""Radial basis function networks: interpolation, centers, normalized functions, refusals."""

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.errors import DomainError, PlanError, SolveError, ValidityError
from mercer.kernels import Gaussian, Linear, Sigmoid, from_function
from mercer.machines.network import RBFNetwork, RBFNetworkClassifier
from mercer.plans import Plan
from mercer.rkhs import Function
from mercer.solvers.forward_selection import forward_selection
from mercer.solvers.ridge.least_squares import LeastSquares

RULES = ["all", "random", "kmeans", "ols"]


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


def labels(y, classes=3):
    return np.array(["low", "middle", "up"])[np.digitize(y, np.linspace(-0.5, 0.5, classes - 1))]


def test_exact_interpolation_goes_through_all_data():
    """(6.38) of Bishop; (24) of the tutorial, w = K⁻¹y."""
    X, y = data()
    k = Gaussian(0.7)
    machine = RBFNetwork(k, penalty=0.0).fit(X, y)
    np.testing.assert_allclose(machine.predict(X), y, atol=1e-8)
    np.testing.assert_allclose(machine.weights_, np.linalg.solve(k(X), y), rtol=1e-6)
    ridge = KernelRidge(k, penalty=0.0).fit(X, y)
    np.testing.assert_allclose(machine.weights_, ridge.dual_coef_, rtol=1e-9)
    assert machine.solution_.certificate < 1e-10


def test_interpolation_of_several_targets_and_of_labels():
    X, y = data()
    Y = np.column_stack([y, y**2])
    np.testing.assert_allclose(
        RBFNetwork(Gaussian(0.7), penalty=0.0).fit(X, Y).predict(X), Y, atol=1e-8
    )
    for classes in (2, 3):
        z = labels(y, classes)
        machine = RBFNetworkClassifier(Gaussian(0.7), penalty=0.0).fit(X, z)
        np.testing.assert_array_equal(machine.predict(X), z)
        np.testing.assert_allclose(np.abs(machine.decision_function(X)), 1.0, atol=1e-8)


def test_what_cannot_be_interpolated_is_refused():
    X, y = data()
    twice = np.concatenate([X, X[:1]])
    with pytest.raises(SolveError, match=r"two items\s+may be equal|singular"):
        RBFNetwork(Gaussian(0.7), penalty=0.0).fit(twice, np.append(y, 9.0))
    with pytest.raises(SolveError, match="singular"):
        RBFNetwork(Linear(), penalty=0.0).fit(X, y)
    with pytest.raises(SolveError, match="use fewer centers"):
        RBFNetwork(Gaussian(0.7), twice, penalty=0.0).fit(X, y)
    with pytest.raises(SolveError, match="use fewer centers"):
        RBFNetwork(Gaussian(0.7), normalized=True, penalty=0.0).fit(twice, np.append(y, 9.0))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("rule", [*RULES, "given"])
def test_weights_minimize_the_penalized_error(rule, penalty, normalized):
    X, y = data()
    k = Gaussian(0.7)
    machine = RBFNetwork(
        k, X[:6] if rule == "given" else rule, 6 if rule != "all" else None,
        normalized=normalized, penalty=penalty, random_state=0,
    ).fit(X, y)  # fmt: skip
    Phi = k(X, machine.centers_)
    Phi = Phi / Phi.sum(axis=1, keepdims=True) if normalized else Phi
    table = np.concatenate([Phi, np.sqrt(penalty) * np.eye(Phi.shape[1])])
    right = np.concatenate([y, np.zeros(Phi.shape[1])])
    expected = np.linalg.lstsq(table, right, rcond=None)[0]
    np.testing.assert_allclose(Phi @ machine.weights_, Phi @ expected, atol=1e-7)
    np.testing.assert_allclose(machine.predict(X), Phi @ expected, atol=1e-7)
    assert machine.solution_.certificate < 1e-8


def test_what_was_learned_is_a_function_unless_it_is_normalized():
    X, y = data()
    plain = RBFNetwork(Gaussian(0.7), "random", 5, random_state=0, penalty=0.0).fit(X, y)
    assert isinstance(plain.function_, Function) and len(plain.function_) == 5
    np.testing.assert_array_equal(plain.function_(X) + plain.intercept_, plain.predict(X))
    other = RBFNetwork(
        Gaussian(0.7), "random", 5, normalized=True, random_state=0, penalty=0.0
    ).fit(X, y)
    assert other.function_ is None and other.intercept_ is None


def test_normalized_functions_reproduce_a_constant_everywhere():
    X, _ = data()
    machine = RBFNetwork(Gaussian(1.0), "kmeans", 5, normalized=True, random_state=0, penalty=0.0)
    machine.fit(X, np.full(40, 7.0))
    new = np.random.default_rng(1).uniform(-6, 6, size=(20, 2))
    np.testing.assert_allclose(machine.predict(new), 7.0, rtol=1e-8)


def test_where_no_center_is_near_normalized_functions_are_not_defined():
    X, y = data()
    machine = RBFNetwork(
        Gaussian(0.5), "random", 5, normalized=True, random_state=0, penalty=0.0
    ).fit(X, y)
    with pytest.raises(DomainError, match="item 1 to all centers sum to 0"):
        machine.predict([[0.0, 0.0], [1e3, 0.0]])


def test_centers_are_chosen_by_the_rules():
    X, y = data()
    made = {
        rule: RBFNetwork(Gaussian(0.7), rule, 7, penalty=1e-6, random_state=0).fit(X, y)
        for rule in RULES
    }
    assert len(made["all"].centers_) == 40
    for rule in ("random", "kmeans", "ols"):
        assert len(made[rule].centers_) == 7
    for rule in ("all", "random", "ols"):
        places = made[rule].center_indices_
        np.testing.assert_array_equal(made[rule].centers_.array, X[places])
        assert len(set(places.tolist())) == len(places)
    assert made["kmeans"].center_indices_ is None
    assert len(RBFNetwork(centers="random", penalty=1.0).fit(X, y).centers_) == 7  # √40


def test_k_means_centers_are_scikit_learns():
    from sklearn.cluster import KMeans

    X, y = data()
    ours = RBFNetwork(Gaussian(0.7), "kmeans", 5, penalty=0.1, random_state=3).fit(X, y)
    theirs = KMeans(5, n_init=4, random_state=3).fit(X).cluster_centers_
    np.testing.assert_allclose(ours.centers_.array, theirs)


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_gives_the_same_network(rule):
    X, y = data()
    one, other = (
        RBFNetwork(Gaussian(0.7), rule, 5, penalty=0.1, random_state=2).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def greedy(P, Y, count):
    """Return the columns that reduce the error of least squares most, one after the other."""
    chosen = []
    for _ in range(count):
        errors = []
        for j in range(P.shape[1]):
            tried = P[:, [*chosen, j]]
            rest = Y - tried @ np.linalg.lstsq(tried, Y, rcond=None)[0]
            errors.append(np.inf if j in chosen else np.sum(rest**2))
        chosen.append(int(np.argmin(errors)))
    return chosen


@pytest.mark.parametrize("targets", [None, 3])
def test_orthogonal_least_squares_takes_what_reduces_the_error_most(targets):
    rng = np.random.default_rng(0)
    P = rng.normal(size=(30, 20)) @ rng.normal(size=(20, 20))
    Y = rng.normal(size=30 if targets is None else (30, targets))
    chosen, shares = forward_selection(P, Y, 8)
    assert chosen.tolist() == greedy(P, Y, 8)
    fitted = P[:, chosen] @ np.linalg.lstsq(P[:, chosen], Y, rcond=None)[0]
    assert shares.sum() == pytest.approx(np.sum(fitted**2) / np.sum(Y**2))


def test_orthogonal_least_squares_ends_when_nothing_is_left_to_explain():
    P = np.eye(6)[:, :4]
    chosen, _ = forward_selection(P, np.array([0.0, 2.0, 1.0, 0.0, 0.0, 5.0]), 4)
    assert chosen.tolist() == [1, 2]
    twice = np.column_stack([P, P])
    chosen, _ = forward_selection(twice, np.arange(6.0), 8)
    assert sorted(chosen.tolist()) == [1, 2, 3]


def test_networks_by_orthogonal_least_squares_need_fewer_centers_than_random_ones():
    X, y = data(150)
    errors = {
        rule: np.abs(
            RBFNetwork(Gaussian(1.0), rule, 12, random_state=0, penalty=0.0).fit(X, y).predict(X)
            - y
        )
        for rule in ("random", "ols")
    }
    assert errors["ols"].mean() < 0.5 * errors["random"].mean()


def test_python_objects_are_compared_by_a_function():
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    words = ["cat", "hat", "bat", "dig", "big", "pig"]
    for centers in ("all", "ols", "random", ["mat", "fig"]):
        machine = RBFNetworkClassifier(kernel, centers, penalty=0.1, random_state=0)
        machine.fit(words, ["a"] * 3 + ["i"] * 3)
        assert machine.predict(["rat", "wig"]).tolist() == ["a", "i"]
    with pytest.raises(DomainError, match="which only vectors have"):
        RBFNetworkClassifier(kernel, "kmeans", 2).fit(words, ["a"] * 3 + ["i"] * 3)


def test_a_similarity_that_is_no_valid_kernel_may_be_a_basis_function():
    X, y = data()
    machine = RBFNetwork(Sigmoid(0.5, 0.1), "random", 6, random_state=0, penalty=0.0).fit(X, y)
    assert np.isfinite(machine.predict(X)).all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"centers": "kmean"}, ValidityError, "did you mean 'kmeans'"),
        ({"centers": "random", "n_centers": 41}, DomainError, "only 40 items"),
        ({"centers": "random", "n_centers": 0}, ValidityError, "n_centers"),
        ({"centers": np.ones((2, 5))}, DomainError, "columns"),
        ({"centers": [[np.nan, 0.0]]}, DomainError, "centers"),
        ({"penalty": -1.0}, ValidityError, "penalty"),
        ({"follow": Plan(memory=10_000)}, PlanError, "items would fit"),
        ({"follow": Plan(route="primal")}, ValidityError, "no primal route"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    X, y = data()
    machine = RBFNetwork(Gaussian(0.7), penalty=0.0).set_params(**changes)
    with pytest.raises(error, match=message):
        machine.fit(X, y)
    assert not [name for name in vars(machine) if name.endswith("_")]


def test_too_few_different_items_are_refused():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0.0, 1.0], 10)
    with pytest.raises(DomainError, match="fewer different items than the 3 centers"):
        RBFNetwork(Gaussian(1.0), "kmeans", 3, penalty=0.0).fit(X, y)
    with pytest.raises(DomainError, match="is y zero everywhere"):
        RBFNetwork(Gaussian(1.0), "ols", 1, penalty=0.0).fit(X, 0 * y)


def test_one_class_only_is_refused():
    with pytest.raises(DomainError, match="only 1 class"):
        RBFNetworkClassifier().fit([[0.0], [1.0]], ["a", "a"])


def test_least_squares_is_that_of_numpy_and_certified():
    rng = np.random.default_rng(0)
    Phi, Y = rng.normal(size=(30, 6)), rng.normal(size=(30, 2))
    found = LeastSquares().solve(Phi, Y, 0.0)
    np.testing.assert_allclose(found.coefficients, np.linalg.lstsq(Phi, Y, rcond=None)[0])
    assert found.certificate < 1e-13
    ridge = LeastSquares().solve(Phi, Y[:, 0], 2.0).coefficients
    expected = np.linalg.solve(Phi.T @ Phi + 2.0 * np.eye(6), Phi.T @ Y[:, 0])
    np.testing.assert_allclose(ridge, expected)
    assert LeastSquares().solve(Phi[:4], Y[:4], 0.0).status == "singular"
    assert LeastSquares().solve(Phi[:4], Y[:4], 1.0).status == "solved"
