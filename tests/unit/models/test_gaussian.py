"""Normal distributions of vectors."""

import numpy as np
import pytest
from scipy import sparse, stats

from mercer.errors import DomainError, ValidityError
from mercer.models import GaussianDensity
from mercer.models.gaussian import floored_covariances
from tests.unit.models.cases import MATRIX, ROWS


def test_the_log_density_is_that_of_scipy():
    model = GaussianDensity([1.0, 0.0, -1.0], MATRIX)
    expected = stats.multivariate_normal([1.0, 0.0, -1.0], MATRIX).logpdf(ROWS)
    np.testing.assert_allclose(model.log_density(ROWS), expected, rtol=1e-12)
    single = model.log_density(ROWS.astype(np.float32))
    np.testing.assert_allclose(single, expected, rtol=1e-5)


def test_a_known_covariance_leaves_a_linear_score():
    model = GaussianDensity([0.0, 0.0], 1.0, fixed="covariance")
    X = np.array([[1.0, 2.0], [-3.0, 0.5]])
    np.testing.assert_array_equal(model.score(X), X)
    np.testing.assert_array_equal(model.information(), np.eye(2))
    assert model.parameter_names == ["mean[0]", "mean[1]"]


def test_covariances_are_given_in_three_ways():
    full = GaussianDensity([1.0, 2.0], [[2.0, 0.0], [0.0, 3.0]])
    assert GaussianDensity([1.0, 2.0], [2.0, 3.0]) == full
    assert GaussianDensity([1.0, 2.0], 2.0) == GaussianDensity([1.0, 2.0], np.eye(2) * 2)
    for covariance in (2.0, [2.0, 3.0], np.diag([2.0, 3.0])):
        model = GaussianDensity(covariance=covariance, fixed="covariance")
        assert not model.fitted
        fitted = model.fit([[0.0, 1.0], [2.0, 3.0]])
        np.testing.assert_array_equal(fitted.mean, [1.0, 2.0])
        np.testing.assert_array_equal(np.diag(fitted.covariance)[0], 2.0)


def test_fitting_gives_mean_and_covariance():
    found = GaussianDensity().fit(ROWS)
    np.testing.assert_allclose(found.mean, ROWS.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(ROWS.T, bias=True))
    around = GaussianDensity(mean=[0.0, 0.0, 0.0], fixed="mean").fit(ROWS)
    np.testing.assert_allclose(around.covariance, ROWS.T @ ROWS / len(ROWS))
    assert GaussianDensity([5.0], [[2.0]]).fit(ROWS) == found  # of another width, forgotten


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean": [0.0, 0.0], "covariance": [[1.0, 2.0], [2.0, 1.0]]}, "eigenvalue is -1"),
        ({"mean": [0.0, 0.0], "covariance": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
        ({"mean": [0.0, 0.0], "covariance": np.eye(3)}, "shape 2 × 2, found 3 × 3"),
        ({"mean": [0.0, 0.0], "covariance": [1.0, -1.0]}, "must be positive"),
        ({"mean": [0.0, np.nan]}, "must be finite"),
        ({"mean": [[0.0]]}, "shape any, found 1 × 1"),
        ({"mean": []}, "shape any, found 0"),
        ({"fixed": "covariance"}, "fixed, but not given"),
        ({"mean": [0.0], "covariance": 1.0, "fixed": ("mean", "covariance")}, "both be fixed"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValidityError, match=message):
        GaussianDensity(**arguments)


def test_bad_items_are_named():
    model = GaussianDensity([0.0, 0.0], 1.0)
    with pytest.raises(DomainError, match="X has 3 columns, but GaussianDensity is about 2"):
        model.log_density(ROWS)
    with pytest.raises(DomainError, match="NaN at row 0, column 1"):
        model.log_density([[0.0, np.nan]])
    with pytest.raises(DomainError, match="GaussianDensity needs dense rows"):
        model.log_density(sparse.csr_array(np.eye(2)))
    with pytest.raises(DomainError, match="covariance of the 2 columns of X is singular"):
        GaussianDensity().fit([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    with pytest.raises(DomainError, match="all sample weights are zero"):
        GaussianDensity().fit(ROWS, weights=np.zeros(len(ROWS)))


def test_raised_covariances_are_the_most_likely_above_the_floor():
    rng = np.random.default_rng(0)
    S = np.diag([4.0, 0.01]) @ (np.eye(2) + 0.001)
    S = (S + S.T) / 2
    floors = np.array([0.5, 0.25])
    best = floored_covariances(S[None], floors)[0]

    def loss(C):
        return np.log(np.linalg.det(C)) + np.trace(np.linalg.solve(C, S))

    unit = np.diag(floors)
    assert np.linalg.eigvalsh(best - unit)[0] >= -1e-12
    for _ in range(200):  # no other one above the floor is better
        A = rng.normal(size=(2, 2)) * 2
        assert loss(best) <= loss(unit + A @ A.T) + 1e-12
    free = np.array([np.diag([4.0, 1.0])])
    assert floored_covariances(free, floors) is free
