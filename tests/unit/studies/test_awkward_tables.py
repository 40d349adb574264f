"""Tables that are awkward to learn from: each has a clear answer, and none a silent constant."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelRidge, LearnedMetric
from mercer.kernels import Exponential
from mercer.studies import study

ROWS = 90


def table(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    frame["target"] = np.sin(2 * frame["a"]) + 0.1 * rng.normal(size=rows)
    return frame


def learned(frame, **options):
    """Study with the learned metric alone, which is the one in question."""
    options = {"machine": "learned", "references": False, "budget": 5.0, "show": False} | options
    return study(frame, "target", **options)


def varies(found, frame):
    return np.ptp(found.machine.predict(frame)) > 0.1


def test_constant_columns_are_named_and_change_nothing():
    frame = table()
    constant = frame.assign(same=3.0, word="x")
    with_them, without = learned(constant), learned(frame)
    assert np.allclose(with_them.machine.predict(constant), without.machine.predict(frame))
    told = {column.name: column.why for column in with_them.sheet.columns if not column.used}
    assert set(told) == {"same", "word"} and "" not in told.values()


def test_one_column_is_learned():
    frame = table()[["a", "target"]]
    found = learned(frame)
    assert found.error < 0.6 * found.baseline_error and varies(found, frame)
    assert any(note.startswith("Metric: ") for note in found.notes)


def test_duplicates_with_contradicting_targets_bound_the_error_and_are_named():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    frame = pd.concat([rows] * 4, ignore_index=True)
    frame["target"] = rng.choice(["yes", "no"], len(frame))
    found = learned(frame)
    assert found.error > 0.3
    assert any("differ in 'target'" in one for one in found.warnings)


def test_a_target_in_disguise_is_reported():
    frame = table().assign(disguise=lambda one: 3.0 - 2.0 * one["target"])
    found = learned(frame)
    assert any("disguise" in one for one in found.warnings)


def test_a_column_that_only_new_rows_have_entries_of_is_ignored_and_named():
    frame = table().assign(later=np.nan)
    found = learned(frame)
    new = table(1).assign(later=1e6)
    assert np.allclose(found.machine.predict(new), found.machine.predict(new.assign(later=np.nan)))
    assert any(column.name == "later" and not column.used for column in found.sheet.columns)


def test_a_metric_may_collapse_to_one_direction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    direction = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    y = np.sin(X @ direction / 2)
    machine = LearnedMetric(KernelRidge(Exponential(), intercept=True), 4, "full").fit(X, y)
    values = np.linalg.eigvalsh(machine.metric_)
    assert values[-2] < 0.05 * values[-1]
    new = rng.normal(size=(300, 5))
    error = np.std(machine.predict(new) - np.sin(new @ direction / 2))
    assert error < 0.3 and np.isfinite(list(machine.attention_.values())).all()


@pytest.mark.parametrize("target", [np.full(60, 2.5), np.repeat(["x", "y"], 30)])
def test_gradients_that_vanish_leave_the_metric_out(target):
    X = np.zeros((60, 3))
    X[:, 0] = 1.0
    machine = KernelRidge(Exponential(1.0), intercept=True)
    if target.dtype.kind == "U":
        machine = mercer.KernelRidgeClassifier(Exponential(1.0), intercept=True)
    found = LearnedMetric(machine, search=False).fit(X + np.arange(60)[:, None] % 2, target)
    assert found.metric_ is None or np.isfinite(found.metric_).all()
    assert "metric" in found.reason_
