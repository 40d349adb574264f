"""The textbooks: each demonstration is what the library computes, wherever its knobs are."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import Perceptron
from mercer.cognition import ALCOVE, shj
from mercer.errors import DomainError
from mercer.explorer.textbook import DEMONSTRATIONS, demonstrate, titles
from mercer.explorer.textbook.chart import Knob
from mercer.explorer.textbook.psychology import _attention_path
from mercer.explorer.textbook.separating import perceptron_steps
from mercer.explorer.textbook_session import textbook_answer, textbook_data


def readout(scene, name):
    return dict(scene["readouts"])[name]


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_every_end_of_every_knob_can_be_drawn(name):
    one = DEMONSTRATIONS[name]
    for knob in one.knobs:
        ends = knob.options if knob.kind == "choice" else (knob.low, knob.high)
        for value in ends:
            scene = demonstrate(name, {knob.name: value}, step=3)
            json.dumps(scene, allow_nan=False)
            assert scene["charts"]
            assert scene["words"]
            assert scene["readouts"]


@pytest.mark.parametrize("name", DEMONSTRATIONS)
@given(data=st.data())
def test_points_may_be_anywhere(name, data):
    one = DEMONSTRATIONS[name]
    place = st.floats(-4, 4, allow_nan=False)
    count = data.draw(st.integers(1, 6))
    codes = st.integers(0, len(one.classes) - 1)
    points = [[data.draw(place), data.draw(place), data.draw(codes)] for _ in range(count)]
    json.dumps(demonstrate(name, points=points), allow_nan=False)


def test_the_perceptron_ends_where_all_points_are_on_their_side():
    points = DEMONSTRATIONS["perceptron"].points
    X, y = points[:, :2], points[:, 2].astype(int)
    w, b, made, wrong = perceptron_steps(X, y, 0.5, 10_000)
    assert wrong == -1
    assert np.all(np.where(y == 1, 1, -1) * (X @ w + b) > 0)
    again = perceptron_steps(X, y, 0.5, made - 1)
    assert again[3] >= 0
    machine = Perceptron("linear").fit(X, y)
    assert machine.score(X, y) == 1.0
    scene = demonstrate("perceptron", step=10_000)
    assert scene["last"]
    assert scene["step"] <= made * 10


def test_an_inseparable_perceptron_never_ends():
    points = [[0, 0, 0], [1, 1, 0], [0.5, 0.5, 1]]
    scene = demonstrate("perceptron", points=points, step=500)
    assert scene["step"] == 500
    assert not scene["last"]


def test_one_class_is_told():
    for name in ("perceptron", "prototypes", "margin", "kernel-trick"):
        assert "one class" in demonstrate(name, points=[[0, 0, 1], [1, 0, 1]])["words"]


def test_inner_products_of_gaussians_are_similarities():
    scene = demonstrate("gaussians", {"bandwidth": 1.0}, [[0, 1, 0], [1, 1, 0]])
    assert readout(scene, "⟨k(·,x1), k(·,x2)⟩ = k(x1, x2)") == f"{np.exp(-0.5):.4f}"
    norm = np.sqrt(2 + 2 * np.exp(-0.5))
    assert readout(scene, "length |f|") == f"{norm:.4f}"


def test_a_penalty_trades_one_error_for_another():
    low, high = (demonstrate("regularization", {"penalty": p}) for p in (1e-6, 0.3))
    for name, sign in (("error on the dots", 1), ("error on dots left out", -1)):
        assert sign * (float(readout(high, name)) - float(readout(low, name))) > 0


def test_the_plane_of_the_kernel_trick_is_the_boundary():
    points = DEMONSTRATIONS["kernel-trick"].points
    scene = demonstrate("kernel-trick")
    assert readout(scene, "wrong") == f"0 of {len(points)}"


def test_small_C_has_a_wider_margin():
    wide, narrow = (
        float(readout(demonstrate("margin", {"C": C}), "width of the margin 2/|f|"))
        for C in (0.01, 1000.0)
    )
    assert wide > narrow


def test_attention_along_the_trials_is_alcoves():
    model = ALCOVE(sensitivity=6.0, choice=2.0, association_rate=0.1, attention_rate=0.5)
    problem = shj("II", 16)
    order = problem.trials(np.random.default_rng(0))
    path = _attention_path(model, problem, order, 256)
    assert len(path) == 257
    np.testing.assert_allclose(path[0], 1 / 3)
    for stop in (256,):
        model.fit(problem.stimuli[order[:stop]], problem.categories[order[:stop]], problem.stimuli)
        np.testing.assert_allclose(path[stop], model.attention_)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"name": "margins"}, "did you mean 'margin'"),
        ({"name": ["margin"]}, "no demonstration"),
        ({"name": "margin", "values": {"D": 1}}, "the knobs are"),
        ({"name": "margin", "values": {"C": -1}}, "from 0.01 to 1000"),
        ({"name": "margin", "values": {"C": True}}, "must be a number"),
        ({"name": "margin", "values": {"kernel": "x"}}, "one of linear, gaussian"),
        ({"name": "margin", "points": [[0, 0]]}, "points are"),
        ({"name": "margin", "points": []}, "points are"),
        ({"name": "margin", "points": "x"}, "points are"),
        ({"name": "margin", "points": [[0, 0, 5]]}, "class of a point"),
        ({"name": "margin", "points": [[0, float("nan"), 0]]}, "points are"),
        ({"name": "margin", "points": [[0, 0, 0]] * 300}, "points are"),
        ({"name": "perceptron", "step": -1}, "a step is"),
        ({"name": "perceptron", "step": 1.5}, "a step is"),
        ({"more": 1}, "one question"),
    ],
)
def test_states_that_make_no_sense_are_refused(parts, words):
    with pytest.raises(DomainError, match=words):
        textbook_answer("textbook", parts)


def test_all_demonstrations_are_listed():
    found = textbook_data()["demonstrations"]
    assert [one["name"] for one in found] == list(DEMONSTRATIONS)
    assert found == titles()
    json.dumps(found, allow_nan=False)
    assert Knob("x", "x", "log", 1.0).admit(0.5) == 0.5
