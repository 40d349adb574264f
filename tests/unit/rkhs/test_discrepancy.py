"""Discrepancies in linear time and by random features: on average right, with true errors."""

import threading

import numpy as np
import pytest
from scipy.stats import kstest

import mercer.rkhs.discrepancy as approximate
import mercer.rkhs.passes as sources
from mercer.domains import Stream
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, from_function
from mercer.rkhs import hsic, mean_embedding, mmd

KERNELS = [Gaussian(1.0), Laplacian(2.0), Polynomial(2, 1.0)]


def sets(n=40, m=30, d=2, shift=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift


def unbiased(kernel, X, Y):
    """MMD² without the pairs of an item with itself, by loops over the textbook's formula."""
    k = kernel.pair
    n, m = len(X), len(Y)
    within = sum(k(a, b) for i, a in enumerate(X) for j, b in enumerate(X) if i != j)
    others = sum(k(a, b) for i, a in enumerate(Y) for j, b in enumerate(Y) if i != j)
    across = sum(k(a, b) for a in X for b in Y)
    return within / (n * (n - 1)) + others / (m * (m - 1)) - 2 * across / (n * m)


# ---- linear time -------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("piece", [8, 8192])
def test_the_linear_statistic_is_a_mean_over_disjoint_pairs(kernel, piece, monkeypatch):
    for room in (sources, approximate):
        if hasattr(room, "PIECE_ITEMS"):
            monkeypatch.setattr(room, "PIECE_ITEMS", piece)
    X, Y = sets(41, 30)
    rng = np.random.default_rng(7)
    x, y = X[rng.permutation(41)], Y[rng.permutation(30)]
    k = kernel.pair
    h = [
        k(x[i], x[i + 1]) + k(y[i], y[i + 1]) - k(x[i], y[i + 1]) - k(x[i + 1], y[i])
        for i in range(0, 30, 2)
    ]
    found = mmd(kernel, X, Y, method="linear", seed=7, squared=True)
    assert found == pytest.approx(np.mean(h), rel=1e-10)
    assert found.error == pytest.approx(np.std(h, ddof=1) / np.sqrt(15), rel=1e-10)
    assert "linear time, 15 pairs" in found.approximate and "approximate" in repr(found)


def test_on_average_over_orders_it_is_the_unbiased_square():
    X, Y = sets(9, 8)
    found = [mmd(Gaussian(1.0), X, Y, method="linear", seed=s, squared=True) for s in range(600)]
    spread = np.std(found, ddof=1) / np.sqrt(600)
    assert abs(np.mean(found) - unbiased(Gaussian(1.0), X, Y)) < 4 * spread


def test_its_pvalues_are_uniform_if_both_sets_come_from_the_same_distribution():
    found = [
        mmd(Gaussian(1.0), *sets(400, 400, shift=0.0, seed=s), method="linear").pvalue
        for s in range(150)
    ]
    assert kstest(found, "uniform").pvalue > 0.01


def test_its_error_is_the_spread_over_data():
    found = [
        mmd(Gaussian(1.0), *sets(100, 100, seed=s), method="linear", squared=True)
        for s in range(200)
    ]
    assert np.std(found) == pytest.approx(np.mean([f.error for f in found]), rel=0.2)


def test_a_difference_is_found_and_a_negative_square_has_the_root_zero():
    assert mmd(Gaussian(1.0), *sets(2000, 2000, shift=1.0), method="linear").pvalue < 1e-6
    squares = [
        mmd(Gaussian(1.0), *sets(20, 20, shift=0.0, seed=s), method="linear", squared=True)
        for s in range(20)
    ]
    s = int(np.argmin(squares))
    assert squares[s] < 0
    root = mmd(Gaussian(1.0), *sets(20, 20, shift=0.0, seed=s), method="linear")
    assert root == 0.0 and root.pvalue > 0.5 and root.error == squares[s].error


def test_linear_time_is_for_anything_that_can_be_compared():
    words = from_function(lambda a, b: float(len(set(a) & set(b))))
    found = mmd(words, ["cat", "act"] * 4, ["dog", "god"] * 3, method="linear", squared=True)
    assert found == pytest.approx(6.0) and found.error == 0.0 and found.pvalue == 0.0
    alike = mmd(words, ["cat"] * 6, ["cat"] * 6, method="linear")
    assert alike == 0.0 and alike.pvalue == 1.0


def test_what_linear_time_cannot_do_is_refused():
    X, Y = sets()
    with pytest.raises(ValidityError, match=r"p-value without permutations"):
        mmd(Gaussian(1.0), X, Y, permutations=10, method="linear")
    with pytest.raises(DomainError, match=r"at least 4 items in each set, found 3"):
        mmd(Gaussian(1.0), X[:3], Y, method="linear")
    with pytest.raises(DomainError, match=r"columns"):
        mmd(Gaussian(1.0), X, Y[:, :1], method="linear")


# ---- random features ---------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(2.0), Matern(1.0, 1.5)], ids=repr)
def test_features_are_right_on_average_and_their_error_is_their_spread(kernel):
    X, Y = sets(60, 50)
    exact = mmd(kernel, X, Y, squared=True)
    found = [
        mmd(kernel, X, Y, method="features", features=100, seed=s, squared=True)
        for s in range(150)
    ]
    spread = np.std(found, ddof=1)
    assert abs(np.mean(found) - exact) < 4 * spread / np.sqrt(150)
    assert np.mean([f.error for f in found]) == pytest.approx(spread, rel=0.25)
    assert found[0].approximate == "100 random features"


def test_the_features_of_a_discrepancy_are_those_of_the_kernel():
    X, Y = sets(60, 50)
    phi = Gaussian(1.0).random_features(64, seed=3)
    by_hand = np.linalg.norm(phi(X).mean(axis=0) - phi(Y).mean(axis=0))
    found = mmd(Gaussian(1.0), X, Y, method="features", features=64, seed=3)
    assert found == pytest.approx(by_hand, rel=1e-10)


def test_permutations_of_features_make_a_valid_test(monkeypatch):
    found = [
        mmd(Gaussian(1.0), *sets(15, 15, shift=0.0, seed=s), 39, s, method="features", features=20)
        for s in range(120)
    ]
    pvalues = np.array([f.pvalue for f in found])
    for level in (0.1, 0.25, 0.5, 0.75):
        share = np.mean(pvalues <= level + 1e-12)
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / 120)
    X, Y = sets(60, 60, shift=1.5)
    whole = mmd(Gaussian(1.0), X, Y, 99, method="features", features=50)
    assert whole.pvalue == 0.01
    monkeypatch.setattr(approximate, "FEATURE_PASS_BYTES", 120 * 7)  # fifteen passes
    again = mmd(Gaussian(1.0), X, Y, 99, method="features", features=50)
    np.testing.assert_allclose(again.null, whole.null, rtol=1e-10)


def test_features_need_a_kernel_that_has_them():
    with pytest.raises(ValidityError, match=r"shift-invariant"):
        mmd(Linear(), *sets(), method="features")
    with pytest.raises(ValidityError, match=r"even"):
        mmd(Gaussian(1.0), *sets(), method="features", features=101)


# ---- sets that are read in passes --------------------------------------------------------------


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    """Two sets in files, which are read in chunks however small they are."""
    monkeypatch.setattr("mercer.domains.streams.STREAMED_BYTES", 0)
    monkeypatch.setattr("mercer.domains.slices.CHUNK_BYTES", 16 * 100)
    found = []
    for name, A in zip("xy", sets(730, 510), strict=True):
        file = np.lib.format.open_memmap(tmp_path / name, "w+", A.dtype, A.shape)
        file[:] = A
        file.flush()
        found.append(np.load(tmp_path / name, mmap_mode="r"))
    return found


@pytest.mark.slow
def test_sets_in_files_have_the_discrepancy_of_their_rows(mapped):
    X, Y = sets(730, 510)
    kernel = Gaussian(1.0)
    by_file = mmd(kernel, *mapped, 9, method="features", features=50)
    by_rows = mmd(kernel, X, Y, 9, method="features", features=50)
    assert by_file == pytest.approx(by_rows, rel=1e-9)
    np.testing.assert_allclose(by_file.null, by_rows.null, rtol=1e-9)
    linear = mmd(kernel, *mapped, method="linear", squared=True)
    assert "255 pairs" in linear.approximate
    assert abs(linear - unbiased(kernel, X[::3], Y[::3])) < 5 * linear.error


def test_heuristics_of_streams_are_resolved_on_samples():
    X, Y = sets(300, 200)
    found = mmd(Gaussian("median"), Stream.rows(X, size=64), Y, method="features", features=50)
    assert found == pytest.approx(
        mmd(Gaussian("median"), X, Y, method="features", features=50), rel=1e-9
    )


def test_a_bad_row_of_a_stream_is_named_with_its_chunk():
    X, Y = sets(300, 200)
    X[170, 1] = np.nan
    with pytest.raises(DomainError, match=r"chunk 2.*NaN"):
        mmd(Gaussian(1.0), Stream.rows(X, size=64), Y, method="linear")


def test_weights_of_a_stream_are_not_passed_over():
    X, Y = sets()
    with pytest.raises(DomainError, match="counts all rows alike"):
        mmd(Gaussian(1.0), Stream.rows(X, None, np.ones(40)), Y, method="linear")


@pytest.mark.parametrize("method", ["linear", "features"])
def test_an_error_leaves_no_thread(method):
    streams = [Stream.rows(X, size=20) for X in sets(400, 300)]
    kept = []  # as an interactive session keeps the last error

    class Odd(Exception):
        pass

    def fail(*_):
        raise Odd

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "paired_similarities", fail)
        patch.setattr(approximate, "permutation_test", fail)
        patch.setattr(approximate, "spans", fail)
        try:
            mmd(Gaussian(1.0), *streams, method=method)
        except Odd as error:
            kept.append(error)
    assert kept and not [t for t in threading.enumerate() if t.name == "mercer-prefetch"]


@pytest.mark.parametrize("count", [-1, 2.5, "many", float("nan"), float("inf"), True])
def test_permutations_are_counted(count):
    with pytest.raises(DomainError, match="permutations must be a whole number"):
        mmd(Gaussian(1.0), *sets(), permutations=count)


def test_what_needs_all_items_refuses_a_stream():
    X, Y = sets(40, 40)
    stream, k = Stream.rows(X), Gaussian(1.0)
    for attempt in (
        lambda: mmd(k, X, stream),
        lambda: hsic(k, k, stream, Y),
        lambda: mean_embedding(k, stream),
    ):
        with pytest.raises(DomainError, match=r"is a stream, but all items are needed at once"):
            attempt()


def test_a_wrong_parameter_names_the_function():
    with pytest.raises(ValidityError, match="seed of mmd must be a whole number"):
        mmd(Gaussian(1.0), *sets(), method="linear", seed=-1)
