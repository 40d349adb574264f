"""Fit, predict, explain, check and gram: what they print, write and refuse."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import mercer
from mercer.cli import app
from mercer.cli.fit import _print_answer, _print_columns
from mercer.cli.model import Screen
from mercer.sources import read_frame
from mercer.studies import Attempt, open_model
from mercer.studies.measures import Measures
from mercer.studies.reference import Reference
from mercer.studies.results import UnsampledRows
from tests.unit.report.examples import example

RUN = CliRunner()
QUICK = ("--machine", "prototype", "--kernel", "Linear().on('size', 'legs') + Text().on('notes')")


def run(*arguments, status=0):
    answer = RUN.invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == status, (answer.output, answer.exception)
    return answer


def refusal(*arguments):
    """Return the one sentence with which the command refuses."""
    text = run(*arguments, status=2).stderr
    assert text.startswith("mercer: ") and text.count("\n") == 1, text
    return text.removeprefix("mercer: ").strip()


def insects(count=40, target=True):
    rng = np.random.default_rng(1)
    rows = ["size,legs,notes" + ",kind" * target]
    for i in range(count):
        kind = ("ant", "bee")[i % 2]
        size, legs = rng.normal((1, 4) if kind == "ant" else (3, 5), 0.5).round(2)
        word = ("crawls", "flies", "rests")[i % 2 if i % 5 else 2]
        rows.append(f"{size},{legs},it {word} at {i}" + f",{kind}" * target)
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table and a model of it, made by the command."""
    folder = tmp_path_factory.mktemp("insects")
    table = folder / "insects.csv"
    table.write_text(insects(), encoding="utf-8")
    answer = run("fit", table, "--target", "kind", *QUICK, "--out", folder / "out")
    (folder / "said.txt").write_text(answer.stdout, encoding="utf-8")
    return folder


@pytest.fixture
def model(place):
    return place / "out" / "model.mercer"


# ---- fit ----------------------------------------------------------------------------------------


def test_fit_says_what_it_saw_planned_tried_found_and_wrote(place):
    said = (place / "said.txt").read_text(encoding="utf-8")
    kinds = [line.split()[:2] for line in said.splitlines() if line.startswith("  ")]
    for column in (["size", "numeric"], ["legs", "numeric"], ["notes", "text"]):
        assert column in kinds
    assert "--types size=categorical" in said and "categorical, the target" in said
    parts = ["The plan", "PrototypeClassifier", "What was tried", "The answer", "Written"]
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    names = ["model.mercer", "report.html", "metrics.json", "predictions.csv"]
    assert [line.strip() for line in said.splitlines()[-4:]] == [
        str(place / "out" / name) for name in names
    ]
    assert "\x1b" not in said and max(map(len, said.splitlines()[:-4])) <= 100


def test_the_answer_is_the_sentence_at_the_top_of_the_report(place):
    said = " ".join((place / "said.txt").read_text(encoding="utf-8").split())
    start = said.index("The answer ") + len("The answer ")
    sentence = said[start : said.index(";", start)]
    assert len(sentence) > 30
    assert sentence in " ".join((place / "out" / "report.html").read_text("utf-8").split())


def test_no_error_on_the_other_rows_has_no_spread(capsys):
    study = example("two classes")
    none = UnsampledRows(np.arange(5), study.y[:5], study.y[:5], None, 0.0, 0.0)
    _print_answer(replace(study, rest=none))
    assert "the error is 0%." in " ".join(capsys.readouterr().out.split())


def said(capsys, study):
    _print_answer(study)
    return " ".join(capsys.readouterr().out.split())


def test_references_are_printed_beside_the_machines(capsys):
    references = (
        Reference("linear model", "LogisticRegression", 0.3, 0.01),
        Reference("boosted trees", "Hist", 0.015, 0.004),
    )
    study = replace(example("two classes"), error=0.052, error_se=0.004, references=references)
    text = said(capsys, study)
    assert "linear model 30.0% 1.0% to compare with" in text
    assert "Boosted trees were better here: 1.5% against 5.2%." in text
    failed = replace(references[1], error=np.nan, error_se=np.nan, note="no such level")
    text = said(capsys, replace(study, references=(failed,)))
    assert "Boosted trees could not be fitted: no such level." in text
    assert "to compare with" not in text


def test_measures_are_printed_beside_those_of_knowing_nothing(capsys):
    study = example("two classes")
    found = Measures(("balanced error", "area under ROC"), (0.1, 0.93), (0.5, 0.5), True)
    text = said(capsys, replace(study, measures=found))
    assert "balanced error 10.0% 50.0%" in text and "area under ROC 0.93 0.5" in text
    assert "How good that is" not in said(capsys, study)


def test_a_study_that_learns_nothing_says_so_first(capsys):
    study = example("regression")
    text = said(capsys, replace(study, error=study.baseline_error))
    assert "The answer Nothing was learned: for a new row" in text


def test_left_out_and_not_fitted_to_all_rows_are_two_things(capsys):
    study = example("two classes")
    lost = Attempt("KernelRidge", 9, inner=0.2, note="on the rows that choose its error is 0.2")
    chosen = replace(study.attempts[1], error=np.nan, error_se=np.nan, note="x", chosen=True)
    text = said(capsys, replace(study, attempts=(chosen, lost, study.attempts[2])))
    assert f"{chosen.machine} — 3 chosen" in text
    assert "KernelRidge was not fitted to all rows: on the rows that choose" in text
    assert "KernelLogistic was left out: the time was up." in text


def test_rows_kept_aside_are_counted(capsys):
    study = example("two classes")
    held = study.held_out
    some = replace(
        held, rows=held.rows[:50], fold=0 * held.fold[:50], prediction=held.prediction[:50],
        probabilities=held.probabilities[:50],
    )  # fmt: skip
    assert "of 50 rows kept aside)" in said(capsys, replace(study, held_out=some))
    assert "of held-out rows)" in said(capsys, study)


@pytest.mark.parametrize("options", [(), ("--no-references",)])
def test_references_can_be_left_out(place, options, tmp_path):
    arguments = ("fit", place / "insects.csv", "--target", "kind", *QUICK)
    text = run(*arguments, *options, "--out", tmp_path / "out").stdout
    assert ("boosted trees" in text) == (not options)
    found = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))
    assert len(found["references"]) == (0 if options else 2)


@pytest.mark.parametrize(
    "name", ["a name that is longer than forty letters, no less", "x\x1b[31m"]
)
def test_the_example_of_types_can_be_typed(name, capsys):
    rows = pd.DataFrame({name: [1.5, 2.5, 3.5, 4.5], "size": [0.1, 1.7, 2.2, 3.0]})
    _print_columns(read_frame(rows.assign(kind=["a", "b", "a", "b"]), "kind"))
    assert "--types size=categorical" in capsys.readouterr().out


def test_fit_without_a_target_lists_the_columns(place):
    sentence = refusal("fit", place / "insects.csv", "--out", place / "none")
    assert all(f"'{name}'" in sentence for name in ("size", "legs", "notes", "kind"))
    assert not (place / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "kind", "--kernel", "Gausian()"], "did you mean 'Gaussian'?"),
        (["--target", "kind", "--kernel", "__import__('os')"], "unknown name"),
        (["--target", "kind", "--kernel", "Linear().on('weight')"], "weight"),
        (["--target", "kind", "--machine", "rigde"], "did you mean 'ridge'?"),
        (["--target", "kind", "--types", "size=txt"], "did you mean 'text'?"),
        (["--target", "kind", "--types", "sise=text"], "did you mean 'size'?"),
        (["--target", "kind", "--kind", "regress"], "kind"),
    ],
)
def test_fit_refuses_what_makes_no_sense(place, arguments, words, tmp_path):
    sentence = refusal("fit", place / "insects.csv", *arguments, "--out", tmp_path / "none")
    assert words in sentence
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("budget", ["0", "soon", "-1s"])
def test_a_budget_that_is_no_time_is_refused(place, budget):
    sentence = refusal("fit", place / "insects.csv", "--target", "kind", "--budget", budget)
    assert "60s, 2m or 1h" in sentence


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(place):
    arguments = ("fit", place / "insects.csv", "--target", "kind", "--out")
    assert "is a file, not a folder" in refusal(*arguments, place / "insects.csv")


@pytest.mark.slow
def test_without_data_it_reads_digits_and_says_so(tmp_path, monkeypatch):
    from sklearn import datasets

    some = datasets.load_digits(n_class=2, as_frame=True)
    some.frame = some.frame[:80]
    monkeypatch.setattr(datasets, "load_digits", lambda **how: some)
    monkeypatch.chdir(tmp_path)
    said = run("fit", *QUICK[:2], "--kernel", "linear").stdout
    assert said.startswith("No DATA was given") and "scikit-learn" in said
    assert "digits: 80 rows" in said
    found = json.loads(Path("digits-mercer/metrics.json").read_text("utf-8"))
    assert (found["file"], found["target"]) == ("digits", "digit")


def test_a_target_without_data_is_refused():
    assert "no data" in refusal("fit", "--target", "species")


@pytest.mark.slow
def test_many_columns_are_summed_up_and_numbers_can_be_predicted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(30, 25)).round(3)
    names = ",".join(f"c{i}" for i in range(25))
    rows = "\n".join(",".join(map(str, [*x, round(2 * x[0] + x[3], 3)])) for x in X)
    Path("wide.csv").write_text(f"{names},goal\n{rows}\n", encoding="utf-8")
    said = run("fit", "wide.csv", "--target", "goal", "--machine", "ridge",
               "--kernel", "linear").stdout  # fmt: skip
    assert "25 numeric" in said and "and 15 more columns" in said and "c12" not in said
    assert "root mean squared error" in said
    assert json.loads(Path("wide-mercer/metrics.json").read_text("utf-8"))["task"] == "regress"
    model = Path("wide-mercer/model.mercer")
    said = run("predict", model, "wide.csv")
    assert "off by" in said.stderr
    assert "no probabilities" in refusal("predict", model, "wide.csv", "--proba")
    assert "Known rows" in run("explain", model, "wide.csv").stdout


@pytest.mark.slow
def test_bad_rows_are_named_by_line_or_left_out_and_counted(place, tmp_path):
    lines = insects().splitlines()
    lines[7] = "1.0,too,many,entries,bee"
    lines[20] = "3,4"
    (tmp_path / "bad.csv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ("fit", tmp_path / "bad.csv", "--target", "kind", *QUICK, "--out", tmp_path / "o")
    sentence = refusal(*arguments)
    assert "line 8" in sentence and "line 21" in sentence and "--skip-bad" in sentence
    assert not (tmp_path / "o").exists()
    said = " ".join(run(*arguments, "--skip-bad").stdout.split())
    assert "38 rows of 40" in said and "line 8" in said
    assert json.loads((tmp_path / "o" / "metrics.json").read_text("utf-8"))["bad_rows"] == 2


# ---- predict ------------------------------------------------------------------------------------


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_go_to_stdout_and_the_error_to_stderr(place, model):
    answer = run("predict", model, place / "insects.csv")
    found = rows_of(answer.stdout)
    assert [row["row"] for row in found] == [str(i) for i in range(40)]
    assert {row["prediction"] for row in found} == {"ant", "bee"}
    truth = [row["kind"] for row in rows_of(insects())]
    wrong = np.mean([row["prediction"] != kind for row, kind in zip(found, truth, strict=True)])
    assert wrong < 0.2
    assert f"the file has the target of 40 rows: {mercer_percent(wrong)} wrong" in answer.stderr


def mercer_percent(share):
    from mercer.report.words import percent

    return percent(float(share))


def test_predictions_in_pieces_are_those_of_the_machine_at_once(
    place, model, tmp_path, monkeypatch
):
    (tmp_path / "new.csv").write_text(insects(35, target=False), encoding="utf-8")
    monkeypatch.setattr("mercer.studies.saved.CHUNK_ROWS", 8)
    answer = run("predict", model, tmp_path / "new.csv", "--proba")
    assert answer.stderr == ""  # there is no target to compare with
    found = rows_of(answer.stdout)
    known = open_model(model)
    (sheet,) = known.sheets(tmp_path / "new.csv", size=100)
    assert [row["prediction"] for row in found] == known.machine.predict(sheet.X).tolist()
    chances = [[float(row[f"probability of {k}"]) for k in ("ant", "bee")] for row in found]
    # A matrix product may add in another order for another number of rows.
    assert np.allclose(chances, known.machine.predict_proba(sheet.X), rtol=1e-9, atol=1e-12)
    assert np.allclose(np.sum(chances, axis=1), 1)


def test_a_terminal_shows_labels_and_does_not_obey_them():
    shown = io.BytesIO()
    Screen(shown).write("row,prediction\n0,\x1b]0;owned\x07rød\r\n".encode())
    assert shown.getvalue().decode() == "row,prediction\n0,·]0;owned·rød·\n"


def test_predictions_are_written_whole_or_not_at_all(place, model, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.studies.saved.CHUNK_ROWS", 8)
    out = tmp_path / "p.csv"
    answer = run("predict", model, place / "insects.csv", "--out", out)
    assert answer.stdout == "" and f"40 predictions written to {out}" in answer.stderr
    assert out.read_bytes() == run("predict", model, place / "insects.csv").stdout_bytes
    lines = insects().splitlines()
    lines[30] = "what,is,this,then,?"
    (tmp_path / "bad.csv").write_text("\n".join(lines), encoding="utf-8")
    before = out.read_bytes()
    assert "line 31" in refusal("predict", model, tmp_path / "bad.csv", "--out", out)
    assert out.read_bytes() == before and len(list(tmp_path.iterdir())) == 2
    answer = run("predict", model, tmp_path / "bad.csv", "--out", out, "--skip-bad")
    assert "1 row could not be read" in answer.stderr and "line 31" in answer.stderr
    assert "29" not in [row["row"] for row in rows_of(out.read_text("utf-8"))]


def test_predict_finds_columns_by_name_and_names_a_missing_one(place, model, tmp_path):
    (tmp_path / "few.csv").write_text("legs,size\n4,1\n5,3\n", encoding="utf-8")
    assert "no column 'notes'" in refusal("predict", model, tmp_path / "few.csv")
    turned = "extra,notes,legs,size\n" + "x,it flies,5,3\n" * 3
    (tmp_path / "turned.csv").write_text(turned, encoding="utf-8")
    found = rows_of(run("predict", model, tmp_path / "turned.csv").stdout)
    assert [row["prediction"] for row in found] == ["bee"] * 3


@pytest.mark.parametrize("wrong", ["insects.csv", "nothing.mercer", ""])
def test_predict_refuses_what_is_no_model(place, wrong):
    sentence = refusal("predict", place / wrong, place / "insects.csv")
    assert any(words in sentence for words in ("not a model file", "no file", "folder"))


# ---- explain ------------------------------------------------------------------------------------


def test_explain_names_columns_features_and_known_rows(place, model):
    said = run("explain", model, place / "insects.csv", "--row", "3", "--count", "4").stdout
    assert said.startswith("Row 3 (line 5): predicted bee")
    assert "notes it flies at 3" in " ".join(said.split())
    assert "What the parts of the kernel contributed" in said
    assert "flies" in said.split("What spoke for")[1].split("Known rows")[0]
    known = said.split("Known rows")[1].splitlines()[3:]
    assert len(known) == 4
    truth = [row["kind"] for row in rows_of(insects())]
    for line in known:
        row, kind = line.split()[:2]
        assert kind == truth[int(row)]


def test_explain_refuses_a_row_that_is_not_there(place, model):
    assert "its last is 39" in refusal("explain", model, place / "insects.csv", "--row", "40")


# ---- check and gram -----------------------------------------------------------------------------


def test_check_prints_proof_and_health(place):
    data = place / "insects.csv"
    said = run("check", "Gaussian('median').on('size') + Text().on('notes')", data).stdout
    assert said.startswith("This is a valid kernel")
    assert "Proof\n" in said and "├─" in said and "rank: " in said and "'median'" not in said


def test_check_of_a_kernel_that_is_none_succeeds_and_says_so(place):
    said = run("check", "Sigmoid(1.0, -1.0).on('size')", place / "insects.csv").stdout
    assert said.startswith("This is not a valid kernel") and "witness" in said


def test_check_looks_at_a_sample_of_many_rows_and_says_so(place, monkeypatch):
    monkeypatch.setattr("mercer.cli.kernel.MAX_CHECKED", 15)
    said = run("check", "Gaussian(1.0)", place / "insects.csv", "--target", "kind").stdout
    assert "random sample of 15" in said and "on 15 items" in said


def test_a_kernel_that_does_not_say_its_column_is_refused(place):
    assert "does not say which column" in refusal("check", "Spectrum(3)", place / "insects.csv")


def test_gram_writes_the_matrix_of_the_kernel(place, tmp_path):
    out = tmp_path / "K.npy"
    said = run("gram", "Gaussian('median')", place / "insects.csv", "--out", out,
               "--types", "notes=ignore", "--target", "kind").stdout  # fmt: skip
    X = np.array([[float(row["size"]), float(row["legs"])] for row in rows_of(insects())])
    kernel = mercer.kernels.Gaussian("median").resolve(X)
    assert np.array_equal(np.load(out), kernel(X))
    assert repr(kernel) in said and "40 x 40" in said


def test_gram_refuses_what_does_not_fit_in_memory(place, tmp_path, free_memory):
    free_memory(1000)
    sentence = refusal("gram", "Gaussian(1.0)", place / "insects.csv", "--target", "kind",
                       "--out", tmp_path / "K.npy")  # fmt: skip
    assert "12.8 kB" in sentence and "1.0 kB" in sentence
    assert list(tmp_path.iterdir()) == []
