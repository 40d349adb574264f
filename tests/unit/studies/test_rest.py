"""Rows of a large file that were not learned from."""

import csv

import numpy as np
import pytest

from mercer.sources import read
from mercer.studies import Design, design
from mercer.studies.rest import predict_rest


@pytest.fixture
def table(tmp_path):
    """Return a file of 400 rows."""
    rng = np.random.default_rng(0)
    path = tmp_path / "many.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["x", "z", "kind"])
        for _ in range(400):
            x, z = rng.normal(size=2)
            kind = "up" if x + 0.1 * rng.normal() > 0 else "down"
            out.writerow([f"{x:.5f}", f"{z:.5f}", kind])
    return path


def few(path, limit, **how):
    """Return a study that learns from a few rows of a file."""
    sheet = read(path, "kind", limit=limit, **how)
    plan = design(sheet, machine="ridge")
    assert isinstance(plan, Design)
    return plan.run()


def test_all_rows_are_predicted_those_that_were_learned_from_by_other_folds(table):
    found = few(table, 100)
    assert len(found.sheet) == 100 and found.sheet.total == 400
    rest = found.rest
    assert sorted([*rest.rows, *found.sheet.rows]) == list(range(400))
    assert rest.error == pytest.approx(np.mean(rest.prediction != rest.y))
    assert rest.error < 0.15 and 0 < rest.error_se < 0.1
    assert rest.probabilities.shape == (300, 2)
    whole = read(table, "kind")
    places = np.isin(whole.rows, rest.rows)
    assert (found.machine.predict(whole.X[places]) == rest.prediction).all()
    assert (whole.y[places] == rest.y).all()


def test_a_whole_file_has_no_rest(table):
    assert few(table, None).rest is None
    assert predict_rest(None, read(table, "kind")) is None


def test_bad_rows_of_the_rest_are_listed_and_do_not_stop_the_study(table):
    text = table.read_text().splitlines()
    sheet = read(table, "kind", limit=100)
    other = next(row for row in range(400) if row not in sheet.rows)
    text[other + 1] = "much,0.5,up"
    table.write_text("\n".join(text) + "\n")
    found = few(table, 100)
    assert [bad.line for bad in found.rest.bad] == [other + 2]
    assert len(found.rest.rows) == 299
