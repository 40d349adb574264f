"""Models in files, used on other tables, and on rows that were not learned from."""

import csv

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import errors
from mercer.kernels import Gaussian, Spectrum
from mercer.sources import read, read_frame, recipe
from mercer.studies import StudyDesign, design, open_model
from mercer.studies.saved import predict_unsampled

X = np.random.default_rng(0).normal(size=(30, 3)).round(3)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.assign(goal=X[:, 0] > 0).to_csv(path, index=False)
    return path


def saved(machine, tmp_path, notes=None):
    path = tmp_path / "model.mercer"
    mercer.save(machine, path, notes)
    return open_model(path)


def test_a_machine_of_an_array_takes_a_table_of_as_many_numbers(tmp_path):
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    path = tmp_path / "three.csv"
    FRAME.to_csv(path, index=False)
    known = saved(machine, tmp_path)
    assert known.recipe is None and known.classes is None
    pieces = list(known.predict(path, size=7))
    assert [len(piece.prediction) for piece in pieces] == [7, 7, 7, 7, 2]
    found = np.concatenate([piece.prediction for piece in pieces])
    assert np.allclose(found, machine.predict(X), rtol=1e-12)
    assert all(len(piece.losses) == 0 for piece in pieces)


def test_a_constant_column_of_numbers_is_one_of_them(tmp_path):
    Z = X.copy()
    Z[:, 1] = 2.0
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    path = tmp_path / "constant.csv"
    pd.DataFrame(Z, columns=["a", "b", "c"]).to_csv(path, index=False)
    (piece,) = saved(machine, tmp_path).predict(path)
    assert np.allclose(piece.prediction, machine.predict(Z), rtol=1e-12)


def test_a_machine_of_named_columns_finds_them_among_others(table, tmp_path):
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(FRAME[["c", "a"]], X[:, 0])
    (piece,) = saved(machine, tmp_path).predict(table)
    assert np.allclose(piece.prediction, machine.predict(FRAME[["c", "a"]]), rtol=1e-12)


def test_a_table_that_does_not_fit_is_refused(table, tmp_path):
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    with pytest.raises(errors.DomainError, match=r"made for 3 columns of numbers.* has 4"):
        next(saved(machine, tmp_path).predict(table))
    machine = mercer.KernelRidge(Spectrum(2), 0.1).fit(["abab", "bcbc"], [0.0, 1.0])
    with pytest.raises(errors.DomainError, match="no rows of numbers"):
        next(saved(machine, tmp_path).predict(table))


def test_what_predicts_nothing_is_refused(tmp_path):
    with pytest.raises(errors.DomainError, match="holds a Gaussian, which predicts nothing"):
        saved(Gaussian(1.0), tmp_path)


def test_probabilities_are_refused_where_there_are_none(table, tmp_path):
    how = recipe(read_frame(FRAME))
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(FRAME, X[:, 0])
    with pytest.raises(errors.DomainError, match="it predicts numbers"):
        next(saved(machine, tmp_path, {"recipe": how}).predict(table, probabilities=True))
    machine = mercer.Perceptron(Gaussian(1.0)).fit(FRAME, X[:, 0] > 0)
    with pytest.raises(errors.DomainError, match="this machine gives none"):
        next(saved(machine, tmp_path, {"recipe": how}).predict(table, probabilities=True))


@pytest.mark.parametrize("task", ["classify", "regress"])
def test_losses_are_those_of_rows_whose_target_is_known(task, tmp_path):
    goal = ["yes" if x > 0 else "no" for x in X[:, 0]] if task == "classify" else X[:, 0]
    frame = FRAME.assign(goal=goal)
    sheet = read_frame(frame, "goal", task=task)
    Machine = mercer.PrototypeClassifier if task == "classify" else mercer.KernelRidge
    machine = Machine(Gaussian(1.0)).fit(sheet.X, sheet.y)
    path = tmp_path / "gaps.csv"
    frame.assign(goal=frame["goal"].where(np.arange(30) % 3 > 0)).to_csv(path, index=False)
    (piece,) = saved(machine, tmp_path, {"recipe": recipe(sheet)}).predict(path)
    there = np.arange(30) % 3 > 0
    said = machine.predict(sheet.X)[there]
    truth = np.asarray(goal)[there]
    expected = (said != truth) if task == "classify" else (said - truth) ** 2
    assert np.allclose(piece.losses, expected)


def test_a_row_is_found_in_any_piece_or_refused(table, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.studies.saved.CHUNK_ROWS", 8)
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(FRAME, X[:, 0])
    known = saved(machine, tmp_path, {"recipe": recipe(read_frame(FRAME))})
    sheet = known.row(table, 19)
    assert np.array_equal(sheet.X.to_numpy(), X[[19]])
    assert sheet.rows.tolist() == [19] and sheet.lines.tolist() == [21]
    with pytest.raises(errors.DomainError, match="no row 30; its last is 29"):
        known.row(table, 30)
    lines = table.read_text().splitlines()
    lines[5] = "1,2"
    table.write_text("\n".join(lines))
    with pytest.raises(errors.DomainError, match="row 4 is among those that cannot be read"):
        known.row(table, 4)


@pytest.mark.slow
def test_rows_that_were_learned_from_are_known_if_they_were_noted(tmp_path):
    machine = mercer.KernelRidge(Gaussian(1.0), 0.1).fit(FRAME, X[:, 0])
    noted = {"rows": np.array([3, 5]), "labels": np.array(["a", "b"]), "codes": np.array([1, 0])}
    known = saved(machine, tmp_path, {"learned": noted})
    assert [known.learned(place) for place in (0, 1)] == [(3, "b"), (5, "a")]
    assert known.learned(2) is None and known.learned(-1) is None
    assert saved(machine, tmp_path).learned(0) is None


@pytest.fixture
def large(tmp_path):
    """Return a file of 400 rows."""
    rng = np.random.default_rng(0)
    path = tmp_path / "many.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["x", "z", "kind"])
        for _ in range(400):
            x, z = rng.normal(size=2)
            kind = "up" if x + 0.1 * rng.normal() > 0 else "down"
            out.writerow([f"{x:.5f}", f"{z:.5f}", kind])
    return path


def few(path, limit, **how):
    """Return a study that learns from a few rows of a file."""
    sheet = read(path, "kind", limit=limit, **how)
    plan = design(sheet, machine="ridge")
    assert isinstance(plan, StudyDesign)
    return plan.run()


def test_all_rows_are_predicted_those_that_were_learned_from_by_other_folds(large):
    found = few(large, 100)
    assert len(found.sheet) == 100 and found.sheet.total == 400
    rest = found.rest
    assert sorted([*rest.rows, *found.sheet.rows]) == list(range(400))
    assert rest.error == pytest.approx(np.mean(rest.prediction != rest.y))
    assert rest.error < 0.15 and 0 < rest.error_se < 0.1
    assert rest.probabilities.shape == (300, 2)
    whole = read(large, "kind")
    places = np.isin(whole.rows, rest.rows)
    assert (found.machine.predict(whole.X[places]) == rest.prediction).all()
    assert (whole.y[places] == rest.y).all()


@pytest.mark.slow
def test_a_whole_file_has_no_rest(large):
    assert few(large, None).rest is None
    assert predict_unsampled(None, read(large, "kind")) is None


@pytest.mark.slow
def test_bad_rows_of_the_rest_are_listed_and_do_not_stop_the_study(large):
    text = large.read_text().splitlines()
    sheet = read(large, "kind", limit=100)
    other = next(row for row in range(400) if row not in sheet.rows)
    text[other + 1] = "much,0.5,up"
    large.write_text("\n".join(text) + "\n")
    found = few(large, 100)
    assert [bad.line for bad in found.rest.bad] == [other + 2]
    assert len(found.rest.rows) == 299
