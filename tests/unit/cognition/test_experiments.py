"""Tables of trials: what PsychoPy and jsPsych write is read, and complaints have lines."""

import io

import numpy as np
import pandas as pd
import pytest

from mercer.cognition import (
    ALCOVE,
    GCM,
    Experiment,
    Mackintosh,
    attention_over_trials,
    fit_people,
    learning_curve,
    shj,
    simulate_people,
)
from mercer.errors import DomainError, ValidityError

PSYCHOPY = """participant,size,hue,phase,corr_ans,key_resp.keys,key_resp.rt
p1,,,instructions,,space,2.0
p1,0,0,train,f,f,0.61
p1,1,1,train,j,f,0.52
p1,0,1,test,,j,0.40
p2,,,instructions,,space,1.0
p2,0,0,train,f,f,0.33
p2,1,1,train,j,j,0.71
p2,0,1,test,,f,0.58
"""
JSPSYCH = """rt,stimulus,response,trial_index,trial_type,participant_id,x1,label
1520,intro,null,0,html-button-response,7,,
640,s.png,f,1,image-keyboard-response,7,0.5,A
null,s.png,null,2,image-keyboard-response,7,1.5,B
580,s.png,j,3,image-keyboard-response,7,1.5,B
"""
KEYS = {"f": "A", "j": "B"}


def psychopy(text=PSYCHOPY, **more):
    options = {
        "stimulus": ["size", "hue"], "answer": "key_resp.keys", "subject": "participant",
        "time": "key_resp.rt", "where": {"phase": ["train", "test"]}, "asked": {"phase": "test"},
        "answers": KEYS, "exemplars": [[0, 0], [1, 1]], "categories": ["A", "B"],
    }  # fmt: skip
    return Experiment.from_csv(io.StringIO(text), **{**options, **more})


def test_a_table_of_psychopy():
    read = psychopy()
    assert read.subjects == ["p1", "p2"] and read.dimensions == ("size", "hue")
    assert read.stimuli.tolist() == [[0.0, 1.0]]  # what was asked in the test
    assert read.responses.tolist() == [[[0, 1]], [[1, 0]]]
    assert len(read.trials) == 6 and read.trials["time"].iloc[0] == 0.61
    assert read.trials["line"].tolist() == [3, 4, 5, 7, 8, 9]
    assert any("'p1' answered 'B' in all 1 trials" in note for note in read.notes)


def test_a_table_of_jspsych():
    read = Experiment.from_csv(
        io.StringIO(JSPSYCH), ["x1"], "response", "participant_id", "label", "rt",
        where={"trial_type": "image-keyboard-response"}, answers=KEYS, milliseconds=True,
        missing="skip",
    )  # fmt: skip
    assert read.trials["time"].tolist() == [0.64, 0.58]
    assert read.exemplars.ravel().tolist() == [0.5, 1.5] and read.categories.tolist() == ["A", "B"]
    assert read.notes[0] == "1 trials without an answer were left out (subject: '7' 1)"
    assert any("exactly 0 or 1" in note for note in read.notes)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (("p1,0,1,test,,j,0.40", "p1,0,1,test,,,0.40"), r"line 5 \(subject 'p1'\): the answer is"),
        (("p1,0,1,test,,j,0.40", "p1,0,1,test,,j,0"), r"line 5 .*the response time is 0"),
        (("p2,0,0,train,f,f,0.33", "p2,x,0,train,f,f,0.33"), r"line 7 .*size is 'x'"),
        (("p2,0,0,train,f,f,0.33", "p2,0,0,train,f,k,0.33"), r"line 7 .*'k' is none of 'f', 'j'"),
        (("p2,0,0,train,f,f,0.33", "p2,0,0,train,f,f,"), r"line 7 .*no response time"),
        (("p2,0,0,train,f,f,0.33", "p2,0,0,train,f,f,fast"), r"line 7 .*'fast' is not a number"),
        (("p2,0,0,train,f,f,0.33", ",0,0,train,f,f,0.33"), r"line 7 .*subject is missing"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_named(change, error):
    with pytest.raises(DomainError, match=error):
        psychopy(PSYCHOPY.replace(*change))


@pytest.mark.parametrize(
    ("options", "kind", "error"),
    [
        ({"answer": "key_resp.key"}, DomainError, r"no column 'key_resp\.key'.*key_resp\.keys"),
        ({"where": {"phase": "practice"}}, DomainError, "no row is a trial"),
        ({"stimulus": []}, DomainError, "names no columns"),
        ({"missing": "drop"}, ValidityError, "missing cannot be 'drop'"),
        ({"exemplars": None}, DomainError, "no trial tells a category"),
        ({"answers": None}, DomainError, "line 5: the answer 'j' is none of the categories"),
    ],
)
def test_what_was_asked_for_must_be_there(options, kind, error):
    with pytest.raises(kind, match=error):
        psychopy(**options)


def test_several_bad_rows_are_counted():
    text = PSYCHOPY.replace("0.61", "0").replace("0.71", "-1")
    with pytest.raises(DomainError, match=r"line 3 .*and 1 more such rows"):
        psychopy(text)


def test_numbered_categories_are_counted_in_their_order():
    table = pd.DataFrame({"subject": [1, 1, 1], "x": [0.0, 1.0, 2.0], "category": [2, 10, 2],
                          "answer": [10, 10, 2]})  # fmt: skip
    read = Experiment.from_trials(table)
    assert read.responses[0].tolist() == [[0, 1], [0, 1], [1, 0]]


def test_what_was_written_is_fitted_like_what_was_simulated(tmp_path):
    made = simulate_people(ALCOVE(6.0, 2.0, 0.1, 0.5), shj("I", blocks=2), subjects=4)
    path = tmp_path / "trials.csv"
    made.experiment.trials.drop(columns=["asked", "time"]).to_csv(path, index=False)
    read = Experiment.from_csv(path, ["x1", "x2", "x3"], category="category")
    ours, theirs = (data.sequences()[2] for data in (read, made.experiment))
    np.testing.assert_array_equal(ours.stimuli, theirs.stimuli)
    assert ours.answers.tolist() == theirs.answers.tolist()
    np.testing.assert_array_equal(
        read.responses.sum(axis=1), made.experiment.responses.sum(axis=1)
    )
    found = fit_people(GCM(free=("sensitivity",)), read)
    assert len(found.persons) == 4


def test_trials_without_feedback_are_answered_but_teach_nothing():
    table = pd.DataFrame(
        {"subject": [1] * 4, "x": [0.0, 1.0, 0.0, 1.0], "category": ["a", "b", None, None],
         "answer": ["a", "a", "a", "b"]}
    )  # fmt: skip
    (one,) = Experiment.from_trials(table).sequences()
    assert one.control().tolist() == [0, 0, 2, 2]
    model = ALCOVE(2.0, 2.0, 0.3, 0.1).fit(one.stimuli, one.feedback(), control=one.control())
    assert model.trace_[2, 0] > 0.5 > model.trace_[3, 0]


# ---- curves -----------------------------------------------------------------------------------


def test_learning_curves_are_shares_of_errors_with_intervals():
    made = simulate_people(ALCOVE(6.0, 2.0, 0.1, 0.5), shj("II", blocks=4), subjects=10)
    curve = learning_curve(made.experiment, length=16)
    for person, one in enumerate(made.experiment.sequences()):
        wrong = np.array(one.answers != one.categories, dtype=float).reshape(4, 16).mean(axis=1)
        np.testing.assert_allclose(curve.persons[person], wrong)
    table = curve.table
    np.testing.assert_allclose(table["errors"], curve.persons.mean(axis=0))
    assert (table["low"] <= table["errors"]).all() and (table["errors"] <= table["high"]).all()
    half = (table["high"] - table["low"]).to_numpy() / 2
    error = curve.persons.std(axis=0) / np.sqrt(10)
    np.testing.assert_allclose(half, 1.96 * error, rtol=0.25, atol=0.01)


def test_people_who_stopped_earlier_are_counted_where_they_were():
    rows = [(1, 0.0, "a", "a"), (1, 1.0, "b", "a"), (1, 0.0, "a", "b"), (2, 1.0, "b", "b")]
    table = pd.DataFrame(rows, columns=["subject", "x", "category", "answer"])
    found = learning_curve(Experiment.from_trials(table), length=2)
    assert found.table["people"].tolist() == [2, 1]
    assert found.table["errors"].tolist() == [0.25, 1.0]


def test_attention_is_followed_over_trials():
    design = shj("I", blocks=2)
    order = design.trials(np.random.default_rng(0))
    X, y = design.stimuli[order], design.categories[order]
    model = ALCOVE(6.0, 2.0, 0.1, 0.5)
    path = attention_over_trials(model, X, y)
    told = 1 + max(int(np.argmax(y == name)) for name in "AB")
    assert np.isnan(path[: told - 1]).all() and np.isfinite(path[told - 1 :]).all()
    np.testing.assert_allclose(path[-1], model.fit(X, y).attention_)
    assert attention_over_trials(Mackintosh(0.1, 0.1), X, y).shape == (32, 3)


@pytest.mark.parametrize("time", [0.0, -0.2, np.nan, np.inf, "fast"])
def test_times_that_nobody_took_are_refused_in_tables_too(time):
    rows = [("s1", 0.0, "A", "A", 0.4), ("s1", 1.0, "B", "A", time)]
    table = pd.DataFrame(rows, columns=["subject", "size", "category", "answer", "time"])
    if isinstance(time, float) and np.isnan(time):  # none was measured
        assert len(Experiment.from_trials(table).trials) == 2
        return
    with pytest.raises(DomainError, match=r"row 1 \(subject 's1'\): the response time is"):
        Experiment.from_trials(table)


def test_trials_without_an_answer_are_counted_in_the_notes():
    rows = [("s1", 0.0, "A", "A"), ("s1", 1.0, "B", None), ("s2", 1.0, "B", "B")]
    table = pd.DataFrame(rows, columns=["subject", "size", "category", "answer"])
    found = Experiment.from_trials(table)
    assert "1 trials have no answer" in found.notes[0]
    assert found.responses.sum() == 2
