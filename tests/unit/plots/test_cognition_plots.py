"""Plots of people and of models: what is drawn is what was observed and predicted."""

from functools import cache

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from mercer import plots
from mercer.cognition.choices.compare import compare
from mercer.cognition.choices.gcm import GCM, PrototypeModel
from mercer.cognition.choices.mds_choice import MDSChoice
from mercer.cognition.experiments.designs import medin_schaffer, shj_human
from mercer.cognition.learners.alcove import ALCOVE
from mercer.cognition.similarity.generalization import fit_gradient
from mercer.cognition.similarity.scaling import stimulus_map
from mercer.errors import DomainError
from mercer.plots.axes import label_points

SEEN = medin_schaffer(counts=True)
TOWNS = [[0, 3, 4, 5], [3, 0, 5, 4], [4, 5, 0, 3], [5, 4, 3, 0]]


@cache
def gradient():
    return fit_gradient([0.1, 1.0, 2.0, 3.0], [97, 61, 35, 23], trials=100)


@pytest.fixture
def ax():
    return Figure().subplots()


def fitted(model):
    return model.fit(SEEN.exemplars, SEEN.categories, SEEN.stimuli, SEEN.responses)


CALLS = {
    "observed": lambda ax: plots.plot_observed(fitted(GCM()), SEEN, ax),
    "learning": lambda ax: plots.plot_learning(shj_human(), ax=ax),
    "map": lambda ax: plots.plot_map(stimulus_map(TOWNS), ax),
    "gradient": lambda ax: plots.plot_gradient(gradient(), ax),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_plot_returns_its_axes_and_leaves_settings_alone(name, ax, tmp_path):
    before = dict(matplotlib.rcParams)
    assert CALLS[name](ax) is ax and ax.has_data()
    CALLS[name](None).figure.savefig(tmp_path / "plot.png")
    assert dict(matplotlib.rcParams) == before


def test_points_are_predictions_against_proportions_with_the_names_of_the_stimuli(ax):
    model = fitted(GCM())
    plots.plot_observed(model, SEEN, ax, category="B")
    x, y = ax.lines[1].get_data()
    np.testing.assert_array_equal(x, model.predict_proba(SEEN.stimuli)[:, 1])
    np.testing.assert_array_equal(y, SEEN.proportions[:, 1])
    written = {word for text in ax.texts for word in text.get_text().split(", ")}
    assert written == set(SEEN.names)


def test_a_comparison_is_drawn_with_a_legend_instead_of_names(ax):
    plots.plot_observed(compare({"one": GCM(), "two": PrototypeModel()}, SEEN), ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    assert not ax.texts and len(ax.lines) == 3


def test_learning_curves_start_at_block_one_and_people_are_points_of_the_same_color(ax):
    plots.plot_learning({"I": [0.5, 0.2]}, human={"I": [0.4, 0.1], "II": [0.5, 0.3]}, ax=ax)
    model, people, others = ax.lines
    np.testing.assert_array_equal(model.get_xdata(), [1, 2])
    assert model.get_color() == people.get_color() != others.get_color()
    assert people.get_linestyle() == "None"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["I", "II, people"]


def test_six_rows_are_the_six_types(ax):
    plots.plot_learning(shj_human(), ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["I", "II", "III", "IV", "V", "VI"]


def test_a_map_has_its_stimuli_labels_and_stress(ax):
    found = stimulus_map(TOWNS, labels=list("abcd"))
    plots.plot_map(found, ax)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), found.coordinates)
    assert sorted(text.get_text() for text in ax.texts) == list("abcd")
    assert ax.get_title() == "stress 0.000"
    confused = MDSChoice(dimensions=1).fit([[8, 2, 1], [2, 8, 2], [1, 2, 8]])
    assert len(plots.plot_map(confused).collections[0].get_offsets()) == 3


def test_a_gradient_is_drawn_through_its_data_with_the_other_shapes(ax):
    plots.plot_gradient(gradient(), ax)
    for line, one in zip(ax.lines, (gradient(), *gradient().alternatives), strict=False):
        np.testing.assert_allclose(line.get_ydata(), one(line.get_xdata()))
    assert len(ax.get_legend().get_texts()) == 3


def test_labels_do_not_cover_each_other(ax):
    X = np.random.default_rng(0).uniform(0.2, 0.8, (14, 2))
    ax.set(xlim=(0, 1), ylim=(0, 1))
    label_points(ax, X, [f"item {i}" for i in range(14)])
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 14
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.plot_observed(fitted(GCM())), "give the experiment"),
        (lambda: plots.plot_observed(3, SEEN), "int has no predict_proba"),
        (lambda: plots.plot_observed(fitted(GCM()), SEEN, category="C"), "no category 'C'"),
        (lambda: plots.plot_learning([[0.1, 1.2]]), "learning curve '1'"),
        (lambda: plots.plot_learning([[0.1]], names=["a", "b"]), "2 names"),
        (lambda: plots.plot_map(3), "int has no map"),
        (lambda: plots.plot_map(stimulus_map(TOWNS, 3)), "3 dimensions"),
        (lambda: plots.plot_gradient(3), "no gradient"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(DomainError, match=message):
        draw()


# ---- the same picture for a psychologist's model and an engineer's ------------------------------


X = np.random.default_rng(1).normal(size=(30, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")


@pytest.mark.parametrize(
    "model",
    [
        GCM(sensitivity=3.0, order=2),
        PrototypeModel(),
        ALCOVE(2.0, 2.0, 0.1, 0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_bound_of_a_model_of_people_is_where_both_answers_are_as_likely(model, ax):
    model.fit(X, Y)
    plots.plot_decision(model, X, Y, ax, names=("different", "same"), resolution=60)
    lines = [c for c in ax.collections if type(c).__name__ == "QuadContourSet"]
    places = np.concatenate([path.vertices for path in lines[0].get_paths()])
    assert len(places) > 10
    assert np.abs(model.predict_proba(places)[:, 1] - 0.5).max() < 0.1


def test_three_categories_have_three_regions(ax):
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    plots.plot_decision(GCM(sensitivity=4.0).fit(X, three), X, three, ax, resolution=40)
    assert len(np.unique(ax.images[0].get_array().reshape(-1, 3), axis=0)) == 3
