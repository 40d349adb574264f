"""What a study knows of its errors: intervals and sets of its model, and how they hold."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import Conformal, KernelRidge, report
from mercer.errors import DomainError, ValidityError
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.known_errors import KnownErrors
from mercer.studies import open_model, study


def waves(n, seed=0):
    rng = np.random.default_rng(seed)
    x, kind = rng.uniform(0, 6, n), rng.choice(["ann", "bob"], n)
    y = np.sin(x) + (0.05 + 0.1 * x) * rng.normal(size=n)
    return pd.DataFrame({"x": x, "z": rng.normal(size=n), "kind": kind, "y": y})


def levels(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, n)
    noisy = x + rng.normal(size=n)
    return pd.DataFrame({"x": x, "c": np.select([noisy < 2, noisy > 4], ["low", "high"], "mid")})


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    found = study(waves(240), "y", machine="ridge", kernel="gaussian", budget=3, references=False)
    folder = tmp_path_factory.mktemp("numbers")
    report.write(found, folder)
    waves(1500, 1).to_csv(folder / "new.csv", index=False)
    return found, folder


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    found = study(levels(240), "c", machine="prototype", kernel="gaussian", budget=3,
                  references=False)  # fmt: skip
    folder = tmp_path_factory.mktemp("labels")
    report.write(found, folder)
    levels(1500, 1).to_csv(folder / "new.csv", index=False)
    return found, folder


def test_a_model_file_has_intervals_that_hold_on_new_rows(numbers):
    _, folder = numbers
    (piece,) = open_model(folder / "model.mercer").predict(folder / "new.csv", interval=0.9)
    assert piece.intervals.shape == (1500, 2)
    # One sample of 240 held-out rows: its own level varies by two percent.
    assert abs(piece.inside / 1500 - 0.9) < 0.06
    x = piece.sheet.X["x"].to_numpy()
    width = np.ptp(piece.intervals, axis=1)
    assert width[x > 5].mean() > 2 * width[x < 1].mean()


def test_a_model_file_has_sets_that_hold_on_new_rows(labels):
    _, folder = labels
    model = open_model(folder / "model.mercer")
    (piece,) = model.predict(folder / "new.csv", sets=0.8)
    assert abs(piece.inside / 1500 - 0.8) < 0.07 and piece.sets.any(axis=1).all()
    (sure,) = model.predict(folder / "new.csv", sets=0.95, probabilities=True)
    assert sure.sets.sum() > piece.sets.sum() and sure.inside > piece.inside


def test_what_a_file_cannot_promise_is_named(numbers, labels, tmp_path):
    model, new = open_model(numbers[1] / "model.mercer"), numbers[1] / "new.csv"
    with pytest.raises(ValidityError, match="level must lie between 0 and 1, found 1"):
        next(model.predict(new, interval=1))
    with pytest.raises(DomainError, match="needs at least 999 held-out rows, but there are 240"):
        next(model.predict(new, interval=0.999))
    with pytest.raises(DomainError, match="predicts numbers, which have no sets"):
        next(model.predict(new, sets=0.9))
    with pytest.raises(DomainError, match="intervals or sets, not both"):
        next(model.predict(new, sets=0.9, interval=0.9))
    other = open_model(labels[1] / "model.mercer")
    with pytest.raises(DomainError, match="predicts labels, which have no intervals"):
        next(other.predict(labels[1] / "new.csv", interval=0.9))
    X = np.arange(20.0)[:, None]
    mercer.save(KernelRidge("gaussian").fit(X, X[:, 0]), tmp_path / "bare.mercer")
    (tmp_path / "x.csv").write_text("x\n1.5\n")
    with pytest.raises(DomainError, match=r"it keeps no errors; .*mercer.Conformal\(machine\)"):
        next(open_model(tmp_path / "bare.mercer").predict(tmp_path / "x.csv", interval=0.9))
    mercer.save(Conformal(KernelRidge("gaussian")).fit(X, X[:, 0]), tmp_path / "whole.mercer")
    (piece,) = open_model(tmp_path / "whole.mercer").predict(tmp_path / "x.csv", interval=0.9)
    assert piece.intervals[0, 0] < piece.intervals[0, 1]


def test_rows_of_one_person_count_as_one():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 6)
    rows = waves(72).assign(y=lambda t: t["y"] + rng.normal(size=12)[who], who=who)
    found = study(rows, "y", groups="who", machine="ridge", kernel="gaussian", budget=3,
                  references=False)  # fmt: skip
    kept = found.known_errors.kept
    assert kept.count() == 12 and kept.unit == "groups"
    with pytest.raises(DomainError, match="held-out groups, but there are 12"):
        found.known_errors.intervals(found.X, np.zeros(72), 0.95)
    assert "new groups" in found.known_errors.guarantee(0.9)


def test_the_report_shows_where_the_level_holds(numbers, labels):
    for found, folder in (numbers, labels):
        page = (folder / "report.html").read_text(encoding="utf-8")
        cover = found.coverage
        assert "hold the truth" in page and "The surest and the least sure" in page
        assert abs(cover.whole.share - 0.9) < 0.04
        assert sum(one.rows for one in cover.by_size) == cover.whole.rows
        shares = [one.share for one in cover.by_group]
        assert shares == sorted(shares) and cover.grouped_by in ("kind", "c")
        width = np.ptp(cover.intervals, axis=1) if found.classes is None else None
        if width is not None:
            assert width[list(cover.narrow)].max() < width[list(cover.wide)].min()


def test_without_errors_nothing_is_promised():
    from mercer.machines.conforming.held_out_scores import HeldOutScores

    few = KnownErrors(HeldOutScores(np.ones(3), np.zeros(3, dtype=int)))
    with pytest.raises(DomainError, match="at least 9 held-out rows, but there are 3"):
        few.intervals([[0.0]], np.zeros(1), 0.9)


def test_columns_that_matter_are_told_with_their_spread_and_five_rows(numbers, labels):
    found, folder = numbers
    shares = found.shares
    assert shares.names[0] == "x" and abs(sum(shares.shares) - 1) < 1e-9
    assert max(shares.spreads) > 0 and len(shares.told) == 5
    for row in shares.told:
        total = row.base + row.rest + sum(share for _, _, share in row.reasons)
        assert abs(total - row.score) < 1e-9
        at = found.held_out.rows.tolist().index(row.place)
        assert abs(found.held_out.prediction[at] - row.score) < 1e-6
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Which columns matter" in page and "told one by one" in page
    assert labels[0].shares is None  # of a single column there is nothing to divide


def test_intervals_count_rows_by_their_weights():
    scores = np.r_[np.full(50, 1.0), np.full(50, 5.0)]
    none = np.zeros(100, dtype=int)
    heavy = np.r_[np.full(50, 1.9), np.full(50, 0.1)]  # the large errors are of few people
    plain = KnownErrors(HeldOutScores(scores, none))
    weighted = KnownErrors(HeldOutScores(scores, none, None, heavy))
    ends = [one.intervals([[0.0]], np.array([0.0]), 0.8)[0, 1] for one in (plain, weighted)]
    assert ends == [5.0, 1.0]
    assert "weights" in weighted.guarantee(0.8) and "weights" not in plain.guarantee(0.8)
