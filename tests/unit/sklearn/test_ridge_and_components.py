"""The drop-in's kernel ridge regression and kernel principal components."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.kernel_ridge import KernelRidge as TheirRidge

import mercer
from mercer.errors import PlanWarning, ValidityError
from mercer.kernels import Gaussian, Linear
from mercer.sklearn.decomposition import KernelPCA
from mercer.sklearn.kernel_ridge import KernelRidge

X, LABELS = load_iris(return_X_y=True)
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2},
        {"kernel": "laplacian"},
        {"kernel": "cosine"},
        {"kernel": "chi2", "gamma": 0.2},
        {"kernel": lambda a, b, c: float(np.minimum(a, b).sum()) + c, "kernel_params": {"c": 1.0}},
    ],
)
def test_ridge_predicts_what_scikit_learns_does(params):
    w = np.linspace(0.1, 2, len(X))
    ours, others = (
        m(alpha=[0.1, 2.0], **params).fit(X, Y, sample_weight=w) for m in (KernelRidge, TheirRidge)
    )
    np.testing.assert_allclose(ours.predict(X[:20]), others.predict(X[:20]), atol=1e-8)
    np.testing.assert_allclose(ours.dual_coef_, others.dual_coef_, rtol=1e-5, atol=1e-7)
    assert len(ours.machines_) == 2


def test_a_native_ridge_has_one_penalty():
    assert KernelRidge(alpha=0.5, kernel="rbf", gamma=0.5).native().kernel == Gaussian(1.0)
    machine = KernelRidge(kernel="rbf").fit(X, Y)
    np.testing.assert_array_equal(machine.native().predict(X), machine.predict(X))
    with pytest.raises(ValidityError, match="take machines_"):
        KernelRidge(alpha=[1.0, 2.0]).fit(X, Y).native()


def test_a_singular_system_is_left_to_least_squares():
    ours, others = KernelRidge(alpha=0.0), TheirRidge(alpha=0.0)
    left = pytest.warns(PlanWarning, match="is left to scikit-learn")
    with left, pytest.warns(UserWarning, match="Singular matrix"):
        ours.fit(X, Y)
    with pytest.warns(UserWarning, match="Singular matrix"):
        others.fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), others.predict(X))


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_components_are_scikit_learns(solver, kernel):
    ours, others = (
        m(3, kernel=kernel, gamma=0.05, eigen_solver=solver, random_state=0).fit(X)
        for m in (KernelPCA, TheirPCA)
    )
    tolerance = 1e-3 if solver == "randomized" else 1e-7
    np.testing.assert_allclose(ours.eigenvalues_, others.eigenvalues_, rtol=tolerance)
    if solver != "randomized":
        np.testing.assert_allclose(
            abs(ours.transform(X)), abs(others.transform(X)), atol=1e-5 * ours.eigenvalues_[0]
        )


def test_an_invalid_kernel_is_left_to_scikit_learn():
    with pytest.warns(PlanWarning, match="'sigmoid'.* is left to scikit-learn: mercer.KernelPCA"):
        ours = KernelPCA(2, kernel="sigmoid", gamma=0.05).fit(X)
    theirs = TheirPCA(2, kernel="sigmoid", gamma=0.05).fit(X)
    np.testing.assert_array_equal(ours.eigenvalues_, theirs.eigenvalues_)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
def test_components_above_the_rank_are_zero(solver):
    line = np.outer(np.arange(30.0), [1.0, 2.0])
    machine = KernelPCA(3, eigen_solver=solver, random_state=0).fit(line)
    assert machine.eigenvalues_[0] > 1 and (machine.eigenvalues_[1:] == 0).all()
    assert (machine.transform(line)[:, 1:] == 0).all()
    assert KernelPCA(3, eigen_solver=solver, remove_zero_eig=True).fit(line).eigenvalues_.size == 1


def test_identical_items_have_components_of_zero():
    same = np.ones((5, 2))
    assert (KernelPCA(2).fit_transform(same) == 0).all()
    assert KernelPCA().fit_transform(same).shape == (5, 0)


def test_a_proved_kernel_of_tiny_spread_is_not_called_invalid():
    machine = mercer.KernelPCA(Gaussian(1e5), 2).fit(X)
    exact = mercer.KernelPCA(Linear(), 2).fit(X)
    np.testing.assert_allclose(
        machine.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-5
    )


def test_an_exhausted_rank_leaves_no_noise():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(1000, 2))
    with pytest.raises(ValidityError, match="there are only 2 eigenvalues above rounding"):
        mercer.KernelPCA(Linear(), 4, solver="partial", random_state=0).fit(plane)


def test_inverse_transforms_are_scikit_learns():
    ours, others = (
        m(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True, alpha=0.01).fit(X)
        for m in (KernelPCA, TheirPCA)
    )
    a, b = ours.inverse_transform(ours.transform(X)), others.inverse_transform(others.transform(X))
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_single_precision_stays_single():
    found = KernelPCA(2).fit_transform(X.astype(np.float32))
    assert found.dtype == np.float32


def test_an_asymmetric_matrix_is_left_to_scikit_learn():
    with pytest.warns(PlanWarning, match="must be symmetric"):
        machine = KernelPCA(1, kernel="precomputed").fit(
            [[1.0, 2.0, 0.0], [3.0, 40.0, 1.0], [0.0, 5.0, 1.0]]
        )
    assert machine.machine_ is None and machine.eigenvalues_[0] > 0


def test_a_matrix_that_centering_makes_symmetric_has_components():
    rng = np.random.default_rng(0)
    K = X[:40] @ X[:40].T
    moved = K + rng.normal(size=(40, 1)) + rng.normal(size=40)
    ours, others = (
        m(2, kernel="precomputed", eigen_solver="dense").fit(moved) for m in (KernelPCA, TheirPCA)
    )
    assert ours.machine_ is not None
    np.testing.assert_allclose(ours.eigenvalues_, others.eigenvalues_, rtol=1e-9)
    new = X[40:60] @ X[:40].T
    found, expected = ours.transform(new), others.transform(new)
    np.testing.assert_allclose(abs(found), abs(expected), atol=1e-7)
