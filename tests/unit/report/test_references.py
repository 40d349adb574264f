"""How a linear model and boosted trees did is said in plain words, also if they were better."""

from dataclasses import replace

import pytest

from mercer.report import html, metrics
from mercer.report.answer import answer
from mercer.report.references import comparison, reference_rows, trees_are_better
from mercer.studies.reference import Reference
from tests.unit.report.examples import example
from tests.unit.report.reading import Page


def beside(trees, linear=0.3, name="two classes", error=0.052, se=0.004, trees_se=0.004):
    references = (
        Reference("linear model", "LogisticRegression", linear, 0.01),
        Reference("boosted trees", "HistGradientBoostingClassifier", trees, trees_se),
    )
    return replace(example(name), error=error, error_se=se, references=references)


def test_better_trees_are_said_at_the_top():
    study = beside(trees=0.015)
    assert trees_are_better(study) == "Boosted trees were better here: 1.5% against 5.2%."
    assert answer(study).comparison == trees_are_better(study)
    assert comparison(study) == (
        "A linear model was worse here: 30.0% against 5.2%. "
        "Boosted trees were better here: 1.5% against 5.2%."
    )
    text = Page(html(study)).text
    assert text.index("Boosted trees were better here") < text.index("How good")
    assert "What others make of the same rows" in text


@pytest.mark.parametrize("trees", [0.05, 0.0521, 0.3, float("nan")])
def test_trees_that_are_not_better_by_more_than_noise_are_not_called_so(trees):
    study = beside(trees=trees)
    assert trees_are_better(study) == "" and answer(study).comparison == ""


def test_what_chance_could_explain_is_said_to_be_so():
    said = comparison(beside(trees=0.049))
    assert "Boosted trees were perhaps better: 4.9% against 5.2%, which chance could" in said
    assert "about as good: 5.1% against" in comparison(beside(trees=0.051))
    assert "perhaps worse: 5.6% against 5.2%, which" in comparison(beside(trees=0.056))
    assert "perhaps better" in comparison(beside(trees=0.03, trees_se=0.04))


def test_a_few_rows_are_no_clear_difference():
    """Of 160 rows, 2.5 % are four; a sign test of four rows cannot be below 5 %."""
    assert "perhaps better" in comparison(beside(trees=0.027, se=0.001, trees_se=0.001))
    assert "better here" in comparison(beside(trees=0.02, se=0.001, trees_se=0.001))


def test_numbers_have_as_many_digits_as_in_the_table():
    study = replace(beside(40.0, 90.0, "regression", 54.31, 1.2), error_se=1.234)
    assert "Boosted trees were better here: 40.0" in comparison(replace(study))
    assert "against 54.3." in comparison(study)


def test_a_reference_that_failed_is_told_and_not_compared():
    failed = Reference("boosted trees", "Hist", float("nan"), float("nan"), "too many\nlevels")
    study = replace(example("two classes"), references=(failed,))
    assert comparison(study) == "" and trees_are_better(study) == ""
    row = reference_rows(study)[0]
    assert (row.name, row.error, row.note) == ("Boosted trees", "", "too many")
    assert "failed: too many" in Page(html(study)).text
    assert metrics(study)["references"][0]["error"] is None


def test_metrics_hold_the_references():
    found = metrics(beside(trees=0.015))["references"]
    assert found[1] == {
        "name": "boosted trees", "tool": "HistGradientBoostingClassifier", "error": 0.015,
        "error_se": 0.004, "note": "",
    }  # fmt: skip


def test_without_references_there_is_nothing_about_them():
    study = example("two classes")
    assert comparison(study) == "" and reference_rows(study) == []
    assert "What others make" not in Page(html(study)).text
    assert metrics(study)["references"] == []
