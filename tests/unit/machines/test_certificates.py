"""Certificates certify what is used: curvature that is seen, and digits that there are."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    SVC,
    SVR,
    GaussianProcess,
    KernelLogistic,
    KernelMeans,
    KernelNeighbors,
    KernelPCA,
    KernelQuantile,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PrototypeClassifier,
)
from mercer.errors import ConvergenceWarning, MercerError, ValidityError
from mercer.kernels import Gaussian, Linear, assume_psd, from_function, precomputed
from mercer.plans import Nystrom, Plan
from mercer.solvers import curvature


def cubed(a, b):
    return -(abs(a - b) ** 3)


def plain(a, b):
    return -abs(a - b)


X = [float(x) for x in np.linspace(0.0, 3.0, 12)]
Y = np.arange(12) % 2
MACHINES = [
    SVC(from_function(cubed), C=10.0),
    SVC(from_function(cubed), C=np.inf),
    SVR(from_function(cubed)),
    NuSVC(from_function(cubed), 0.3),
    OneClassSVM(from_function(cubed)),
    GaussianProcess(from_function(cubed), 1e4),
    KernelLogistic(from_function(cubed)),
    KernelPCA(from_function(cubed), 2, solver="partial"),
    KernelPCA(from_function(cubed), 2, solver="randomized"),
    KernelPCA(from_function(cubed), 2, center=False, solver="partial"),
    KernelPCA(from_function(cubed), 2),
]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_no_certificate_for_a_kernel_that_is_seen_not_to_be_valid(machine):
    with pytest.raises(MercerError, match=r"not positive semi-definite|negative|not valid"):
        machine.fit(X, Y)


def test_the_refusal_names_the_witness_and_what_to_do():
    with pytest.raises(ValidityError, match=r"items 11, 0 and [56] weigh most.*indefinite="):
        SVC(from_function(cubed), C=10.0).fit(X, Y)
    with pytest.raises(ValidityError, match=r"eigenvalue of -\d.*items 11, 0 and"):
        GaussianProcess(from_function(cubed), 1e3).fit(X, Y)


@pytest.mark.parametrize("solver", ["cholesky", "iterative", "eigen"])
def test_a_ridge_that_minimizes_nothing_says_so(solver):
    machine = KernelRidge(from_function(cubed), 1e3, follow=Plan(solver=solver))
    with pytest.warns(ConvergenceWarning, match=r"items 11, 0 and .* minimizes nothing"):
        machine.fit(X, Y)
    assert machine.solution_.status == "unproved"
    assert machine.solution_.certificate < 1e-6  # of the system alone
    mended = KernelRidge(from_function(cubed), 1e3, indefinite="clip").fit(X, Y)
    assert mended.solution_.status == "solved"


def test_a_margin_needs_no_more_than_directions_that_keep_its_sums():
    machine = SVC(from_function(plain), C=10.0, tol=1e-8).fit(X, Y)
    shifted = SVC(from_function(lambda a, b: 10 - abs(a - b)), C=10.0, tol=1e-8).fit(X, Y)
    assert machine.solution_.status == shifted.solution_.status == "solved"
    np.testing.assert_allclose(machine.dual_coef_, shifted.dual_coef_, atol=1e-5)
    assert machine.solution_.gap < 1e-5


def test_a_negative_square_of_the_norm_is_refused():
    # On directions of sum zero it is valid; the functions of one class have another sum.
    with pytest.raises(ValidityError, match="is -"):
        OneClassSVM(from_function(lambda a, b: -10 - abs(a - b))).fit(X)


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, OneClassSVM])
def test_where_not_all_is_seen_nothing_is_claimed(kind, monkeypatch):
    monkeypatch.setattr(curvature, "COMPLETE_ITEMS", 10)
    monkeypatch.setattr(curvature, "SAMPLED_ITEMS", 4)
    k = Gaussian(1.0)
    rows = np.array(X)[:, None]
    machine, y = kind(from_function(k.pair)), (np.array(X) > 1.2).astype(int)
    found = machine.fit(list(rows), y).solution_
    assert found.status == "unproved" and found.gap == np.inf
    assert "assume_psd" in found.message
    mine = kind(assume_psd(from_function(k.pair))).fit(list(rows), y).solution_
    assert mine.status == "solved" and mine.gap < 1e-2


def test_a_machine_without_a_gap_says_what_was_not_seen(monkeypatch):
    monkeypatch.setattr(curvature, "COMPLETE_ITEMS", 10)
    monkeypatch.setattr(curvature, "SAMPLED_ITEMS", 4)
    K = Gaussian(1.0)(np.array(X)[:, None])
    for kind in (KernelRidge, GaussianProcess, KernelLogistic):
        assert "of the items only" in kind("precomputed", 0.1).fit(K, Y).solution_.message
        assert not kind(assume_psd(precomputed()), 0.1).fit(K, Y).solution_.message
    found = KernelPCA("precomputed", 2, solver="partial").fit(K).solution_
    assert "of the items only" in found.message


def test_slopes_that_are_rounded_away_certify_nothing():
    machine = SVC(Linear(), 0.1)
    with pytest.warns(ConvergenceWarning, match="uncertain by up to"):
        machine.fit([[1e9], [1e9]], [0, 1])
    found = machine.solution_
    off = np.abs(machine.decision_function([[1e9], [1e9]]) - machine.intercept_)
    assert found.status == "stalled"
    assert found.violation >= found.uncertainty >= off.max()
    assert found.gap >= 1.0


def test_signs_that_rounding_decides_are_not_certified():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(60, 2)), 2, axis=0)
    y = (rows[:, 0] > 0).astype(int)
    machine = SVC(Gaussian(1e8), 1e14, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(rows, y)
    assert machine.solution_.status == "stalled"
    assert machine.solution_.violation > 1e-2


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_the_gap_holds_against_the_best_that_was_found(C):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    rough = SVC(Gaussian(1.0), C, tol=0.1).fit(rows, y).solution_
    fine = SVC(Gaussian(1.0), C, tol=1e-6).fit(rows, y).solution_
    assert rough.objective <= fine.objective + 1e-9 * fine.objective
    assert fine.objective <= rough.objective + rough.gap
    assert 0 < fine.uncertainty < 1e-6


SKETCHED = [KernelRidge, KernelRidgeClassifier, KernelLogistic, SVC, KernelPCA]


@pytest.mark.parametrize("choose", ["uniform", "pivoted", "given"])
@pytest.mark.parametrize("kind", SKETCHED)
def test_an_approximation_is_of_a_valid_kernel(kind, choose):
    """Whitening leaves out negative directions of the centers, which hides them."""
    rows = [float(x) for x in np.random.default_rng(0).normal(size=60)]
    how = Nystrom(rows[:20]) if choose == "given" else Nystrom(20, choose)
    machine = kind(from_function(cubed), follow=Plan(approximate=how))
    with pytest.raises(ValidityError, match="not positive semi-definite on these items"):
        machine.fit(rows, np.arange(60) % 2)


def test_centers_of_ones_own_are_looked_at_as_well():
    k = from_function(lambda a, b: float(a == b) if max(a, b) < 100 else cubed(a, b))
    machine = KernelRidge(k, follow=Plan(approximate=Nystrom([100.0, 101.0, 103.0])))
    with pytest.raises(ValidityError, match="not positive semi-definite"):
        machine.fit(X, Y)


def test_an_approximation_says_what_was_not_seen(monkeypatch):
    monkeypatch.setattr(curvature, "COMPLETE_ITEMS", 10)
    monkeypatch.setattr(curvature, "SAMPLED_ITEMS", 4)
    follow = Plan(approximate=Nystrom(5))
    for kind in (KernelRidge, KernelLogistic, SVC):
        found = kind(from_function(Gaussian(1.0).pair), follow=follow)
        found.fit([[x] for x in X], Y)
        assert "of the items only" in found.solution_.message
    found = KernelPCA(from_function(Gaussian(1.0).pair), 2, follow=follow).fit([[x] for x in X])
    assert "of the items only" in found.solution_.message


@pytest.mark.parametrize("C, claimed", [(1.0, "solved"), (1e8, "unproved"), (np.inf, "unproved")])
def test_a_large_box_needs_eigenvalues_that_are_known_to_more_digits(C, claimed):
    """An eigenvalue of -1e-8 of the largest one is no witness, but a box of 1e8 makes it 1e8."""
    rng = np.random.default_rng(0)
    K = Gaussian(1.0)(rng.normal(size=(60, 3)))
    way = rng.normal(size=60)
    K += 1e-4 * np.eye(60)
    values, V = np.linalg.eigh(K)
    values[0] = -1e-8 * values[-1]
    K = (V * values) @ V.T
    machine = SVC("precomputed", C, max_iter=10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = machine.fit((K + K.T) / 2, (way > 0).astype(int)).solution_
    assert found.status == claimed
    assert claimed == "solved" or found.gap > 1e3


NEGATIVE = from_function(lambda a, b: -float(np.exp(-((a - b) ** 2))))


@pytest.mark.parametrize(
    "machine",
    [NuSVC(NEGATIVE, 0.3), NuSVR(NEGATIVE), KernelQuantile(NEGATIVE, 0.5, C=10.0)],
    ids=repr,
)
@pytest.mark.parametrize("count", [12, 70])
def test_items_that_are_unlike_themselves_are_refused_in_words(machine, count):
    """Not by the factor of a matrix that no multiple of its diagonal makes definite."""
    rows = np.sort(np.random.default_rng(77).normal(size=count)) * 2
    with pytest.raises(ValidityError, match=r"negative eigenvalue|not positive semi-definite"):
        machine.fit(list(rows), np.arange(count) % 2)


@pytest.mark.parametrize(
    "machine", [KernelMeans(n_clusters=2), PrototypeClassifier()], ids=["means", "prototypes"]
)
def test_no_means_where_distances_are_imaginary(machine):
    with pytest.raises(ValidityError, match=r"not positive semi-definite|negative"):
        clone(machine).set_params(kernel=from_function(cubed)).fit(X, Y)
    # Differences are all that counts: −|x − z| serves as well as a valid kernel.
    rows = [float(x) for x in np.random.default_rng(3).uniform(0, 3, size=12)]  # without ties
    near = clone(machine).set_params(kernel=from_function(plain)).fit(rows, Y)
    walk = from_function(lambda a, b: abs(a) + abs(b) - abs(a - b))
    valid = clone(machine).set_params(kernel=walk).fit(rows, Y)
    same = near.predict(rows) == valid.predict(rows)
    assert same.all() or not same.any()  # clusters have no names


def test_no_vote_of_neighbors_whose_distances_are_imaginary():
    machine = KernelNeighbors(from_function(cubed), 3).fit(X, Y)
    with pytest.raises(ValidityError, match="squared distance"):
        KernelNeighbors(from_function(lambda a, b: a * b + abs(a - b)), 3).fit(X, Y).predict(X)
    assert machine.predict(X).shape == (12,)  # −|x − z|³ has distances, though no space
