"""The first sentence is one that a person would say, and its verdict is careful."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.report.answer import answer, beats_baseline, mood_of
from mercer.studies.measures import Measures, measures_of
from tests.unit.report.examples import example


def told(error, se=0.001, baseline=0.5, name="two classes"):
    study = replace(example(name), error=error, error_se=se, baseline_error=baseline)
    return answer(study).sentence


def test_of_a_hundred_a_thousand_or_ten_thousand():
    assert told(0.0404, 0.016).startswith(
        "Of 100 new rows about 4 would be given the wrong diagnosis (4.0% ± 1.6%); always saying"
    )
    assert "Of 1000 new rows about 5 " in told(0.0049)
    assert "wrong about 500 of 1000" in told(0.0049)
    assert "Of 10,000 new rows about 7 " in told(0.0007)


def test_no_mistake_is_not_the_same_as_never():
    sentence = told(0.0, 0.0)
    assert "Not one of the 160 rows" in sentence
    assert "of 100 new ones up to about 2 might still be" in sentence  # 3/160


def test_numbers_are_off():
    study = replace(example("regression"), error=54.31, error_se=1.234, baseline_error=77.03)
    assert answer(study).sentence == (
        "For a new row the predicted progression would be off by about 54.3 ± 1.2; always saying "
        "the mean, 152.1, would be off by about 77.03."
    )
    explained = 1 - (54.31 / 77.03) ** 2
    assert answer(study).tiles[2][0] == f"{explained:.1%}"


def test_an_unknown_spread_is_not_shown():
    assert "±" not in told(0.1, float("nan"))


@pytest.mark.parametrize("name", ["iris", "two classes", "digits", "regression"])
def test_a_clear_gap_is_good(name):
    assert beats_baseline(example(name)) == "good"
    assert "by more than chance can explain" in answer(example(name)).verdict


@pytest.mark.parametrize("name", ["iris", "regression"])
def test_no_gap_is_bad(name):
    study = example(name)
    for error in (study.baseline_error, 1.2 * study.baseline_error):
        poor = replace(study, error=error)
        assert beats_baseline(poor) == "bad"
        assert answer(poor).verdict.startswith("Not better than always giving the m")


def test_a_gap_within_the_spread_of_folds_is_unsure():
    study = example("iris")
    assert beats_baseline(replace(study, error_se=study.baseline_error)) == "unsure"
    assert beats_baseline(replace(study, error_se=float("nan"))) == "unsure"


def test_a_few_rows_are_never_sure():
    """Six rows that are all right beat the majority on three only: one in eight by chance."""
    study = example("two classes")
    y = np.array(["a", "b"] * 3, dtype=object)
    sheet = replace(study.sheet, y=y)
    few = replace(
        study, sheet=sheet, classes=np.array(["a", "b"], dtype=object), error=0.0, error_se=0.0,
        baseline_error=0.5,
        held_out=replace(study.held_out, prediction=y.copy(), rows=np.arange(6)),
    )  # fmt: skip
    assert beats_baseline(few) == "unsure"
    assert "Do not rely on this yet" in answer(few).verdict


def test_bars_compare_both_errors():
    study = example("iris")
    (_, _, own), (name, _, base) = answer(study).bars
    assert base == 100 and own == pytest.approx(100 * study.error / study.baseline_error)
    assert name == "always saying “setosa”"


# ---- rare classes -----------------------------------------------------------------------------


def rare(share=0.05, known=True, several=False):
    """Return a study that always answers the frequent class, but may know which rows are rare."""
    rng, n = np.random.default_rng(0), 400
    y = np.where(np.arange(n) < share * n, "fraud", "fine").astype(object)
    classes = ["fine", "fraud"]
    if several:
        y[-10:] = "odd"
        classes.append("odd")
    first = (y == "fraud") * known + rng.normal(size=n)
    p = 0.02 + 0.4 / (1 + np.exp(3 - 2 * first))
    P = np.column_stack([1 - p, p, *([np.full(n, 0.01)] if several else [])])
    P /= P.sum(axis=1, keepdims=True)
    said = np.full(n, "fine", dtype=object)
    study = example("two classes")
    held = replace(
        study.held_out, prediction=said, probabilities=P, fold=np.arange(n) % 4, rows=np.arange(n)
    )
    error = float(np.mean(y != said))
    return replace(
        study, sheet=replace(study.sheet, y=y), classes=np.array(classes, dtype=object),
        held_out=held, error=error, error_se=0.01, baseline_error=error,
        measures=measures_of(y, said, P, np.array(classes, dtype=object)),
    )  # fmt: skip


def test_a_rare_class_that_is_ranked_is_no_failure():
    study = rare()
    assert beats_baseline(study) == "bad" and mood_of(study) == "ranks"
    found = answer(study)
    area = study.measures.as_dict()["area under ROC"]["value"]
    top = np.argsort(-study.held_out.probabilities[:, 1], kind="stable")[:40]
    caught = np.mean(top < 20) * 40 / 20
    assert found.sentence == (
        "Good for ranking, not for naming: of a row that is “fraud” and one that is not it ranks "
        f"the right one first in {100 * area:.0f} of 100 cases, and the 10% of rows that it "
        f"suspects most hold {caught:.0%} of all “fraud”. Its answers are no better than always "
        "saying “fine”, which is wrong about 5 of 100."
    )
    assert "better than the shares of the classes" in found.verdict
    assert found.tiles[2] == (f"{area:.2f}", "area under ROC;", "0.5 is chance")


def test_a_class_that_is_not_so_rare_is_told_by_its_share_at_the_top():
    sentence = answer(rare(share=0.3)).sentence
    assert "of the 10% of rows that it suspects most" in sentence
    assert "are “fraud”, of all 30%." in sentence


def test_an_error_that_is_perhaps_better_is_not_called_equal():
    study = replace(rare(), error=0.045)
    assert beats_baseline(study) == "unsure" and mood_of(study) == "ranks"
    assert "Its answers are not clearly better than always" in answer(study).sentence


def test_several_classes_are_ranked_too():
    study = rare(several=True)
    assert mood_of(study) == "ranks"
    assert "of two rows, of which one belongs to a class" in answer(study).sentence


@pytest.mark.parametrize("name", ["rare", "regression"])
def test_what_learned_nothing_says_so_in_its_first_words(name):
    study = rare(known=False) if name == "rare" else example(name)
    study = replace(study, error=study.baseline_error)
    assert not study.measures.informative and mood_of(study) == "bad"
    sentence = answer(study).sentence
    assert sentence.startswith(("Nothing was learned: of 100", "Nothing was learned: for a new"))
    assert answer(study).verdict.startswith("Not better than always")


def test_a_good_error_needs_no_other_measure():
    assert mood_of(replace(example("iris"), measures=Measures())) == "good"


# ---- rows that judge --------------------------------------------------------------------------


def some_judge(name="two classes", count=40, folds=1):
    """Return a study of which some rows were kept aside, as where there are very many."""
    study = example(name)
    rows, held = np.arange(count) * 3, study.held_out
    part = replace(
        held, rows=rows, fold=np.arange(count) % folds, prediction=held.prediction[rows],
        probabilities=None if held.probabilities is None else held.probabilities[rows],
    )  # fmt: skip
    return replace(study, held_out=part, folds=(10, 3))


def test_rows_that_were_kept_aside_are_not_called_all():
    found = answer(some_judge())
    assert found.meaning == (
        "± is one standard error, of the 40 rows that were kept aside. The model has learned from "
        "all 160 in the end."
    )
    assert found.tiles[2] == ("2", "classes", "in 160 rows")
    several = answer(some_judge(folds=2)).meaning
    assert "from the spread of 2 parts of the data, 40 rows in all, that were kept" in several
    assert "the 4 parts of the data that were held out in turn" in answer(example("iris")).meaning


def test_the_rule_of_three_counts_the_rows_that_judged():
    sentence = answer(replace(some_judge(count=30), error=0.0)).sentence
    assert sentence.startswith("Not one of the 30 rows that were kept aside was given the wrong")
    assert "of 100 new ones up to about 10 might still be" in sentence


def test_explained_variance_is_of_the_rows_that_judged():
    assert answer(some_judge("regression")).tiles[2][2] == "in 40 rows"


def test_what_folds_measured_is_told_where_less_is_expected_of_all_rows():
    study = replace(example("regression"), error=50.0, error_se=2.0, held_out_error=(60.0, 3.0))
    found = answer(study)
    assert found.fewer == (
        "60.0 ± 3.0 were measured in folds that learned from fewer rows, of which more clearly "
        "help; the model has learned from all."
    )
    assert found.fewer in found.meaning
    assert answer(replace(study, held_out_error=(50.0, 2.0))).fewer == ""
    assert answer(replace(study, held_out_error=None)).fewer == ""
