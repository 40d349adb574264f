"""Davidson's method finds the eigenvalues of the full decomposition, with few products."""

import numpy as np
import pytest

from mercer.errors import ConvergenceWarning, ValidityError
from mercer.gram import Blocked, Dense
from mercer.gram.centered import Centered
from mercer.gram.stored import one_blas_thread
from mercer.kernels import Gaussian, Laplacian, Linear
from mercer.machines.pca import KernelPCA
from mercer.plans import Nystrom, Plan, Size
from mercer.plans.products import choose_newton, choose_spectrum
from mercer.solvers.davidson import Davidson, LowRankModel
from mercer.solvers.eigenpairs import DenseEigensolver
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.pivoted_cholesky import pivoted_cholesky


def rows(n=300, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


class Counted:
    """A matrix that counts the vectors it is multiplied with, and can be interrupted."""

    def __init__(self, gram, interrupt=None):
        self.gram, self.products, self.interrupt = gram, 0, interrupt

    def __getattr__(self, name):
        return getattr(self.gram, name)

    def __matmul__(self, vectors):
        if self.products == self.interrupt:
            raise KeyboardInterrupt
        self.products += 1
        return self.gram @ vectors


@pytest.mark.parametrize("rank", [1, 20, 100, 300])
@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplacian(3.0)], ids=repr)
def test_values_and_vectors_are_those_of_the_full_decomposition(kernel, rank):
    gram = Centered(Blocked(kernel, kernel.admit(rows())))
    few, all_ = Davidson(rank, random_state=0).solve(gram, 6), DenseEigensolver().solve(gram, 6)
    assert few.status == "solved" and few.certificate < 1e-9
    np.testing.assert_allclose(few.values, all_.values, rtol=1e-11)
    np.testing.assert_allclose(few.vectors, all_.vectors, atol=1e-6)
    np.testing.assert_allclose(few.vectors.T @ few.vectors, np.eye(6), atol=1e-12)


def test_the_residuals_are_those_of_the_vectors_returned():
    K = Gaussian(1.5)(rows())
    found = Davidson(30, passes=2, random_state=0).solve(Dense(K), 5)
    rest = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, rest, rtol=1e-6, atol=1e-12)
    assert found.solver == "randomized" and len(found.history) == 2


def test_a_good_factor_saves_products():
    K = Gaussian(2.5)(rows(600))
    ours, theirs = Counted(Dense(K)), Counted(Dense(K))
    Davidson(200, random_state=0).solve(ours, 8)
    Lanczos(random_state=0).solve(theirs, 8)
    assert ours.products <= theirs.products - 4


def test_what_the_factor_does_not_see_is_found():
    # Few items with large similarities to themselves hide many that are nearly the same.
    K = np.diag(np.r_[np.full(60, 100.0), np.zeros(3000)])
    K[60:, 60:] = 0.1
    found = Davidson(8, random_state=0).solve(Dense(K), 3)
    assert pivoted_cholesky(Dense(K), 8, seed=0).pivots.max() < 60
    np.testing.assert_allclose(found.values, [300.0, 100.0, 100.0], rtol=1e-10)


def test_a_factor_that_explains_enough_proves_that_nothing_is_missing():
    K = Dense(Gaussian(2.5)(rows(600)))
    near = LowRankModel(K, 200, 0, 8)
    assert near.complete and not LowRankModel(K, 10, 0, 8).complete
    # No vector orthogonal to the first ones has a larger vᵀKv than the bound says.
    Q = np.linalg.qr(near.leading)[0]
    P = np.eye(600) - Q @ Q.T
    outside = np.linalg.eigvalsh(P @ K.matrix() @ P)[-1]
    assert near.scale == 1.0 and outside <= near.bound <= DenseEigensolver().solve(K, 8).values[-1]


def test_an_eigenvalue_half_outside_of_the_first_vectors_is_not_missed():
    # The factor has all of the first block, whose eigenvalue is found at once, and a little less
    # than all of the second one, whose eigenvalue is larger by a hair.
    inside = Gaussian(1.5)(rows(150, 2))
    largest = np.linalg.eigvalsh(inside)[-1]
    K = np.zeros((250, 250))
    K[:100, :100], K[100:, 100:] = largest * (1 - 1e-5) / 100, inside
    for seed in range(5):
        found = Davidson(8, random_state=seed).solve(Dense(K), 1)
        assert LowRankModel(Dense(K), 8, seed, 1).complete
        np.testing.assert_allclose(found.values, largest, rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_no_eigenvalue_of_blocks_with_near_values_is_missed(seed):
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(30, 120)), int(rng.integers(1, 8))
    K = np.zeros((2 * n, 2 * n))
    for place in (slice(n), slice(n, None)):
        Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
        K[place, place] = (Q * (1 + 1e-6 * rng.random(n)) ** 2 / np.arange(1.0, n + 1) ** 2) @ Q.T
    K = (K + K.T) / 2
    found = Davidson(int(rng.integers(1, 40)), random_state=seed).solve(Dense(K), count)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:count], rtol=1e-10)


def test_nothing_is_concluded_from_the_factor_of_an_indefinite_matrix():
    K = np.zeros((60, 60))
    K[:20, :20] = 1.0
    K[20:40, 40:] = K[40:, 20:40] = np.diag(np.arange(1.0, 21.0) * 3)  # unseen by its diagonal
    found = Davidson(30, random_state=0, definite=False).solve(Dense(K), 3)
    np.testing.assert_allclose(found.values, [60.0, 57.0, 54.0], rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_scale_of_the_matrix_does_not_matter(scale):
    K = Gaussian(1.5)(rows(80))
    one, other = (Davidson(9, random_state=0).solve(Dense(s * K), 4) for s in (1.0, scale))
    np.testing.assert_allclose(other.values, one.values * scale, rtol=1e-10)
    assert 0 < other.certificate < 1e-9


def test_equal_eigenvalues_are_all_found():
    Q = np.linalg.qr(rows(120, 120))[0]
    K = (Q * np.concatenate([np.full(25, 7.0), np.linspace(0.0, 1.0, 95)])) @ Q.T
    found = Davidson(10, random_state=0).solve(Dense((K + K.T) / 2), 25)
    np.testing.assert_allclose(found.values, 7.0, rtol=1e-10)


@pytest.mark.parametrize("n", [3, 8, 9, 21])
@pytest.mark.parametrize("rank", [1, 5])
def test_small_matrices_end_with_a_whole_basis(n, rank):
    K = Gaussian(1.5)(rows(n))
    found = Davidson(rank, random_state=0).solve(Dense(K), min(3, n))
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-11)


def test_matrices_of_low_rank_have_the_rank_that_is_reported():
    X = rows(100, 3)
    found = Davidson(10, random_state=0).solve(Dense(Linear()(X)), 5)
    assert found.rank == 3 and len(found.values) == 5
    assert len(Davidson(10, random_state=0).solve(Dense(np.ones((30, 30))), 8).values) == 8
    alike = Centered(Dense(np.kron(np.eye(3), np.ones((9, 9)))))  # of rank 2 from 3 columns
    assert len(Davidson(10, random_state=0).solve(alike, 6).values) == 6
    assert Davidson(10, random_state=0).solve(Dense(np.zeros((20, 20))), 2).rank == 0


def test_a_slow_problem_is_restarted_and_ends():
    K = np.diag(1.0 - 1e-3 * np.arange(400))
    found = Davidson(5, random_state=0).solve(Dense(K), 4)
    assert len(found.history) > 12
    np.testing.assert_allclose(found.values, 1.0 - 1e-3 * np.arange(4), rtol=1e-10)
    stalled = Davidson(5, max_passes=3, random_state=0).solve(Dense(K), 4)
    assert stalled.status == "stalled" and "3 products" in stalled.message


@pytest.mark.parametrize("solver", [Davidson(20, random_state=0), Lanczos(random_state=0)])
def test_interrupting_keeps_what_was_found(solver):
    K = Gaussian(0.7)(rows())
    gram = Counted(Dense(K), interrupt=3)
    if isinstance(solver, Lanczos):  # which makes one more product, for the certificate
        gram.interrupt = None
        gram = Interrupted(Dense(K), 3)
    found = solver.solve(gram, 4)
    assert found.status == "interrupted" and found.message == "interrupted after 3 products"
    rest = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, rest, rtol=1e-6)
    with pytest.raises(KeyboardInterrupt):
        solver.solve(Counted(Dense(K), interrupt=0), 4)


class Interrupted(Counted):
    """A matrix that is interrupted once."""

    def __matmul__(self, vectors):
        if self.products == self.interrupt:
            self.interrupt = None
            raise KeyboardInterrupt
        return super().__matmul__(vectors)


def test_the_same_seed_gives_the_same_bits_on_one_thread_or_many(use_cores):
    k = Gaussian(1.5)
    gram = Blocked(k, k.admit(rows(4200, 2)))
    first = Davidson(30, random_state=3).solve(gram, 4)
    use_cores(1)
    with one_blas_thread:
        second = Davidson(30, random_state=3).solve(gram, 4)
    np.testing.assert_array_equal(first.vectors, second.vectors)


# ---- plans and machines ------------------------------------------------------------------------


def test_large_problems_are_not_stored():
    many = choose_spectrum(Plan(memory=4 * 10**9), Size(items=50_000, row=80.0), 20, "auto")
    assert not many.stored and many.rank == 1000 and many.bytes < 10**9
    assert choose_spectrum(Plan(memory=10**10), Size(items=12_000), 20, "auto").rank == 240
    slow = choose_spectrum(Plan(memory=10**10), Size(items=12_000, cheap=False), 20, "auto")
    assert slow.stored and slow.rank is None
    tight = choose_spectrum(Plan(memory=3 * 10**8), Size(items=50_000, row=80.0), 20, "auto")
    assert not tight.stored and tight.rank is None and tight.bytes < 3 * 10**8
    given = choose_spectrum(Plan(memory=4 * 10**9, rank=77), Size(items=50_000), 20, "auto")
    assert given.rank == 77 and "77 columns" in given.explain()


def test_a_spectrum_has_no_approximate_route():
    with pytest.raises(ValidityError, match="no approximate route"):
        choose_spectrum(Plan(approximate=Nystrom(10)), Size(items=100), 5, "auto")


def test_one_factor_for_all_classes_is_a_plan_too():
    plan = choose_newton(Plan(memory=200_000_000), Size(items=2000, targets=10))
    assert plan.each is False and plan.rank is None


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["partial", "randomized"])
def test_components_without_a_stored_matrix_are_the_same(solver):
    X = rows(3000, 6)
    large = KernelPCA(Gaussian(2.0), 5, random_state=0).fit(X)
    follow = Plan(memory=70_000_000)
    small = KernelPCA(Gaussian(2.0), 5, solver=solver, random_state=0, follow=follow).fit(X)
    assert large.plan_.stored and small.plan_.rank == 64
    np.testing.assert_allclose(small.eigenvalues_, large.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(small.transform(X[:9]), large.transform(X[:9]), atol=1e-3)


def test_an_interrupted_machine_is_fitted_and_says_so(monkeypatch):
    multiplied, calls = Blocked.__matmul__, []

    def interrupted(self, vectors):
        calls.append(vectors)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return multiplied(self, vectors)

    monkeypatch.setattr(Blocked, "__matmul__", interrupted)
    machine = KernelPCA(Gaussian(1.0), 5, random_state=0, follow=Plan(memory=70_000_000))
    with pytest.warns(ConvergenceWarning, match=r"residual .* interrupted after 2 products"):
        machine.fit(rows(3000, 6))
    assert machine.transform(rows(3, 6)).shape == (3, 5)
