"""The figures of the seeds: every one is drawn, is not blank, and shows what its caption says."""

from dataclasses import replace
from functools import cache

import matplotlib.image
import numpy as np
import pytest
from scipy.optimize import linprog

from mercer import SVC
from mercer.errors import DomainError
from mercer.plots.figures import FIGURES, find, structured, svm, tutorial

SEEDS = {
    *(f"tutorial-{number}" for number in range(1, 9)),
    "book-6-1",
    "lecture-fitting",
    "lecture-shepard",
    "lecture-cross-validation",
    "lecture-ridge",
    "svm-perceptron",
    "svm-margin",
    "svm-hard-margin",
    "svm-soft-margin",
    "svm-quadratic-map",
    "svm-regions",
    "shj",
    "gcm",
    "letters",
    "molecule",
    "graph-nodes",
    "attention",
}


def test_the_figures_of_the_seeds_are_registered():
    assert set(FIGURES) >= SEEDS
    assert next(iter(FIGURES)) == "tutorial-1"


@cache
def drawn(name):
    """Return a figure, drawn once for all tests."""
    return FIGURES[name].draw()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_and_not_blank(name, tmp_path):
    path = tmp_path / f"{name}.png"
    drawn(name).savefig(path, dpi=120)
    pixels = matplotlib.image.imread(path)[..., :3]
    picture, caption = pixels[: int(0.75 * len(pixels))], pixels[int(0.85 * len(pixels)) :]
    assert picture.std() > 0.05
    assert caption.std() > 0.03


def texts(figure):
    """Return what is written, except at ticks."""
    yield figure._supxlabel
    for ax in figure.axes:
        yield from (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts)
        yield from ax.get_legend().get_texts() if ax.get_legend() else ()


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_written_is_cut_off_or_too_small(name):
    figure = drawn(name)
    figure.draw_without_rendering()
    page = figure.bbox
    for text in texts(figure):
        if text.get_text().strip():
            box = text.get_window_extent()
            assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1, text
            assert box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1, text
            assert text.get_fontsize() >= 7, text


@pytest.mark.parametrize("format", ["svg", "pdf"])
def test_the_same_drawing_gives_the_same_file(format, tmp_path):
    first = find("tutorial-5").save(tmp_path, format).read_bytes()
    assert find("tutorial-5").save(tmp_path, format).read_bytes() == first
    assert len(first) > 5000


def test_an_unknown_figure_or_format_is_refused(tmp_path):
    with pytest.raises(DomainError, match="did you mean 'tutorial-7'"):
        find("tutorial7")
    with pytest.raises(DomainError, match="format"):
        find("tutorial-3").save(tmp_path, "gif")


def test_captions_are_sentences():
    for picture in FIGURES.values():
        assert picture.caption.endswith(".") and len(picture.caption) < 300
        assert picture.source


# ---- what the captions claim --------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.0, 40.0])
def test_every_perceptron_of_the_margin_figure_separates_the_classes(margin):
    X, y = svm.apart(seed=15)
    for order in range(20):
        machine = svm._perceptron(X, y, margin=margin, shuffle=True, random_state=order)
        assert machine.converged_


def test_the_perceptron_of_the_steps_arrives():
    X, y = svm.apart(seed=26)
    assert svm._perceptron(X + 2.5, y, rule="batch").converged_


def test_the_hard_margin_is_the_same_line_without_the_other_items():
    left, right = drawn("svm-hard-margin").axes
    assert len(left.lines) == len(right.lines) == 3
    for whole, few in zip(left.lines, right.lines, strict=True):
        np.testing.assert_allclose(whole.get_ydata(), few.get_ydata(), atol=1e-5)


def test_the_hard_margin_has_its_support_vectors_on_its_edges_and_nothing_inside():
    X, y = svm.wide_apart()
    machine = SVC("linear", C=np.inf).fit(X, y)
    distances = np.abs(machine.decision_function(X)) * machine.margin_
    np.testing.assert_allclose(distances[machine.support_], machine.margin_, rtol=1e-5)
    assert len(machine.support_) == 3
    assert np.delete(distances, machine.support_).min() > 1.01 * machine.margin_


def test_no_line_separates_the_classes_of_the_soft_margin():
    X, y = svm.overlapping()
    n, signed = len(y), np.column_stack([X, np.ones(len(y))]) * y[:, None]
    assert linprog(np.zeros(3), -signed, -np.ones(n), bounds=[(None, None)] * 3).status == 2


def test_a_larger_price_of_slack_makes_the_margin_narrower():
    titles = [ax.get_title().split("\n")[1] for ax in drawn("svm-soft-margin").axes]
    margins = [float(title.split(",")[0].split()[-1]) for title in titles]
    slacks = [float(title.split()[-1]) for title in titles]
    assert margins == sorted(margins, reverse=True) and margins[0] > 2 * margins[-1]
    assert slacks == sorted(slacks, reverse=True) and slacks[-1] > 0


def test_slack_is_drawn_to_the_item_s_own_edge():
    X, y = svm.overlapping()
    for ax, C in zip(drawn("svm-soft-margin").axes, svm.PRICES, strict=True):
        machine = SVC("linear", C=C).fit(X, y)
        ends = np.array([line.get_xydata() for line in ax.lines[3:]])
        assert 0 < len(ends) <= len(machine.support_)
        scores = machine.decision_function(ends[:, 1])
        np.testing.assert_allclose(np.abs(scores), 1.0, atol=1e-6)


def test_every_support_vector_of_the_regions_has_a_ring():
    for ax in drawn("svm-regions").axes:
        count = int(ax.get_title().split()[-3])
        rings = [c for c in ax.collections if len(c.get_facecolor()) == 0 and len(c.get_offsets())]
        assert max(len(ring.get_offsets()) for ring in rings) == count


def test_figure_7_learns_by_heart_and_figure_8_does_not():
    titles = {}
    for name in ("tutorial-7", "tutorial-8"):
        titles[name] = drawn(name).axes[0].get_title()
    assert "0% of these items wrong" in titles["tutorial-7"]

    def share(title):
        return float(title.split("\n")[1].split("%")[0])

    assert share(titles["tutorial-8"]) < 18 < 35 < share(titles["tutorial-7"])
    assert tutorial.overlapping().extra["bayes_error"] == pytest.approx(0.164, abs=1e-3)


def test_the_chosen_penalties_agree_with_each_other_and_with_new_items():
    left, right = drawn("ridge-path").axes
    words = f"{left.get_title()}, {right.get_title()}".replace(",", "").split()
    one_out, generalized, evidence = (float(words[i + 2]) for i, w in enumerate(words) if w == "λ")
    penalties, new = left.lines[-1].get_data()
    for chosen in (one_out, generalized, evidence):
        nearest = int(np.argmin(np.abs(np.log(penalties / chosen))))
        assert new[nearest] < 1.1 * new.min()
    assert 0.5 < one_out / generalized < 2


def test_the_changed_pictures_are_read_as_the_other_digit():
    labels = [ax.get_xlabel() for ax in drawn("tutorial-decision-images").axes]
    assert labels == [
        "read as 3", "toward 8", "read as 8", "read as 7", "toward 1", "read as 1",
    ]  # fmt: skip


def test_over_and_underfitting_are_worse_on_new_data_than_the_better_fit():
    titles = [ax.get_title() for ax in drawn("lecture-fitting").axes]
    over, better, under = (float(title.split()[-1]) for title in titles)
    assert better < 0.75 * min(over, under)


def test_the_kernels_of_figure_6_1_are_sums_over_the_basis():
    figure = drawn("book-6-1")
    above, below = figure.axes[1], figure.axes[4]
    basis = np.array([line.get_ydata() for line in above.lines])
    x = np.asarray(below.lines[0].get_xdata())
    expected = basis.T @ basis[:, np.argmin(np.abs(x))]
    np.testing.assert_allclose(below.lines[0].get_ydata(), expected, atol=1e-12)


def test_people_and_alcove_find_the_six_types_hard_in_the_same_order():
    for ax in drawn("shj").axes:
        means = [float(np.mean(line.get_ydata())) for line in ax.lines]
        one, two, *middle, six = means
        assert len(middle) == 3 and one < two < min(middle) and max(middle) < six


def test_exemplars_explain_what_prototypes_cannot():
    exemplars, prototypes = drawn("gcm").axes
    errors = [float(ax.get_title().split()[-1]) for ax in (exemplars, prototypes)]
    assert errors == [0.060, 0.205]
    (first, second), (observed, more) = (v[:2] for v in exemplars.lines[1].get_data())
    assert first < second and observed < more  # 1110 and 1010
    first, second = prototypes.lines[1].get_xdata()[:2]
    assert first > second


def test_the_boxes_decide_about_a_strand_and_the_last_one_has_none():
    found = structured.promoters_explained()
    assert [why.score > 0 for why in found] == list(structured.WITH)
    inside = np.concatenate([start + np.arange(len(box)) for start, box in structured.BOXES])
    for why in [why for why, boxes in zip(found, structured.WITH, strict=True) if boxes]:
        values = why.units()["contribution"].to_numpy()
        assert values[inside].mean() > 5 * np.abs(np.delete(values, inside)).mean()


def test_atoms_other_than_carbon_speak_for_water_and_chains_and_rings_against_it():
    acid, long_acid, ester = structured.molecules_explained()
    assert acid.score > 0 > max(long_acid.score, ester.score)
    for why in (acid, long_acid, ester):
        parts = why.units().groupby("unit")["contribution"]
        assert parts.mean()["O"] > 0
    assert long_acid.units()["contribution"].head(6).max() < 0  # the chain
    assert ester.units()["contribution"].tail(6).max() < 0  # the ring


def test_the_group_decides_about_a_tree_and_the_last_one_has_none():
    found = structured.trees_explained()
    assert [why.score > 0 for why in found] == list(structured.WITH)
    for why in [why for why, group in zip(found, structured.WITH, strict=True) if group]:
        values = why.units()["contribution"].to_numpy()
        assert values[-3:].min() > values[:-3].max()


def test_a_figure_that_needs_a_package_says_whether_it_is_there():
    assert find("molecule").possible and find("letters").possible
    assert not replace(find("molecule"), needs="no_such_package").possible
