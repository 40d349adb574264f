"""The family whose metric is learned, as studies use it."""

import numpy as np
import pytest

from mercer.kernels import parse
from mercer.studies.candidates import families
from mercer.studies.folds import splits
from mercer.studies.grid_search import InnerFolds
from mercer.studies.metric_choice import choose_metric, metric_kernels


def inner(count=150, width=5, labels=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (count, width))
    y = np.sin(2 * X[:, 1]) * X[:, 3]
    if labels:
        y = np.array(["low", "high"], dtype=object)[(y > 0).astype(int)]
    return InnerFolds(X, y, splits(y, 5, rng))


@pytest.mark.parametrize("labels", [False, True])
def test_it_finds_what_matters_and_says_its_error(labels):
    task = "classify" if labels else "regress"
    rows = inner(labels=labels)
    choice = choose_metric(families(task, "learned", 2)[0][0], rows, 0)
    own = np.diag(choice.outer)
    assert own[[1, 3]].sum() > 0.8 * own.sum()
    usual = 0.5 if labels else rows.y.std()
    assert 0 < choice.error < 0.6 * usual
    machine = choice.machine(rows.X).fit(rows.X, rows.y)
    assert machine.penalty == choice.value and machine.intercept
    assert repr(machine.kernel_) == repr(choice.kernel)
    assert "less error on folds" in choice.reason


def test_the_formula_leaves_the_numbers_of_the_metric_out_and_can_be_parsed():
    choice = choose_metric(families("regress", "learned", 0)[0][0], inner(), 0)
    assert "metric" not in choice.formula
    assert parse(choice.formula).pair([0.0], [0.0]) == 3.0


def test_what_was_compared_is_a_surface():
    choice = choose_metric(families("regress", "learned", 0)[0][0], inner(), 0)
    assert choice.surface.parameter == "rounds" and choice.surface.values[0] == 0.0
    assert choice.surface.errors.shape == (1, len(choice.surface.values))
    assert choice.surface.errors.min() < choice.surface.errors[0, 0]


def test_a_matrix_needs_rows():
    assert metric_kernels(4000, 151)[1] == ("diagonal", "diagonal")
    assert metric_kernels(100, 26)[1] == ("diagonal", "diagonal")
    assert metric_kernels(104, 26)[1] == ("diagonal", "diagonal", "full")
