"""Very many rows: through centers, or from a sample."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVR, ExemplarRegressor, KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian, Linear
from mercer.studies import design, many_rows
from mercer.studies.many_rows import way_for_many_rows
from mercer.studies.study_design import outer_folds


def rows(count=3000, noise=0.0, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (count, 2))
    return X, np.sin(scale * X[:, 0]) * np.cos(scale * X[:, 1]) + noise * rng.normal(size=count)


@pytest.fixture
def small(monkeypatch):
    """Let centers and trial rows be as few as the rows of these tests."""
    monkeypatch.setattr(many_rows, "CENTERS", 40)
    monkeypatch.setattr(many_rows, "TRIED_EXACTLY", 300)
    monkeypatch.setattr(many_rows, "JUDGING_ROWS", 300)


def test_noise_wants_rows(small):
    X, y = rows(noise=1.0, scale=2.0)
    found = way_for_many_rows(KernelRidge(Gaussian(0.7), 1.0), X, y, 600, 0)
    assert found.rows is None and "all 3000 rows through 40 centers" in found.reason
    assert "Nystrom" in repr(found.machine.follow)


def test_detail_wants_an_exact_fit(small):
    X, y = rows(scale=12.0)
    found = way_for_many_rows(KernelRidge(Gaussian(0.15), 1e-3), X, y, 600, 0)
    assert len(found.rows) == 600 and "a sample of 600 rows, learned from exactly" in found.reason
    assert found.machine.follow is None


def test_classes_are_compared_by_their_errors(small):
    X, y = rows(noise=0.3, scale=2.0)
    labels = np.where(y > 0, "up", "down")
    found = way_for_many_rows(KernelRidgeClassifier(Gaussian(0.7)), X, labels, 600, 0)
    errors = [float(part.split()[0]) for part in found.reason.split("error ")[1].split(", ")]
    assert all(0 < error < 0.5 for error in errors)


@pytest.mark.parametrize("machine", [ExemplarRegressor(Linear()), SVR(Gaussian(0.7))])
def test_a_machine_that_is_not_the_same_through_centers_learns_from_a_sample(machine):
    X, y = rows(500)
    found = way_for_many_rows(machine, X, y, 100, 0)
    assert len(np.unique(found.rows)) == 100 and "needs all pairs" in found.reason


def test_very_many_rows_are_judged_by_a_tenth():
    assert outer_folds(150, 100, 60.0) == (10, 10)
    assert outer_folds(8000, 8000, 60.0) == (5, 5)
    assert outer_folds(500_000, 500_000, 60.0) == (10, 1)
    folds, judging = outer_folds(13_000, 13_000, 60.0)
    assert folds == 10 and 1 < judging < 10
    assert outer_folds(13_000, 13_000, 600.0) == (5, 5)


@pytest.mark.slow
def test_a_study_of_more_rows_than_are_learned_exactly_says_how(small, monkeypatch):
    X, y = rows(1400, noise=0.5, scale=2.0)
    table = pd.DataFrame({"one": X[:, 0], "two": X[:, 1], "y": y})
    plan = design(table, "y", machine="learned", budget=60.0)
    object.__setattr__(plan.procedure, "exact", 500)
    object.__setattr__(plan, "judging", 1)
    found = plan.run()
    assert any("1400 rows through 40 centers" in note for note in found.notes)
    assert len(found.held_out.rows) == len(found.truth) < 1400
    assert found.error < 0.9 * found.baseline_error
