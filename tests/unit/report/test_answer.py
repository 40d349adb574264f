"""The first sentence is one that a person would say, and its verdict is careful."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.report.answer import answer, beats_baseline
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
        baseline_error=0.5, held_out=replace(study.held_out, prediction=y.copy()),
    )  # fmt: skip
    assert beats_baseline(few) == "unsure"
    assert "Do not rely on this yet" in answer(few).verdict


def test_bars_compare_both_errors():
    study = example("iris")
    (_, _, own), (name, _, base) = answer(study).bars
    assert base == 100 and own == pytest.approx(100 * study.error / study.baseline_error)
    assert name == "always saying “setosa”"
