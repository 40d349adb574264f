"""Kernel principal components: orthonormal functions, variances, pre-images, refusals."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from mercer.errors import ConvergenceWarning, DomainError, PlanError, ValidityError
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid, from_function
from mercer.machines import pca
from mercer.machines.pca import KernelPCA
from mercer.machines.preimage import preimage_method
from mercer.plans import Plan
from mercer.rkhs import Function

SOLVERS = ["dense", "partial", "randomized"]


def data(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.array([3.0, 2.0, 1.0])[:d] + 4.0


def ring(n=150, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]), rng


@pytest.mark.parametrize("solver", ["dense", "partial"])
@pytest.mark.parametrize("center", [True, False])
def test_axes_are_orthonormal_functions(center, solver):
    machine = KernelPCA(Gaussian(2.0), 4, center=center, solver=solver, random_state=0)
    machine.fit(data())
    f = machine.function_
    assert isinstance(f, Function)
    G = f.coefficients.T @ machine.kernel_(data()) @ f.coefficients
    np.testing.assert_allclose(G, np.eye(4), atol=1e-8)
    if center:
        np.testing.assert_allclose(f.coefficients.sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("center", [True, False])
def test_training_items_are_transformed_like_new_ones(center, solver):
    machine = KernelPCA(Gaussian(2.0), 4, center=center, solver=solver, random_state=0)
    Z = machine.fit_transform(data())
    exact = solver != "randomized"
    np.testing.assert_allclose(machine.transform(data()), Z, atol=1e-8 if exact else 1e-3)
    if exact:
        np.testing.assert_allclose(Z.T @ Z, np.diag(machine.eigenvalues_), atol=1e-7)


def test_components_have_the_variance_that_is_explained():
    machine = KernelPCA(Gaussian(2.0), 5)
    Z = machine.fit_transform(data())
    np.testing.assert_allclose(machine.explained_variance_, Z.var(axis=0, ddof=1), rtol=1e-9)
    everything = KernelPCA(Gaussian(2.0)).fit(data())
    assert everything.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(
        machine.explained_variance_ratio_, everything.explained_variance_ratio_[:5], rtol=1e-9
    )


def test_all_components_keep_all_distances():
    X, k = data(), Gaussian(2.0)
    Z = KernelPCA(k).fit_transform(X)
    distances = 2 - 2 * k(X)
    found = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, distances, atol=1e-8)


@pytest.mark.parametrize("route", ["primal", "dual"])
def test_the_linear_kernel_gives_ordinary_components(route):
    X, new = data(), data(9, seed=1)
    ours = KernelPCA("linear", 2, follow=Plan(route=route)).fit(X)
    theirs = PCA(2).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9
    )
    np.testing.assert_allclose(
        np.abs(ours.transform(new)), np.abs(theirs.transform(new)), atol=1e-8
    )
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(new)),
        theirs.inverse_transform(theirs.transform(new)),
        atol=1e-8,
    )
    assert (ours.coef_ is None) == (route == "dual")


@pytest.mark.parametrize("solver", ["dense", "partial"])
def test_primal_and_dual_are_the_same(solver):
    X, k = data(), Polynomial(2, offset=1.0)
    one, other = (
        KernelPCA(k, 4, solver=solver, random_state=0, follow=Plan(route=route)).fit(X)
        for route in ("primal", "dual")
    )
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-6)


def test_an_unstored_matrix_gives_the_same_components():
    X = data(2500)
    stored = KernelPCA(Gaussian(2.0), 3, random_state=0).fit(X)
    small = KernelPCA(Gaussian(2.0), 3, random_state=0, follow=Plan(memory=45_000_000)).fit(X)
    assert stored.plan_.stored and not small.plan_.stored
    assert "tiles are computed for each product" in small.plan_.explain()
    np.testing.assert_allclose(stored.transform(X), small.transform(X), atol=1e-7)


def test_auto_takes_the_partial_solver_for_few_components_of_many_items():
    X = data(400)
    assert KernelPCA(n_components=5).plan(X).method == "partial"
    assert KernelPCA(n_components=5).plan(X[:200]).method == "dense"
    assert KernelPCA(n_components=100).plan(X).method == "dense"
    assert KernelPCA().plan(X).method == "dense"


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_certificate_is_an_eigen_residual(solver):
    X = data(300)
    machine = KernelPCA(Gaussian(3.0), 4, solver=solver, random_state=0).fit(X)
    K = machine.kernel_(X)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    V, values = machine.eigenvectors_, machine.eigenvalues_
    rest = np.linalg.norm(K @ V - V * values, axis=0) / values
    assert machine.solution_.certificate == pytest.approx(rest.max(), rel=1e-3, abs=1e-13)
    if solver != "randomized":
        assert machine.solution_.certificate < 1e-9


def test_the_same_seed_gives_the_same_bits():
    X = data(400)
    one, other = (KernelPCA(n_components=3, random_state=7).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.eigenvectors_, other.eigenvectors_)
    different = KernelPCA(n_components=3, random_state=8).fit(X)
    np.testing.assert_allclose(different.transform(X), one.transform(X), atol=1e-7)


def test_gaussian_pre_images_are_less_noisy_than_what_was_projected():
    clean, rng = ring()
    noisy = clean + 0.15 * rng.normal(size=clean.shape)
    machine = KernelPCA(Gaussian(0.7), 4).fit(noisy)
    back = machine.inverse_transform(machine.transform(noisy))

    def off_the_ring(X):
        return np.abs(np.linalg.norm(X, axis=1) - 1).mean()

    assert off_the_ring(back) < 0.6 * off_the_ring(noisy)


def test_the_fixed_point_is_nearer_in_the_kernels_space_than_where_it_began():
    clean, rng = ring()
    X = clean + 0.1 * rng.normal(size=clean.shape)
    machine = KernelPCA(Gaussian(0.7), 3).fit(X)
    Z = machine.transform(X[:20])
    gamma = Z @ machine.function_.coefficients.T + 1 / len(X)
    back = machine.inverse_transform(Z)
    start = X[machine._nearest(Z)]
    heights = [np.einsum("ij,ij->i", gamma, machine.kernel_(x, X)) for x in (start, back)]
    assert (heights[1] >= heights[0] - 1e-12).all() and (heights[1] > heights[0] + 1e-6).any()
    W = gamma * machine.kernel_(back, X)
    np.testing.assert_allclose(W @ X / W.sum(axis=1, keepdims=True), back, atol=1e-4)


def test_with_all_components_training_items_come_back():
    X = data(60)
    machine = KernelPCA(Gaussian(2.0)).fit(X)
    np.testing.assert_allclose(machine.inverse_transform(machine.transform(X)), X, atol=1e-5)


@pytest.mark.parametrize("way", ["ridge", Ridge(1e-6)])
def test_learned_pre_images_are_near(way):
    X = data(150)
    machine = KernelPCA(Laplacian(8.0), 10, preimage=way).fit(X)
    back = machine.inverse_transform(machine.transform(X))
    assert np.abs(back - X).mean() < 0.5
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.inverse_transform(machine.transform(X)), back)


def test_a_second_fit_forgets_the_learned_way_back():
    X = data(60)
    machine = KernelPCA(Laplacian(8.0), 3).fit(X)
    machine.inverse_transform(machine.transform(X))
    machine.fit(X + 100.0)
    assert machine.inverse_transform(machine.transform(X + 100.0)).mean() > 90


def test_ways_back_that_do_not_exist_are_refused():
    with pytest.raises(ValidityError, match="did you mean 'ridge'"):
        preimage_method("rigde", Gaussian(1.0))
    with pytest.raises(ValidityError, match="Gaussian kernel, not of Linear"):
        preimage_method("fixed-point", Linear())
    words = ["cat", "hat", "bat", "dig", "big"]
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    machine = KernelPCA(kernel, 2).fit(words)
    assert machine.transform(["rat"]).shape == (1, 2)
    with pytest.raises(DomainError, match="not vectors"):
        machine.inverse_transform(machine.transform(words))
    rows = KernelPCA(n_components=2).fit(sparse.csr_array(data()))
    with pytest.raises(DomainError, match="toarray"):
        rows.inverse_transform(np.zeros((1, 2)))
    with pytest.raises(DomainError, match="rows of 2 components"):
        KernelPCA(n_components=2).fit(data()).inverse_transform(np.zeros((1, 3)))


def test_a_precomputed_matrix_gives_the_same_components():
    X, new, k = data(), data(7, seed=1), Gaussian(2.0)
    direct, given = KernelPCA(k, 3).fit(X), KernelPCA("precomputed", 3).fit(k(X))
    np.testing.assert_allclose(given.transform(k(new, X)), direct.transform(new), atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_components": 81}, ValidityError, r"only 80 items .*; use 80 or fewer"),
        ({"n_components": 80}, ValidityError, "eigenvalues above rounding"),
        ({"n_components": 0}, ValidityError, "n_components of KernelPCA"),
        ({"n_components": 2.5}, ValidityError, "n_components of KernelPCA"),
        ({"kernel": Linear(), "n_components": 4}, ValidityError, "only 3 eigenvalues"),
        ({"solver": "arpack"}, ValidityError, "solver cannot be 'arpack'"),
        ({"solver": "partial", "n_components": None}, ValidityError, "needs to know n_components"),
        ({"kernel": Sigmoid(1.0, -1.0)}, ValidityError, "KernelPCA needs a positive"),
        ({"follow": Plan(memory=10_000)}, PlanError, "items would fit"),
        ({"follow": 3}, ValidityError, "follow must be a Plan"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    machine = KernelPCA(Gaussian(1.0), 2).set_params(**changes)
    with pytest.raises(error, match=message):
        machine.fit(data())
    assert not [name for name in vars(machine) if name.endswith("_")]


@pytest.mark.parametrize("solver", SOLVERS)
def test_items_that_are_all_the_same_have_no_components(solver):
    with pytest.raises(DomainError, match=r"all items .* are the same"):
        KernelPCA(Gaussian(1.0), 1, solver=solver).fit(np.ones((20, 2)))


def test_a_matrix_that_is_not_valid_is_refused():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(20, 20))
    with pytest.raises(ValidityError, match="not positive semi-definite"):
        KernelPCA("precomputed", 2, solver="dense").fit(K + K.T)


def test_an_iteration_that_stalls_warns_with_the_residual(monkeypatch):
    hasty = lambda passes, random_state: pca_lanczos(max_passes=2, random_state=random_state)
    pca_lanczos = pca.Lanczos
    monkeypatch.setattr(pca, "Lanczos", hasty)
    with pytest.warns(ConvergenceWarning, match=r"residual .* dense solver"):
        KernelPCA(Gaussian(0.3), 5, solver="partial", random_state=0).fit(data(300))
