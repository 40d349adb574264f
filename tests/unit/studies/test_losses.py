"""Losses: costs, steps and other measures, held against computations of their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mercer import Calibrated, KernelRidgeClassifier, load, report, save
from mercer.errors import DomainError, ValidityError
from mercer.studies import open_model, study
from mercer.studies.folds import pooled_error
from mercer.studies.losses import Loss, cost_matrix, loss_of, ordered

QUICK = {"machine": "ridge", "kernel": "linear", "budget": 5.0, "references": False}


def patients(n=700, seed=0):
    """Return rows of which few are ill, with the probability of each."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    chance = 1 / (1 + np.exp(-(2.5 * a + b - 4)))
    state = np.where(rng.random(n) < chance, "ill", "well")
    return pd.DataFrame({"a": a, "b": b, "state": state}), chance


@pytest.fixture(scope="module")
def costly():
    rows, chance = patients()
    return rows, chance, study(rows, "state", cost={"ill": 10, "well": 1}, **QUICK)


def test_the_error_is_the_mean_cost_and_near_the_least_that_is_possible(costly):
    rows, chance, found = costly
    truth, said = rows["state"].to_numpy(), found.held_out.prediction
    cost = np.where(truth == said, 0.0, np.where(truth == "ill", 10.0, 1.0))
    assert found.measure == "mean cost"
    assert found.error == pytest.approx(cost.mean(), rel=1e-12)
    # Whoever knows the probabilities says ill from 1/11 on; no answers cost less on average.
    best = np.where(
        (truth == "ill") == (chance > 1 / 11), 0.0, np.where(truth == "ill", 10.0, 1.0)
    )
    assert found.error < best.mean() + 2 * found.error_se
    usual = study(rows, "state", **QUICK)
    wrong = usual.held_out.prediction != truth
    assert (wrong * np.where(truth == "ill", 10.0, 1.0)).mean() > 1.2 * found.error
    assert found.baseline_error == pytest.approx(min(1 - (truth == "ill").mean(),
                                                     10 * (truth == "ill").mean()))  # fmt: skip


def test_the_threshold_is_what_the_costs_imply(costly):
    _, _, found = costly
    assert dict(found.loss.thresholds())["ill"] == pytest.approx(1 / 11)
    P = found.held_out.probabilities[:, 0]
    assert ((P > 1 / 11) == (found.held_out.prediction == "ill")).all()


def test_costs_are_kept_with_the_model(costly, tmp_path):
    rows, _, found = costly
    save(found.machine, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    assert (again.predict(rows[["a", "b"]]) == found.machine.predict(rows[["a", "b"]])).all()


def test_calibrated_machines_decide_by_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    machine = Calibrated(KernelRidgeClassifier("linear", penalty=1.0), costs=costs).fit(X, y)
    expected = machine.predict_proba(X) @ costs
    assert (machine.predict(X) == expected.argmin(axis=1)).all()
    assert machine.predict(X).mean() > 0.6  # a missed 1 costs five times as much
    with pytest.raises(ValidityError, match="2 true classes by 2 answers"):
        Calibrated(KernelRidgeClassifier("linear"), costs=np.eye(3)).fit(X, y)


def test_ordered_classes_count_steps():
    rng = np.random.default_rng(1)
    a = rng.normal(size=300)
    z = a + 0.7 * rng.normal(size=300)
    grade = np.select([z < -0.8, z < 0.0, z < 0.8], ["poor", "fair", "good"], "fine")
    found = study(pd.DataFrame({"a": a, "grade": grade}), "grade",
                  order="poor,fair,good,fine", **QUICK)  # fmt: skip
    place = {"poor": 0, "fair": 1, "good": 2, "fine": 3}
    truth, said = ([place[g] for g in labels] for labels in (grade, found.held_out.prediction))
    steps = np.abs(np.subtract(truth, said))
    assert found.measure == "mean steps off"
    assert found.error == pytest.approx(steps.mean(), rel=1e-12)
    assert found.baseline_error == pytest.approx(
        min(np.abs(np.subtract(truth, k)).mean() for k in range(4))
    )
    # The median of the probabilities loses fewest steps; the most probable class may lose more.
    P = found.held_out.probabilities[:, [found.classes.tolist().index(c) for c in place]]
    median = (np.cumsum(P, axis=1) < 0.5 - 1e-12).sum(axis=1)
    assert (median == said).mean() > 0.99


def test_balanced_and_other_measures():
    rows, _ = patients(400, seed=3)
    found = study(rows, "state", measure="balanced", **QUICK)
    told = 1 - balanced_accuracy_score(rows["state"], found.held_out.prediction)
    assert found.error == pytest.approx(told, rel=1e-10)
    assert found.baseline_error == pytest.approx(0.5)
    for measure in ("auc", "logloss"):
        other = study(rows, "state", measure=measure, **QUICK)
        assert other.measure == "misclassification rate"
        area = other.measures.as_dict()["area under ROC"]["value"]
        ill = other.held_out.probabilities[:, 0]
        assert area == pytest.approx(roc_auc_score(rows["state"] == "ill", ill), rel=1e-10)
    sizes = rows.drop(columns="state").assign(y=rows["a"] * 2 + rows["b"] ** 3)
    found = study(sizes, "y", measure="mae", **QUICK)
    off = np.abs(found.held_out.prediction - sizes["y"])
    assert found.error == pytest.approx(off.mean(), rel=1e-12)


def test_without_a_loss_pooled_errors_stay_as_they_were():
    rng = np.random.default_rng(0)
    truths = [rng.normal(size=9), rng.normal(size=8)]
    answers = [rng.normal(size=9), rng.normal(size=8)]
    loss = loss_of("regress", np.concatenate(truths))
    assert pooled_error(truths, answers) == pooled_error(truths, answers, (), loss)


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"costs": "ill=1"}, "does not say what it costs to answer 'ill' where 'well' is true"),
        ({"costs": "il=1,well=1"}, "no class 'il'; did you mean 'ill'"),
        ({"costs": "ill=-1,well=1"}, "from 0 on, found '-1'"),
        ({"costs": "ill=0,well=0"}, "every answer is as good"),
        ({"costs": "ten"}, "is no table of costs"),
        ({"order": "ill,ill,well"}, "names 'ill' twice"),
        ({"order": "ill"}, "says nothing of the class 'well'"),
    ],
)
def test_bad_costs_and_orders_are_named(how, complaint):
    with pytest.raises(DomainError, match=complaint):
        loss_of("classify", np.array(["ill", "well"]), **how)


def test_two_meanings_of_an_error_are_refused():
    y = np.array(["ill", "well"])
    with pytest.raises(ValidityError, match="--cost and --order each say"):
        loss_of("classify", y, costs="ill=1,well=1", order="ill,well")
    with pytest.raises(ValidityError, match="is about classes"):
        loss_of("regress", np.array([1.0, 2.0]), order="1,2")
    with pytest.raises(ValidityError, match="choose among rmse, mae"):
        loss_of("regress", np.array([1.0, 2.0]), measure="auc")


def test_tables_of_costs_and_orders():
    table = pd.DataFrame([["0", "7"], ["2", "0"]], index=["ill", "well"], columns=["ill", "well"])
    pairs = {("ill", "well"): 7, ("well", "ill"): 2}
    for costs in (table, pairs, "ill:well=7, well:ill=2"):
        assert cost_matrix(costs, ["ill", "well"]).tolist() == [[0, 7], [2, 0]]
    assert ordered(["a", "b"], ["b"]) == ["a", "b"]


def test_rows_of_weight_two_count_as_two_where_costs_choose():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 1)) + np.repeat([0.0, 1.0], 20)[:, None]
    codes = np.repeat([0, 1], 20)
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(40), weights.astype(int))
    y = np.array(["a", "b"])[codes]
    classes = np.array(["a", "b"])
    for given in ({"costs": "a=10,b=1"}, {"measure": "auc"}, {"measure": "logloss"}):
        loss = loss_of("classify", y, **given)
        weighted = loss.of_scores(scores, codes, classes, weights)
        repeated = loss.of_scores(scores[twice], codes[twice], classes)
        # A calibration counts how many rows there are, too, so that it may differ a little.
        assert weighted == pytest.approx(repeated, rel=0.02)
        assert weighted != pytest.approx(loss.of_scores(scores, codes, classes), rel=1e-3)
    balanced = loss_of("classify", y, measure="balanced", weights=weights)
    again = loss_of("classify", y[twice], measure="balanced")
    np.testing.assert_allclose(balanced.matrix, again.matrix)


def test_weights_reach_what_chooses_and_what_calibrates(monkeypatch):
    rows, _ = patients(200, seed=5)
    rows["people"] = np.where(rows["state"] == "ill", 3.0, 1.0)
    seen = []
    plain = Loss.of_scores

    def watched(self, scores, codes, classes, weights=None):
        seen.append(weights)
        return plain(self, scores, codes, classes, weights)

    monkeypatch.setattr(Loss, "of_scores", watched)
    found = study(rows, "state", cost={"ill": 10, "well": 1}, weights="people", **QUICK)
    weighted = [w for w in seen if w is not None]
    assert len(weighted) > 0.9 * len(seen)  # others only try out whether the score is a number
    assert all(w.max() == pytest.approx(3 * w.min()) for w in weighted)
    # Three times as many are ill as without weights, and probabilities say so.
    mean = np.average(found.held_out.probabilities[:, 0], weights=rows["people"])
    share = np.average(rows["state"] == "ill", weights=rows["people"])
    assert mean == pytest.approx(share, abs=0.03)


def test_sets_of_a_model_with_costs_hold_as_often_as_they_say(tmp_path):
    rows, _ = patients(1200, seed=7)
    found = study(rows.head(600), "state", cost={"ill": 10, "well": 1}, **QUICK)
    (path, *_) = report.write(found, tmp_path / "ill")
    rows.tail(600).to_csv(tmp_path / "new.csv", index=False)
    (piece,) = list(open_model(path).predict(tmp_path / "new.csv", sets=0.9))
    truth = rows["state"].tail(600).to_numpy()
    codes = np.searchsorted(piece.classes, truth)
    inside = piece.sets[np.arange(600), codes]
    assert inside.mean() == pytest.approx(0.9, abs=0.05) or inside.mean() > 0.9
    assert piece.sets.sum(axis=1).min() >= 1
    # The answer is what costs least; the set is about probability, and holds the likeliest label.
    P = piece.probabilities
    if P is not None:
        assert piece.sets[np.arange(600), P.argmax(axis=1)].all()
