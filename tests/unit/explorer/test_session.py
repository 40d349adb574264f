"""What a page may ask, what it is told, and what is refused."""

import json

import numpy as np
import pytest

from mercer import GaussianProcess
from mercer.errors import MercerError
from mercer.explorer.entries import EntryTable
from mercer.explorer.session import Session
from mercer.explorer.subject import Subject
from mercer.studies import SavedModel
from tests.unit.explorer.subjects import TABLES, subject_of


@pytest.fixture(params=TABLES)
def session(request):
    return Session(subject_of(request.param))


def test_everything_is_plain_json(session):
    column = session.subject.rows.typed[0]
    asked = [("row", {"row": 2}), ("find", {"text": "row 3"}), ("group", {"rows": [0, 1, 2]}),
             ("predict", {"row": 0}), ("why", {"row": 0}), ("changes", {"row": 0}),
             ("effect", {"row": 0, "column": column}), ("start", {})]  # fmt: skip
    json.dumps(session.opening, allow_nan=False)
    for name, parts in asked:
        json.dumps(session.answer(name, parts), allow_nan=False)


def test_colors_are_those_of_the_rows(session):
    colors, subject = session.opening["colors"], session.subject
    assert {len(values) for values in colors.values()} == {len(subject)}
    if subject.classes is not None:
        named = [session.opening["classes"][code] for code in colors["truth"]]
        assert named == [str(label) for label in subject.truth]
        assert sum(colors["error"]) == np.sum(subject.answers.prediction != subject.truth)
    else:
        np.testing.assert_allclose(
            colors["error"], np.abs(subject.truth - subject.answers.prediction)
        )
    assert np.min(colors["uncertainty"]) >= 0


def test_a_search_finds_texts_labels_and_numbers():
    session = Session(subject_of("mixed"))
    homes = session.subject.rows.frame["home"]
    assert session.find("LAKE")["rows"] == np.flatnonzero(homes == "lake").tolist()
    assert session.find("row 17")["rows"] == [17]
    assert session.find("<b>hill")["all"] == int((homes == "<b>hill</b>").sum())
    assert session.find("nowhere to be found")["rows"] == []


def test_a_group_is_told_by_what_sets_it_apart():
    session = Session(subject_of("flowers"))
    found = session.group(list(range(50)))
    assert found["classes"] == {"setosa": 50}
    assert found["columns"][0]["column"].startswith("petal")
    values = session.subject.rows.frame[found["columns"][0]["column"]]
    assert found["columns"][0]["here"] == pytest.approx(values[:50].mean())


@pytest.mark.parametrize(
    ("name", "parts", "words"),
    [
        ("nothing", {}, "nobody can ask"),
        ("row", [], "named parts"),
        ("row", {}, "other parts"),
        ("row", {"row": 0, "more": 1}, "other parts"),
        ("row", {"row": 10**9}, "there is no row"),
        ("predict", {"row": 0, "cells": [1]}, "cells are"),
        ("predict", {"row": 0, "cells": {"nothing": 1}}, "no column"),
        ("effect", {"row": 0, "column": "nothing"}, "no column"),
        ("effect", {"row": 0, "column": ["a"]}, "no column"),
        ("find", {"text": ""}, "search for"),
        ("find", {"text": 3}, "search for"),
        ("group", {"rows": []}, "at least one"),
        ("group", {"rows": [0, "x"]}, "there is no row"),
        ("knobs", {"expression": 3, "penalty": 1.0}, "a kernel is a text"),
        ("knobs", {"penalty": 1.0}, "other parts"),
    ],
)
def test_questions_that_make_no_sense_are_refused(name, parts, words):
    with pytest.raises(MercerError, match=words):
        Session(subject_of("flowers")).answer(name, parts)


def test_a_typed_row_is_a_row():
    session = Session(subject_of("flowers"))
    frame = session.subject.rows.frame
    other = {name: float(frame[name].iloc[120]) for name in frame}
    typed = session.answer("predict", {"row": 0, "cells": other})
    assert typed["chances"] == pytest.approx(
        session.answer("predict", {"row": 120})["chances"], abs=1e-12
    )
    at = session.answer("why", {"row": 0, "cells": other})
    np.testing.assert_allclose([at["x"], at["y"]], session.shown.places[120], atol=1e-8)


def test_gaussian_processes_tell_their_own_uncertainty():
    X = np.linspace(0, 1, 20)[:, None]
    machine = GaussianProcess("gaussian").fit(X, X[:, 0])
    places = np.arange(20)
    subject = Subject(SavedModel(machine), EntryTable.of(X), X[:, 0], places, places)
    sure = Session(subject).opening["colors"]["uncertainty"]
    assert np.all(np.array(sure) > 0)


def test_pixels_become_pictures():
    import pandas as pd

    from mercer.explorer.quick_fit import learn_quickly
    from mercer.sources import read_frame

    rng = np.random.default_rng(0)
    names = [f"pixel_{i}_{j}" for i in range(3) for j in range(3)]
    rows = pd.DataFrame(rng.integers(0, 5, (40, 9)).astype(float), columns=names)
    rows["pixel_0_0"] = 2.0  # the same in all, so that nothing is learned from it
    subject = learn_quickly(read_frame(rows.assign(kind=np.where(rows.pixel_1_1 > 2, "a", "b")),
                                       "kind"))  # fmt: skip
    picture = Session(subject).row(3)["picture"]
    assert picture["side"] == 3
    assert len(picture["values"]) == 9
    assert picture["values"][1] == pytest.approx(rows.pixel_0_1[3] / 4, abs=1e-4)
    assert picture["values"][0] == 0.5
