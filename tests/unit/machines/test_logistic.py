"""Kernel logistic regression: probabilities, weights, refusals, and what it warns about."""

import warnings

import numpy as np
import pytest

from mercer.errors import ConvergenceWarning, DomainError, PlanError, SolveError, ValidityError
from mercer.kernels import Gaussian, Linear, Sigmoid, from_function
from mercer.machines.logistic import KernelLogistic
from mercer.plans import Plan
from mercer.rkhs import Function


def data(n=60, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, 2)) + 1.5 * rng.normal(size=(classes, 2))[codes]
    return X, np.array(["ant", "bee", "cat", "dog"])[codes]


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_the_scores(classes):
    X, y = data(classes=classes)
    machine = KernelLogistic(Gaussian(1.0)).fit(X, y)
    scores, p = machine.decision_function(X), machine.predict_proba(X)
    assert scores.shape == ((60,) if classes == 2 else (60, classes))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)
    odds = np.log(p) - np.log(p[:, :1])
    expected = scores[:, None] if classes == 2 else scores[:, 1:] - scores[:, :1]
    np.testing.assert_allclose(odds[:, 1:], expected, atol=1e-10)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(X)), p, atol=1e-14)


def test_log_probabilities_of_far_points_are_finite():
    X, y = data(classes=2)
    machine = KernelLogistic("linear", 1e-3).fit(X, y)
    found = machine.predict_log_proba(1e6 * X)
    assert np.isfinite(found).all() and found.min() < -1000


@pytest.mark.parametrize("classes", [2, 3])
def test_what_was_learned_is_a_function_of_the_kernels_space(classes):
    X, y = data(classes=classes)
    machine = KernelLogistic(Gaussian(1.0), 0.1).fit(X, y)
    assert isinstance(machine.function_, Function)
    scores = machine.function_(X) + machine.intercept_
    np.testing.assert_allclose(scores, machine.decision_function(X), atol=1e-12)
    loss = -np.log(machine.predict_proba(X)[np.arange(60), np.arange(60) % classes]).sum()
    penalty = 0.05 * np.sum(np.square(machine.function_.norm()))
    assert machine.solution_.objectives[-1] == pytest.approx(loss + penalty, rel=1e-10)


def test_the_certificate_is_below_the_tolerance():
    X, y = data()
    for penalty in (1e-4, 1e-2, 1.0, 100.0):
        machine = KernelLogistic(penalty=penalty).fit(X, y)
        assert machine.solution_.status == "solved"
        assert machine.solution_.certificate <= 1e-6
        assert machine.n_iter_ == len(machine.solution_.history) >= 1


def test_a_large_penalty_leaves_the_frequencies_of_the_classes():
    X, y = data(classes=3)
    y[:20] = "ant"
    p = KernelLogistic(penalty=1e9).fit(X, y).predict_proba(X)
    shares = np.unique(y, return_counts=True)[1] / 60
    np.testing.assert_allclose(p, np.tile(shares, (60, 1)), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_primal_and_dual_are_the_same(classes):
    X, y = data(classes=classes)
    machines = [
        KernelLogistic("linear", 0.5, tol=1e-10, follow=Plan(route=route)).fit(X, y)
        for route in ("primal", "dual")
    ]
    assert machines[0].coef_ is not None and machines[1].coef_ is None
    one, other = (machine.predict_proba(X) for machine in machines)
    np.testing.assert_allclose(one, other, atol=1e-9)
    functions = [machine.function_ for machine in machines]
    assert np.max(functions[0].distance(functions[1])) < 1e-6


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_is_as_many_copies_and_zero_is_none(classes):
    X, y = data(classes=classes)
    times = np.arange(60) % 4
    rows = np.repeat(np.arange(60), times)
    kernel = Gaussian(1.0)
    weighted = KernelLogistic(kernel, tol=1e-10).fit(X, y, sample_weight=times)
    copies = KernelLogistic(kernel, tol=1e-10).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), copies.predict_proba(X), atol=1e-9)
    assert len(weighted.function_) == np.sum(times > 0)


def test_class_weights_multiply_sample_weights():
    X, y = data(classes=2)
    y[:50] = "ant"
    share = {"ant": 0.5, "bee": 3.0}
    by_class = KernelLogistic(Gaussian(1.0), class_weight=share).fit(X, y)
    by_item = KernelLogistic(Gaussian(1.0)).fit(X, y, [share[label] for label in y])
    np.testing.assert_allclose(by_class.predict_proba(X), by_item.predict_proba(X), atol=1e-7)
    balanced = KernelLogistic(Gaussian(1.0), penalty=1e9, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba(X), 0.5, atol=1e-6)


def test_python_objects_are_compared_by_a_function():
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    words = ["cat", "hat", "bat", "dig", "big", "pig"]
    machine = KernelLogistic(kernel, 0.1).fit(words, ["a"] * 3 + ["i"] * 3)
    assert machine.predict(["rat", "wig"]).tolist() == ["a", "i"]
    assert machine.predict_proba(["rat"])[0, 0] > 0.8


def test_a_precomputed_matrix_gives_the_same_answers():
    X, y = data()
    k, w = Gaussian(1.0), np.arange(60) // 3 % 3 + 0.0
    direct = KernelLogistic(k, tol=1e-10).fit(X, y, w)
    given = KernelLogistic("precomputed", tol=1e-10).fit(k(X), y, w)
    new = X[:5] + 0.1
    np.testing.assert_allclose(
        given.predict_proba(k(new, X)), direct.predict_proba(new), atol=1e-8
    )


def test_separable_data_with_a_small_penalty_still_converge():
    X = np.concatenate([np.full((20, 1), -3.0), np.full((20, 1), 3.0)])
    X += 0.1 * np.random.default_rng(0).normal(size=X.shape)
    y = np.repeat([0, 1], 20)
    machine = KernelLogistic(Gaussian(1.0), 1e-8).fit(X, y)
    assert machine.solution_.certificate <= 1e-6
    assert (machine.predict(X) == y).all()


def test_a_stalled_fit_warns_with_the_gradient():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=r"gradient norm is .* max_iter"):
        machine = KernelLogistic(penalty=1e-6, max_iter=1).fit(X, y)
    assert machine.solution_.status == "stalled"


def test_a_warning_made_an_error_leaves_nothing_half_fitted():
    X, y = data()
    machine = KernelLogistic(penalty=1e-6, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            machine.fit(X, y)
    assert not [name for name in vars(machine) if name.endswith("_")]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"penalty": 0.0}, ValidityError, "penalty of KernelLogistic must be"),
        ({"penalty": -1.0}, ValidityError, "penalty"),
        ({"penalty": "big"}, ValidityError, "penalty"),
        ({"tol": 0.0}, ValidityError, "tol"),
        ({"max_iter": 0}, ValidityError, "max_iter"),
        ({"kernel": Sigmoid(1.0, -1.0)}, ValidityError, "positive semi-definite"),
        ({"class_weight": {"cow": 1.0}}, DomainError, "cow"),
        ({"class_weight": {"ant": 0.0}}, DomainError, "'ant' have weight zero"),
        ({"follow": "dual"}, ValidityError, "follow must be a Plan"),
        ({"follow": Plan(route="primal")}, ValidityError, "finitely many features"),
        ({"follow": Plan(memory=10_000)}, PlanError, "items would fit"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    X, y = data()
    with pytest.raises(error, match=message):
        KernelLogistic(Gaussian(1.0)).set_params(**changes).fit(X, y)


def test_bad_labels_and_weights_are_refused():
    X, y = data()
    with pytest.raises(DomainError, match="only 1 class, 'ant'"):
        KernelLogistic().fit(X, ["ant"] * 60)
    with pytest.raises(DomainError, match="all sample weights are zero"):
        KernelLogistic().fit(X, y, np.zeros(60))
    with pytest.raises(DomainError, match="'bee' have weight zero"):
        KernelLogistic().fit(X, y, (y != "bee").astype(float))
    with pytest.raises(DomainError, match="Unknown label type"):
        KernelLogistic().fit(X, X[:, 0])


def test_a_matrix_that_is_not_valid_is_refused():
    K = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with pytest.raises(SolveError, match="negative eigenvalue"):
        KernelLogistic("precomputed", 0.1, intercept=False).fit(K, [0, 1, 0])


def test_the_plan_is_that_of_the_fit():
    X, y = data()
    for kernel in (Gaussian(1.0), Linear()):
        machine = KernelLogistic(kernel)
        assert machine.plan(X, classes=3) == machine.fit(X, y).plan_ or machine.plan_.bytes > 0
        assert "Newton" in machine.plan_.explain()
