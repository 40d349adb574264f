"""Probabilities of support vector machines: they agree with predict, and are worth something."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from mercer import SVC, NuSVC
from mercer.errors import DomainError
from mercer.kernels import Gaussian, from_function
from mercer.machines.calibration import agree_with, couple_pairs, fit_sigmoid

METHODS = ["cross-validated", "exact"]


def clouds(n=150, classes=3, spread=1.2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    angles = 2 * np.pi * y / classes
    return np.column_stack([np.cos(angles), np.sin(angles)]) + spread * rng.normal(size=(n, 2)), y


def everywhere(n=3000):
    return 6 * np.random.default_rng(7).uniform(-1, 1, size=(n, 2))


# ---- agreement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_the_most_probable_class_is_the_predicted_one(method, classes, multiclass, break_ties):
    X, y = clouds(classes=classes)
    machine = SVC(
        Gaussian(0.7), 5.0, probability=method, multiclass=multiclass, break_ties=break_ties,
        random_state=0,
    ).fit(X, np.array(["a", "b", "c", "d", "e"])[y])  # fmt: skip
    new = np.vstack([X, everywhere()])
    P = machine.predict_proba(new)
    assert P.shape == (len(new), classes)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(new))


def test_far_away_where_votes_are_equal_the_first_class_is_the_most_probable():
    """Far from all items a Gaussian is zero, and only the intercepts vote."""
    X, y = clouds(classes=3)
    machine = SVC(Gaussian(0.5), probability=True, random_state=0).fit(X, y)
    far = np.full((4, 2), 1e3)
    assert (machine.predict_proba(far).argmax(axis=1) == machine.predict(far)).all()


def test_logarithms_are_those_of_the_probabilities():
    X, y = clouds()
    machine = SVC(Gaussian(1.0), probability="exact").fit(X, y)
    np.testing.assert_array_equal(machine.predict_log_proba(X), np.log(machine.predict_proba(X)))


def test_nu_machines_have_probabilities_too():
    X, y = clouds()
    machine = NuSVC(Gaussian(1.0), 0.5, probability=True, random_state=0).fit(X, y)
    P = machine.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), machine.predict(X))
    assert log_loss(y, P) < 0.9 * np.log(3)


# ---- only when asked ---------------------------------------------------------------------------


def test_without_being_asked_there_are_none():
    X, y = clouds()
    machine = SVC().fit(X, y)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(machine, name)
        with pytest.raises(AttributeError):
            getattr(machine, name)(X)


def test_asking_after_the_fit_is_too_late():
    X, y = clouds()
    machine = SVC().fit(X, y).set_params(probability=True)
    with pytest.raises(AttributeError, match="not asked for when this machine was fitted"):
        machine.predict_proba(X)


def test_probabilities_do_not_change_the_machine():
    X, y = clouds()
    plain, asked = SVC().fit(X, y), SVC(probability=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, asked.dual_coef_)
    np.testing.assert_array_equal(plain.decision_function(X), asked.decision_function(X))


# ---- quality -----------------------------------------------------------------------------------


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_held_out_items_are_more_probable_than_by_chance(method, classes, multiclass):
    X, y = clouds(400, classes, spread=0.7)
    machine = SVC(Gaussian(1.0), probability=method, multiclass=multiclass, random_state=0)
    P = machine.fit(X[:200], y[:200]).predict_proba(X[200:])
    assert log_loss(y[200:], P) < 0.6 * np.log(classes)


def test_cross_validation_is_less_sure_of_itself_than_the_training_items():
    """A narrow Gaussian learns its items by heart, which says nothing about others."""
    X, y = clouds(200, 2)
    new, truth = clouds(400, 2, seed=1)
    losses = []
    for method in METHODS:
        machine = SVC(Gaussian(0.2), 100.0, probability=method, random_state=0).fit(X, y)
        losses.append(log_loss(truth, machine.predict_proba(new)))
    assert losses[0] < losses[1]


def test_of_items_called_seventy_percent_about_seventy_percent_are():
    X, y = clouds(3000, 2, spread=1.5)
    machine = SVC(Gaussian(1.5), probability=True, random_state=0).fit(X[:600], y[:600])
    p = machine.predict_proba(X[600:])[:, 1]
    for low in (0.2, 0.4, 0.6):
        inside = (p >= low) & (p < low + 0.2)
        assert inside.sum() > 100
        assert abs(y[600:][inside].mean() - p[inside].mean()) < 0.1


# ---- folds -------------------------------------------------------------------------------------


def test_the_seed_decides_about_the_folds():
    X, y = clouds()
    one, two, other = (
        SVC(probability=True, random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_a_class_with_one_item_cannot_be_held_out(multiclass):
    X, y = clouds(21)
    labels = np.array(["ant", "bee", "cat"])[np.where(np.arange(21) == 2, 2, y % 2)]
    machine = SVC(probability=True, multiclass=multiclass)
    with pytest.raises(DomainError, match=r"class 'cat' has only one item.*exact"):
        machine.fit(X, labels)
    P = machine.set_params(probability="exact").fit(X, labels).predict_proba(X)
    np.testing.assert_array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(X))


def test_a_class_with_two_items_makes_two_folds():
    X, y = clouds(22, 2)
    y = (np.arange(22) < 2).astype(int)
    machine = SVC(Gaussian(1.0), probability=True, random_state=0).fit(X, y)
    assert machine.predict_proba(X).shape == (22, 2)


def test_items_of_weight_zero_do_not_count():
    X, y = clouds(120)
    w = (np.arange(120) % 4 < 2).astype(float)
    P = SVC(probability="exact").fit(X, y, sample_weight=w).predict_proba(X)
    alone = SVC(probability="exact").fit(X[w > 0], y[w > 0]).predict_proba(X)
    np.testing.assert_allclose(P, alone, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_precomputed_similarities_and_objects_have_probabilities(method):
    X, y = clouds(60, 2)
    k, choices = Gaussian(1.0), {"probability": method, "random_state": 0, "tol": 1e-9}
    expected = SVC(k, **choices).fit(X, y).predict_proba(X)
    machine = SVC("precomputed", **choices).fit(k(X), y)
    np.testing.assert_allclose(machine.predict_proba(k(X)), expected, atol=1e-6)
    items = SVC(from_function(k.pair), **choices).fit(list(X), y)
    np.testing.assert_allclose(items.predict_proba(list(X)), expected, atol=1e-6)


# ---- parts -------------------------------------------------------------------------------------


def test_the_sigmoid_has_the_largest_likelihood_of_platts_targets():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=80)
    plus = scores + rng.normal(size=80) > 0
    w = rng.uniform(0.5, 2.0, 80)
    n, m = w[plus].sum(), w[~plus].sum()
    t = np.where(plus, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(A, B):
        p = 1 / (1 + np.exp(A * scores + B))
        return -(w * (t * np.log(p) + (1 - t) * np.log(1 - p))).sum()

    A, B = fit_sigmoid(scores, plus, w)
    for step in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
        assert loss(A, B) < loss(A + step[0], B + step[1])


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_sigmoid_does_not_mind_the_scale_of_scores(scale):
    scores = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0])
    plus = np.array([0, 0, 0, 1, 1, 1]) == 1
    A, B = fit_sigmoid(scores * scale, plus, np.ones(6))
    one, two = fit_sigmoid(scores, plus, np.ones(6))
    assert A * scale == pytest.approx(one, rel=1e-6)
    assert B == pytest.approx(two, rel=1e-6, abs=1e-9)


def test_scores_that_are_all_equal_give_the_share_of_the_class():
    _, B = fit_sigmoid(np.zeros(30), np.arange(30) < 10, np.ones(30))
    assert 1 / (1 + np.exp(B)) == pytest.approx(1 / 3, abs=0.02)


def test_consistent_pairs_are_joined_to_the_distribution_they_come_from():
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    pairs = np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    np.testing.assert_allclose(couple_pairs(pairs, 3), p, rtol=1e-9)


def test_an_agreeing_distribution_moves_as_little_as_it_can():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5), size=400)
    winners = rng.integers(0, 5, size=400)
    Q = agree_with(P, winners)
    np.testing.assert_array_equal(Q.argmax(axis=1), winners)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, rtol=1e-12)
    right = P.argmax(axis=1) == winners
    np.testing.assert_array_equal(Q[right], P[right])
    moved = Q[~right]
    top = moved.max(axis=1, keepdims=True)
    unequal = moved < top - 1e-9  # those that did not share are as they were
    np.testing.assert_allclose(moved[unequal], P[~right][unequal], rtol=1e-9)


def test_an_item_of_weight_zero_is_held_out_of_no_fold():
    X, y = clouds(40, 2)
    weights = np.where((y == 1) & (np.arange(40) > 3), 0.0, 1.0)
    found = SVC(Gaussian(1.0), probability=True, random_state=0)
    left = weights > 0
    with_zeros = found.fit(X, y, sample_weight=weights).predict_proba(X)
    without = found.fit(X[left], y[left]).predict_proba(X)
    np.testing.assert_allclose(with_zeros, without, atol=1e-9)


def test_a_class_with_one_item_of_any_weight_has_no_folds():
    X, y = clouds(40, 2)
    weights = np.where((y == 1) & (np.arange(40) > 1), 0.0, 1.0)
    with pytest.raises(DomainError, match="only one item"):
        SVC(Gaussian(1.0), probability=True).fit(X, y, sample_weight=weights)
