"""Support vector regression: the tube, and items that have nothing to say."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer import SVR, Plan
from mercer.errors import ConvergenceWarning, DomainError, PlanError, ValidityError
from mercer.kernels import Gaussian, Sigmoid, assume_psd, from_function
from mercer.plans import margins


@pytest.fixture(autouse=True)
def two_cores(use_cores):
    use_cores(2)


def waves(n=80, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, size=(n, 1))
    return X, np.sin(X[:, 0]) + noise * rng.normal(size=n)


def test_a_wide_enough_tube_holds_all_items_and_needs_few_of_them():
    X, y = waves(noise=0.0)
    machine = SVR(Gaussian(1.0), 1e4, epsilon=0.1, tol=1e-6).fit(X, y)
    assert np.abs(machine.predict(X) - y).max() <= 0.1 + 1e-5
    assert len(machine.support_) < 15


def test_a_narrower_tube_has_more_support_vectors():
    X, y = waves()
    counts = [len(SVR(Gaussian(1.0), epsilon=e).fit(X, y).support_) for e in (0.4, 0.2, 0.1, 0.01)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_adding_a_constant_to_the_target_adds_it_to_the_intercept():
    X, y = waves()
    one = SVR(Gaussian(1.0), tol=1e-8).fit(X, y)
    two = SVR(Gaussian(1.0), tol=1e-8).fit(X, y + 1000.0)
    np.testing.assert_allclose(two.predict(X), one.predict(X) + 1000.0, atol=1e-6)


def test_target_price_and_tube_scale_together():
    X, y = waves()
    one = SVR(Gaussian(1.0), 2.0, epsilon=0.1, tol=1e-9).fit(X, y)
    two = SVR(Gaussian(1.0), 2e3, epsilon=1e2, tol=1e-6).fit(X, 1e3 * y)
    np.testing.assert_allclose(two.predict(X), 1e3 * one.predict(X), atol=1e-3)


def test_a_weight_counts_like_repetitions():
    X, y = waves(40)
    counts = np.arange(40) % 3
    one = SVR(Gaussian(1.0), 0.5, tol=1e-9).fit(X, y, sample_weight=counts)
    rows = np.repeat(np.arange(40), counts)
    two = SVR(Gaussian(1.0), 0.5, tol=1e-9).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-6)
    assert (counts[one.support_] > 0).all()


def empty_attributes(machine):
    assert machine.support_.shape == (0,)
    assert machine.dual_coef_.shape == (1, 0)
    assert machine.n_support_.tolist() == [0]
    vectors = machine.support_vectors_
    assert (vectors.shape[0] if sparse.issparse(vectors) else len(vectors)) == 0


@pytest.mark.parametrize("constant", [0.0, 7.0, -1e6])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_constant_needs_no_support_vectors(container, constant):
    X, _ = waves()
    machine = SVR("linear").fit(container(X), np.full(80, constant))
    empty_attributes(machine)
    np.testing.assert_array_equal(machine.predict(container(X)), constant)


def test_a_tube_wider_than_the_data_is_flat_and_in_their_middle():
    X, y = waves()
    machine = SVR(Gaussian(1.0), epsilon=100.0).fit(X, y)
    empty_attributes(machine)
    np.testing.assert_allclose(machine.predict(X), (y.min() + y.max()) / 2, rtol=1e-12)


def test_a_constant_of_precomputed_similarities():
    K = Gaussian(1.0)(waves(10)[0])
    machine = SVR("precomputed").fit(K, np.ones(10))
    empty_attributes(machine)
    np.testing.assert_array_equal(machine.predict(K), 1.0)


def test_a_constant_of_words():
    kernel = assume_psd(from_function(lambda a, b: float(len(set(a) & set(b)))))
    machine = SVR(kernel).fit(["tea", "eat", "dog"], [2.0, 2.0, 2.0])
    empty_attributes(machine)
    assert machine.predict(["god", "tee"]).tolist() == [2.0, 2.0]


def test_words_and_data_frames():
    kernel = assume_psd(from_function(lambda a, b: float(len(set(a) & set(b)))))
    machine = SVR(kernel, 10.0, epsilon=0.01).fit(["a", "ab", "abc"], [1.0, 2.0, 3.0])
    assert machine.predict(["abc"])[0] == pytest.approx(3.0, abs=0.02)
    X, y = waves()
    frame = pd.DataFrame(X, columns=["x"])
    np.testing.assert_array_equal(
        SVR(Gaussian(1.0)).fit(frame, y).predict(frame), SVR(Gaussian(1.0)).fit(X, y).predict(X)
    )


def test_precomputed_similarities_to_the_support_vectors_are_enough():
    X, y = waves()
    k, new = Gaussian(1.0), waves(15, seed=1)[0]
    machine = SVR("precomputed").fit(k(X), y)
    expected = machine.predict(k(new, X))
    assert len(machine.support_) < 80
    some = k(new, X[machine.support_])
    np.testing.assert_allclose(machine.predict(some), expected, rtol=1e-12)
    holes = np.full((15, 80), np.nan)
    holes[:, machine.support_] = some
    np.testing.assert_allclose(machine.predict(holes), expected, rtol=1e-12)


@pytest.mark.parametrize("policy", ["clip", "flip", "shift"])
def test_indefinite_kernels_are_refused_or_repaired(policy):
    X, y = waves()
    kernel = Sigmoid(0.1, -1.0)
    with pytest.raises(ValidityError, match="SVR needs a positive semi-definite kernel"):
        SVR(kernel).fit(X, y)
    machine = SVR(kernel, indefinite=policy).fit(X, y)
    assert machine.solution_.status == "solved"
    assert np.isfinite(machine.predict(X)).all()


def test_too_little_memory_means_working_sets_and_the_same_answer():
    X, y = waves(1400)
    machine = SVR(Gaussian(1.0), 5.0, tol=1e-6)
    stored = clone(machine).fit(X, y)
    sets = clone(machine).set_params(follow=Plan(memory=stored.plan_.bytes - 1)).fit(X, y)
    assert stored.plan_.stored and not sets.plan_.stored
    np.testing.assert_array_equal(stored.support_, sets.support_)
    np.testing.assert_allclose(stored.predict(X), sets.predict(X), atol=1e-5)
    with pytest.raises(PlanError):
        clone(machine).set_params(follow=Plan(memory=1000)).fit(X, y)


def test_single_precision_agrees_with_double_within_the_tolerance():
    X, y = waves(2500)
    single = SVR(Gaussian(1.0)).fit(X, y)
    double = SVR(Gaussian(1.0), follow=Plan(precision="double")).fit(X, y)
    assert single.plan_.precision == "mixed" and 0 < single.solution_.rounding < 1e-4
    gap = single.solution_.gap + double.solution_.gap
    assert abs(single.solution_.objective - double.solution_.objective) <= gap
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=2e-3)


@pytest.mark.slow
def test_many_items_start_from_a_few_and_end_at_the_same_answer(monkeypatch):
    monkeypatch.setattr(margins, "MAX_STORED_ITEMS", 4000)
    X, y = waves(4500)
    sets = SVR(Gaussian(1.0)).fit(X, y)
    stored = SVR("precomputed").fit(Gaussian(1.0)(X), y)
    assert not sets.plan_.stored and stored.plan_.stored
    gap = sets.solution_.gap + stored.solution_.gap
    assert abs(sets.solution_.objective - stored.solution_.objective) <= gap
    np.testing.assert_allclose(sets.predict(X), stored.predict(Gaussian(1.0)(X)), atol=2e-3)


def test_too_few_steps_are_a_warning_with_the_gap():
    X, y = waves()
    machine = SVR(Gaussian(1.0), 100.0, max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"after 3 steps.*duality gap of .*max_iter"):
        machine.fit(X, y)
    assert machine.solution_.status == "stalled" and machine.n_iter_ == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": np.inf}, "C of SVR must be finite"),
        ({"C": 0.0}, "C must be a positive number"),
        ({"epsilon": -0.1}, "epsilon must be a finite number, not negative"),
        ({"epsilon": np.inf}, "epsilon must be a finite number"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValidityError, match=message):
        SVR().set_params(**changes).fit(*waves())


def test_targets_are_numbers():
    X, y = waves(4)
    with pytest.raises(DomainError):
        SVR().fit(X, [1.0, 2.0, np.nan, 3.0])
    with pytest.raises(DomainError):
        SVR().fit(X, np.column_stack([y, y]))


def test_a_pickle_predicts_the_same():
    X, y = waves(1000)
    machine = SVR(Gaussian(1.0), epsilon=0.3).fit(X, y)
    text = pickle.dumps(machine)
    np.testing.assert_array_equal(pickle.loads(text).predict(X), machine.predict(X))
