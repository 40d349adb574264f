"""All files are written, or those that were there stay."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer.errors import FileError
from mercer.report import html, write
from tests.unit.report.examples import example

NAMES = ["model.mercer", "report.html", "metrics.json", "predictions.csv"]


@pytest.fixture
def short_page(monkeypatch):
    """Write a page that takes no time to make."""
    monkeypatch.setattr("mercer.report.writing.html", lambda study: f"<p>{study.task}</p>")


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
    monkeypatch.setattr(f"mercer.report.writing.{where}", fail)
    with pytest.raises(OSError, match="no space left"):
        write(example("molecules"), tmp_path)
    assert contents(tmp_path) == before


def test_an_interruption_leaves_everything_as_it_was(tmp_path, short_page, monkeypatch):
    write(example("iris"), tmp_path)
    before = contents(tmp_path)

    def portions(study):
        yield b"row,target,prediction\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.report.writing._lines", portions)
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
