"""Gaussian processes: what is known, what is left open, and how likely the data are."""

import pickle
import tracemalloc

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from mercer import GaussianProcess, KernelRidge, Plan
from mercer.errors import DomainError, MercerError, PlanError, SolveError, ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    assume_psd,
    from_function,
    normalize,
    precomputed,
)
from mercer.machines import posterior


def data(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def spreads(machine, X):
    """Return standard deviations and the covariance matrix."""
    return machine.predict(X, return_std=True)[1], machine.predict(X, return_cov=True)[1]


def agree(one, other, atol=1e-9):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


# ---- parameters and refusals -------------------------------------------------------------------


def test_it_is_a_ridge_regression_for_scikit_learn():
    machine = GaussianProcess()
    assert is_regressor(machine) and isinstance(machine, KernelRidge)
    assert get_tags(machine).target_tags.multi_output
    assert get_tags(GaussianProcess("precomputed")).input_tags.pairwise
    assert set(machine.get_params()) == {"kernel", "penalty", "intercept", "follow"}
    changed = clone(GaussianProcess(Gaussian(1.0), 0.5)).set_params(kernel__bandwidth=2.0)
    assert changed.kernel == Gaussian(2.0) and changed.penalty == 0.5


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf, "strong", None])
def test_the_penalty_is_a_variance(penalty):
    with pytest.raises(ValidityError, match="penalty must be a finite number, not negative"):
        GaussianProcess(Gaussian(1.0), penalty).fit(*data())


def test_an_invalid_kernel_is_refused_with_its_proof_and_no_repair():
    with pytest.raises(ValidityError, match=r"(?s)GaussianProcess needs .*use a valid kernel$"):
        GaussianProcess(Sigmoid(1.0, -1.0)).fit(*data())


def test_a_kernel_that_is_not_valid_on_the_items_is_refused():
    kernel = from_function(lambda x, z: -float(np.dot(x, z)))
    with pytest.raises(SolveError, match="not positive definite"):
        GaussianProcess(kernel, 0.1).fit(*data())


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
def test_copies_cannot_be_interpolated(kernel):
    X, y = data()
    twice = np.repeat(np.arange(30), 2)
    with pytest.raises(SolveError, match="singular"):
        GaussianProcess(kernel, 0.0).fit(X[twice], y[twice])


def test_an_unfitted_machine_knows_nothing():
    machine, X = GaussianProcess(), data()[0]
    for ask in (
        lambda: machine.predict(X, return_std=True),
        lambda: machine.sample_y(X),
        lambda: machine.log_marginal_likelihood(),
        lambda: machine.log_marginal_likelihood_,
    ):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(machine, "log_marginal_likelihood_")


def test_one_of_deviation_and_covariance():
    X, y = data()
    with pytest.raises(ValidityError, match="return_std and return_cov were both asked for"):
        GaussianProcess(Gaussian(1.0)).fit(X, y).predict(X, return_std=True, return_cov=True)


@pytest.mark.parametrize("count", [0, -1, 1.5, "many", True])
def test_samples_are_counted_in_whole_numbers(count):
    X, y = data()
    with pytest.raises(ValidityError, match="n_samples of GaussianProcess must be a whole"):
        GaussianProcess(Gaussian(1.0)).fit(X, y).sample_y(X, n_samples=count)


def test_a_variance_that_overflows_is_refused():
    X, y = data()
    machine = GaussianProcess(Linear(), 0.1, follow=Plan(route="primal")).fit(X, y)
    with pytest.raises(ValidityError, match="for items 1 and 1, not a finite number"):
        machine.predict([[1.0, 1.0, 1.0], [1e200, 1.0, 1.0]], return_std=True)


def test_a_gradient_that_does_not_fit_is_refused(free_memory):
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(*data())
    free_memory(1000)
    with pytest.raises(PlanError, match=r"for 30 items needs 7\.2 kB, but 1\.0 kB are available"):
        machine.log_marginal_likelihood(eval_gradient=True)


def test_new_items_of_another_width_are_refused():
    X, y = data()
    machine = GaussianProcess(Gaussian(1.0)).fit(X, y)
    with pytest.raises(DomainError, match="features"):
        machine.predict(X[:, :2], return_std=True)


# ---- variances ---------------------------------------------------------------------------------


def test_far_from_all_items_the_prior_is_left():
    X, y = data()
    machine = GaussianProcess(2.5 * Gaussian(1.0), 0.1).fit(X, y)
    mean, std = machine.predict(X + 100.0, return_std=True)
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(std**2, 2.5)
    offset = GaussianProcess(2.5 * Gaussian(1.0), 0.1, intercept=True).fit(X, y)
    assert (offset.predict(X + 100.0, return_std=True)[1] ** 2 > 2.5).all()  # and the constant's


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 1e-12])
def test_rounding_makes_no_variance_negative(penalty, intercept):
    X = np.linspace(0, 9, 10)[:, None]
    machine = GaussianProcess(Matern(1.5, 1.0), penalty, intercept=intercept)
    machine.fit(X, np.sin(X[:, 0]))
    std, C = spreads(machine, np.concatenate([X, X + 1e-9]))
    assert (std >= 0).all() and (std < 1e-5).all()
    assert (np.diag(C) >= 0).all()
    np.testing.assert_array_equal(C, C.T)


def test_every_item_makes_the_process_surer():
    X, y = data()
    new, _ = data(20, seed=1)
    machine = GaussianProcess(Gaussian(1.0), 0.1)
    few = machine.fit(X[:10], y[:10]).predict(new, return_std=True)[1]
    many = machine.fit(X, y).predict(new, return_std=True)[1]
    assert (many < few).all() and (few <= 1.0).all()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2, 1.0)])
def test_blocks_of_new_items_change_nothing(kernel, intercept, monkeypatch):
    X, y = data()
    new, _ = data(50, seed=1)
    machine = GaussianProcess(kernel, 0.1, intercept=intercept).fit(X, y)
    whole = machine.predict(new, return_std=True)[1]
    monkeypatch.setattr(posterior, "ENTRIES", 100)
    np.testing.assert_allclose(machine.predict(new, return_std=True)[1], whole, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0), normalize(Polynomial(2, 1.0))])
def test_features_and_items_leave_the_same_open(kernel, intercept, weighted):
    X, y = data()
    new, _ = data(12, seed=1)
    w = np.arange(30) % 5 if weighted else None
    found = []
    for route in ("primal", "dual"):
        machine = GaussianProcess(kernel, 0.1, intercept=intercept, follow=Plan(route=route))
        machine.fit(X, np.column_stack([y, y**2]), w)
        value, gradient = machine.log_marginal_likelihood(eval_gradient=True)
        found.append([*spreads(machine, new), value, *gradient.values()])
    agree(*found)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_category_that_nobody_has_seen_keeps_its_prior(intercept):
    table = pd.DataFrame({"kind": list("aabbcc"), "size": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]})
    kernel = Categorical().on("kind") * (Linear().on("size") + 1.0) + 0.5
    new = pd.DataFrame({"kind": list("adde"), "size": [3.0, 1.0, 2.0, 2.0]})
    found = []
    for route in ("primal", "dual"):
        machine = GaussianProcess(kernel, 0.1, intercept=intercept, follow=Plan(route=route))
        machine.fit(table, np.arange(6.0))
        found.append([machine.predict(new), *spreads(machine, new)])
    agree(*found)
    std, C = found[0][1:]
    assert std[2] > std[1] > 1.4  # k(x, x) is 2.5 and 5.5, of which 0.5 is shared with the others
    assert C[1, 2] > 3.0 > 0.5 > C[1, 3]  # two items of one new kind, and of two


def test_features_know_small_variances_to_many_digits():
    X, y = data()
    kernel, penalty = Polynomial(2, 1.0), 1e-13
    machine = GaussianProcess(kernel, penalty, follow=Plan(route="primal")).fit(X, y)
    B = kernel.features(X)
    inverse = np.linalg.inv(B.T @ B + penalty * np.eye(B.shape[1]))
    std, C = spreads(machine, X)
    np.testing.assert_allclose(C, penalty * B @ inverse @ B.T, atol=1e-8 * penalty)
    np.testing.assert_allclose(std**2, np.diag(C), rtol=1e-8)


def test_features_need_no_matrix_of_the_items():
    n = 3000
    X, y = data(n)
    machine = GaussianProcess(2.0 * Linear(), 0.1, intercept=True).fit(X, y, np.ones(n))
    assert machine.plan_.route == "primal"
    tracemalloc.start()
    machine.predict(X, return_std=True)
    machine.log_marginal_likelihood(eval_gradient=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 / 4


@pytest.mark.parametrize(
    "follow", [Plan(solver="eigen"), Plan(precision="mixed"), Plan(precision="double")], ids=repr
)
def test_the_solver_of_the_mean_does_not_matter(follow):
    X, y = data()
    plain = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y)
    other = GaussianProcess(Gaussian(1.0), 0.1, follow=follow).fit(X, y)
    agree(spreads(other, X), spreads(plain, X))
    assert other.log_marginal_likelihood_ == pytest.approx(plain.log_marginal_likelihood_)


# ---- what is kept ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
def test_the_factor_is_kept_but_not_pickled(kernel):
    X, y = data(200)
    machine = GaussianProcess(kernel, 0.1, intercept=True).fit(X, y)
    small = len(pickle.dumps(machine))
    expected = [*spreads(machine, X), machine.log_marginal_likelihood_]
    kept = machine._posterior.factor
    machine.predict(X, return_std=True)
    assert machine._posterior.factor is kept
    stored = pickle.dumps(machine)
    assert len(stored) == small
    again = pickle.loads(stored)
    agree([*spreads(again, X), again.log_marginal_likelihood_], expected, atol=1e-12)


def test_a_second_fit_forgets_the_first():
    X, y = data()
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y)
    spreads(machine, X)
    machine.set_params(penalty=0.5, intercept=True).fit(X[:20], y[:20])
    fresh = GaussianProcess(Gaussian(1.0), 0.5, intercept=True).fit(X[:20], y[:20])
    agree(spreads(machine, X), spreads(fresh, X), atol=0)
    assert machine.log_marginal_likelihood_ == fresh.log_marginal_likelihood_


def test_parameters_that_were_set_later_change_nothing_that_was_learned():
    X, y = data()
    machine = GaussianProcess("gaussian", 0.1).fit(X, y)
    fresh = clone(machine).fit(X, y)
    machine.set_params(penalty=7.0, intercept=True, kernel=Linear())
    agree(spreads(machine, X), spreads(fresh, X), atol=0)
    assert machine.log_marginal_likelihood_ == fresh.log_marginal_likelihood_
    noisy = machine.predict(X, return_std=True, noise=True)[1]
    np.testing.assert_allclose(noisy**2, spreads(fresh, X)[0] ** 2 + 0.1)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), precomputed()])
def test_an_item_without_weight_might_as_well_not_be_there(kernel, intercept):
    X, y = data()
    w = (np.arange(30) % 3 > 0) * 2.0
    rest = np.flatnonzero(w)
    matrix = kernel == precomputed()
    items = Gaussian(1.0)(X) if matrix else X
    machine = GaussianProcess(kernel, 0.1, intercept=intercept).fit(items, y, w)
    part = items[np.ix_(rest, rest)] if matrix else items[rest]
    other = GaussianProcess(kernel, 0.1, intercept=intercept).fit(part, y[rest], w[rest])
    found, expected = (m.log_marginal_likelihood(eval_gradient=True) for m in (machine, other))
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1])
    if not matrix:
        agree(spreads(machine, X), spreads(other, X))


# ---- likelihood --------------------------------------------------------------------------------


def test_the_likelihood_prefers_the_bandwidth_that_the_data_were_drawn_with():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 20, 120)[:, None]
    true = Gaussian(1.5)(X) + 0.05 * np.eye(120)
    y = np.linalg.cholesky(true) @ rng.standard_normal(120)

    def found(bandwidth):
        machine = GaussianProcess(Gaussian(bandwidth), 0.05).fit(X, y)
        return machine.log_marginal_likelihood(eval_gradient=True)

    values = {bandwidth: found(bandwidth) for bandwidth in (0.4, 1.5, 6.0)}
    assert max(values, key=lambda bandwidth: values[bandwidth][0]) == 1.5
    assert values[0.4][1]["kernel__bandwidth"] > 0 > values[6.0][1]["kernel__bandwidth"]


def test_names_of_derivatives_are_those_of_parameters():
    X, y = data()
    machine = GaussianProcess(2.0 * Gaussian((1.0, 2.0, 3.0)) + Linear() * 0.5, 0.1).fit(X, y)
    _, gradient = machine.log_marginal_likelihood(eval_gradient=True)
    assert set(gradient) <= set(machine.get_params())
    assert gradient["kernel__left__kernel__bandwidth"].shape == (3,)
    assert next(iter(gradient)) == "penalty"
    assert all(type(gradient[name]) is float for name in ("penalty", "kernel__left__factor"))


def test_a_penalty_of_zero_has_no_logarithm():
    X, y = data()
    machine = GaussianProcess(Matern(0.5, 1.0), 0.0).fit(X, y)
    assert set(machine.log_marginal_likelihood(True)[1]) == {"kernel__bandwidth"}


def test_one_item_is_enough():
    machine = GaussianProcess(Gaussian(1.0), 0.5).fit([[0.0]], [2.0])
    expected = -(4.0 / 1.5 + np.log(1.5) + np.log(2 * np.pi)) / 2
    assert machine.log_marginal_likelihood_ == pytest.approx(expected)
    offset = GaussianProcess(Gaussian(1.0), 0.5, intercept=True).fit([[0.0]], [2.0])
    assert offset.log_marginal_likelihood_ == pytest.approx(0.0)  # a constant fits any one number
    assert offset.predict([[0.0]], return_std=True)[1] == pytest.approx(np.sqrt(0.5))


# ---- samples -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("targets", "shape"), [(None, (5, 3)), (1, (5, 1, 3)), (2, (5, 2, 3))])
def test_samples_have_an_axis_of_their_own(targets, shape):
    X, y = data()
    Y = y if targets is None else np.column_stack([y] * targets)
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, Y)
    assert machine.sample_y(X[:5], n_samples=3).shape == shape
    assert machine.sample_y(X[:5]).shape == (*shape[:-1], 1)
    assert machine.predict(X[:5], return_std=True)[1].shape == shape[:-1]
    assert machine.predict(X[:5], return_cov=True)[1].shape == (5, 5, *shape[1:-1])


def test_the_same_seed_draws_the_same_functions():
    X, y = data()
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y)
    one = machine.sample_y(X, 2, random_state=1)
    np.testing.assert_array_equal(machine.sample_y(X, 2, random_state=1), one)
    again = machine.sample_y(X, 2, random_state=np.random.RandomState(1))
    np.testing.assert_array_equal(again, one)
    assert np.abs(machine.sample_y(X, 2, random_state=2) - one).max() > 0.01
    assert np.isfinite(machine.sample_y(X, 2, random_state=None)).all()


def test_samples_are_functions_also_where_the_covariance_is_singular():
    X, y = data()
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y)
    drawn = machine.sample_y(np.concatenate([X, X]), 4)
    np.testing.assert_allclose(drawn[:30], drawn[30:], atol=1e-7)
    for route in ("primal", "dual"):
        machine = GaussianProcess(Linear(), 0.1, follow=Plan(route=route)).fit(X, y)
        lines = machine.sample_y(np.outer([1.0, 2.0, 5.0], X[0]), 4)
        np.testing.assert_allclose(lines[1:], np.outer([2.0, 5.0], lines[0]), atol=1e-12)


# ---- things of all kinds -----------------------------------------------------------------------


def test_words_have_variances():
    kernel = assume_psd(from_function(lambda a, b: float(len(set(a) & set(b)))))
    words, y = ["cat", "hat", "dog", "horse", "bee"], [1.0, 1.5, 3.0, 4.0, 2.0]
    machine = GaussianProcess(kernel, 0.1, intercept=True).fit(words, y)
    std = machine.predict(["cat", "sphinx"], return_std=True)[1]
    assert std[0] < 0.5 < std[1]
    assert set(machine.log_marginal_likelihood(eval_gradient=True)[1]) == {"penalty"}
    assert machine.sample_y(["tac", "cat"], 3).shape == (2, 3)


@pytest.mark.parametrize("kernel", ["precomputed", 2.0 * precomputed(), assume_psd(precomputed())])
def test_a_matrix_has_no_similarities_of_new_items_with_themselves(kernel):
    X, y = data()
    k = Gaussian(1.0)
    machine = GaussianProcess(kernel, 0.1).fit(k(X), y)
    factor = getattr(kernel, "factor", 1.0)
    direct = GaussianProcess(factor * k, 0.1).fit(X, y)
    np.testing.assert_allclose(machine.predict(k(X[:5], X)), direct.predict(X[:5]), atol=1e-10)
    assert machine.log_marginal_likelihood_ == pytest.approx(direct.log_marginal_likelihood_)
    for ask in (
        lambda: machine.predict(k(X), return_std=True),
        lambda: machine.predict(k(X[:5], X), return_cov=True),
        lambda: machine.sample_y(k(X)),
    ):
        with pytest.raises(DomainError, match=r"with itself.*precomputed.*from_function"):
            ask()


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Linear(), 2.0 * Linear() + Gaussian(1.5)])
@pytest.mark.parametrize("route", ["auto", "dual"])
def test_rows_of_all_kinds_say_the_same(kernel, route):
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    machine = GaussianProcess(kernel, 0.1, intercept=True, follow=Plan(route=route))
    expected = spreads(machine.fit(X, y), X)
    for rows in (sparse.csr_array(X), array_api_strict.asarray(X)):
        agree(spreads(clone(machine).fit(rows, y), rows), expected, atol=1e-7)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Linear() + Gaussian(1.5), Polynomial(2)])
def test_single_precision_is_computed_in_double(kernel):
    X, y = data()
    single = X.astype(np.float32)
    machine = GaussianProcess(kernel, 1e-6, follow=Plan(route="dual"))
    found = spreads(machine.fit(single, y), single)
    expected = spreads(machine.fit(single.astype(np.float64), y), single.astype(np.float64))
    assert found[0].dtype == np.float64
    agree(found, expected, atol=1e-8)


def test_inputs_are_not_changed():
    X, y = data()
    K, w = Gaussian(1.0)(X), np.ones(30)
    copies = [array.copy() for array in (X, y, K, w)]
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y, w)
    spreads(machine, X)
    machine.sample_y(X)
    machine.log_marginal_likelihood(True)
    GaussianProcess("precomputed", 0.1).fit(K, y, w).log_marginal_likelihood(True)
    for array, copy in zip((X, y, K, w), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_fit_that_fails_changes_nothing():
    X, y = data()
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, y)
    before = spreads(machine, X), machine.log_marginal_likelihood_
    with pytest.raises(MercerError):
        machine.set_params(penalty=0.0).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    agree(spreads(machine, X), before[0], atol=0)
    assert machine.log_marginal_likelihood_ == before[1]


@pytest.mark.parametrize("kernel", [3.0 * Linear(), 2.0 * Polynomial(2, 1.0)], ids=repr)
def test_derivatives_keep_their_digits_where_columns_differ_in_size(kernel):
    """Sums over items cancel there: they said -8e8 and 7e19 where these are about -1 to -4."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) * [1, 1e6]
    y = np.sin(X[:, 0]) + 1e-6 * X[:, 1]
    machine = GaussianProcess(kernel, 1e-6).fit(X, y)
    assert machine.plan_.route == "primal"
    _, slopes = machine.log_marginal_likelihood(eval_gradient=True)
    step = 1e-3
    for name in [name for name in slopes if name != "penalty"]:
        start = machine.get_params()[name]
        up, down = (
            GaussianProcess(kernel, 1e-6).set_params(**{name: start * np.exp(h)}).fit(X, y)
            for h in (step, -step)
        )
        expected = (up.log_marginal_likelihood_ - down.log_marginal_likelihood_) / (2 * step)
        assert slopes[name] == pytest.approx(expected, abs=1e-4)
