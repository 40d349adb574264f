"""`mercer.kernels.check`: each of its findings, in numbers and in words."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    check,
    diagnostics,
    from_function,
    precomputed,
)


def rows(n=20, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def line(checkup, topic):
    """Return the one line about a topic."""
    (found,) = [words for words in str(checkup).splitlines() if words.startswith(f"{topic}:")]
    return found


def topics(checkup):
    return [words.split(":")[0] for words in checkup.words[1:]]


def test_a_healthy_kernel():
    found = check(Gaussian(1.0), rows())
    assert found.healthy
    assert found.words[0] == "Gaussian(bandwidth=1.0) on 20 items"
    assert topics(found) == ["validity", "symmetry", "rank", "diagonal"]
    assert line(found, "validity").startswith("validity: proved; the smallest eigenvalue is 0.")
    assert "not negative (tolerance " in line(found, "validity")
    assert line(found, "symmetry") == "symmetry: to rounding"
    assert line(found, "rank").startswith("rank: 20 of 20, condition ")
    assert line(found, "diagonal") == "diagonal: 1 everywhere"


def test_its_numbers_are_those_of_the_gram_matrix():
    X = rows()
    K = Polynomial(3, 1.0)(X)
    found = check(Polynomial(3, 1.0), X)
    values = np.linalg.eigvalsh(K)
    np.testing.assert_allclose(found.eigenvalues, values[:5], atol=1e-12 * values[-1])
    assert found.items == 20
    assert found.rank == np.linalg.matrix_rank(K, hermitian=True) == 20
    assert found.condition == pytest.approx(np.linalg.cond(K), rel=1e-6)
    assert found.tolerance == pytest.approx(20 * np.finfo(float).eps * values[-1])
    assert found.diagonal == (np.diag(K).min(), np.diag(K).max())
    assert line(found, "diagonal") == f"diagonal: {np.diag(K).min():.4g} to {np.diag(K).max():.4g}"


def test_a_function_that_depends_on_the_order_of_its_arguments():
    found = check(from_function(lambda a, b: float(a * b + 0.25 * (a < b))), [1.0, 2.0, 3.0])
    assert found.asymmetry == 0.25
    assert found.skewed and not found.healthy
    assert line(found, "symmetry") == "symmetry: off by 0.25"


def test_a_symmetric_function_of_unknown_validity():
    found = check(from_function(lambda a, b: float(min(a, b))), [1.0, 2.0, 4.0])
    assert not found.skewed and found.healthy
    assert found.verdict == "unknown"
    assert line(found, "validity").startswith("validity: unknown; the smallest eigenvalue is")


def test_a_negative_eigenvalue():
    found = check(Sigmoid(1.0, -0.5), rows())
    assert not found.positive and not found.healthy
    assert found.verdict == "refuted"
    assert found.eigenvalues[0] < -found.tolerance
    assert "negative, so the kernel is not valid" in line(found, "validity")
    assert f"the smallest eigenvalue is {found.eigenvalues[0]:.3g}" in line(found, "validity")


def test_a_tiny_negative_eigenvalue_is_rounding():
    """A matrix of rank 3 and order 20 has seventeen eigenvalues that are zero up to rounding."""
    found = check(Linear(), rows())
    assert found.positive
    assert found.eigenvalues[0] < found.tolerance


def test_similarities_near_zero():
    found = check(Gaussian(0.01), rows())
    assert found.saturation == "near 0" and not found.healthy
    assert "all near 0: the kernel learns by heart; try a larger" in line(found, "saturation")


def test_similarities_near_one():
    found = check(Gaussian(1000.0), rows())
    assert found.saturation == "near 1" and not found.healthy
    assert "near 1: the kernel sees no differences; try a smaller" in line(found, "saturation")


def test_saturation_is_relative_to_the_diagonal():
    assert check(1e-6 * Gaussian(1.0), rows()).saturation == ""
    assert check(1e6 * Gaussian(0.01), rows()).saturation == "near 0"
    assert check(1e6 * Gaussian(1000.0), rows()).saturation == "near 1"


def test_duplicates():
    X = rows()
    X[7], X[11] = X[2], X[3]
    found = check(Gaussian(1.0), X)
    assert found.duplicates == [(2, 7), (3, 11)]
    assert not found.healthy
    assert line(found, "duplicates").endswith("cannot tell apart items 2 and 7, 3 and 11")
    assert found.rank == 18


def test_things_that_differ_only_where_the_kernel_does_not_look_are_duplicates():
    table = pd.DataFrame({"kind": ["a", "b", "a"], "size": [1.0, 2.0, 3.0]})
    assert check(Categorical().on("kind"), table).duplicates == [(0, 2)]
    assert check(Gaussian(1.0).on("size"), table).duplicates == []


def test_only_the_first_few_duplicates_are_listed():
    found = check(Gaussian(1.0), np.zeros((30, 2)))
    assert len(found.duplicates) == 10
    assert line(found, "duplicates").count("and") == 3


def test_rank_deficiency():
    found = check(Linear(), rows(20, 3))
    assert found.rank == 3
    assert found.condition == np.inf
    assert line(found, "rank") == "rank: 3 of 20, singular"


def test_heuristics_are_resolved_first():
    X = rows()
    assert check(Gaussian("median"), X).words[0].startswith(repr(Gaussian("median").resolve(X)))


def test_one_item():
    found = check(Gaussian(1.0), [[1.0]])
    assert found.healthy and found.rank == 1 and found.condition == 1.0


def test_a_kernel_that_is_zero():
    found = check(Linear(), np.zeros((3, 2)))
    assert found.positive
    assert found.rank == 0
    assert found.condition == np.inf


def test_a_precomputed_matrix():
    K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    assert not check(precomputed(), K).positive
    K[0, 1] = 0.5
    assert check(precomputed(), K).asymmetry == pytest.approx(0.4)


def test_of_many_items_an_evenly_spread_sample_is_looked_at(monkeypatch):
    monkeypatch.setattr(diagnostics, "MAX_CHECKED_ITEMS", 10)
    X = np.arange(100.0)[:, None]
    found = check(Gaussian(50.0), X)
    assert found.items == 10
    chosen = X[np.linspace(0, 99, 10).astype(int)]
    expected = np.linalg.eigvalsh(Gaussian(50.0)(chosen))[:5]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-12)


def test_nothing_to_check():
    with pytest.raises(DomainError, match=r"0 sample"):
        check(Gaussian(1.0), np.empty((0, 2)))
