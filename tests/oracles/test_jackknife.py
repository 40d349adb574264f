"""The jackknife+ and CV+ in closed form, held against machines that are fitted again."""

import numpy as np
import pytest

from mercer import Conformal, GaussianProcess, KernelRidge, Nystrom, Plan, Random
from mercer.kernels import Gaussian, Linear, Polynomial


def data(n=36, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=n)


def by_refits(machine, X, y, new, fold, level, weights=None):
    """Barber et al. (2021), equations (5) and (6), by as many fits as there are folds."""
    n = len(y)
    low, high = np.empty((len(new), n)), np.empty((len(new), n))
    for k in np.unique(fold):
        train, test = fold != k, np.flatnonzero(fold == k)
        own = {} if weights is None else {"sample_weight": weights[train]}
        fitted = machine.fit(X[train], y[train], **own)
        answers = fitted.predict(new)
        for i in test:
            residual = abs(y[i] - fitted.predict(X[[i]])[0])
            low[:, i], high[:, i] = answers - residual, answers + residual
    up = int(np.ceil(level * (n + 1) - 1e-9))
    down = int(np.floor((1 - level) * (n + 1) + 1e-9))
    return np.column_stack([np.sort(low, axis=1)[:, down - 1], np.sort(high, axis=1)[:, up - 1]])


MACHINES = {
    "dual": KernelRidge(Gaussian(1.0), 0.3),
    "dual with an intercept": KernelRidge(Gaussian(1.0), 0.3, intercept=True),
    "features": KernelRidge(Linear(), 0.5),
    "features with an intercept": KernelRidge(Polynomial(2, 1.0), 0.5, intercept=True),
    "process": GaussianProcess(Gaussian(0.7), 0.2, intercept=True),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_out_one_at_a_time_is_what_fitting_again_gives(name, weighted):
    X, y = data()
    new = data(9, seed=1)[0]
    w = np.linspace(0.5, 3.0, len(y)) if weighted else None
    machine = Conformal(MACHINES[name], 0.8).fit(X, y, w)
    assert machine.method_ == "jackknife+" and machine.left_out_ is not None
    expected = by_refits(MACHINES[name], X, y, new, np.arange(len(y)), 0.8, w)
    np.testing.assert_allclose(machine.predict_interval(new), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", MACHINES)
def test_leaving_out_folds_is_what_fitting_again_gives(name):
    X, y = data()
    new = data(9, seed=1)[0]
    machine = Conformal(MACHINES[name], 0.8, method="cv+", folds=5).fit(X, y)
    assert not machine.folds_
    expected = by_refits(MACHINES[name], X, y, new, machine.scores_.fold, 0.8)
    np.testing.assert_allclose(machine.predict_interval(new), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("how", [Nystrom(centers=data(12, seed=2)[0]), Random(60, seed=3)])
def test_sketches_are_left_out_as_they_are_fitted_again(how):
    X, y = data(60)
    new = data(9, seed=1)[0]
    sketch = KernelRidge(Gaussian(1.0), 0.3, follow=Plan(approximate=how))
    machine = Conformal(sketch, 0.8, folds=6).fit(X, y)
    assert machine.method_ == "cv+" and machine.left_out_ is not None
    expected = by_refits(sketch, X, y, new, machine.scores_.fold, 0.8)
    np.testing.assert_allclose(machine.predict_interval(new), expected, rtol=1e-6, atol=1e-6)


def test_groups_are_left_out_together():
    X, y = data()
    groups = np.arange(len(y)) // 3
    machine = Conformal(MACHINES["dual"], 0.8).fit(X, y, groups=groups)
    for group in (0, 5):
        rest = groups != group
        fitted = MACHINES["dual"].fit(X[rest], y[rest])
        expected = np.abs(y[~rest] - fitted.predict(X[~rest]))
        np.testing.assert_allclose(machine.scores_.scores[~rest], expected, rtol=1e-8)


def test_digits_that_a_tiny_penalty_loses_are_not_made_up():
    X, y = data()
    lost = KernelRidge(Gaussian(5.0), 1e-9)
    machine = Conformal(lost, 0.8).fit(X, y)  # fits again instead
    assert machine.folds_ and machine.left_out_ is None
    with pytest.raises(ValueError, match="loses too many digits"):
        Conformal(lost, 0.8, method="jackknife+").fit(X, y)
