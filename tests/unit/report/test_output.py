"""All files are written, or those that were there stay; every number is in them, in full."""

import csv
import io
import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import FileError
from mercer.report import html, metrics, predictions, write
from mercer.report.formulas import harmless
from mercer.report.output import as_csv, as_json
from mercer.studies import UnsampledRows
from mercer.studies.attention import ColumnAttention
from mercer.studies.effects import ColumnEffect
from mercer.studies.measures import Measures
from tests.unit.report.examples import example

NAMES = ["model.mercer", "report.html", "metrics.json", "predictions.csv"]


@pytest.fixture
def short_page(monkeypatch):
    """Write a page that takes no time to make."""
    monkeypatch.setattr("mercer.report.output.html", lambda study: f"<p>{study.task}</p>")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_four_files_are_written_into_a_new_folder(tmp_path):
    study = example("iris")
    paths = mercer.report.write(study, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == NAMES
    assert all(path.parent == tmp_path / "new" / "folder" for path in paths)
    assert sorted(os.listdir(paths[0].parent)) == sorted(NAMES)
    assert paths[1].read_text(encoding="utf-8") == html(study)
    assert json.loads(paths[2].read_bytes())["error"] == study.error


@pytest.mark.parametrize("name", ["iris", "regression", "graphs", "mixed"])
def test_the_model_knows_how_to_read_and_how_good_it_is(name, tmp_path, short_page):
    study = example(name)
    model = write(study, tmp_path)[0]
    notes = mercer.files.describe(model)["notes"]
    learned = notes["learned"]
    assert learned["labels"][learned["codes"]].tolist() == study.y.tolist()
    assert learned["rows"].tolist() == study.sheet.rows.tolist()
    assert [c["name"] for c in notes["recipe"]["columns"]] == [c.name for c in study.sheet.used]
    told = notes["study"]
    assert told["task"] == study.task and told["kernel"] == study.kernel
    assert told["error"] == study.error and told["baseline_error"] == study.baseline_error
    assert told["target"] == (study.sheet.target and study.sheet.target.name)
    again = mercer.load(model)
    np.testing.assert_array_equal(again.predict(study.X), study.machine.predict(study.X))


@pytest.mark.slow
def test_twice_the_same_study_gives_twice_the_same_files(tmp_path):
    study = example("nasty")
    first = contents(write(study, tmp_path / "a")[0].parent)
    later = replace(study, timings={"total": 77.0})
    second = contents(write(later, tmp_path / "b")[0].parent)
    for name in ("model.mercer", "report.html", "predictions.csv"):
        assert first[name] == second[name]
    found, again = (json.loads(files["metrics.json"]) for files in (first, second))
    assert found.pop("timings") != again.pop("timings")
    assert found == again


def fail(*_, **__):
    raise OSError("no space left on device")


@pytest.mark.parametrize("where", ["save", "html", "metrics", "predictions", "as_csv", "recipe"])
def test_a_failure_leaves_everything_as_it_was(where, tmp_path, short_page, monkeypatch):
    write(example("iris"), tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr(f"mercer.report.output.{where}", fail)
    with pytest.raises(OSError, match="no space left"):
        write(example("molecules"), tmp_path)
    assert contents(tmp_path) == before


def test_an_interruption_leaves_everything_as_it_was(tmp_path, short_page, monkeypatch):
    write(example("iris"), tmp_path)
    before = contents(tmp_path)

    def portions(study):
        yield b"row,target,prediction\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.report.output._lines", portions)
    with pytest.raises(KeyboardInterrupt):
        write(example("molecules"), tmp_path)
    assert contents(tmp_path) == before


def test_a_model_that_cannot_be_saved_leaves_no_report(tmp_path, short_page):
    from mercer.kernels import from_function

    study = example("molecules")
    kernel = from_function(lambda x, z: 1.0)
    machine = mercer.KernelRidge(kernel).fit(np.ones((3, 1)), [1.0, 2.0, 3.0])
    with pytest.raises(FileError, match="never holds code"):
        write(replace(study, machine=machine), tmp_path)
    assert list(tmp_path.iterdir()) == []


REQUIRED = {
    "task", "machine", "kernel", "error", "error_se", "baseline_error", "versions", "seed",
    "timings",
}  # fmt: skip
MORE = {
    "measure", "parameters", "target", "rows", "classes", "columns", "attempts", "folds",
    "warnings", "notes", "budget", "file", "verdict", "measures", "references", "attention",
    "effects", "rows_held_out", "held_out_error",
}  # fmt: skip


def read_back(study):
    text = as_csv(predictions(study)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def error_of(rows, task):
    if task == "classify":
        return np.mean([row["target"] != row["prediction"] for row in rows])
    off = [float(row["target"]) - float(row["prediction"]) for row in rows]
    return np.sqrt(np.mean(np.square(off)))


@pytest.mark.parametrize("name", ["iris", "nasty", "regression", "graphs", "mixed"])
def test_the_error_can_be_computed_again_from_the_predictions(name):
    study = example(name)
    rows = read_back(study)
    assert len(rows) == len(study.y)
    assert [int(row["row"]) for row in rows] == study.sheet.rows.tolist()
    assert error_of(rows, study.task) == pytest.approx(metrics(study)["error"], abs=1e-12)


@pytest.mark.parametrize("name", ["iris", "nasty", "regression"])
def test_predictions_come_back_bit_for_bit(name):
    study = example(name)
    rows = read_back(study)
    if study.task == "regress":
        found = np.array([float(row["prediction"]) for row in rows])
        assert list(rows[0]) == ["row", "target", "prediction"]
        np.testing.assert_array_equal(found, study.held_out.prediction)
        return
    labels = [row["target"] for row in rows]
    assert labels == [harmless(label) for label in study.y.tolist()]
    found = np.array(
        [[float(row[f"probability of {label}"]) for label in study.classes] for row in rows]
    )
    np.testing.assert_array_equal(found, study.held_out.probabilities)


def test_texts_stand_as_they_are():
    labels = ["-2", 'a "b"', "c,d", "e\nf", "g\rh", "名前", " i "]
    table = pd.DataFrame({"target": labels, "prediction": labels[::-1]})
    text = as_csv(table).decode()
    assert "\r\n" not in text
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows[1:]] == labels
    assert as_csv(table, header=False).decode() == text.split("\n", 1)[1]


def test_metrics_are_plain_and_complete():
    study = example("iris")
    found = metrics(study)
    assert set(found) >= REQUIRED | MORE
    again = json.loads(as_json(found), parse_constant=lambda name: pytest.fail(name))
    assert again == found
    assert again["error"] == study.error and again["error_se"] == study.error_se
    assert again["machine"] == "KernelRidgeClassifier"
    assert again["classes"] == ["setosa", "versicolor", "virginica"]
    assert again["columns"][0] == {
        "name": "sepal length (cm)", "kind": "numeric", "why": "all entries are numbers"
    }  # fmt: skip
    assert again["attempts"][2]["error"] is None  # it was left out
    assert set(again["versions"]) >= {"mercer", "python", "numpy", "scipy", "scikit-learn"}
    assert again["folds"] == {"outer": 4, "inner": 3, "judging": 4}
    assert again["target"] == "species" and again["file"] == "iris.csv"


def test_what_matters_is_in_the_metrics():
    day = np.array(["2020-01-01", "2020-02-01"], "datetime64[s]")
    mean = np.array([[1.0, 2.0]])
    effect = ColumnEffect("day", "date", day, "prediction", (), mean, mean - 1, mean + 1, 50)
    attention = ColumnAttention(("day", "age"), (0.9, 0.1), (0.2, 0.1), (("day", "age", 0.5),))
    study = replace(example("regression"), attention=attention, effects=(effect,))
    found = json.loads(as_json(metrics(study)))
    assert found["attention"] == {
        "columns": [
            {"column": "day", "share": 0.9, "spread": 0.2},
            {"column": "age", "share": 0.1, "spread": 0.1},
        ],
        "together": [{"columns": ["day", "age"], "strength": 0.5}],
    }
    assert found["effects"][0]["values"] == ["2020-01-01 00:00:00", "2020-02-01 00:00:00"]
    assert found["effects"][0]["mean"] == [[1.0, 2.0]] and found["effects"][0]["rows"] == 50
    assert metrics(example("iris"))["attention"] is None


def test_each_measure_stands_beside_its_baseline():
    study = example("two classes")
    found = metrics(study)
    both = {"value": study.error, "baseline": study.baseline_error}
    assert found["measures"] == {"error": both} and found["verdict"] == "good"
    more = Measures(("log loss",), (0.2,), (0.7,), True)
    assert metrics(replace(study, measures=more))["measures"] == {
        "error": both, "log loss": {"value": 0.2, "baseline": 0.7},
    }  # fmt: skip


def test_values_of_other_libraries_become_plain():
    study = replace(
        example("regression"), error_se=np.float64("nan"), seed=np.int64(3),
        parameters={"C": np.float32(0.5), "kind": np.str_("a"), "limit": float("inf")},
    )  # fmt: skip
    found = json.loads(as_json(metrics(study)))
    assert found["error_se"] is None and found["seed"] == 3
    assert found["parameters"] == {"C": 0.5, "kind": "a", "limit": None}
    assert found["classes"] is None


def test_unicode_is_written_as_it_is_and_half_characters_do_not_matter():
    study = replace(example("iris"), notes=("名前 🙂", "half \ud800"))
    text = as_json(metrics(study)).decode()
    assert "名前 🙂" in text and "half ?" in text


def test_rows_that_were_not_learned_from_are_there_too():
    study = example("regression")
    rest = UnsampledRows(
        rows=np.array([1000, 500]), y=np.array([1.0, 2.0]), prediction=np.array([1.5, 2.5]),
        probabilities=None, error=0.5, error_se=0.1,
    )  # fmt: skip
    study = replace(study, rest=rest)
    rows = read_back(study)
    assert len(rows) == len(study.y) + 2
    assert [row["row"] for row in rows[-2:]] == ["500", "1000"]
    assert [row["fold"] for row in rows[-2:]] == ["", ""]
    learned = [row for row in rows if row["fold"]]
    assert error_of(learned, "regress") == pytest.approx(study.error, abs=1e-12)
    assert metrics(study)["rest"] == {"rows": 2, "error": 0.5, "error_se": 0.1}
