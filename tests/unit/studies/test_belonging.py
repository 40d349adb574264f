"""Rows that are not independent are found where nobody has said so, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

from mercer.studies import study
from mercer.studies.belonging import belonging, clumps
from mercer.studies.study_design import design
from tests.unit.studies.tied_rows import sales, visits


def looked(rows, target, **how):
    made = design(rows, target, machine="ridge", budget=5.0, **how)
    return belonging(made.sheet, made.procedure)


def test_a_column_that_repeats_persons_is_named_with_the_option():
    (found,) = looked(visits(), "state")
    assert "'person' repeats 40 entries" in found and "--groups person" in found


def test_near_copies_are_found_without_a_column():
    (found,) = looked(visits().drop(columns="person"), "state")
    assert "near copies" in found and "--groups" in found


def test_errors_that_grow_with_time_are_named_with_the_option():
    (found,) = looked(sales(400), "sales")
    assert "Errors grow with 'day'" in found and "--time day" in found


def test_what_was_said_is_not_said_again():
    assert looked(visits(20, 10), "state", groups="person") == ()
    assert looked(sales(200), "sales", time="day") == ()


def test_studies_say_it():
    rows = visits(40, 8)
    found = study(rows, "state", machine="ridge", kernel=None, budget=5.0, references=False)
    assert any("--groups person" in warning for warning in found.warnings)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes])
def test_tables_of_single_things_are_left_alone(load):
    rows = load(as_frame=True).frame
    assert looked(rows, "target") == ()


def test_rows_by_chance_and_real_categories_raise_no_alarm():
    alarms = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        city = rng.integers(0, 12, 240)
        x = rng.normal(size=(240, 2))
        day = pd.date_range("2022-01-01", periods=240)[rng.permutation(240)]
        rows = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "city": [f"c{k}" for k in city],
                             "day": day, "y": x[:, 0] + rng.normal(size=240)})  # fmt: skip
        alarms += len(looked(rows, "y"))
    assert alarms == 0


def test_clouds_have_no_clumps_and_clumps_are_those_that_were_made():
    rng = np.random.default_rng(1)
    clouds = [rng.normal(size=(300, d)) for d in (1, 2, 10)]
    clouds += [np.exp(rng.normal(size=(300, 2))), rng.integers(0, 9, size=(300, 2)).astype(float)]
    assert all(clumps(cloud) is None for cloud in clouds)
    made = np.repeat(np.arange(30), 8)
    found = clumps(rng.normal(size=(30, 5))[made] + 0.02 * rng.normal(size=(240, 5)))
    pairs = np.unique(np.column_stack([made, found]), axis=0)
    assert len(pairs) == 30 == found.max() + 1
