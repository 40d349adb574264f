"""The report says everything, in order, and nothing in it comes from elsewhere or runs."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.report import html, metrics, predictions
from mercer.report.examples import Viewer
from mercer.studies import design
from mercer.studies.measures import measures_of
from mercer.studies.results import Attempt, UnsampledRows
from tests.unit.report.examples import CHINESE, MAKERS, SCRIPT, example
from tests.unit.report.reading import Page, page_of

ALWAYS = (
    "Would more data help?",
    "What the columns were taken for",
    "How to use the model",
    "What was tried, and why this was chosen",
    "How alike the",
    "How it was done",
)


LARGE = {"digits", "sequences", "thousand"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LARGE else []) for n in MAKERS]
)
def test_a_report_is_complete_and_sound(name):
    text = page_of(name)
    page, study = Page(text), example(name)
    assert len(text) < 2_000_000
    _loads_nothing(text, page)
    _is_accessible(page)
    _pictures_are_sound(page)
    for words in ALWAYS:
        assert words in page.text
    assert ("Where it goes wrong" in page.text) == (study.task == "classify")
    assert ("How far off it is" in page.text) == (study.task == "regress")
    assert ("Can the probabilities be believed?" in page.text) == (study.task == "classify")
    assert ("How kernel and parameter were chosen" in page.text) == (study.surface.errors.size > 1)
    assert ("Most typical" in page.text) == bool(study.typical)
    assert ("Most confused" in page.text or "Furthest off" in page.text) == bool(study.confused)
    assert "/somewhere" not in text
    places = [page.text.index(words) for words in ALWAYS if words in page.text]
    assert places == sorted(places)


def _loads_nothing(text, page):
    """No scripts, no addresses of other places, and a policy that forbids both."""
    assert page.all("script") == page.all("link") == page.all("iframe") == page.all("object") == []
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:image/", "#"))
    assert len(page.styles) == 1
    assert not re.search(r"url\(|@import|expression", page.styles[0])
    policy = [m["content"] for m in page.all("meta") if m.get("http-equiv")]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def _is_accessible(page):
    assert page.all("html") == [{"lang": "en"}]
    assert any(meta.get("name") == "viewport" for meta in page.all("meta"))
    assert all(image["alt"] for image in page.all("img"))
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert headings.count(1) == 1 and headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a")} <= set(ids)


def _pictures_are_sound(page):
    drawings = page.drawings()
    assert len(drawings) >= 3
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        for element in root.iter():
            assert not element.tag.endswith(("script", "foreignObject"))
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                if name.endswith("href"):
                    assert value.startswith(("#", "data:image/png;base64,"))
        assert "<dc:date>" not in drawing and "Matplotlib" not in drawing


# ---- the answer comes first -------------------------------------------------------------------


def test_the_answer_comes_first():
    page = Page(page_of("iris"))
    start = page.text.index("Of 100 new rows about")
    assert start < 250  # after the title and what the report is about
    wrong = round(100 * example("iris").error)
    assert f"about {wrong} would be given the wrong species" in page.text
    assert "would be wrong about 67 of 100" in page.text
    assert page.text.index("Before you rely on this") < page.text.index("What was tried")
    assert "Lines 103 and 144 are equal" in page.text


@pytest.mark.slow
def test_one_machine_does_not_compete():
    study = example("two classes")
    late = replace(study.attempts[-1], machine="SVC", error=np.nan, chosen=False, note="no time")
    chosen = next(attempt for attempt in study.attempts if attempt.chosen)
    text = Page(html(replace(study, attempts=(chosen, late)))).text
    assert f"Only one kind of machine could be tried: {chosen.machine}" in text
    assert "kinds of machines competed" not in text


def test_what_was_tried_is_told_with_what_was_left_out():
    text = Page(page_of("iris")).text
    assert "KernelRidgeClassifier chosen" in text
    assert "KernelLogistic fits smooth odds for each class left out: the time was up" in text
    assert "It is that of the whole procedure, choosing included: in each of 4 rounds" in text
    assert "everything was chosen by 3-fold cross-validation" in text


def test_what_was_not_fitted_to_all_rows_has_the_error_by_which_it_lost():
    study = example("two classes")
    note = "on the rows that choose its error is 0.2, that of SVC 0.05"
    lost = Attempt("KernelLogistic", 9, inner=0.2, wins=0, note=note)
    text = Page(html(replace(study, attempts=(*study.attempts[:2], lost)))).text
    assert "3 kinds of machines competed" in text
    assert f"each class — 20.0% 0 of 4 9 not fitted to all rows: {note}." in text
    assert "left out" not in text


def test_a_chosen_machine_without_an_error_of_its_own_is_still_shown():
    study = example("two classes")
    alone = tuple(
        replace(one, error=np.nan, error_se=np.nan, note="its error is 0.05") if one.chosen
        else one for one in study.attempts
    )  # fmt: skip
    text = Page(html(replace(study, attempts=alone))).text
    assert "SVC chosen draws the border" in text and "its error is 0.05" not in text


def test_measures_stand_beside_those_of_knowing_nothing():
    study = example("two classes")
    held = study.held_out
    found = measures_of(study.truth, held.prediction, held.probabilities, study.classes)
    text = Page(html(replace(study, measures=found))).text
    for name, value, base in zip(found.names, found.values, found.baselines, strict=True):
        write = "{:.1%}" if name == "balanced error" else "{:.3g}"
        assert f"{name} {write.format(value)} {write.format(base)}" in text
    assert text.count("log loss") == 1  # not once more among the probabilities
    assert "How good it is" not in Page(page_of("regression")).text


def test_a_page_of_rows_that_were_kept_aside_does_not_speak_of_all():
    rows = pd.DataFrame({"size": np.random.default_rng(0).normal(size=60)})
    rows["goal"] = 2 * rows["size"]
    plan = design(rows, "goal", machine="ridge", kernel="gaussian", budget=5, references=False)
    study = replace(plan, judging=1).run()
    assert len(study.truth) == 6 and len(study.y) == 60
    text = Page(html(study)).text
    assert "of the 6 rows that were kept aside" in text
    assert "one part of the data, 6 rows, was set aside" in text
    assert "1 of 1" in text and "The held-out prediction of the 6 rows that judged" in text
    assert f"of 6 rows, 1 of {study.folds[0]} parts of the data" in text
    assert "in turn" not in text and "every row" not in text
    found = metrics(study)
    assert found["rows"] == 60 and found["rows_held_out"] == 6
    assert found["folds"]["judging"] == 1
    assert len(predictions(study)) == 6


def test_columns_are_told_with_the_way_to_say_otherwise():
    text = Page(page_of("mixed")).text
    for words in (
        "id identifier each entry occurs once",
        "planet constant all entries are 'Earth'",
        "weight missing there are no entries 80",
        "kind categorical looks categorical 8",
        "mercer fit trees.csv --target height --types size=categorical",
        "2 bad rows were left out: line 5: 7 entries instead of 8 line 9: no target",
        "The separator is a semicolon.",
        "80 rows of trees.csv were learned from, of 82 in the file",
    ):
        assert words in text


def test_cells_are_shown_as_a_reader_knows_them():
    study = example("mixed")
    text = Page(page_of("mixed")).text
    places = {e.place for e in study.typical + study.confused}
    places |= {n.place for e in study.typical + study.confused for n in e.neighbors}
    gaps = [p for p in places if np.isnan(study.X["size"].iloc[p])]
    assert gaps and "missing" in text
    day = np.datetime64("1970-01-01") + int(study.X["found"].iloc[min(places)])
    assert str(day) in text
    assert "a tree number" in text


def test_numbers_get_residuals():
    study = example("regression")
    text = Page(page_of("regression")).text
    off = np.abs(study.y - study.held_out.prediction)
    assert f"off by less than {np.median(off):.4g}" in text
    assert f"the worst by {off.max():.4g}" in text
    assert "always saying the mean, 152.1," in text
    assert "predicted − true is below" in text
    assert "of the variance explained" in text


@pytest.mark.slow
def test_graphs_sequences_and_molecules_are_called_so():
    assert "new graphs about" in Page(page_of("graphs")).text
    assert "new sequences about" in Page(page_of("sequences")).text
    assert "How alike the sequences are" in Page(page_of("sequences")).text
    graphs = Page(page_of("graphs"))
    shown = sum(1 + len(e.neighbors) for e in example("graphs").typical)
    assert len(graphs.drawings()) > shown
    assert any("<circle" in drawing for drawing in graphs.drawings())
    assert "letters)" in Page(page_of("sequences")).text  # long ones are cut


@pytest.mark.slow
def test_rows_of_pixels_are_pictures():
    page = Page(page_of("digits"))
    pixels = [image for image in page.all("img") if image.get("class") == "pixels"]
    assert len(pixels) == sum(
        1 + len(e.neighbors) for e in example("digits").typical + example("digits").confused
    )
    columns = tuple(
        replace(c, name=c.name.replace("pixel", "cell")) for c in example("digits").sheet.columns
    )
    sheet = replace(example("digits").sheet, columns=columns)
    other = Viewer(replace(example("digits"), sheet=sheet))
    assert other.side == 0 and len(other.names) == 6 and other.more == 58


def test_pixels_that_never_change_are_part_of_the_picture():
    study = example("digits")
    first = replace(study.sheet.columns[0], kind="constant", examples=("0.0",))
    sheet = replace(
        study.sheet,
        X=study.X.drop(columns=first.name),
        columns=(first, *study.sheet.columns[1:]),
    )
    assert study.X[first.name].nunique() == 1
    whole, part = Viewer(study), Viewer(replace(study, sheet=sheet))
    assert part.side == 8 and part.picture(3) == whole.picture(3)


@pytest.mark.slow
def test_classes_too_rare_to_be_learned_are_counted():
    study = example("iris")
    y = study.y.copy()
    y[0] = "a unicorn"
    page = Page(html(replace(study, sheet=replace(study.sheet, y=y), typical=(), confused=())))
    assert "a unicorn 1 0% never said setosa (1)" in page.text
    assert "Can the probabilities be believed?" in page.text


def test_sparse_rows_are_shown_by_their_entries():
    text = Page(page_of("thin")).text
    study = example("thin")
    row = study.X[[study.typical[0].place]]
    largest = row.indices[row.data.argmax()]
    assert f" {largest}:{row.data.max():.3g} " in text  # counted from 0, as in that file
    assert "wrong label" in text  # the file does not name the target
    assert "--types" not in text


@pytest.mark.slow
def test_a_thousand_classes_stay_short():
    text = page_of("thousand")
    assert len(text) < 300_000
    page = Page(text)
    assert "988 others are not shown" in page.text
    assert "The most frequent mistakes" in page.text
    assert len(page.all("tr")) < 60


# ---- nothing of the data is anything but text ---------------------------------------------------


def test_what_looks_like_html_is_text():
    page = Page(page_of("nasty"))
    assert not page.all("script") and not page.all("u") and not page.all("i")
    assert all("onerror" not in attributes for _, attributes in page.elements)
    for words in (SCRIPT, "=cmd|'/c calc'!A1", "$x^$ _{", "</style><b>", CHINESE, "{{ 7*7 }}"):
        assert words in page.text
    assert "49" not in re.findall(r"\{\{.*?\}\}", page.text)
    assert "a�b�c" in page.text  # control characters and turns of direction are not
    assert "\x00" not in page.text and "\u202e" not in page.text
    assert "wrong <u>target</u>" in page.text
    assert not re.search(r"x{200}|y{300}|z{100}|w{1000}", page.text)  # long texts are cut


def test_labels_in_pictures_are_as_they_are():
    drawings = "".join(Page(page_of("nasty")).drawings())
    assert "&lt;/style&gt;&lt;b&gt;" in drawings
    assert "$x^$ _{" in drawings
    assert CHINESE in drawings


def test_names_are_quoted_for_the_shell():
    text = Page(page_of("nasty")).text
    assert """--target '<u>target</u>' --types '"><img src=x onerror=alert(1)>=categ""" in text


# ---- the same each time -------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_study_gives_the_same_page_whatever_the_clock_and_the_settings():
    import matplotlib

    slow = replace(MAKERS["iris"](), timings={"total": 99.0})
    with matplotlib.rc_context({"font.size": 30, "figure.figsize": (20, 20), "savefig.dpi": 33}):
        assert html(slow) == page_of("iris")
    assert mercer.__version__ in page_of("iris")


def test_a_study_with_little_to_show_has_a_report():
    study = example("molecules")
    bare = replace(
        study, curve=None, typical=(), confused=(), warnings=(), notes=(), parameters={},
        error_se=float("nan"), held_out=replace(study.held_out, probabilities=None),
        rest=UnsampledRows(np.arange(2), study.y[:2], study.y[:2], None, 0.25, 0.05),
    )  # fmt: skip
    page = Page(html(bare))
    assert "Examples to look at" not in page.text
    assert "so this cannot be said" in page.text
    assert "--proba" not in page.text
    assert "then tried on 2 other rows of the file: misclassification rate 25.0%" in page.text
    assert "nan" not in page.text.split("Versions")[0].lower()
