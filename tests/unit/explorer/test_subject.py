"""A model file alone, with other rows, or a table: each becomes rows with a machine."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import report
from mercer.errors import DomainError
from mercer.explorer.opened import is_model, open_subject
from mercer.explorer.quick_fit import learn_quickly
from mercer.explorer.session import Session
from mercer.explorer.subject import MAX_ROWS, evenly
from mercer.kernels import Gaussian, Spectrum
from mercer.sources import read_frame
from tests.unit.explorer import subjects
from tests.unit.explorer.subjects import subject_of


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    found = mercer.study(subjects.mixed(), "kind", machine="ridge", budget=5, references=False)
    report.write(found, folder)
    return folder / "model.mercer"


def test_a_model_file_has_its_own_rows_and_targets(fitted):
    subject = open_subject(fitted)
    rows = subjects.mixed()
    assert len(subject) == len(rows)
    assert subject.truth.tolist() == rows.kind.tolist()
    np.testing.assert_array_equal(subject.rows.frame["size"], rows["size"])
    assert subject.target == "kind"
    np.testing.assert_array_equal(
        subject.answers.prediction, mercer.load(fitted)[1:].predict(subject.items)
    )


def test_a_model_can_look_at_other_rows(fitted, tmp_path):
    subjects.mixed(40, seed=9).to_csv(tmp_path / "new.csv", index=False)
    subject = open_subject(fitted, rows=tmp_path / "new.csv")
    assert len(subject) == 40
    assert set(subject.places) == {-1}
    assert Session(subject).answer("why", {"row": 3})["known"]


@pytest.mark.parametrize("machine", ["svc", "ridge", "strings", "pipeline", "frame"])
def test_machines_that_were_saved_alone_show_their_known_points(machine, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    X[y == 1] += 2
    if machine == "svc":
        model = mercer.SVC("gaussian").fit(X, y)
    elif machine == "ridge":
        model = mercer.KernelRidge("gaussian", 0.1).fit(X, X[:, 0])
    elif machine == "strings":
        words = ["ab" * (i + 1) if i % 2 else "ca" * (i + 1) for i in range(20)]
        model = mercer.KernelRidgeClassifier(Spectrum(2), 0.1).fit(
            words, [i % 2 for i in range(20)]
        )
    elif machine == "frame":
        frame = pd.DataFrame(X, columns=["u", "v"])
        model = mercer.KernelRidge(Gaussian(1.0).on("u"), 0.1).fit(frame, X[:, 0])
    else:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), mercer.KernelRidgeClassifier("gaussian", 0.1))
        model.fit(X, y)
    mercer.save(model, tmp_path / "m.mercer")
    subject = open_subject(tmp_path / "m.mercer")
    session = Session(subject)
    assert any("no targets" in note for note in session.opening["notes"])
    assert len(session.answer("why", {"row": 1})["known"]) > 0
    session.answer("changes", {"row": 1})
    if machine != "strings":
        name = session.opening["columns"][0]["name"]
        assert len(session.answer("effect", {"row": 0, "column": name})["values"]) == 41


def test_a_model_without_rows_says_what_to_do(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    plan = mercer.Plan(approximate=mercer.Random(20))
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1, follow=plan).fit(X, X[:, 0])
    mercer.save(machine, tmp_path / "m.mercer")
    with pytest.raises(DomainError, match="--rows TABLE"):
        open_subject(tmp_path / "m.mercer")


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "m.mercer").write_bytes(b"nothing of a model" * 20)
    with pytest.raises(mercer.errors.MercerError, match=r"m\.mercer"):
        open_subject(tmp_path / "m.mercer")
    with pytest.raises(FileNotFoundError):
        open_subject(tmp_path / "none.mercer")


def test_a_table_with_rows_of_its_own_takes_no_others(tmp_path):
    subjects.mixed().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DomainError, match="--rows is for a model"):
        open_subject(tmp_path / "t.csv", "kind", rows="x.csv")
    assert not is_model(tmp_path / "t.csv")


def test_a_long_table_is_sampled_and_says_so(tmp_path):
    rows = pd.DataFrame({"x": np.arange(12_000) % 97, "y": np.arange(12_000) % 2})
    rows.to_csv(tmp_path / "long.csv", index=False)
    sheet = mercer.sources.read(tmp_path / "long.csv", "y", limit=800)
    subject = learn_quickly(sheet)
    assert subject.notes[0] == "You see 800 of 12,000 rows, a sample of all of them."


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a"] * 3}), "nothing to learn"),
        (pd.DataFrame({"x": [1.0], "y": ["a"]}), "at least two"),
        (pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [1.5] * 3}), "nothing to learn"),
    ],
)
def test_tables_that_nothing_can_be_learned_of_say_why(rows, words):
    with pytest.raises(DomainError, match=words):
        learn_quickly(read_frame(rows, "y"))


def test_the_target_must_be_named():
    with pytest.raises(DomainError, match="--target COLUMN"):
        learn_quickly(read_frame(pd.DataFrame({"x": [1.0, 2.0]})))


def test_a_class_with_one_row_is_learned_from():
    rows = subjects.mixed().assign(kind=lambda f: np.where(f.index == 3, "odd", f.kind))
    subject = learn_quickly(read_frame(rows, "kind"))
    assert subject.classes == ["big", "odd", "small"]
    assert subject.answers.chances is None


def test_numbers_have_intervals_that_hold_most_targets():
    subject = subject_of("numbers")
    low, high = subject.answers.intervals.T
    assert ((low <= subject.truth) & (subject.truth <= high)).mean() >= 0.9


def test_rows_are_chosen_evenly():
    assert len(evenly(10**6, MAX_ROWS)) == MAX_ROWS
    assert np.ptp(np.diff(evenly(10**6, MAX_ROWS))) <= 1
