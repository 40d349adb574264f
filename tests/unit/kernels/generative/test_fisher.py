"""Whitened scores: which information, which ridge, and what is said about it."""

import warnings
from typing import ClassVar

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.domains import VECTORS
from mercer.errors import DomainError, ModelWarning, ValidityError
from mercer.kernels import Density, Fisher, Gaussian
from mercer.models import FromSciPy, GaussianDensity, Model, from_log_density, model

rng = np.random.default_rng(6)
X = rng.normal(size=(40, 2)) @ [[1.0, 0.5], [0.0, 0.7]]
MODEL = GaussianDensity([0.1, 0.0], [[1.0, 0.3], [0.3, 0.8]])


def shifted(x, mean=0.0, other=0.0):
    """A log density in which one parameter does nothing."""
    return -0.5 * (x - mean) ** 2


def uniform(x, width=1.0):
    return -np.log(width) if 0 <= x <= width else -np.inf


@pytest.mark.parametrize("information", ["empirical", "diagonal", "exact", "identity"])
def test_features_are_whitened_scores(information):
    k = Fisher(MODEL, information).resolve(X)
    G = MODEL.score(X)
    F = {
        "empirical": G.T @ G / len(G),
        "diagonal": np.diag(np.mean(G * G, axis=0)),
        "exact": MODEL.information(),
        "identity": np.eye(G.shape[1]),
    }[information]
    expected = G @ np.linalg.solve(F, G.T)
    np.testing.assert_allclose(k(X), expected, rtol=1e-9, atol=1e-9 * expected.max())
    Phi = k.features(X)
    assert Phi.shape == G.shape
    np.testing.assert_allclose(Phi @ Phi.T, expected, rtol=1e-9, atol=1e-9 * expected.max())


def test_empirical_whitening_makes_the_second_moment_the_identity():
    Phi = Fisher(MODEL).resolve(X).features(X)
    np.testing.assert_allclose(Phi.T @ Phi / len(X), np.eye(Phi.shape[1]), atol=1e-10)


def test_the_information_may_be_given():
    F = MODEL.information()
    np.testing.assert_array_equal(Fisher(MODEL, F)(X), Fisher(MODEL, "exact")(X))
    np.testing.assert_allclose(
        Fisher(MODEL, np.diag(F))(X), Fisher(MODEL, np.diag(np.diag(F)))(X), rtol=1e-12
    )


def test_resolved_it_holds_a_matrix_that_is_not_written_to():
    k = Fisher(MODEL).resolve(X)
    assert k.information.shape == (5, 5) and k.ridge == 0.0
    assert not k.information.flags.writeable
    assert k.resolve(X[:3]) == k
    assert eval(repr(k), {"Fisher": Fisher, "GaussianDensity": GaussianDensity}) == k


def test_a_ridge_is_in_units_of_the_mean_of_the_diagonal():
    F, G = MODEL.information(), MODEL.score(X)
    k = Fisher(MODEL, F, ridge=0.5)
    expected = G @ np.linalg.solve(F + 0.5 * np.trace(F) / 5 * np.eye(5), G.T)
    np.testing.assert_allclose(k(X), expected, rtol=1e-10, atol=1e-12)
    diagonal = np.diag(F)
    expected = (G / (diagonal + 0.5 * diagonal.mean())) @ G.T
    np.testing.assert_allclose(Fisher(MODEL, diagonal, 0.5)(X), expected, rtol=1e-10, atol=1e-12)


def test_fewer_items_than_parameters_need_a_ridge_and_a_warning_names_it():
    with pytest.warns(ModelWarning, match=r"5 parameters has only rank 3; ridge=0.001") as caught:
        k = Fisher(MODEL).resolve(X[:3])
    assert len(caught) == 1
    assert k.ridge == 0.001
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = k(X)  # what was said once is now a parameter
        assert Fisher(MODEL, ridge=0.1).resolve(X[:3]).ridge == 0.1
    assert np.isfinite(K).all()


def test_without_a_ridge_few_items_are_all_equally_unlike():
    few = X[:4]
    K = Fisher(MODEL, ridge=1e-9).resolve(few)(few)
    np.testing.assert_allclose(K, 4 * np.eye(4), atol=1e-5)


def test_a_parameter_that_does_nothing_is_noticed():
    made = from_log_density(shifted, mean=0.0, other=0.0)
    items = [1.0, 2.0, -1.0]
    with pytest.warns(ModelWarning, match="2 parameters has only rank 1"):
        assert Fisher(made).resolve(items).ridge == 0.001
    with pytest.warns(ModelWarning, match="2 parameters has only rank 1"):
        assert Fisher(made, "diagonal").resolve(items).ridge == 0.001
    with pytest.warns(ModelWarning, match="2 parameters has only rank 1"):
        K = Fisher(made, [[1.0, 0.0], [0.0, 0.0]])(items)
    np.testing.assert_allclose(K, np.outer(items, items) / (1 + 0.001 / 2), rtol=1e-8)


@pytest.mark.parametrize("information", [[[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0]])
def test_a_singular_information_cannot_be_inverted_without_a_ridge(information):
    made = from_log_density(shifted, mean=0.0, other=0.0)
    with pytest.raises(ValidityError, match=r"has only rank 1 .* give a ridge > 0"):
        Fisher(made, information, ridge=0.0)([1.0, 2.0])


def test_scores_that_are_all_zero_have_no_information():
    made = from_log_density(shifted, mean=0.0, other=0.0)
    with pytest.raises(ValidityError, match="only rank 0"):
        Fisher(made).resolve([0.0, 0.0])


@pytest.mark.parametrize(
    ("information", "message"),
    [
        ("exakt", "did you mean 'exact'"),
        ([[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "eigenvalue -1"),
        ([1.0, -1.0], "eigenvalue -1"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN"),
        (np.ones((2, 3)), "square matrix"),
        (np.ones((0,)), "square matrix"),
        ([["a"]], "information of Fisher"),
    ],
)
def test_what_cannot_be_an_information_is_refused(information, message):
    with pytest.raises(ValidityError, match=message):
        Fisher(MODEL, information)


def test_an_information_of_another_model_is_refused():
    with pytest.raises(ValidityError, match="made for 2 parameters, but GaussianDensity has 5"):
        Fisher(MODEL, np.eye(2))(X)


def test_a_ridge_is_not_negative():
    with pytest.raises(ValidityError, match="ridge of Fisher"):
        Fisher(MODEL, ridge=-1.0)


def test_a_model_that_does_not_know_its_information_says_what_else_there_is():
    with pytest.raises(ValidityError, match="information='empirical'"):
        Fisher(from_log_density(shifted, mean=0.0), "exact")([1.0, 2.0])


@model
class Bare(Model):
    """A density without anything else."""

    domain: ClassVar = VECTORS

    def log_densities(self, points):
        return -np.abs(points.array[:, 0])


def test_a_model_without_scores_or_without_learning_is_refused():
    with pytest.raises(ValidityError, match="Bare has no scores, which Fisher compares"):
        Fisher(Bare(), "identity")(X)
    with pytest.raises(ValidityError, match=r"Bare cannot be fitted; .*fit_model=False"):
        Fisher(Bare(), "identity", fit_model=True).resolve(X)
    assert Density(Bare())(X).shape == (40, 40)


def test_an_impossible_item_has_no_score():
    with pytest.raises(DomainError, match="item 1 of X"):
        Fisher(from_log_density(uniform, width=1.0), "identity")([0.5, 2.0])


def test_weights_count_like_repetitions():
    times = np.arange(40) % 3
    weighted = Fisher(GaussianDensity(), fit_model=True).resolve(X, times.astype(float))
    repeated = Fisher(GaussianDensity(), fit_model=True).resolve(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted(X), repeated(X), rtol=1e-9, atol=1e-12)


def test_fitting_the_model_comes_before_its_information():
    k = Fisher(GaussianDensity(), "exact", fit_model=True).resolve(X)
    assert k == Fisher(GaussianDensity().fit(X), "exact")
    k = Fisher(GaussianDensity(), fit_model=True).resolve(X)
    fitted = GaussianDensity().fit(X)
    assert k == Fisher(fitted).resolve(X)


def test_the_primal_route_is_taken_and_gives_the_same_answer():
    y = np.sin(X[:, 0])
    k = Fisher(MODEL, "exact")
    machine = KernelRidge(k, 0.1).fit(X, y)
    expected = k(X) @ np.linalg.solve(k(X) + 0.1 * np.eye(40), y)
    np.testing.assert_allclose(machine.predict(X), expected, rtol=1e-6, atol=1e-8)
    assert "primal" in machine.plan(X).explain().lower() or machine.plan(X).route == "primal"


def test_parameters_for_a_grid():
    machine = KernelRidgeClassifier(Fisher(FromSciPy("norm", {"loc": 0.0, "scale": 1.0})))
    changed = machine.set_params(kernel__ridge=0.3, kernel__information="identity")
    assert changed.kernel.ridge == 0.3
    assert "kernel__model__theta" in machine.get_params()


def test_it_takes_part_in_the_algebra():
    k = Fisher(MODEL, "exact") * Gaussian(1.0)
    np.testing.assert_allclose(k(X), Fisher(MODEL, "exact")(X) * Gaussian(1.0)(X), rtol=1e-12)
    assert k.proof().verdict == "proved"
