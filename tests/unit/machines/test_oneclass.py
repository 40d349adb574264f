"""Novelty detection: the share of outliers, and the offset at its lower end."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import OneClassSVM, Plan
from mercer.errors import ConvergenceWarning, PlanError, ValidityError
from mercer.kernels import Gaussian, Laplacian, Polynomial, Sigmoid, from_function


@pytest.fixture(autouse=True)
def two_cores(use_cores):
    use_cores(2)


def cloud(n=200, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("nu", [0.01, 0.1, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Polynomial(2, 1.0)], ids=repr)
def test_nu_lies_between_the_shares_of_outliers_and_of_support_vectors(kernel, nu, tol):
    X = cloud()
    machine = OneClassSVM(kernel, nu, tol=tol).fit(X)
    assert np.mean(machine.predict(X) == -1) <= nu <= len(machine.support_) / len(X) + 1e-12


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
def test_with_many_items_both_shares_are_about_nu(nu):
    X = cloud(1000)
    machine = OneClassSVM(Gaussian(2.0), nu, tol=1e-6).fit(X)
    assert np.mean(machine.predict(X) == -1) == pytest.approx(nu, abs=0.02)
    assert len(machine.support_) / 1000 == pytest.approx(nu, abs=0.02)


def test_free_items_are_on_the_boundary_and_count_as_inside():
    X = cloud()
    machine = OneClassSVM(Gaussian(1.0), 0.2, tol=1e-8).fit(X)
    scores = machine.decision_function(X)[machine.support_]
    free = (machine.dual_coef_[0] > 0) & (machine.dual_coef_[0] < 1)
    assert free.any()
    assert (scores[free] >= 0).all()
    np.testing.assert_allclose(scores[free], 0.0, atol=1e-7)
    assert (scores[~free] <= 1e-7).all()


def test_the_offset_separates_scores_from_samples():
    X = cloud()
    machine = OneClassSVM(Gaussian(1.0), 0.2).fit(X)
    np.testing.assert_allclose(
        machine.decision_function(X), machine.score_samples(X) - machine.offset_, atol=1e-12
    )
    np.testing.assert_allclose(machine.score_samples(X), machine.function_(X), atol=1e-12)
    assert machine.dual_coef_.sum() == pytest.approx(0.2 * 200)
    assert machine.intercept_.tolist() == [-machine.offset_]


def test_things_unlike_all_that_was_seen_are_outliers():
    machine = OneClassSVM(Gaussian(1.0), 0.05).fit(cloud())
    assert machine.predict([[0.0, 0.0], [9.0, 9.0]]).tolist() == [1, -1]


def test_all_items_alike_are_inside():
    machine = OneClassSVM(Gaussian(1.0), 0.3).fit(np.ones((50, 2)))
    assert (machine.predict(np.ones((5, 2))) == 1).all()
    assert machine.predict([[5.0, 5.0]]).tolist() == [-1]


def test_a_weight_counts_like_repetitions():
    X, counts = cloud(40), np.arange(40) % 3
    one = OneClassSVM(Gaussian(1.0), 0.3, tol=1e-9).fit(X, sample_weight=counts)
    two = OneClassSVM(Gaussian(1.0), 0.3, tol=1e-9).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(one.score_samples(X), two.score_samples(X), atol=1e-6)
    assert (counts[one.support_] > 0).all()


def test_words():
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    machine = OneClassSVM(kernel, 0.5).fit(["tea", "eat", "ate", "seat"])
    assert machine.predict(["teas", "dog"]).tolist() == [1, -1]


def test_precomputed_similarities_to_the_support_vectors_are_enough():
    X, k = cloud(), Gaussian(1.0)
    machine = OneClassSVM("precomputed", 0.2).fit(k(X))
    expected = OneClassSVM(k, 0.2).fit(X).decision_function(X)
    holes = np.full((200, 200), np.nan)
    holes[:, machine.support_] = k(X, X[machine.support_])
    np.testing.assert_allclose(machine.decision_function(holes), expected, atol=1e-3)


def test_indefinite_kernels_are_refused_or_repaired():
    X = cloud()
    with pytest.raises(ValidityError, match="OneClassSVM needs a positive semi-definite kernel"):
        OneClassSVM(Sigmoid(0.1, -1.0)).fit(X)
    machine = OneClassSVM(Sigmoid(0.1, -1.0), 0.2, indefinite="clip").fit(X)
    assert np.mean(machine.predict(X) == -1) <= 0.2


def test_too_little_memory_means_working_sets_and_the_same_answer():
    X = cloud(1400)
    machine = OneClassSVM(Gaussian(1.0), 0.3, tol=1e-6)
    stored = clone(machine).fit(X)
    sets = clone(machine).set_params(follow=Plan(memory=stored.plan_.bytes - 1)).fit(X)
    assert stored.plan_.stored and not sets.plan_.stored
    np.testing.assert_allclose(stored.score_samples(X), sets.score_samples(X), atol=1e-4)
    assert stored.offset_ == pytest.approx(sets.offset_, abs=1e-4)
    with pytest.raises(PlanError):
        clone(machine).set_params(follow=Plan(memory=1000)).fit(X)


def test_too_few_steps_are_a_warning_with_the_gap():
    machine = OneClassSVM(Gaussian(1.0), 0.3, max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"after 2 steps.*duality gap of .*max_iter"):
        machine.fit(cloud())


@pytest.mark.parametrize("nu", [0.0, -1.0, 1.5, np.nan, None])
def test_nu_is_a_share(nu):
    with pytest.raises(ValidityError, match="nu must"):
        OneClassSVM(nu=nu).fit(cloud(10))
