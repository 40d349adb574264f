"""Tables kept aside, several targets, codes that nobody named, and how sure answers are."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_squared_error
from typer.testing import CliRunner

from mercer.cli import app
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian
from mercer.machines import ExemplarClassifier
from mercer.studies import study, study_targets
from mercer.studies.several import targets_of
from mercer.studies.stand_ins import suspicious
from mercer.studies.sureness import sureness

QUICK = {"machine": "ridge", "kernel": "linear", "budget": 5.0, "references": False}


def line(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": 2 * x + rng.normal(size=n), "z": x + rng.normal(size=n)})


def test_a_table_kept_aside_is_judged_by_the_machine_in_the_end():
    rows, later = line(), line(50, seed=1)
    found = study(rows, "y", test=later, types={"z": "ignore"}, **QUICK)
    off = mean_squared_error(later["y"], found.machine.predict(later[["x"]]))
    assert found.test.error == pytest.approx(np.sqrt(off), rel=1e-10)
    base = np.sqrt(np.mean((later["y"] - rows["y"].mean()) ** 2))
    assert found.test.baseline_error == pytest.approx(base, rel=1e-10)
    assert (found.test.rows, found.test.known) == (50, 0)
    again = study(rows, "y", test=pd.concat([later, rows[:7]]), types={"z": "ignore"}, **QUICK)
    assert again.test.known == 7


def test_a_table_without_targets_judges_nothing():
    with pytest.raises(DomainError, match="has no column 'y', so nothing can be judged"):
        study(line(), "y", test=line()[["x", "z"]], **QUICK)


def test_several_targets_do_not_see_each_other():
    rows = line()
    found = study_targets(rows, "y,z", **QUICK)
    assert list(found) == ["y", "z"]
    assert all([c.name for c in one.sheet.used] == ["x"] for one in found.values())
    alone = study(rows[["x", "y"]], "y", **QUICK)
    assert found["y"].error == alone.error


def test_names_of_targets():
    assert targets_of(line(), ["y", "z"]) == ["y", "z"]
    with pytest.raises(DomainError, match="named twice"):
        targets_of(line(), "y,y")
    with pytest.raises(DomainError, match="there is no column 'w'"):
        targets_of(line(), "y,w")


def test_the_command_learns_several_targets_and_judges_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line().to_csv("rows.csv", index=False)
    line(40, seed=2).to_csv("later.csv", index=False)
    options = "--machine ridge --kernel linear --no-references --budget 5 --test later.csv"
    said = CliRunner().invoke(app, ["fit", "rows.csv", "--target", "y,z", *options.split()])
    assert said.exit_code == 0, said.output
    assert "On the 40 rows of later.csv, which had no part in anything" in said.output
    assert "All targets" in said.output
    for name in ("y", "z"):
        folder = tmp_path / "rows-mercer" / name
        found = json.loads((folder / "metrics.json").read_text())
        assert found["target"] == name and found["test"]["rows"] == 40
        assert (folder / "model.mercer").exists()


@pytest.mark.parametrize("code", [-999.0, 9999.0, -1e6])
def test_codes_for_nothing_are_found(code):
    rows = line(200)
    rows.loc[::20, "x"] = code
    how = {name: value for name, value in QUICK.items() if name != "kernel"}  # takes gaps
    found = study(rows, "y", **how)
    (told,) = [w for w in found.warnings if "--missing" in w]
    assert f"'x' is {code:.0f} in 10 rows" in told and f"--missing x={code:.0f}" in told
    clean = study(rows, "y", missing=f"x={code:.0f}", **how)
    assert not any("--missing" in w for w in clean.warnings)
    assert np.isnan(clean.X["x"]).sum() == 10


def test_tails_and_counts_are_no_codes():
    rng = np.random.default_rng(0)
    clean = [rng.normal(size=500), np.exp(rng.normal(size=500)), rng.poisson(3, 500) * 1.0]
    clean += [np.r_[rng.normal(size=500), 400.0], np.r_[np.zeros(50), rng.random(500)]]
    for values in clean:
        assert suspicious(values) is None


def test_duplicates_are_dropped_and_counted():
    rows = line(60)
    found = study(pd.concat([rows, rows[:9]]), "y", drop_duplicates=True, **QUICK)
    assert len(found.y) == 60 and any("9 rows repeat" in note for note in found.sheet.notes)


def test_machines_that_are_right_and_unsure_are_recalibrated():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-3, 1, size=(150, 2)), rng.normal(3, 1, size=(150, 2))])
    y = np.repeat(["left", "right"], 150)
    raw = ExemplarClassifier(Gaussian(20.0)).fit(X, y).predict_proba(X).max(axis=1)
    assert raw.mean() < 0.6  # which is what such a machine claims by itself
    wide = {"machine": "exemplar", "kernel": Gaussian(20.0), "budget": 5, "references": False}
    found = study(X, y, **wide)
    sure = found.held_out.probabilities.max(axis=1)
    assert found.error < 0.02 and sure.mean() > 0.95 and raw.shape == sure.shape
    assert not any("poorly calibrated" in warning for warning in found.warnings)


def test_sureness_is_poor_only_beyond_chance():
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(60):
        sure = rng.uniform(0.5, 1, size=80)
        alarms += sureness(sure, rng.random(80) < sure, seed).poor
        assert sureness(sure, rng.random(80) < sure - 0.35, seed).poor
    assert alarms <= 3


def test_without_a_scale_columns_are_compared_as_they_are():
    rows = line(60).assign(wide=lambda frame: 1000 * frame["z"])
    plain = {"machine": "ridge", "budget": 5.0, "references": False}
    found = study(rows, "y", scale="none", **plain)
    assert "compared as they are" in " ".join(found.notes)
    assert not hasattr(found.machine, "steps")  # nothing stands before the machine
    with pytest.raises(ValidityError, match="can only be 'none', found 'log'"):
        study(rows, "y", scale="log", **plain)
