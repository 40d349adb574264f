"""Plots that judge a machine: confusions, calibration, learning curves, agreement, surfaces."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.metrics import confusion_matrix

from mercer import plots
from mercer.errors import DomainError
from mercer.plots.axes import plain
from mercer.plots.palette import BLUE

RNG = np.random.default_rng(0)
TRUTH = RNG.choice(["ant", "bee", "cat"], 60)
SAID = np.where(RNG.random(60) < 0.7, TRUTH, RNG.choice(["ant", "bee", "cat"], 60))

CALLS = {
    "confusion": lambda ax: plots.plot_confusion(TRUTH, SAID, ax),
    "calibration": lambda ax: plots.plot_calibration(RNG.random(50), RNG.random(50) < 0.5, ax),
    "curve": lambda ax: plots.plot_curve([10, 20], [0.2, 0.1], [0.1, 0.1], ax, baseline=0.3),
    "agreement": lambda ax: plots.plot_agreement(RNG.random(9), RNG.random(9), ax),
    "surface": lambda ax: plots.plot_surface([[0.2, 0.1]], ["a"], [1, 10], "C", ax),
}


def drawn(ax):
    """Draw for real, with warnings as errors, and return the texts of the picture."""
    file = io.StringIO()
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(file, format="svg")
    return file.getvalue()


@pytest.mark.parametrize("name", CALLS)
def test_a_plot_returns_the_axes_it_was_given_or_its_own(name):
    ax = Figure().subplots()
    assert CALLS[name](ax) is ax
    assert ax.has_data()
    assert "<svg" in drawn(CALLS[name](None))


# ---- confusions -------------------------------------------------------------------------------


def cells(ax):
    """Return the numbers that stand in a picture, by row and column."""
    return {(int(t.get_position()[1]), int(t.get_position()[0])): int(t.get_text())
            for t in ax.texts}  # fmt: skip


def test_cells_are_the_confusion_matrix():
    ax = plots.plot_confusion(TRUTH, SAID)
    table = confusion_matrix(TRUTH, SAID)
    assert cells(ax) == {(i, k): n for (i, k), n in np.ndenumerate(table) if n}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ant", "bee", "cat"]


def test_right_is_blue_and_shares_are_of_the_row():
    paint = plots.plot_confusion(["a", "a", "b"], ["a", "b", "b"]).images[0].get_array()
    np.testing.assert_allclose(paint[1, 1], 1 - 0.85 * (1 - np.array(to_rgb(BLUE))))
    np.testing.assert_allclose(paint[1, 0], 1.0)
    assert paint[0, 0, 2] > paint[0, 0, 0] and paint[0, 1, 0] > paint[0, 1, 2]


def test_the_order_of_classes_can_be_given():
    ax = plots.plot_confusion(["a", "b"], ["a", "a"], classes=["b", "a"])
    assert cells(ax) == {(0, 1): 1, (1, 1): 1}


def test_many_classes_leave_the_frequent_ones_and_the_others():
    y = np.repeat(np.arange(40), np.arange(1, 41))
    said = np.where(np.arange(len(y)) % 3 == 0, 0, y)
    ax = plots.plot_confusion(y, said, most=5)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["35", "36", "37", "38", "39"]
    assert ax.get_xticklabels()[-1].get_text() == "others"
    assert sum(cells(ax).values()) == np.sum(y >= 35)


def test_labels_that_look_like_formulas_are_drawn_as_they_are():
    text = drawn(plots.plot_confusion(["$x^$", "a\nb"], ["$x^$", "a\nb"]))
    assert "$x^$" in text and ">a b<" in text
    text = drawn(plots.plot_gram(np.eye(2), y=["$\\frac{$", "b"]))
    assert "$\\frac{$" in text


@given(st.text(max_size=12))
def test_any_text_can_be_drawn_as_it_is(text):
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, plain(text))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        figure.savefig(io.BytesIO(), format="svg")


def test_long_names_are_cut():
    assert plain("abcdef", 4) == "abc…"
    assert plain("abcd", 4) == "abcd"


# ---- calibration ------------------------------------------------------------------------------


def test_long_names_that_begin_alike_keep_their_ends():
    labels = [f"Latin name of the species {k}, $ {k}" for k in range(3)]
    ax = plots.plot_confusion(labels, labels)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(set(names)) == 3 and all(name.startswith("Latin ") for name in names)
    assert all(name.endswith(rf"\$ {k}") for k, name in enumerate(names))


def test_shares_are_counted_in_groups_of_equal_size():
    p = np.linspace(0.01, 0.99, 100)
    found = plots.reliability(p, p > 0.5, bins=4)
    assert found.count.tolist() == [25, 25, 25, 25]
    assert found.share.tolist() == [0.0, 0.0, 1.0, 1.0]
    np.testing.assert_allclose(found.probability, [p[k : k + 25].mean() for k in (0, 25, 50, 75)])
    gaps = np.abs(found.share - found.probability)
    assert found.error == pytest.approx(gaps.mean())


def test_equal_probabilities_stay_together():
    found = plots.reliability([1.0] * 30 + [0.5] * 2, [1] * 30 + [0, 1], bins=10)
    assert found.count.tolist() == [2, 30]
    assert found.error == 0.0


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60),
       st.integers(1, 12))  # fmt: skip
def test_the_interval_holds_the_share_and_stays_in_bounds(pairs, bins):
    p, hit = zip(*pairs, strict=True)
    found = plots.reliability(p, hit, bins)
    assert found.count.sum() == len(p) and len(found.count) <= bins
    assert np.all((found.low >= -1e-12) & (found.low <= found.share))
    assert np.all((found.high <= 1 + 1e-12) & (found.high >= found.share))
    assert 0 <= found.error <= 1


def test_wilsons_interval_is_that_of_the_textbook():
    from scipy.stats import binomtest

    found = plots.reliability([0.5] * 40, [1] * 30 + [0] * 10, bins=1)
    known = binomtest(30, 40).proportion_ci(method="wilson")
    np.testing.assert_allclose([found.low[0], found.high[0]], [known.low, known.high], rtol=1e-5)


# ---- curves, agreement, surfaces --------------------------------------------------------------


def test_a_near_baseline_is_a_line_and_a_far_one_a_note():
    near = plots.plot_curve([10, 20], [0.3, 0.2], baseline=0.5)
    assert near.get_ylim()[1] > 0.5
    far = plots.plot_curve([10, 20], [0.03, 0.02], baseline=0.5, percent=True)
    assert far.get_ylim()[1] < 0.1
    assert "looking at nothing: 50.0%" in drawn(far)
    assert near.get_ylim()[0] == far.get_ylim()[0] == 0


@pytest.mark.parametrize(("errors", "below"), [((0.5, 0.49), True), ((0.4, 0.2), False)])
def test_the_name_of_the_baseline_stands_clear_of_the_curve(errors, below):
    name = plots.plot_curve([10, 20], errors, baseline=0.5).texts[0]
    assert (name.get_va() == "top") == below


def test_no_errors_are_not_cut_by_the_axis():
    line = plots.plot_curve([10, 20], [0.0, 0.0]).lines[0]
    assert not line.get_clip_on()


def test_a_curve_of_no_errors_can_be_drawn():
    assert plots.plot_curve([10, 20], [0.0, 0.0], baseline=0.5).get_ylim()[1] > 0


def test_points_are_truth_against_prediction_and_not_too_many():
    y = RNG.random(4000)
    ax = plots.plot_agreement(y, y + 1)
    points = ax.collections[0].get_offsets()
    assert len(points) == 3000
    np.testing.assert_allclose(points[:, 1], points[:, 0] + 1)
    again = plots.plot_agreement(y, y + 1).collections[0].get_offsets()
    np.testing.assert_array_equal(points, again)


def frame_of(ax):
    found = ax.patches[0]
    return found.get_y() + 0.5, found.get_x() + 0.5


def test_the_choice_is_framed_and_what_was_not_tried_is_gray():
    errors = [[0.3, np.nan, 0.2], [0.1, 0.1, 0.4]]
    ax = plots.plot_surface(errors, ["a", "b"], [1, 10, 100], "C")
    assert frame_of(ax) == (1, 0)
    assert frame_of(plots.plot_surface(errors, ["a", "b"], [1, 10, 100], "C", chosen=(1, 1))) == (
        1, 1
    )  # fmt: skip
    assert len(ax.texts) == 5
    paint = ax.images[0].get_array()
    assert np.ptp(paint[0, 1]) == 0  # gray
    darkness = paint.sum(axis=2)
    assert darkness[1, 0] == darkness[1, 1] < darkness[0, 2] < darkness[0, 0] < darkness[1, 2]


def test_one_column_needs_no_values():
    ax = plots.plot_surface([[0.2], [0.1]], ["a", "$b$"], write="{:.0%}".format)
    assert [t.get_text() for t in ax.texts] == ["20%", "10%"]
    assert "$b$" in drawn(ax)


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.plot_confusion(["a"], ["a", "b"]),
        lambda: plots.plot_confusion([], []),
        lambda: plots.reliability([0.5], [True, False]),
        lambda: plots.reliability([1.5], [True]),
        lambda: plots.reliability([np.nan], [True]),
        lambda: plots.reliability([0.5], [True], bins=0),
        lambda: plots.plot_curve([1, 2], [0.1]),
        lambda: plots.plot_agreement([1.0], [1.0, 2.0]),
        lambda: plots.plot_surface([[0.1, 0.2]], ["a"], [1.0]),
    ],
)
def test_lengths_must_agree_and_probabilities_be_probabilities(call):
    with pytest.raises(DomainError):
        call()
