"""Certificates certify what is used: curvature that is seen, and digits that there are."""

import warnings

import numpy as np
import pytest

from mercer import (
    SVC,
    SVR,
    GaussianProcess,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    NuSVC,
    OneClassSVM,
)
from mercer.errors import ConvergenceWarning, MercerError, ValidityError
from mercer.kernels import Gaussian, Linear, assume_psd, from_function, precomputed
from mercer.plans import Plan
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
