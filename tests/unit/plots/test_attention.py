"""What matters: bars of columns, and the effect of one of them."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mercer import plots
from mercer.errors import DomainError
from mercer.plots.figures.metric import friedman
from mercer.plots.palette import PALE
from tests.unit.plots.test_performance import drawn

SHARES = {"age": 0.2, "size": 0.7, "$^ <b>": 0.07, "color": 0.03}


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_column_that_matters_most_is_on_top():
    ax = plots.plot_attention(SHARES)
    assert names(ax) == ["size", "age", r"\$^ <b>", "color"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first one is on top
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.7, 0.2, 0.07, 0.03])
    assert "<svg" in drawn(ax)


def test_the_others_share_a_gray_bar():
    ax = plots.plot_attention(SHARES, most=2)
    assert names(ax) == ["size", "age", "2 other columns"]
    assert ax.patches[-1].get_width() == pytest.approx(0.1)
    assert ax.patches[-1].get_facecolor() == to_rgba(PALE)


def test_spreads_are_lines_across_the_ends_of_bars_that_stop_at_zero():
    ax = plots.plot_attention(SHARES, spreads={"size": 0.1, "age": 0.5})
    ends = [line[:, 0].tolist() for line in ax.collections[0].get_segments()]
    assert ends[0] == pytest.approx([0.6, 0.8])
    assert ends[1] == pytest.approx([0.0, 0.7])
    assert ends[3] == pytest.approx([0.03, 0.03])


def test_long_names_that_begin_alike_are_told_apart():
    alike = {f"measurement of the same thing at time {k}": 0.5 for k in range(2)}
    assert len(set(names(plots.plot_attention(alike)))) == 2


@pytest.mark.parametrize("effect", [[0.1, 0.4, 0.3], [[0.1, 0.4, 0.3], [0.9, 0.6, 0.7]]])
@pytest.mark.parametrize(
    "values",
    [[1.0, 2.5, 7.0], ["oak", "$^", "x" * 90], np.arange(3).astype("datetime64[D]")],
    ids=["numbers", "names", "dates"],
)
def test_effects_of_all_kinds_of_columns_are_drawn_on_the_axes_that_are_given(values, effect):
    ax, mean = Figure().subplots(), np.array(effect)
    several = ("a", "b") if mean.ndim == 2 else ()
    found = plots.plot_effect(values, mean, mean - 0.1, mean + 0.1, ax, names=several)
    assert found is ax and "<svg" in drawn(ax)
    assert (ax.get_legend() is not None) == (mean.ndim == 2)


def test_a_band_holds_single_items_and_ticks_say_where_values_are():
    ax = plots.plot_effect([1.0, 2.0], [0.5, 0.6], [0.4, 0.5], [0.6, 0.8], percent=True)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == 0.4 and band[:, 1].max() == 0.8
    assert ax.lines[1].get_xdata().tolist() == [1.0, 2.0]
    assert ax.yaxis.get_major_formatter()(0.25, 0) == "25%"


def test_three_days_are_written_below_dates():
    days = np.arange(0, 900, 100).astype("datetime64[D]")
    ax = plots.plot_effect(days, np.zeros(9))
    written = [label.get_text() for label in ax.get_xticklabels()]
    assert written == ["1970-01-01", "1971-02-05", "1972-03-11"]


def test_levels_have_points_with_names():
    ax = plots.plot_effect(["oak", "ash"], [0.2, 0.3], [0.1, 0.2], [0.4, 0.5])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["oak", "ash"]
    assert ax.lines[0].get_linestyle() == "None"
    assert len(ax.collections[0].get_segments()) == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.plot_attention({}), "at least one column"),
        (lambda: plots.plot_attention({"a": -0.5}), "found -0.5 for 'a'"),
        (lambda: plots.plot_attention({"a": float("nan")}), "found nan for 'a'"),
        (lambda: plots.plot_attention(SHARES, most=0), "most must be at least 1, found 0"),
        (lambda: plots.plot_effect([], []), "for 0 values"),
        (lambda: plots.plot_effect([1.0], [1.0, 2.0]), r"\(1, 2\) for 1 values"),
        (lambda: plots.plot_effect([1.0], [1.0], [0.5], [[2.0], [3.0]]), r"\(2, 1\)"),
        (lambda: plots.plot_effect([1.0], [1.0], names=("a", "b")), "1 answers need as many"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, words):
    with pytest.raises(DomainError, match=words):
        call()


@pytest.mark.slow
def test_the_figure_finds_the_five_columns_and_the_parabola():
    from mercer.plots.figures import FIGURES

    bars, effect = FIGURES["attention"].draw().axes
    assert {label.get_text() for label in bars.get_yticklabels()[:5]} == {
        f"x{k}" for k in range(5)
    }
    curve = effect.lines[0].get_ydata()
    assert curve[0] - curve.min() > 2 and curve[-1] - curve.min() > 2
    X, _ = friedman()
    assert X.shape == (300, 10)


@pytest.mark.slow
def test_what_a_machine_attends_to_is_drawn():
    from mercer.kernels import Exponential
    from mercer.machines import KernelRidge, LearnedMetric

    X = np.random.default_rng(0).uniform(-2, 2, (80, 3))
    machine = LearnedMetric(KernelRidge(Exponential()), rounds=1, metric="diagonal")
    machine.fit(X, np.sin(2 * X[:, 1]))
    ax = plots.plot_attention(machine.attention_, most=2)
    assert names(ax)[0] == "x1" and names(ax)[-1] == "1 other column"
