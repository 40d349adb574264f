"""Scaled targets: means and medians in their own unit, weights, files and refusals."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import SVC, SVR, KernelRidge, ScaledTarget
from mercer.errors import DomainError, ValidityError
from mercer.machines.scaled_target import smeared
from mercer.machines.target_powers import forward


def skewed_rows(count, seed=0, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 3, size=(count, 1))
    return X, np.exp(2 * X[:, 0] + noise * rng.normal(size=count))


def linear(**given):
    return ScaledTarget(KernelRidge("linear", 0.01, intercept=True), **given)


def test_the_machine_inside_learns_the_target_on_its_scale():
    X, y = skewed_rows(80)
    for scale in ("log", "root", "fourth root"):
        machine = linear(scale=scale).fit(X, y)
        alone = KernelRidge("linear", 0.01, intercept=True).fit(X, forward(y, scale))
        np.testing.assert_allclose(machine.predict_scaled(X), alone.predict(X), rtol=1e-12)
        np.testing.assert_array_equal(machine.dual_coef_, alone.dual_coef_)


def test_the_mean_is_that_of_a_lognormal_target_and_the_median_too():
    X, y = skewed_rows(4000)
    at, sigma = np.array([[0.5], [1.5], [2.5]]), 0.6
    mean, median = np.exp(2 * at[:, 0] + sigma**2 / 2), np.exp(2 * at[:, 0])
    np.testing.assert_allclose(linear().fit(X, y).predict(at), mean, rtol=0.06)
    found = linear(answer="median").fit(X, y).predict(at)
    np.testing.assert_allclose(found, median, rtol=0.06)
    # Half of the variance lies between them, which the tolerance does not hide.
    assert (mean / median).min() > 1.15


def test_smearing_is_the_mean_of_the_answers_with_each_error():
    rng = np.random.default_rng(0)
    t, r = rng.normal(size=7), 0.3 * rng.normal(size=50)
    np.testing.assert_allclose(
        smeared(t, "log", r), [np.mean([np.exp(a + e) for e in r]) for a in t], rtol=1e-12
    )
    np.testing.assert_allclose(
        smeared(t, "root", r), [np.mean([max(a + e, 0) ** 2 for e in r]) for a in t], rtol=1e-12
    )


def test_many_errors_are_told_by_some_that_keep_their_mean_and_tails():
    X, y = skewed_rows(3000)
    few = linear().fit(X, y)
    assert len(few.residuals_) == 500
    every = linear().fit(X[:400], y[:400])
    assert len(every.residuals_) == 400
    np.testing.assert_allclose(np.std(few.residuals_), 0.6, rtol=0.05)


def test_an_item_of_weight_two_counts_as_two():
    X, y = skewed_rows(60)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weights.astype(int))
    folds = np.arange(60) % 4
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    again = [
        (np.flatnonzero(folds[twice] != k), np.flatnonzero(folds[twice] == k)) for k in range(4)
    ]
    weighted = linear().fit(X, y, weights, splits=pairs)
    repeated = linear().fit(X[twice], y[twice], splits=again)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0.01)
    unweighted = linear().fit(X, y, splits=pairs)
    assert abs(weighted.dual_coef_ - unweighted.dual_coef_).max() > 0.01


def test_similarities_that_were_computed_before_will_do():
    X, y = skewed_rows(50)
    alone = linear().fit(X, y)
    given = ScaledTarget(KernelRidge("precomputed", 0.01, intercept=True)).fit(X @ X.T, y)
    np.testing.assert_allclose(given.predict(X @ X.T), alone.predict(X), rtol=1e-8)


def test_a_file_answers_as_the_machine_does(tmp_path):
    X, y = skewed_rows(50)
    machine = linear(scale="fourth root").fit(X, y)
    mercer.save(machine, tmp_path / "model.mercer")
    kept = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(kept.predict(X), machine.predict(X))
    assert clone(machine).get_params()["scale"] == "fourth root"


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (ScaledTarget(SVC()), "must be a regressor"),
        (linear(scale="logarithm"), "cannot be on the scale 'logarithm'"),
        (linear(answer="mode"), "answer cannot be 'mode'"),
        (linear(folds=1), "folds must be a whole number from 2 on, found 1"),
        (linear(sample=0.5), "sample must be a whole number"),
    ],
)
def test_parameters_that_cannot_work_are_refused(machine, said):
    X, y = skewed_rows(20)
    with pytest.raises(ValidityError, match=said):
        machine.fit(X, y)


def test_targets_without_a_logarithm_are_refused_by_the_first():
    X, y = skewed_rows(20)
    with pytest.raises(DomainError, match="item 3 has -1"):
        linear().fit(X, np.where(np.arange(20) == 3, -1.0, y))
    with pytest.raises(DomainError, match="row 2"):
        linear().fit(X, np.where(np.arange(20) == 2, np.nan, y))
    with pytest.raises(DomainError, match="1d array"):
        linear().fit(X, np.column_stack([y, y]))


def test_margins_learn_on_a_scale_too():
    X, y = skewed_rows(60)
    machine = ScaledTarget(SVR("gaussian", C=10.0), "root", answer="median").fit(X, y)
    alone = SVR("gaussian", C=10.0).fit(X, np.sqrt(y)).predict(X)
    np.testing.assert_allclose(machine.predict(X), np.maximum(alone, 0) ** 2, rtol=1e-9)
