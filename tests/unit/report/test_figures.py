"""What programs read: every number is there, in full, and gives the same error again."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mercer.report import metrics, predictions
from mercer.report.figures import as_csv, as_json
from mercer.studies.results import UnsampledRows
from tests.unit.report.examples import example

REQUIRED = {
    "task", "machine", "kernel", "error", "error_se", "baseline_error", "versions", "seed",
    "timings",
}  # fmt: skip
MORE = {
    "measure", "parameters", "target", "rows", "classes", "columns", "attempts", "folds",
    "warnings", "notes", "budget", "file",
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
    assert labels == study.y.tolist()
    found = np.array(
        [[float(row[f"probability of {label}"]) for label in study.classes] for row in rows]
    )
    np.testing.assert_array_equal(found, study.held_out.probabilities)


def test_texts_stand_as_they_are():
    labels = ["=1+1", "-2", "+x", "@y", 'a "b"', "c,d", "e\nf", "g\rh", "名前", " i "]
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
    assert again["folds"] == {"outer": 4, "inner": 3}
    assert again["target"] == "species" and again["file"] == "iris.csv"


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
