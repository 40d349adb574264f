"""Awkward data for support vector machines: a right answer or a plain warning, never a hang."""

import time
import warnings

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, OneClassSVM, Plan
from mercer.errors import ConvergenceWarning, SolveError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid


def overlapping(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def settled(machine, *data, **weights):
    """Fit, and check that whatever is not solved was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        machine.fit(*data, **weights)
    found = machine.solution_ if isinstance(machine.solution_, tuple) else (machine.solution_,)
    stalled = [optimum for optimum in found if optimum.status != "solved"]
    assert len(stalled) == len(said)
    for warning, optimum in zip(said, stalled, strict=True):
        assert warning.category is ConvergenceWarning
        assert f"gap of {optimum.gap:.3g}" in str(warning.message)
        assert optimum.violation > machine.tol
    assert all(optimum.violation <= machine.tol for optimum in found if optimum.status == "solved")
    return machine


# ---- prices and weights ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial(2, 1.0)], ids=repr)
def test_a_huge_price_of_slack_on_overlapping_classes(kernel):
    X, y = overlapping()
    machine = settled(SVC(kernel, 1e8, max_iter=300_000), X, y)
    found = machine.solution_
    assert found.status == "stalled" or machine.score(X, y) > 0.6
    assert np.abs(machine.dual_coef_).max() <= 1e8
    assert abs(machine.dual_coef_.sum()) <= 1e-6 * np.abs(machine.dual_coef_).max()
    assert 0 < found.objective < found.objective + found.gap < np.inf


def test_the_default_number_of_steps_is_bounded_in_time():
    X, y = overlapping(100, 2)
    start = time.perf_counter()
    settled(SVC("linear", 1e8), X, y)
    assert time.perf_counter() - start < 60  # usually about 5


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0)], ids=repr)
def test_a_huge_price_of_errors_in_regression(kernel):
    X, _ = overlapping()
    y = X[:, 0] + np.random.default_rng(1).normal(size=200)
    machine = settled(SVR(kernel, 1e8, max_iter=300_000), X, y)
    assert np.isfinite(machine.predict(X)).all()


@pytest.mark.parametrize("weight", [1e-12, 1e-6, 1e6])
def test_a_weight_of_all_items_is_a_factor_of_the_price(weight):
    X, y = overlapping()
    w = np.full(200, weight)
    machine = settled(SVC(Gaussian(1.0), 1.0), X, y, sample_weight=w)
    same = settled(SVC(Gaussian(1.0), weight), X, y)
    np.testing.assert_allclose(machine.dual_coef_, same.dual_coef_, rtol=1e-9)


@pytest.mark.parametrize("weight", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("kind", [NuSVC, OneClassSVM])
def test_with_nu_only_the_shares_of_weights_matter(kind, weight):
    X, y = overlapping()
    plain = kind(Gaussian(1.0), 0.4, tol=1e-6).fit(X, y)
    machine = kind(Gaussian(1.0), 0.4, tol=1e-6).fit(X, y, sample_weight=np.full(200, weight))
    assert set(machine.support_) == set(plain.support_)
    assert np.mean(machine.predict(X) == plain.predict(X)) > 0.98


def test_weights_of_all_magnitudes():
    X, y = overlapping()
    w = 10.0 ** np.random.default_rng(0).integers(-12, 12, 200)
    machine = settled(SVC(Gaussian(1.0), max_iter=300_000), X, y, sample_weight=w)
    heavy = w > 1e6
    assert (machine.predict(X) == y)[heavy].all()


# ---- points that coincide ----------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 10.0, 1e6])
def test_every_point_twice_with_opposite_labels(C):
    """Whatever is learned about a point is learned against it as well: the function is zero."""
    X, y = overlapping(100)
    machine = settled(SVC(Gaussian(1.0), C), np.vstack([X, X]), np.r_[y, 1 - y])
    np.testing.assert_allclose(machine.function_(X), 0.0, atol=2e-3)
    assert machine.solution_.objective == pytest.approx(200 * C, rel=1e-6)


def test_some_points_twice_with_opposite_labels():
    X, y = overlapping()
    machine = settled(SVC(Gaussian(1.0), 10.0), np.vstack([X, X[:20]]), np.r_[y, 1 - y[:20]])
    sizes = np.zeros(220)
    sizes[machine.support_] = np.abs(machine.dual_coef_[0])
    assert (np.maximum(sizes[:20], sizes[200:]) >= 10.0 - 1e-9).all()  # one of two is wrong


def test_thousands_of_identical_points():
    X = np.ones((3000, 2))
    y = (np.arange(3000) % 3 == 0).astype(int)
    machine = settled(SVC(Gaussian(1.0)), X, y)
    assert (machine.predict(X) == 0).all()  # two thirds are
    assert machine.solution_.objective == pytest.approx(2000.0)
    constant = settled(SVR(Gaussian(1.0)), X, np.where(y == 1, 5.0, 2.0))
    np.testing.assert_allclose(constant.predict(X), 2.1, atol=1e-2)
    settled(OneClassSVM(Gaussian(1.0)), X)


def test_thousands_of_identical_points_and_one_other():
    X = np.ones((3001, 2))
    X[0] = 0.0
    y = (np.arange(3001) == 0).astype(int)
    machine = settled(SVC(Gaussian(1.0), 10.0), X, y)
    np.testing.assert_array_equal(machine.predict(X), y)


def test_constant_features_say_nothing():
    X, y = overlapping()
    wide = np.column_stack([X, np.full(200, 3.0), np.zeros(200)])
    one = SVC(Gaussian(1.0), tol=1e-8).fit(X, y)
    two = SVC(Gaussian(1.0), tol=1e-8).fit(wide, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(wide), atol=1e-6)
    only = settled(SVC(), np.full((30, 2), 4.0), np.arange(30) < 20)
    assert only.predict(np.full((1, 2), 4.0)).tolist() == [True]


# ---- scales ------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", Gaussian(1.0), Polynomial(2, 1.0)])
def test_features_of_wildly_different_scales(kernel, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * 10.0 ** np.array([-8, -4, 0, 4, 8])
    y = (X[:, 4] + 1e8 * 0.3 * rng.normal(size=200) > 0).astype(int)
    machine = settled(SVC(kernel, C, max_iter=200_000), X, y)
    assert np.isfinite(machine.decision_function(X)).all()
    assert machine.solution_.status == "stalled" or np.mean(machine.predict(X) == y) > 0.5


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_a_kernel_and_its_price_scale_together(scale):
    X, y = overlapping()
    one = settled(SVC("linear", 1.0, tol=1e-6), X, y)
    two = settled(SVC("linear", scale**-2, tol=1e-6), X * scale, y)
    np.testing.assert_array_equal(one.support_, two.support_)
    scores = two.decision_function(X * scale)
    np.testing.assert_allclose(one.decision_function(X), scores, atol=1e-4)


@pytest.mark.parametrize("far", [1e4, 1e7])
def test_far_from_the_origin_distances_are_what_they_are_near_it(far):
    X, y = overlapping()
    X = np.round(X * 64) / 64  # so that the shift is exact
    one = SVC(Gaussian(1.0), tol=1e-6).fit(X, y)
    two = SVC(Gaussian(1.0), tol=1e-6).fit(X + far, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X + far), atol=1e-4)


# ---- few and many ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_a_hundred_classes_of_five(kind, multiclass):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 5)
    X = 3 * rng.normal(size=(100, 4))[y] + 0.1 * rng.normal(size=(500, 4))
    machine = kind(Gaussian(1.0), multiclass=multiclass)
    if kind is NuSVC:
        machine.set_params(nu=0.3 if multiclass == "ovo" else 0.01)
    start = time.perf_counter()
    machine.fit(X, y)
    assert time.perf_counter() - start < 30  # usually about 2
    assert machine.score(X, y) > 0.95
    assert machine.n_support_.shape == (100,)


@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
def test_two_items_are_told_apart_halfway(C):
    machine = SVC("linear", C).fit([[1.0], [4.0]], ["a", "b"])
    assert machine.predict([[2.4], [2.6]]).tolist() == ["a", "b"]
    np.testing.assert_allclose(machine.decision_function([[2.5]]), 0.0, atol=1e-6)
    a = min(C, 2 / 9)
    np.testing.assert_allclose(machine.dual_coef_, [[-a, a]], rtol=1e-6)


def test_two_items_at_one_place_cannot_be_told_apart():
    machine = SVC(Gaussian(1.0)).fit([[1.0], [1.0]], [0, 1])
    np.testing.assert_allclose(machine.decision_function([[1.0], [5.0]]), 0.0, atol=1e-12)
    with pytest.raises(SolveError, match="not separable"):
        SVC(Gaussian(1.0), np.inf).fit([[1.0], [1.0]], [0, 1])


def test_one_item_is_enough_for_numbers_and_novelty():
    assert SVR(Gaussian(1.0)).fit([[1.0]], [3.0]).predict([[7.0]]).tolist() == [3.0]
    assert OneClassSVM(Gaussian(1.0)).fit([[1.0]]).predict([[1.0], [7.0]]).tolist() == [1, -1]


def test_one_class_much_larger_than_the_other():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(1500, 2)), [[6.0, 6.0]]])
    y = np.r_[np.zeros(1500), 1].astype(int)
    machine = settled(SVC(Gaussian(1.0), 10.0), X, y)
    np.testing.assert_array_equal(machine.predict(X), y)
    inside = settled(SVC(Gaussian(1.0), class_weight="balanced"), rng.normal(size=(1501, 2)), y)
    assert inside.n_support_[1] == 1


# ---- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [1.0, 2.0], [7, -3]])
def test_labels_come_back_as_they_were(labels):
    X, y = overlapping()
    given = np.array(labels)[y]
    machine = SVC(Gaussian(1.0)).fit(X, given)
    found = machine.predict(X)
    assert found.dtype == given.dtype
    assert machine.classes_.tolist() == sorted(labels)
    plain = SVC(Gaussian(1.0)).fit(X, y).predict(X)
    np.testing.assert_array_equal(found == labels[1], plain == 1)


# ---- nu at its ends ----------------------------------------------------------------------------


def test_with_nu_one_every_item_of_equal_classes_counts_alike():
    X, _ = overlapping()
    machine = NuSVC(Gaussian(1.0), 1.0).fit(X, np.arange(200) % 2)
    sizes = np.abs(machine.dual_coef_[0])
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-12)
    assert len(sizes) == 200
    every = OneClassSVM(Gaussian(1.0), 1.0).fit(X)
    np.testing.assert_array_equal(every.dual_coef_, 1.0)


@pytest.mark.parametrize("nu", [1e-6, 1e-3])
def test_a_tiny_nu_is_nearly_a_hard_margin(nu):
    X, y = overlapping()
    machine = NuSVC(Gaussian(0.3), nu, tol=1e-10).fit(X, y)
    hard = SVC(Gaussian(0.3), np.inf).fit(X, y)
    assert machine.margin_ == pytest.approx(hard.margin_, rel=1e-2)
    inside = OneClassSVM(Gaussian(1.0), nu).fit(X)
    assert (inside.predict(X) == 1).all()


def test_coefficients_of_slow_valleys_still_sum_to_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    y = np.sign(X[:, 0] + rng.normal(size=900))
    machine = SVC(Gaussian(2.0), 1e3).fit(X, y)
    beta = machine.dual_coef_
    assert machine.solution_.status == "solved"
    assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()
    assert np.abs(beta).max() <= 1e3


@pytest.mark.parametrize("C", [1e13, 1e15, 1e20])
def test_a_bound_far_beyond_all_coefficients_is_no_bound(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    machine, hard = SVC(Gaussian(1.0), C).fit(X, y), SVC(Gaussian(1.0), np.inf).fit(X, y)
    assert machine.score(X, y) == 1.0
    np.testing.assert_allclose(machine.dual_coef_.sum(), 0.0, atol=1e-9)
    np.testing.assert_allclose(machine.margin_, hard.margin_, rtol=1e-2)


def test_a_repaired_spectrum_leaves_nothing_behind_for_the_next_fit():
    rng = np.random.default_rng(0)
    SVC(Sigmoid(0.02, 0.0), indefinite="clip").fit(rng.normal(size=(60, 3)), np.arange(60) % 2)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 2
    assert SVC().fit(X, y).solution_.status == "solved"


@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_a_large_irrelevant_column_does_not_hide_a_hard_margin(shift):
    X = np.array([[1e5, 0.0], [1e5, 1.0], [-1e5, 0.0], [-1e5, 1.0]]) + shift
    assert SVC("linear", np.inf).fit(X, [0, 1, 0, 1]).margin_ == pytest.approx(0.5, rel=1e-6)


def test_a_warm_start_may_go_on_to_a_hard_margin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    machine = SVC(Gaussian(1.0), 1.0, warm_start=True).fit(X, y).set_params(C=np.inf).fit(X, y)
    assert machine.solution_.status == "solved" and machine.score(X, y) == 1.0


def test_a_few_items_far_away_are_noticed_by_the_check_of_single_precision():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2500, 6)), rng.integers(0, 2, 2500)
    X[rng.choice(2500, 5, replace=False)] = 2e5 + 0.7 * rng.normal(size=(5, 6))
    assert SVC(Gaussian(2.0)).fit(X, y).plan_.precision == "double"
    near = X[np.abs(X).max(axis=1) < 100]
    assert SVC(Gaussian(2.0)).fit(near, y[: len(near)]).plan_.precision == "mixed"


@pytest.mark.slow
def test_many_copies_of_few_items_on_working_sets_are_solved():
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(20, 3)), 350, axis=0), rng.integers(0, 2, 7000)
    machine = SVC(C=1e6).fit(X, y)
    assert not machine.plan_.stored and machine.solution_.status == "solved"


def test_a_linear_machine_has_weights_and_others_have_none():
    X, y = np.array([[-2.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [3.0, 1.0]]), [0, 0, 1, 1]
    machine = SVC("linear", np.inf).fit(X, y)
    np.testing.assert_allclose(X @ machine.coef_.T + machine.intercept_,
                               machine.decision_function(X)[:, None])  # fmt: skip
    assert not hasattr(SVC().fit(X, y), "coef_")


def test_similarities_too_large_for_single_precision_are_predicted_in_double():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    y = (X[:, 0] > 0).astype(int)
    machine = SVC(Polynomial(6, offset=1.0, scale=0.1), 0.1).fit(X, y)
    huge = X[:5] * 1e8
    np.testing.assert_array_equal(machine.predict(huge), machine.decision_function(huge) > 0)


# ---- single precision --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-25, 1e25])
@pytest.mark.parametrize("machine", [SVC, SVR, OneClassSVM])
def test_what_single_precision_cannot_hold_is_computed_in_double(machine, size):
    X, y = overlapping(2000)
    one = settled(machine(Gaussian(2.0 * size)), size * X, y)
    other = settled(machine(Gaussian(2.0), follow=Plan(precision="double")), X, y)
    assert one.plan_.precision == "double"
    np.testing.assert_allclose(one.predict(size * X), other.predict(X), atol=2e-3)


@pytest.mark.slow
def test_labels_of_items_far_beyond_the_others_are_those_of_double_precision():
    """Their similarities are larger, and so is what single precision loses."""
    X, _ = overlapping(2000)
    X *= 0.3
    machine = SVC(Polynomial(3, 1.0), 0.001).fit(X, X[:, 0] + X[:, 1] ** 2 > 0.1)
    assert machine.plan_.precision == "mixed"
    A = 1000 * np.random.default_rng(1).normal(size=(1000, 3))
    scores = machine.decision_function(A)
    up, down = (A[scores > 0][:300], A[scores < 0][:300])
    for _ in range(24):  # to the border between them
        middle = (up + down) / 2
        above = (machine.decision_function(middle) > 0)[:, None]
        up, down = np.where(above, middle, up), np.where(above, down, middle)
    assert machine.predict(up).all() and not machine.predict(down).any()
