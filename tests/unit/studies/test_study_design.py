"""Studies as users see them."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian
from mercer.studies import design, study
from mercer.studies.folds import pooled_error, shared_rows, splits
from mercer.studies.study_design import outer_folds


def flowers():
    frame = load_iris(as_frame=True).frame
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)
    return frame.assign(target=names[frame["target"]])


def line(count=40, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=count)
    return pd.DataFrame({"x": x, "y": 2 * x + noise * rng.normal(size=count)})


def equal(one, other):
    """Tell whether two studies found the same."""
    same = one.error == other.error and one.kernel == other.kernel
    same &= one.parameters == other.parameters and one.warnings == other.warnings
    same &= np.array_equal(one.held_out.prediction, other.held_out.prediction)
    if one.held_out.probabilities is not None:
        same &= np.array_equal(one.held_out.probabilities, other.held_out.probabilities)
    return bool(same and str(one) == str(other))


@pytest.fixture(scope="module")
def found():
    return study(flowers(), "target")


def test_iris(found):
    assert found.task == "classify" and found.classes.tolist() == [
        "setosa", "versicolor", "virginica",
    ]  # fmt: skip
    assert found.error < 0.08 and found.baseline_error == pytest.approx(2 / 3, abs=0.05)
    assert {attempt.machine for attempt in found.attempts} == {
        "LearnedMetric", "SVC", "KernelRidgeClassifier", "ExemplarClassifier",
        "PrototypeClassifier", "Constant",
    }  # fmt: skip
    assert sum(attempt.chosen for attempt in found.attempts) == 1
    assert sum(attempt.wins for attempt in found.attempts) == found.folds[0] == 10


def test_the_error_is_that_of_the_held_out_predictions(found):
    wrong = found.held_out.prediction != found.y
    assert found.error == pytest.approx(wrong.mean(), rel=1e-14)
    parts = [found.held_out.fold == k for k in range(found.folds[0])]
    again = pooled_error(
        [found.y[p] for p in parts], [found.held_out.prediction[p] for p in parts],
        shared=shared_rows([p.sum() for p in parts], [(~p).sum() for p in parts]),
    )  # fmt: skip
    assert (found.error, found.error_se) == again


def test_probabilities_agree_with_predictions(found):
    P = found.held_out.probabilities
    assert np.allclose(P.sum(axis=1), 1)
    assert (found.classes[P.argmax(axis=1)] == found.held_out.prediction).all()


def test_the_machine_takes_rows_as_they_are_in_the_file(found):
    rows = flowers().drop(columns="target")
    assert (found.machine.predict(rows) == found.y).mean() > 0.9
    assert found.machine.predict_proba(rows[:2]).shape == (2, 3)


def test_the_kernel_is_written_so_that_it_can_be_read(found):
    assert repr(mercer.kernels.parse(found.kernel)) == found.kernel


@pytest.mark.slow
def test_the_same_seed_gives_the_same_study():
    table = flowers()[::3]
    one, other = (study(table, "target", machine="svm") for _ in range(2))
    assert equal(one, other)
    third = study(table, "target", machine="svm", seed=1)
    assert not np.array_equal(one.held_out.fold, third.held_out.fold)


@pytest.mark.slow
def test_labels_of_a_fold_have_no_part_in_its_predictions():
    # The folds depend on the labels, so what is changed is done after they are dealt.
    table = flowers()
    plan = design(table, "target", machine="ridge")
    y = plan.sheet.y
    train, test = splits(y, plan.outer, np.random.default_rng(0))[0]
    other = y.copy()
    other[test] = np.roll(y, 50)[test]
    answers = []
    for labels in (y, other):
        fold = plan.procedure.split(plan.sheet.X, labels, train, test)
        fold.choose(plan.families[0])
        fold.judge()
        answers.append(fold.probabilities)
    assert np.array_equal(*answers)
    found = plan.run()
    assert np.array_equal(found.held_out.probabilities[test], answers[0])


def test_a_value_far_out_in_a_held_out_row_does_not_move_the_scale_of_others():
    table = line()
    plan = design(table, "y")
    train, test = splits(plan.sheet.y, plan.outer, np.random.default_rng(0))[0]
    far = plan.sheet.X.copy()
    far.iloc[test[0], 0] = 1e9
    one, other = (plan.procedure.split(X, plan.sheet.y, train, test) for X in (plan.sheet.X, far))
    rows = one.prepared.rows("both")
    assert np.array_equal(rows, other.prepared.rows("both"))
    whole = one.prepared.fitted("both").fit(far).transform(far)
    assert not np.allclose(rows, whole[train])


@pytest.mark.slow
def test_labels_without_any_sense_are_not_predicted_better_than_by_chance():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    table["label"] = rng.permutation(["x", "y"] * 60)
    found = study(table, "label")
    assert abs(found.error - 0.5) < 0.15
    assert any("chance" in text or "nothing was learned" in text for text in found.warnings)


@pytest.mark.slow
def test_numbers_are_predicted_and_judged_by_the_root_mean_squared_error():
    found = study(line(80), "y")
    assert found.task == "regress" and found.held_out.probabilities is None
    residual = found.held_out.prediction - found.y
    assert found.error == pytest.approx(np.sqrt(np.mean(residual**2)), rel=1e-12)
    assert 0.2 < found.error < 0.5 < found.baseline_error
    assert found.measure == "root mean squared error"


def test_a_kernel_that_is_given_sees_the_columns_as_they_are():
    found = study(line(60), "y", kernel="Gaussian('median')", machine="ridge")
    assert found.kernel.startswith("Gaussian(bandwidth=")
    assert not hasattr(found.machine, "steps")
    assert study(line(60), "y", kernel=Gaussian(1.5), machine="ridge").kernel == (
        "Gaussian(bandwidth=1.5)"
    )


@pytest.mark.slow
def test_a_mixed_table_with_gaps():
    rng = np.random.default_rng(0)
    kind = rng.choice(["fern", "palm"], 90)
    height = np.where(kind == "fern", 10.0, 30.0) + rng.normal(size=90)
    table = pd.DataFrame({"height": height, "kind": kind, "light": rng.normal(size=90)})
    table["grows"] = np.where((table["light"] > 0) ^ (kind == "palm"), "up", "down")
    table.loc[rng.choice(90, 12, replace=False), "light"] = np.nan
    found = study(table, "grows")
    assert found.error < 0.35 < found.baseline_error + 0.1
    assert list(dict(found.machine.steps)) == ["encode", "machine"]
    new = table.drop(columns="grows")[:5].assign(height=np.nan)
    assert len(found.machine.predict(new)) == 5


@pytest.mark.slow
def test_sequences():
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), (60, 30))
    letters[:30, 10:16] = list("TATAAT")
    table = pd.DataFrame({"dna": ["".join(row) for row in letters]})
    table["promoter"] = ["yes"] * 30 + ["no"] * 30
    found = study(table, "promoter")
    assert found.error < 0.15 and ".on('dna'" in found.kernel


@pytest.mark.slow
def test_the_formula_of_a_text_kernel_is_without_its_vocabulary():
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(200)])
    notes = [" ".join(rng.choice(words, 30)) for _ in range(40)]
    table = pd.DataFrame({"note": notes, "kind": ["a", "b"] * 20})
    found = study(table, "kind", machine="prototype", types={"note": "text"})
    assert "word1" not in found.kernel and "idf='corpus'" in found.kernel
    assert all("word1" not in row for row in found.surface.rows)
    assert mercer.kernels.parse(found.kernel)


@pytest.mark.slow
def test_rare_classes_count_as_wrong():
    table = flowers()[:110]  # ten virginica
    table = pd.concat([table, flowers()[140:142].assign(target="rosa")], ignore_index=True)
    found = study(table, "target", machine="prototype")
    assert "rosa" not in found.classes
    assert (found.held_out.prediction[-2:] != "rosa").all()
    assert found.error >= 2 / len(table)
    assert any("'rosa' has fewer than 3 rows" in text for text in found.warnings)


@pytest.mark.slow
def test_many_classes_leave_out_the_duels():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(70, 3)) * 10
    rows = np.repeat(centers, 4, axis=0) + 0.1 * rng.normal(size=(280, 3))
    table = pd.DataFrame(rows, columns=list("abc"))
    table["label"] = np.repeat([f"class {k}" for k in range(70)], 4)
    found = study(table, "label")
    assert found.error < 0.05
    assert [attempt.machine for attempt in found.attempts if attempt.note] == ["SVC"]


def test_the_plan_is_told_before_anything_is_done():
    text = design(flowers(), "target").explain()
    for word in ("10 outer folds", "SVC", "Gaussian(bandwidth='median')", "standardized"):
        assert word in text


@pytest.mark.parametrize(
    ("rows", "words"), [(1, "only 1 row"), (5, "only 5 rows"), (60, "fewer than two classes")]
)
def test_what_nothing_can_be_said_about(rows, words):
    table = flowers()[:rows].copy()
    if rows == 60:
        table["target"] = ["setosa"] * 56 + list("abcd")
    elif rows == 5:
        table["target"] = list("aabbb")
    else:
        table["target"] = ["a"]
    with pytest.raises(DomainError, match=words):
        design(table, "target")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"task": "clasify"}, ValidityError, "did you mean 'classify'"),
        ({"machine": "smv"}, ValidityError, "did you mean 'svm'"),
        ({"machine": "gp"}, ValidityError, "does not classify"),
        ({"budget": 0.0}, ValidityError, "budget"),
        ({"kernel": "Gausian(1.0)"}, ValidityError, "Gaussian"),
        ({"kernel": "Spectrum(3)"}, DomainError, "which column"),
    ],
)
def test_options_that_make_no_sense(options, error, words):
    with pytest.raises(error, match=words):
        design(flowers(), "target", **options)


def test_something_that_is_no_table():
    with pytest.raises(DomainError, match="path of a file, a DataFrame"):
        study([[1, 2], [3, 4]], "target")


def test_a_target_must_be_named():
    with pytest.raises(DomainError, match="sepal length"):
        study(flowers())


@pytest.mark.parametrize("labels", ["aaabbb", "aaaabbb", "aaabbbccc"])
def test_very_few_rows_of_each_class(labels):
    X = np.random.default_rng(0).normal(size=len(labels)) + np.array([ord(c) for c in labels])
    found = study(pd.DataFrame({"x": X, "kind": list(labels)}), "kind", machine="ridge")
    assert 0 <= found.error <= 1 and set(found.classes) == set(labels)


def test_a_class_of_three_among_many():
    X = np.random.default_rng(0).normal(size=60)
    table = pd.DataFrame({"x": X, "kind": ["a"] * 57 + ["b"] * 3})
    assert study(table, "kind", machine="prototype").error < 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["categorical", "text", "sequence"])
def test_one_gap_among_the_words(kind):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(30)]
    words = words if kind == "sequence" else [f"{w[:2]} {w[2:4]}" for w in words]
    table = pd.DataFrame({"w": words, "x": rng.normal(size=30), "kind": ["a", "b"] * 15})
    table.loc[4, "w"] = None
    found = study(table, "kind", machine="prototype", types={"w": kind})
    assert np.isfinite(found.error)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_numbers_whose_squares_are_none_are_refused(unit):
    y = unit * np.random.default_rng(0).normal(size=30)
    with pytest.raises(DomainError, match="write them in another unit"):
        design(pd.DataFrame({"x": np.arange(30.0) ** 2, "y": y}), "y")


@pytest.mark.slow
def test_parameters_are_those_of_the_machine():
    x = np.random.default_rng(0).normal(size=(60, 2))
    table = pd.DataFrame({"a": x[:, 0], "y": 1e4 * (x[:, 0] + 0.1 * x[:, 1])})
    found = study(table, "y", machine="svm")
    assert found.parameters == {"C": found.machine[-1].C}
    assert found.parameters["C"] in found.surface.values


COLD = """
import numpy as np, pandas as pd
from mercer.studies import study

X = np.random.default_rng(0).normal(size=(60, 3))
rows = pd.DataFrame(X, columns=list("abc")).assign(kind=np.where(X[:, 0] * X[:, 1] > 0, "u", "v"))
found = study(rows, "kind", budget=20, show=False)
print([(attempt.machine, attempt.note) for attempt in found.attempts], found.kernel)
"""


@pytest.mark.slow
def test_a_fresh_installation_tries_and_chooses_what_a_later_run_does(tmp_path):
    # Compiling takes seconds, which charged for every fold would be more than the budget.
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", COLD], env=environment, check=True, capture_output=True
        ).stdout
        for _ in range(2)
    ]
    assert said[0] == said[1]
    assert b"'SVC', ''" in said[0]


def test_of_many_rows_in_several_classes_one_fold_less_judges():
    assert outer_folds(5000, 1000, 60.0, 6) == (5, 4)
    assert outer_folds(5000, 2500, 60.0, 2) == outer_folds(5000, 5000, 60.0) == (5, 5)
    assert outer_folds(600, 150, 60.0, 6) == (5, 5) and outer_folds(500, 500, 60.0) == (10, 10)
