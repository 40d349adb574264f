"""Principal components on a sketch."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import KernelPCA, Plan, Stream
from mercer.errors import ValidityError
from mercer.kernels import Gaussian, Linear
from mercer.plans import Nystrom, Random

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 3)) * [3.0, 2.0, 1.0]
NEW = RNG.standard_normal((50, 3))
K = Gaussian(4.0)


def sketched(how, data=X, **options):
    return KernelPCA(K, 5, follow=Plan(approximate=how), **options).fit(data)


@pytest.mark.parametrize("center", [True, False])
def test_with_all_items_for_centers_components_are_exact(center):
    exact = KernelPCA(K, 5, center=center).fit(X)
    near = sketched(Nystrom(X), center=center)
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(near.transform(NEW), exact.transform(NEW), atol=1e-6)
    np.testing.assert_allclose(
        near.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-6
    )
    np.testing.assert_allclose(near.eigenvectors_, exact.eigenvectors_, atol=1e-6)
    assert near.solution_.approximation.error < 1e-6


@pytest.mark.parametrize("how", [Nystrom(100), Nystrom(100, "pivoted"), Random(1000)])
def test_few_functions_come_near(how):
    exact, near = KernelPCA(K, 5).fit(X), sketched(how)
    # A sketch sees less, never more; random features are another kernel.
    if isinstance(how, Nystrom):
        assert (near.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-9)).all()
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=0.2)
    told = near.solution_.approximation.error
    E, A = (m.transform(X) @ m.transform(X).T for m in (exact, near))
    assert told == pytest.approx(np.linalg.norm(E - A) / np.linalg.norm(E), rel=0.05, abs=1e-6)
    assert "approximate" in repr(near)
    np.testing.assert_allclose(near.fit_transform(X), near.transform(X), atol=1e-7)


def test_linear_components_of_a_sketch_are_those_of_the_covariance():
    near = KernelPCA(Linear(), 3, follow=Plan(approximate=Nystrom(X[:10]))).fit(X)
    expected = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    np.testing.assert_allclose(near.explained_variance_, expected, rtol=1e-9)
    assert near.explained_variance_ratio_.sum() == pytest.approx(1.0)


def test_a_stream_gives_what_memory_gives():
    one = sketched(Nystrom(X[:80]))
    other = KernelPCA(K, 5, follow=Plan(approximate=Nystrom(X[:80])))
    found = other.fit_transform(Stream.rows(X, size=90))
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(found), np.abs(one.transform(X)), atol=1e-7)


def test_there_is_a_way_back():
    near = sketched(Nystrom(200))
    back = near.inverse_transform(near.transform(X))
    assert np.mean((back - X) ** 2) < 0.5 * np.mean((X - X.mean(axis=0)) ** 2)
    with pytest.raises(ValidityError, match="random features"):
        sketched(Random(100)).inverse_transform(np.zeros((1, 5)))


def test_more_components_than_directions_are_refused():
    with pytest.raises(ValidityError, match="only 3 directions"):
        KernelPCA(Linear(), 5, follow=Plan(approximate=Nystrom(X[:10]))).fit(X)


def test_files(tmp_path):
    machine = sketched(Nystrom(40))
    mercer.save(machine, tmp_path / "machine")
    again = mercer.load(tmp_path / "machine")
    assert np.array_equal(machine.transform(NEW), again.transform(NEW))
