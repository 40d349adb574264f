"""What a linear model and boosted trees make of the folds of a study."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from mercer.studies import design
from mercer.studies.folds import splits
from mercer.studies.references import references, tree_rows


def folds(table, target, **how):
    plan = design(table, target, **how)
    parts = splits(plan.sheet.y, 3, np.random.default_rng(0))
    return [plan.procedure.split(plan.sheet.X, plan.sheet.y, *part) for part in parts]


def line(count=90, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=count)
    return pd.DataFrame({"x": x, "other": rng.normal(size=count), "y": 3 * x + 1.0})


def test_a_line_is_best_known_by_a_linear_model():
    linear, trees = references(folds(line(), "y"), 0)
    assert (linear.name, linear.tool) == ("linear model", "RidgeCV")
    assert (trees.name, trees.tool) == ("boosted trees", "HistGradientBoostingRegressor")
    assert linear.error < 0.01 < trees.error and linear.note == trees.note == ""


def test_errors_are_those_of_the_same_folds_by_hand():
    some = folds(line(), "y")
    linear, trees = references(some, 0)
    for model, found in ((RidgeCV(np.logspace(-3, 3, 7)), linear),
                         (HistGradientBoostingRegressor(random_state=0), trees)):  # fmt: skip
        off = []
        for fold in some:
            X, new = fold.prepared.X, fold.prepared.new
            mean, spread = X.mean(), X.std(ddof=0)
            if found is linear:
                X, new = (X - mean) / spread, (new - mean) / spread
            off.append(model.fit(X, fold.y).predict(new) - fold.truth)
        assert found.error == pytest.approx(np.sqrt(np.mean(np.concatenate(off) ** 2)), rel=1e-6)


def test_categories_gaps_and_unseen_levels_are_no_hindrance():
    rng = np.random.default_rng(1)
    kind = rng.choice(["a", "b", "c"], 90).astype(object)
    kind[3], kind[4] = "once", None
    table = pd.DataFrame({"kind": kind, "x": rng.normal(size=90)})
    table.loc[5, "x"] = np.nan
    table["label"] = np.where(table["kind"] == "a", "yes", "no")
    for found in references(folds(table, "label"), 0):
        assert found.note == "" and found.error < 0.1


def test_levels_beyond_what_trees_can_split_are_missing():
    X = pd.DataFrame({"id": [f"n{i % 300}" for i in range(900)]}, dtype=object)
    own, other = tree_rows(X[:600], X[600:])
    assert own["id"].dtype == other["id"].dtype and len(own["id"].cat.categories) == 254


def test_what_fails_is_told_and_not_raised():
    texts = pd.DataFrame({"word": [f"w {i}" for i in range(60)], "y": np.arange(60.0)})
    for found in references(folds(texts, "y", types={"word": "text"}), 0):
        assert np.isfinite(found.error) or found.note
