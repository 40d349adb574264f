"""The scale of a target in a study: chosen inside folds, errors and intervals in its unit."""

import numpy as np
import pandas as pd
import pytest

from mercer import ScaledTarget
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian
from mercer.studies import design, study
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.candidates import CandidateKernel
from mercer.studies.grid_search import InnerFolds
from mercer.studies.losses import loss_of
from mercer.studies.target_scale import choose_scale, scale_asked, skewed


def rows_of(y_of, count=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = y_of(X[:, 0] + 0.5 * X[:, 1], 0.3 * rng.normal(size=count))
    fold = np.arange(count) % 5
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    return X, y, splits


def chosen(y_of, asked="auto", absolute=False, tied=INDEPENDENT, count=200):
    X, y, splits = rows_of(y_of, count)
    candidates = [CandidateKernel(Gaussian("median"))]
    inner = InnerFolds(X, y, splits, tied, loss_of("regress", y))
    return choose_scale(inner, candidates, asked, absolute)


def prices(count=150, seed=0):
    X, y, _ = rows_of(lambda signal, noise: 100 * np.exp(signal + noise), count, seed)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(price=y)


@pytest.fixture(scope="module")
def of_logs():
    """A study that learns the logarithm of a price, and its table."""
    table = prices(120)
    return study(table, "price", machine="ridge", references=False, target_scale="log"), table


def test_each_scale_is_found_where_it_holds():
    assert chosen(lambda s, e: np.exp(1.5 * s + e)).name == "log"
    assert chosen(lambda s, e: np.maximum(3 + s + e, 0.01) ** 4, count=400).name in (
        "fourth root", "root", "log",
    )  # fmt: skip
    # Skewed by its causes alone: errors are alike for small and large ones.
    rng = np.random.default_rng(0)
    X, _, splits = rows_of(lambda s, e: s, 400)
    X[:, 0] = rng.exponential(size=400)
    y = 30 + 10 * X[:, 0] + 3 * rng.normal(size=400)
    inner = InnerFolds(X, y, splits, INDEPENDENT, loss_of("regress", y))
    plain = choose_scale(inner, [CandidateKernel(Gaussian(4.0))], "auto", False)
    assert plain.name == "none" and len(plain.errors) == 4


def test_what_is_not_skewed_or_negative_is_left_as_it_is():
    assert chosen(lambda s, e: 10 + s + e).errors == ()
    assert chosen(lambda s, e: np.exp(2 * s) - 1).errors == ()
    assert not skewed(np.repeat([1.0, 2.0, 50.0], 20))  # three values are hardly numbers


def test_zeros_leave_the_logarithm_out():
    found = chosen(lambda s, e: np.floor(np.exp(1.5 * s + e)))
    assert "log" not in dict(found.errors) and "root" in dict(found.errors)


def test_distances_ask_for_medians():
    assert chosen(lambda s, e: np.exp(s + e), absolute=True).answer == "median"
    assert chosen(lambda s, e: np.exp(s + e), "root").name == "root"


def test_rows_of_no_weight_do_not_choose():
    def mixed(s, e):  # the last half is of another world, in which nothing is a logarithm
        y = np.exp(1.5 * s + e)
        return np.where(np.arange(len(s)) < 200, y, y[::-1].mean() + 40 * s**2)

    weights = np.where(np.arange(400) < 200, 1.0, 1e-9)
    own = chosen(mixed, tied=Arrangement(weights=weights), count=400)
    alone = chosen(lambda s, e: np.exp(1.5 * s + e), count=200)
    assert own.name == alone.name == "log"


def test_errors_answers_and_intervals_are_in_the_unit_of_the_target(of_logs):
    found, table = of_logs
    machine = found.machine.steps[-1][1]
    assert isinstance(machine, ScaledTarget) and machine.scale == "log"
    off = found.truth - found.held_out.prediction
    measured, _ = found.held_out_error or (found.error, found.error_se)
    np.testing.assert_allclose(measured, np.sqrt(np.mean(off**2)), rtol=1e-12)
    assert found.error < 0.5 * np.std(table["price"])
    said = found.machine.predict(table)
    intervals = found.known_errors.intervals(table[["a", "b", "c"]], said, 0.9)
    low, high = intervals.T
    assert (low > 0).all() and np.mean((low <= table["price"]) & (table["price"] <= high)) > 0.85
    # Even on the scale, they grow with the price in its unit.
    assert np.corrcoef(high - low, said)[0, 1] > 0.8
    (effect, *_) = found.effects
    assert effect.mean.min() > 0 and effect.mean.max() > 50  # a price, no logarithm of one
    assert any("its logarithm" in note for note in found.notes)


def test_held_out_intervals_on_a_scale_hold_as_often_as_they_say(of_logs):
    found, _ = of_logs
    assert abs(found.coverage.whole.share - 0.9) < 0.06


@pytest.mark.slow
def test_a_logarithm_gains_where_errors_are_shares():
    table = prices(200, 5)
    given = {"machine": "ridge", "references": False, "measure": "mae"}
    plain = study(table, "price", target_scale="none", **given)
    logs = study(table, "price", target_scale="log", **given)
    chosen = study(table, "price", **given)
    assert logs.error < 0.9 * plain.error
    assert chosen.error < 0.95 * plain.error
    assert not isinstance(plain.machine.steps[-1][1], ScaledTarget)


@pytest.mark.slow
def test_groups_stay_apart_in_the_folds_of_the_scale():
    table = prices().assign(who=[f"p{k % 10}" for k in range(150)])
    found = study(
        table, "price", machine="ridge", references=False, target_scale="root", groups="who"
    )
    assert found.machine.steps[-1][1].scale == "root"


def test_scores_of_a_logarithm_are_said_to_be_such(of_logs):
    found, _ = of_logs
    assert found.shares.scale == "log" and found.shares.orders == 0
    row = found.shares.told[0]
    total = row.base + sum(share for *_, share in row.reasons) + row.rest
    np.testing.assert_allclose(total, row.score, rtol=1e-9)
    assert 0 < row.score < 12  # logarithms of prices


def test_bad_scales_are_refused_by_name():
    table = prices(40)
    with pytest.raises(ValidityError, match="--target-scale / target_scale cannot be 'lg'"):
        design(table, "price", target_scale="lg")
    labels = table.assign(price=np.where(table["price"] > 100, "dear", "cheap"))
    with pytest.raises(ValidityError, match="about numbers, but the target has classes"):
        design(labels, "price", target_scale="log")
    zero = table.assign(price=np.where(np.arange(40) == 7, 0.0, table["price"]))
    with pytest.raises(DomainError, match="item 7 has 0; 'root' and 'fourth root' take zeros"):
        design(zero, "price", task="regress", target_scale="log")
    assert scale_asked("auto", "regress", np.array([-1.0])) == "auto"
