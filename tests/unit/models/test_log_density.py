"""Densities of users, in NumPy and in Torch."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.models import FromLogDensity, FromTorch, GaussianDensity, from_log_density, from_torch
from tests.unit.models.cases import ROWS, log_cauchy, log_independent


def log_normal(x, mean, log_scale):
    return -0.5 * ((x - mean) / np.exp(log_scale)) ** 2 - log_scale - 0.5 * np.log(2 * np.pi)


def test_differences_have_about_ten_digits():
    model = from_log_density(log_normal, mean=1.0, log_scale=0.5)
    x = np.array([-2.0, 0.0, 3.0])
    z = (x - 1) / np.exp(0.5)
    exact = np.column_stack([z / np.exp(0.5), z**2 - 1])
    np.testing.assert_allclose(model.score(x), exact, rtol=1e-9, atol=1e-9)
    coarse = FromLogDensity(log_normal, model.theta, step=1e-2).score(x)
    assert 1e-9 < np.abs(coarse - exact).max() < 1e-3


def test_all_at_once_is_one_after_the_other():
    once = from_log_density(log_independent, vectorized=True, means=[1.0, 2.0, 0.0])
    assert once.parameter_names == ["means[0]", "means[1]", "means[2]"]

    def single(x, means):
        return log_independent(np.asarray(x)[None], means)[0]

    slow = from_log_density(single, means=[1.0, 2.0, 0.0])
    np.testing.assert_array_equal(once.log_density(ROWS), slow.log_density(ROWS))
    np.testing.assert_array_equal(once.score(ROWS.tolist()), slow.score(ROWS.tolist()))


def test_things_may_be_anything():
    model = from_log_density(lambda word, rate: len(word) * np.log(rate) - rate, rate=2.0)
    np.testing.assert_allclose(model.score(["abc", ""]), [[0.5], [-1.0]], rtol=1e-9)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    rows = from_log_density(lambda row, s: -s * (row["a"] + row["b"]), s=1.0)
    np.testing.assert_allclose(rows.score(frame), [[-1.0], [-3.0]], rtol=1e-9)


def test_fitting_finds_the_normal_distribution():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=200)
    found = from_log_density(log_normal, mean=0.0, log_scale=0.0).fit(X)
    theta = dict(found.theta)
    np.testing.assert_allclose(theta["mean"], X.mean(), atol=1e-4)
    np.testing.assert_allclose(theta["log_scale"], np.log(X.std()), atol=1e-4)


def test_a_density_that_is_not_a_number_is_refused_with_its_item():
    bad = from_log_density(lambda x, a: np.nan if x > 2 else a * x, a=1.0)
    with pytest.raises(DomainError, match=r"log density of item 2 of X .* is nan"):
        bad.log_density([0.0, 1.0, 3.0])
    border = from_log_density(lambda x, a: 0.0 if a <= 1 else np.nan, a=1.0)
    with pytest.raises(DomainError, match="score of item 0 of X is nan for a"):
        border.score([0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FromLogDensity(3, {"a": 1.0}), "needs a function"),
        (lambda: FromLogDensity(log_cauchy, {}), "at least one"),
        (lambda: FromLogDensity(log_cauchy, {"a": np.nan}), "finite numbers"),
        (lambda: FromLogDensity(log_cauchy, {"a": "b"}), "dict of names and numbers"),
        (lambda: FromLogDensity(log_cauchy, 3), "dict of names and numbers"),
        (lambda: FromLogDensity(log_cauchy, {"a": 1.0}, step=0.0), "step .* positive"),
        (lambda: from_log_density(lambda x, a: "no", a=1.0).log_density([1]), "not a number"),
        (
            lambda: from_log_density(lambda X, a: a, vectorized=True, a=1.0).log_density([1, 2]),
            r"shape \(\) for 2 items",
        ),
        (lambda: from_log_density(lambda x, a: -np.inf, a=1.0).fit([1, 2]), "cannot be fitted"),
    ],
)
def test_what_is_no_density_is_refused(make, message):
    with pytest.raises(ValidityError, match=message):
        make()


def test_a_search_that_fails_says_so():
    kink = from_log_density(lambda x, a: np.sin(1e8 * a) - abs(x), a=0.1)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        kink.fit([1.0])


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = from_torch(log_normal, mean=0.0, log_scale=0.0)
    with pytest.raises(ImportError, match=r"mercer\[gpu\]"):
        model.log_density([1.0])


def test_torch_differentiates_exactly():
    torch = pytest.importorskip("torch")

    def log_normal(x, mean, L):
        y = torch.linalg.solve_triangular(L, (x - mean)[..., None], upper=False)[..., 0]
        return -0.5 * (y * y).sum(-1) - L.diagonal().log().sum() - 1.5 * np.log(2 * np.pi)

    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 1.5]])
    L = np.linalg.cholesky(covariance)
    exact = GaussianDensity([1.0, 0.0, 2.0], covariance)
    expected = exact.score(ROWS)
    for vectorized in (False, True):
        model = from_torch(log_normal, vectorized, mean=[1.0, 0.0, 2.0], L=L)
        np.testing.assert_allclose(model.log_density(ROWS), exact.log_density(ROWS), rtol=1e-12)
        found = model.score(ROWS)
        np.testing.assert_allclose(found[:, :3], expected[:, :3], rtol=1e-10)
        # Of L itself, not of its logarithm.
        last = model.parameter_names.index("L[2, 2]")
        log_last = exact.parameter_names.index("log_factor[2]")
        np.testing.assert_allclose(found[:, last] * L[2, 2], expected[:, log_last], rtol=1e-10)
    partly = FromTorch(lambda x, a, b: a * x.sum(), {"a": 2.0, "b": 1.0})
    np.testing.assert_array_equal(partly.score(ROWS)[:, 1], 0.0)
    fitted = from_torch(lambda x, a: -((x - a) ** 2).sum(), a=0.0).fit([[1.0], [3.0]])
    np.testing.assert_allclose(fitted.theta[0][1], 2.0, atol=1e-5)
    with pytest.raises(ValidityError, match="one number"):
        FromTorch(lambda x, a: a * x, {"a": 1.0}).log_density(ROWS)
    with pytest.raises(ValidityError, match="shape"):
        FromTorch(lambda x, a: a * x, {"a": 1.0}, vectorized=True).log_density(ROWS)
    constant = FromTorch(lambda x, a: x.sum(), {"a": 1.0})
    np.testing.assert_array_equal(constant.score(ROWS), np.zeros((len(ROWS), 1)))


def test_importing_models_loads_nothing_heavy():
    heavy = ("sklearn", "numba", "torch", "pandas", "matplotlib", "scipy.stats", "scipy.optimize")
    code = f"import sys, mercer.models\nprint(*(m for m in {heavy!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == []
