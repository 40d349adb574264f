"""Turning a knob is a refit that costs nothing: it is held against refits that do."""

import numpy as np
import pytest

from mercer import KernelPCA, KernelRidge, KernelRidgeClassifier
from mercer.errors import MercerError
from mercer.explorer.knobs import KNOB_ROWS, Decomposed, Knobs
from mercer.explorer.proof_tree import proof_tree, refutation
from mercer.kernels import Gaussian, Linear, Sigmoid, parse
from mercer.selection import leave_one_out
from tests.unit.explorer.subjects import TABLES, subject_of


def decomposed(classes=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    kernel = Gaussian(0.8)
    return X, y, kernel, Decomposed.of(kernel, kernel.admit(X), y[:, None])


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_held_out_rows_are_those_of_refits(penalty):
    X, y, kernel, found = decomposed()
    machine = KernelRidge(kernel, penalty, intercept=True)
    theirs = leave_one_out(machine, X, y).predictions
    said = found.held_out(np.array([penalty]))[:, 0, 0]
    np.testing.assert_allclose(said, theirs, atol=1e-8)
    one = KernelRidge(kernel, penalty, intercept=True).fit(X[1:], y[1:]).predict(X[:1])[0]
    assert said[0] == pytest.approx(one, abs=1e-8)
    machine.fit(X, y)
    fitted = found.fitted(np.array([penalty]))[:, 0, 0]
    np.testing.assert_allclose(fitted, machine.predict(X), atol=1e-8)
    new = np.random.default_rng(1).normal(size=(7, 2))
    np.testing.assert_allclose(
        found.function(penalty, kernel.admit(new))[:, 0], machine.predict(new), atol=1e-8
    )


def test_the_map_comes_from_the_same_decomposition():
    X, _, kernel, found = decomposed()
    theirs = KernelPCA(kernel, 2).fit_transform(X)
    np.testing.assert_allclose(np.abs(found.places), np.abs(theirs), atol=1e-8)


def test_a_row_that_decides_its_own_prediction_says_nothing_when_left_out():
    X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 0.0, 1.0])
    kernel = Gaussian(1e-3)
    found = Decomposed.of(kernel, kernel.admit(X), y[:, None])
    assert np.isnan(found.held_out(np.array([0.0]))).all()


@pytest.mark.parametrize("name", TABLES)
def test_knobs_start_where_the_machine_is(name):
    subject = subject_of(name)
    knobs = Knobs(subject)
    start = knobs.start
    found = knobs.turn(start["expression"], start["penalty"])
    assert found["held"] is not None
    assert found["proof"]["verdict"] in ("proved", "unknown")
    assert len(found["x"]) == len(knobs.some) <= KNOB_ROWS
    assert found["here"]["own"] <= min(found["here"]["held"] + 1e-9, 1e9)


def test_classes_are_judged_as_leave_one_out_does():
    subject = subject_of("flowers")
    knobs = Knobs(subject)
    found = knobs.turn("Gaussian(1.0)", 0.1)
    machine = KernelRidgeClassifier(Gaussian(1.0), 0.1, intercept=True)
    error = leave_one_out(machine, subject.points.array, subject.truth).error
    assert found["here"]["held"] == pytest.approx(error, abs=1e-12)


def test_width_multiplies_all_bandwidths():
    knobs = Knobs(subject_of("numbers"))
    twice = knobs.turn("Gaussian(0.5) + 2 * Laplacian(1.0)", 0.1, 2.0)
    plain = knobs.turn("Gaussian(1.0) + 2 * Laplacian(2.0)", 0.1)
    assert twice["formula"] == plain["formula"]
    assert twice["held"] == plain["held"]


def test_two_columns_have_a_boundary_that_is_the_machines():
    subject = subject_of("flowers")
    knobs = Knobs(subject)
    columns = ["petal length (cm)", "petal width (cm)"]
    found = knobs.turn("Gaussian(1.0)", 0.1, 1.0, columns)["boundary"]
    raw = subject.rows.frame[columns].to_numpy()
    X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    machine = KernelRidgeClassifier(Gaussian(1.0), 0.1, intercept=True).fit(X, subject.truth)
    side = len(found["field"])
    x, y = np.linspace(*found["x"], side)[3], np.linspace(*found["y"], side)[20]
    new = (np.array([[x, y]]) - raw.mean(axis=0)) / raw.std(axis=0)
    code = subject.classes.index(machine.predict(new)[0])
    assert found["field"][20][3] == code


def test_a_refuted_kernel_shows_its_witness_and_no_errors():
    found = Knobs(subject_of("numbers")).turn("Sigmoid(1.0, -1.0)", 0.1)
    assert found["verdict"] == "refuted"
    assert found["held"] is None
    assert "eigenvalue" in found["note"]
    assert "valid" in found["note"]
    witness = found["proof"]["witness"]
    assert witness["eigenvalue"] < 0


@pytest.mark.parametrize(
    ("expression", "penalty", "width", "columns", "words"),
    [
        ("Gausian(1.0)", 0.1, 1.0, None, "did you mean 'Gaussian'"),
        ("__import__('os').system('true')", 0.1, 1.0, None, "unknown name"),
        ("(lambda: 1)()", 0.1, 1.0, None, "character"),
        ("Gaussian(1.0)" * 300, 0.1, 1.0, None, "at most"),
        ("Gaussian(1.0)", 0.0, 1.0, None, "penalty must be"),
        ("Gaussian(1.0)", "x", 1.0, None, "penalty must be"),
        ("Gaussian(1.0)", 0.1, -1.0, None, "width must be"),
        ("Gaussian(1.0)", 0.1, 1.0, ["a", "a"], "two different"),
        ("Gaussian(1.0)", 0.1, 1.0, ["a", "z"], "no column of numbers"),
        ("Spectrum(3)", 0.1, 1.0, ["a", "b"], "one of numbers"),
        ("Spectrum(3)", 0.1, 1.0, None, "."),
        ("Polynomial(3000, 1.0)", 0.1, 1.0, None, "."),
    ],
)
def test_positions_that_make_no_sense_are_refused(expression, penalty, width, columns, words):
    knobs = Knobs(subject_of("numbers"))
    with pytest.raises(MercerError, match=words):
        knobs.turn(expression, penalty, width, columns)


def test_expressions_may_name_columns_of_the_table():
    found = Knobs(subject_of("mixed")).turn(
        "Categorical().on('home') + Gaussian('median').on('size', missing='own category')", 0.1
    )
    assert found["verdict"] == "proved"
    assert len(found["proof"]["premises"]) == 2


def test_proofs_are_told_as_trees():
    tree = proof_tree(parse("Gaussian(1.0) * (Linear() + Sigmoid(1.0, -1.0))").proof())
    assert next(part["verdict"] for part in tree["premises"]) == "proved"
    deep = Linear()
    for _ in range(100):
        deep = deep + Linear()
    assert len(str(proof_tree(deep.proof()))) < 60_000
    assert "no valid kernel" in refutation(Sigmoid(1.0, -1.0).proof())
