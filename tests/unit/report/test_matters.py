"""What matters is told in words and pictures, and only where something was learned."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.report import html
from mercer.report.matters import what_matters
from mercer.studies.attention import ColumnAttention
from mercer.studies.effects import ColumnEffect
from tests.unit.report.examples import SCRIPT, example
from tests.unit.report.reading import Page

ATTENTION = ColumnAttention(
    ("bmi", "s5", "bp", "sex", SCRIPT), (0.5, 0.3, 0.15, 0.04, 0.01), (0.1, 0.02, 0.0, 0.0, 0.0),
    (("bmi", "bp", 0.62), ("s5", SCRIPT, 0.31)),
)  # fmt: skip


def effect_of(column="bmi", values=(18.0, 25.0, 41.0), kind="numeric", **more):
    values = np.array(values, dtype=object if kind == "categorical" else None)
    mean = np.linspace(100, 250, len(values))[None, :]
    found = ColumnEffect(
        column, kind, values, "prediction", (), mean, mean - 10, mean + 20, rows=200
    )
    return replace(found, **more)


def matters(**changes):
    return replace(example("regression"), attention=ATTENTION, **changes)


def test_the_strongest_columns_are_named_with_their_spread():
    found = what_matters(matters())
    assert found.summary.startswith(
        "The columns that matter most: “bmi” (50% ± 10% of the attention), “s5” (30% ± 2%) and "
        "“bp” (15%)."
    )
    assert "“bmi” with “bp” (0.62)." in found.together  # a column that hardly matters is not named
    assert "act together" in found.together
    assert "bmi 50.0%" in found.attention.alt and "the longest on top" in found.attention.alt
    assert "one standard deviation over the outer folds" in found.attention.caption


def test_one_column_or_none_that_stands_out():
    one = ColumnAttention(("a", "b"), (0.99, 0.01), (0.0, 0.0))
    found = what_matters(replace(matters(), attention=one))
    assert found.summary.startswith("The column that matters most: “a” (99% of the attention).")
    assert found.together == "" and "deviation" not in found.attention.caption
    even = ColumnAttention(tuple("abcd"), (0.26, 0.25, 0.25, 0.24), (0.0,) * 4)
    assert "No column stands out." in what_matters(replace(matters(), attention=even)).summary


def test_effects_say_where_the_answer_is_low_and_high():
    found = what_matters(matters(effects=(effect_of(),))).effects[0]
    assert found.alt == (
        "Average predicted progression against bmi: lowest at 18 (100), highest at 41 (250)."
    )
    assert "all else as it is in 200 rows" in found.caption and "80%" in found.caption
    assert "a few make the average" not in found.caption
    outside = effect_of(low=np.full((1, 3), 300.0), high=np.full((1, 3), 310.0))
    assert "a few make the average" in what_matters(matters(effects=(outside,))).effects[0].caption


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (effect_of("tree", ("oak", SCRIPT), "categorical"), "lowest at “oak” (100)"),
        (
            effect_of("day", np.array(["2020-01-01", "2021-06-30"], "datetime64[s]"), "date"),
            "lowest at 2020-01-01 (100), highest at 2021-06-30 (250)",
        ),
    ],
    ids=["levels", "dates"],
)
def test_levels_and_dates_are_written_as_such(effect, words):
    assert words in what_matters(matters(effects=(effect,))).effects[0].alt


def test_probabilities_are_percent_and_of_a_named_class():
    mean = np.array([[0.1, 0.4]])
    effect = effect_of(
        "size", (1.0, 2.0), answer="probability", classes=("benign",), mean=mean,
        low=mean - 0.2, high=mean + 0.2,
    )  # fmt: skip
    study = replace(example("two classes"), effects=(effect,))
    found = what_matters(study)
    assert found.attention is None
    assert found.summary.startswith("“size” is the column without which")
    assert found.effects[0].alt == (
        "Average probability of “benign” against size: lowest at 1 (10.0%), highest at 2 (40.0%)."
    )


def test_several_classes_share_a_picture():
    mean = np.array([[0.1, 0.4], [0.9, 0.6]])
    effect = effect_of(
        "petal", (1.0, 2.0), answer="probability", classes=("setosa", SCRIPT), mean=mean,
        low=mean, high=mean,
    )  # fmt: skip
    found = what_matters(replace(example("iris"), effects=(effect,)))
    assert "Average probability of each class" in found.effects[0].alt


def test_nothing_matters_where_nothing_is_known_or_was_learned():
    assert what_matters(example("regression")) is None
    study = matters(effects=(effect_of(),))
    assert what_matters(replace(study, error=study.baseline_error)) is None


def test_the_page_has_the_section_with_everything_escaped():
    study = matters(effects=(effect_of(), effect_of(SCRIPT, ("a", SCRIPT), "categorical")))
    text = html(study)
    page = Page(text)
    assert "What matters" in page.text and "{'href': '#matters'}" in map(str, page.all("a"))
    assert "“bmi” (50% ± 10% of the attention)" in page.text
    assert "not what would happen if someone changed the column" in page.text
    assert page.all("script") == [] and SCRIPT not in text
    pictures = [image for image in page.all("img") if "Average predicted" in image["alt"]]
    assert len(pictures) == 2
    without = Page(html(example("regression")))
    assert "What matters" not in without.text
