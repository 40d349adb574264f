"""A model in use: where it comes from, what it says about rows unlike all others, and drift."""

import csv
import hashlib
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import mercer
from mercer.cli import app

RUN = CliRunner()
OLD = Path(__file__).parents[1] / "files" / "format1.mercer"


def run(*arguments, status=0):
    answer = RUN.invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == status, (answer.output, answer.exception)
    return answer


def flowers(count=60, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "stem": rng.normal(5.0 + shift, 1.0, count).round(3),
            "leaf": rng.normal(2.0, 0.5, count).round(3),
            "soil": rng.choice(["clay", "sand"], count),
        }
    )
    return table.assign(kind=np.where(table.stem + rng.normal(0, 0.3, count) > 5, "tall", "low"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flowers")
    flowers().to_csv(folder / "flowers.csv", index=False)
    run("fit", folder / "flowers.csv", "--target", "kind", "--machine", "prototype", "--seed",
        "3", "--no-references", "--budget", "5s", "--out", folder / "out")  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def model(place):
    return place / "out" / "model.mercer"


# ---- info ---------------------------------------------------------------------------------------


def test_info_tells_data_versions_seed_and_command_line(place, model):
    facts = json.loads(run("info", model, "--json").stdout)
    data = (place / "flowers.csv").read_bytes()
    assert facts["data file"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["data file"]["name"] == "flowers.csv" and facts["seed"] == 3
    assert facts["command line"][:2] == ["mercer", "fit"]
    assert facts["command line"][3:5] == ["--target", "kind"]
    assert facts["versions"]["mercer"] == mercer.__version__
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["columns"] == ["stem (numeric)", "leaf (numeric)", "soil (categorical)"]
    assert facts["rows learned from"] == 60
    said = " ".join(run("info", model).stdout.split())
    assert "--target kind" in said and "soil (categorical)" in said and "seed: 3" in said


def test_equal_studies_make_equal_files_wherever_they_are(place, model, tmp_path):
    shutil.copy(place / "flowers.csv", tmp_path / "other.csv")
    run("fit", tmp_path / "other.csv", "--target", "kind", "--machine", "prototype", "--seed",
        "3", "--no-references", "--budget", "5s", "--out", tmp_path / "out")  # fmt: skip
    facts = [json.loads(run("info", path, "--json").stdout)
             for path in (model, tmp_path / "out" / "model.mercer")]  # fmt: skip
    for name in ("fingerprint of the rows", "kernel", "error", "versions"):
        assert facts[0][name] == facts[1][name] is not None


def test_old_files_and_saved_machines_say_what_they_know(tmp_path):
    assert "written by: mercer" in " ".join(run("info", OLD).stdout.split())
    mercer.save(mercer.SVC("linear"), tmp_path / "machine.mercer")
    said = " ".join(run("info", tmp_path / "machine.mercer").stdout.split())
    assert "holds: machines.SVC" in said and "command line: not kept" in said
    answer = run("info", __file__, status=2)
    assert "not a model file" in answer.stderr


# ---- the guard at predict -----------------------------------------------------------------------


def test_rows_unlike_all_others_are_counted_and_marked(place, model, tmp_path):
    rows = flowers(20, seed=0).drop(columns="kind")
    rows.loc[3, "stem"], rows.loc[7, "soil"], rows.loc[9, "stem"] = 99.0, "moon", -50.0
    rows["leaf"] = np.nan
    rows.to_csv(tmp_path / "new.csv", index=False)
    answer = run("predict", model, tmp_path / "new.csv")
    found = list(csv.DictReader(io.StringIO(answer.stdout)))
    marked = {int(row["row"]): row["careful"] for row in found if row["careful"]}
    assert {3, 7, 9} <= set(marked)
    assert "stem 99 is outside" in marked[3] and "far from all known rows" in marked[3]
    assert "soil 'moon' was never seen" in marked[7]
    assert "the column 'leaf' is empty in all 20 rows" in answer.stderr
    assert "far from all that was learned from" in answer.stderr
    assert "categories never seen in 'soil' (row 7)" in answer.stderr


def test_known_rows_are_answered_without_a_word(place, model):
    answer = run("predict", model, place / "flowers.csv")
    assert "careful" not in answer.stderr
    found = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert {row["careful"] for row in found} == {""}


def test_counts_add_up_over_pieces(model, tmp_path, monkeypatch):
    rows = flowers(30, seed=5).drop(columns="kind").assign(stem=70.0)
    rows.to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.setattr("mercer.studies.saved.CHUNK_ROWS", 8)
    said = run("predict", model, tmp_path / "new.csv").stderr
    assert "30 rows of 30 are far" in said and "(rows 0, 1, 2, 3, 4, …)" in said
    assert said.count("never reached in 'stem'") == 1


def test_the_loaded_model_takes_the_raw_table_as_the_command_does(model, place):
    table = pd.read_csv(place / "flowers.csv")
    found = mercer.load(model).predict(table)
    told = list(csv.DictReader(io.StringIO(run("predict", model, place / "flowers.csv").stdout)))
    assert found.tolist() == [row["prediction"] for row in told]


# ---- drift --------------------------------------------------------------------------------------


def test_drift_has_a_status_for_scripts_and_says_what_it_means(model, tmp_path):
    flowers(60, seed=21).to_csv(tmp_path / "same.csv", index=False)
    flowers(60, seed=22, shift=1.5).drop(columns="kind").to_csv(tmp_path / "new.csv", index=False)
    said = " ".join(run("drift", model, tmp_path / "same.csv").stdout.split())
    assert "may well be like the one learned from" in said and "have targets" in said
    said = " ".join(run("drift", model, tmp_path / "new.csv", status=3).stdout.split())
    assert "is not like the one learned from: 60 rows" in said
    assert "stem" in said and "What it means for the error" in said and "The study said" in said
    facts = json.loads(run("drift", model, tmp_path / "new.csv", "--json", status=3).stdout)
    assert facts["found"] and facts["columns"][0]["name"] == "stem"


def test_drift_takes_a_sample_of_a_long_table_and_refuses_models_without_known_rows(
    model, tmp_path, monkeypatch
):
    flowers(300, seed=23).to_csv(tmp_path / "long.csv", index=False)
    known = mercer.studies.open_model(model)
    sample = known.sample(tmp_path / "long.csv", most=50)
    assert len(sample) == len(sample.X) == len(sample.y) == 50
    assert (np.diff(sample.rows) > 0).all() and sample.rows[-1] > 100
    monkeypatch.setattr("mercer.studies.saved.CHUNK_ROWS", 64)
    again = known.sample(tmp_path / "long.csv", most=300)
    assert again.rows.tolist() == list(range(300))
    machine = mercer.KernelRidge("linear", 0.1).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    mercer.save(machine, tmp_path / "machine.mercer")
    (tmp_path / "x.csv").write_text("x\n1\n2\n4\n5\n7\n", encoding="utf-8")
    refused = run("drift", tmp_path / "machine.mercer", tmp_path / "x.csv", status=2)
    assert "keeps no rows to compare with" in refused.stderr


# ---- serve --------------------------------------------------------------------------------------


def test_serve_refuses_ports_and_limits_that_are_none(model):
    assert "from 0 to 65535" in run("serve", model, "--port", "99999", status=2).stderr
    assert "limit of rows" in run("serve", model, "--max-rows", "0", status=2).stderr
