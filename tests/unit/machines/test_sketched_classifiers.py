"""Logistic regression and support vector machines with the functions of a sketch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

import mercer
from mercer import SVC, KernelLogistic, Plan, Stream
from mercer.errors import PlanError, ValidityError
from mercer.kernels import Gaussian
from mercer.plans import Nystrom, Random

RNG = np.random.default_rng(0)
X = RNG.standard_normal((500, 3))
SCORES = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
TWO = np.where(SCORES > 0, "up", "down")
THREE = np.array(["low", "middle", "high"])[np.digitize(SCORES, [-0.5, 0.5])]
NEW = RNG.standard_normal((80, 3))
K = Gaussian(1.5)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_regression_with_all_items_for_centers_is_the_exact_one(labels, intercept):
    exact = KernelLogistic(K, 0.5, intercept=intercept).fit(X, labels)
    near = KernelLogistic(K, 0.5, intercept=intercept, follow=Plan(approximate=Nystrom(X)))
    near.fit(X, labels)
    np.testing.assert_allclose(near.predict_proba(NEW), exact.predict_proba(NEW), atol=1e-6)
    assert near.solution_.approximation.error < 1e-5
    assert "approximate" in repr(near)


@pytest.mark.parametrize("how", [Nystrom(X[:60]), Random(100)])
@pytest.mark.parametrize("machine", [KernelLogistic(K, 0.5), SVC(K, 2.0)])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_a_stream_gives_what_memory_gives(machine, how, labels):
    machine = clone(machine).set_params(follow=Plan(approximate=how))
    one = clone(machine).fit(X, labels)
    other = clone(machine).fit(Stream.rows(X, labels, size=130))
    np.testing.assert_allclose(one.decision_function(NEW), other.decision_function(NEW), atol=1e-3)
    assert one.score(X, labels) > 0.85
    assert np.array_equal(other.predict(Stream.rows(NEW, size=33)), other.predict(NEW))


def objective(theta, C_, B, z, C, weights):
    a, b = theta[:-1], theta[-1]
    slack = np.maximum(0.0, 1 - z * (C_ @ a + b))
    return 0.5 * a @ B @ a + C * np.sum(weights * slack**2)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_support_vector_machine_minimizes_squared_slacks(weighted):
    Z, C = X[:20], 3.0
    w = np.random.default_rng(1).integers(0, 3, 500).astype(float) if weighted else np.ones(500)
    machine = SVC(K, C, follow=Plan(approximate=Nystrom(Z)))
    machine.fit(X, TWO, w if weighted else None)
    z = np.where(TWO == machine.classes_[1], 1.0, -1.0)
    arguments = (np.asarray(K(X, Z)), np.asarray(K(Z)), z, C, w)
    found = minimize(objective, np.zeros(21), arguments, "BFGS", options={"gtol": 1e-6})
    mine = np.append(machine.function_.coefficients, machine.intercept_)
    assert objective(mine, *arguments) <= found.fun * (1 + 1e-6)
    scores = np.asarray(K(NEW, Z)) @ machine.function_.coefficients.ravel() + machine.intercept_
    np.testing.assert_allclose(machine.decision_function(NEW), scores)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes_vote_as_exact_machines_do(multiclass):
    exact = SVC(K, 2.0, multiclass=multiclass).fit(X, THREE)
    near = SVC(K, 2.0, multiclass=multiclass, follow=Plan(approximate=Nystrom(200)))
    near.fit(X, THREE)
    assert np.mean(near.predict(NEW) == exact.predict(NEW)) > 0.9
    assert near.decision_function(NEW).shape == (80, 3)
    told = near.solution_.approximation
    assert "squared slacks" in told.method
    # Squared slacks are another loss, so that the difference is not small.
    true = exact._decision_values(X) - near._decision_values(X)
    spread = exact._decision_values(X) - exact._decision_values(X).mean(axis=0)
    assert told.error == pytest.approx(np.linalg.norm(true) / np.linalg.norm(spread), rel=0.1)


def test_a_support_vector_machine_approximates_only_if_asked():
    plain = SVC(K, follow=Plan(patience=1e-9)).fit(X, TWO)
    assert hasattr(plain, "support_")
    assert not plain.plan_.is_approximate
    near = SVC(K, follow=Plan(approximate=Nystrom(30))).fit(X, TWO)
    assert not hasattr(near, "support_")
    with pytest.raises(PlanError, match="read in passes"):
        SVC(K, follow=Plan(approximate="never")).fit(Stream.rows(X, TWO))


@pytest.mark.parametrize("options", [{"C": np.inf}, {"probability": True}, {"indefinite": "clip"}])
def test_what_the_approximate_route_cannot_do_is_said(options):
    with pytest.raises(ValidityError, match="approximate route"):
        SVC(K, follow=Plan(approximate=Nystrom(30)), **options).fit(X, TWO)


@pytest.mark.parametrize("machine", [mercer.NuSVC(K), mercer.OneClassSVM(K), mercer.SVR(K)])
def test_machines_without_an_approximate_route_say_so(machine):
    machine = clone(machine).set_params(follow=Plan(approximate=Nystrom(30)))
    with pytest.raises(ValidityError, match="no approximate route"):
        machine.fit(X, SCORES if isinstance(machine, mercer.SVR) else TWO)


def test_a_gram_matrix_that_does_not_fit_is_approximated():
    machine = KernelLogistic(K, follow=Plan(memory=2 * 10**8))
    plan = machine.plan(np.zeros((20_000, 3)))
    assert plan.is_approximate and "would not fit" in plan.explain()
    never = KernelLogistic(K, follow=Plan(memory=2 * 10**8, approximate="never"))
    with pytest.raises(PlanError, match="items would fit"):
        never.plan(np.zeros((20_000, 3)))


def test_a_class_that_the_sample_lacks_leaves_the_error_unknown():
    rng = np.random.default_rng(0)
    many = rng.standard_normal((6000, 2))
    labels = np.where(many[:, 0] > 0, 1, 0)
    labels[np.random.default_rng([0, 1]).permutation(6000)[5000:5002]] = 2  # not in the sample
    machine = SVC(Gaussian(1.0), follow=Plan(approximate=Nystrom(20)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(many, labels)
    told = machine.solution_.approximation
    assert np.isnan(told.error) and "not known" in str(told)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [KernelLogistic(K), SVC(K)])
def test_files(machine, tmp_path):
    machine = clone(machine).set_params(follow=Plan(approximate=Nystrom(30))).fit(X, THREE)
    mercer.save(machine, tmp_path / "machine")
    again = mercer.load(tmp_path / "machine")
    assert np.array_equal(again.predict(NEW), machine.predict(NEW))
    assert again.solution_.approximation == machine.solution_.approximation
