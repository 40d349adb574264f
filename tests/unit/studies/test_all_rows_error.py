"""The error of a machine that has learned from all rows, held against known truth."""

import numpy as np
import pytest

from mercer.studies.all_rows_error import all_rows_error, further_fall
from mercer.studies.arrangement import Arrangement
from mercer.studies.folds import pooled_error, shared_rows


@pytest.mark.parametrize("rate", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_the_further_fall_of_a_power_law_is_within_what_is_said(rate, floor):
    def lost(rows):
        return floor + rows**-rate

    half, own, every = lost(0.5), lost(1.0), lost(1.25)
    share, spread = further_fall(1.25, half / own)
    width = np.sqrt(3) * spread  # half of the distance between the ends
    assert abs((own - every) / (half - own) - share) <= width + 1e-12


def test_an_error_without_noise_falls_as_fast_as_before():
    share, spread = further_fall(1.25, 4.0)  # as m⁻², which leaves nothing to guess
    assert 1 - share * 3 == pytest.approx(1.25**-2) and spread == 0


def test_without_a_clear_fall_the_measured_error_stays():
    rng = np.random.default_rng(0)
    truth = [rng.normal(size=50) for _ in range(5)]
    own = [y + rng.normal(size=50) for y in truth]
    half = [y + rng.normal(size=50) for y in truth]
    found = all_rows_error(truth, own, half, 1.25)
    assert (found.error, found.error_se) == pooled_error(truth, own)
    assert not found.extrapolated
    assert all_rows_error(truth, own, None, 1.25).error == found.measured
    worse = all_rows_error(truth, own, truth, 1.25)  # more rows have done harm, by chance
    assert worse.error == found.measured


def test_units_weights_and_labels():
    rng = np.random.default_rng(1)
    truth, noise = [rng.normal(size=80) for _ in range(3)], [rng.normal(size=80) for _ in range(3)]
    own = [y + 0.1 * e for y, e in zip(truth, noise, strict=True)]
    half = [y + 0.3 * e for y, e in zip(truth, noise, strict=True)]
    found = all_rows_error(truth, own, half, 1.25)
    huge = all_rows_error(*([1e9 * one for one in part] for part in (truth, own, half)), 1.25)
    assert huge.error == pytest.approx(1e9 * found.error)
    assert huge.error_se == pytest.approx(1e9 * found.error_se)
    assert 0 < found.error < found.measured
    once = [Arrangement(weights=np.ones(80)) for _ in truth]
    assert all_rows_error(truth, own, half, 1.25, once).error == pytest.approx(found.error)

    labels = [np.array(["a", "b"] * 40, dtype=object)]
    right = [np.where(np.arange(80) % 10 == 0, "c", labels[0])]
    fewer = [np.where(np.arange(80) % 3 == 0, "c", labels[0])]
    share = all_rows_error(labels, right, fewer, 1.25)
    assert share.measured == 0.1 and 0 < share.error < 0.1


def test_labels_that_are_all_right_have_no_error():
    labels = [np.array(["a", "b"] * 10, dtype=object)]
    assert all_rows_error(labels, labels, labels, 1.25).error == 0


@pytest.mark.slow
@pytest.mark.parametrize(("heavy", "least"), [(False, 0.93), (True, 0.87)])
def test_against_known_truth_it_is_nearer_and_its_standard_error_true(heavy, least):
    gaps = np.array([_study(seed, heavy) for seed in range(150)])
    measured, expected, spread = gaps.T
    assert measured.mean() > 0.05  # of the error: four fifths of the rows err more
    assert abs(expected.mean()) < 0.02
    # Squares of errors with four degrees of freedom have no variance that a sample could tell.
    assert least <= np.mean(np.abs(expected) <= 2 * spread) <= 0.99
    assert 0.8 < np.std(expected / spread) < 1.2


def _study(seed, heavy, rows=150, folds=5):
    """Return how far the measured and the expected error are from the truth, and its spread."""
    rng = np.random.default_rng(seed)

    def sample(count):
        X = rng.uniform(-2, 2, (count, 2))
        noise = rng.standard_t(4, count) / np.sqrt(2) if heavy else rng.normal(size=count)
        return X, np.sin(3 * X[:, 0]) * X[:, 1] + 0.2 * noise

    X, y = sample(rows)
    new, truth = sample(4000)
    own, half, held = [], [], []
    for fold in np.array_split(rng.permutation(rows), folds):
        rest = np.setdiff1d(np.arange(rows), fold)
        some = rng.permutation(rest)[: len(rest) // 2]
        held.append(y[fold])
        own.append(_ridge(X[rest], y[rest], X[fold]))
        half.append(_ridge(X[some], y[some], X[fold]))
    shared = shared_rows([rows // folds] * folds, [rows - rows // folds] * folds)
    found = all_rows_error(held, own, half, folds / (folds - 1), shared=shared)
    real = np.sqrt(np.mean((_ridge(X, y, new) - truth) ** 2))
    return (found.measured - real) / real, (found.error - real) / real, found.error_se / real


def _ridge(X, y, new):
    def gram(A, B):
        return np.exp(-2 * ((A[:, None] - B[None]) ** 2).sum(-1))

    return gram(new, X) @ np.linalg.solve(gram(X, X) + 0.05 * np.eye(len(X)), y)
