"""Nested cross-validation says what a naive double loop of refits would say."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, GaussianProcess, KernelDiscriminant, KernelRidge
from mercer.errors import SelectionError, SelectionWarning
from mercer.kernels import Gaussian, Linear
from mercer.selection import nested_cv
from mercer.selection.arguments import grid_combinations
from mercer.selection.grid_edges import grid_edges

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2)) * [1.0, 3.0]
Y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1] + 0.1 * RNG.normal(size=N)
LABELS = np.where(Y > 0.1, "high", "low")
WEIGHTS = RNG.uniform(0.3, 2.0, N)
GROUPS = np.arange(N) // 4
OUTER, INNER = KFold(4, shuffle=True, random_state=0), KFold(3)
PENALTIES = {"penalty": [1e-3, 0.1, 1.0, 50.0]}
GAUSS = Gaussian(1.5)


@pytest.fixture(autouse=True)
def borders_do_not_matter_here():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the best", SelectionWarning)
        yield


def naive(machine, X, y, grid, outer, inner, scoring=None, groups=None, weights=None):
    """Return outer scores, inner means and choices by fitting everything anew."""
    score = check_scoring(machine, scoring)
    w = (lambda rows: {}) if weights is None else (lambda rows: {"sample_weight": weights[rows]})

    def one(params, train, test):
        fitted = clone(machine).set_params(**params).fit(X[train], y[train], **w(train))
        return score(fitted, X[test], y[test], **w(test))

    scores, means, choices = [], [], []
    for train, test in outer.split(X, y, groups):
        part = None if groups is None else groups[train]
        folds = [(train[a], train[b]) for a, b in inner.split(X[train], y[train], part)]
        means.append([np.mean([one(p, *fold) for fold in folds]) for p in grid_combinations(grid)])
        choices.append(grid_combinations(grid)[int(np.argmax(means[-1]))])
        scores.append(one(choices[-1], train, test))
    return np.array(scores), np.array(means), tuple(choices)


def agree(machine, grid, y=Y, outer=OUTER, inner=INNER, items=X, **options):
    found = nested_cv(machine, items, y, grid, outer, inner, **options)
    options["weights"] = options.pop("sample_weight", None)
    scores, means, choices = naive(machine, items, y, grid, outer, inner, **options)
    np.testing.assert_allclose(found.inner_scores, means, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-8, atol=1e-9)
    assert found.choices == choices and found.candidates == tuple(grid_combinations(grid))
    return found


RIDGES = {
    "dual": KernelRidge(GAUSS),
    "intercept": KernelRidge(GAUSS, intercept=True),
    "features": KernelRidge(Linear(), intercept=True),
    "heuristic": KernelRidge(Gaussian("median")),
    "process": GaussianProcess(Gaussian("scale"), intercept=True),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", RIDGES)
def test_ridge_like_machines(name, weighted):
    weights = WEIGHTS if weighted else None
    found = agree(RIDGES[name], PENALTIES, sample_weight=weights)
    assert found.account.counts["without a refit"] >= 4 * (4 + 12) - 12


def test_two_targets():
    agree(KernelRidge(GAUSS), PENALTIES, y=np.column_stack([Y, X[:, 0] ** 2]))


def test_bandwidths_and_penalties():
    grid = {**PENALTIES, "kernel__bandwidth": [0.5, 1.0, 4.0]}
    found = agree(KernelRidge(GAUSS), grid, scoring="neg_mean_absolute_error")
    assert found.account.counts["Gram matrices"] == 3
    assert found.account.counts["refitted"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVC(GAUSS), {"C": [0.1, 1.0, 10.0]}),
        (SVC(Gaussian("median"), class_weight="balanced"), {"C": [0.1, 1.0, 10.0]}),
        (KernelDiscriminant(GAUSS), PENALTIES),
    ],
    ids=["SVC", "balanced", "discriminant"],
)
def test_classifiers(machine, grid):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    agree(machine, grid, y=LABELS, outer=folds, inner=folds)
    agree(machine, grid, y=LABELS, outer=folds, inner=folds, scoring="balanced_accuracy")


def test_other_machines_and_strangers():
    agree(SVR(GAUSS, tol=1e-10), {"C": [0.1, 1.0, 10.0]})
    agree(Ridge(), {"alpha": [0.1, 1.0, 10.0]})


@pytest.mark.slow
def test_pipelines():
    pipeline = make_pipeline(StandardScaler(), KernelRidge(Gaussian("median")))
    grid = {f"kernelridge__{name}": values for name, values in PENALTIES.items()}
    agree(pipeline, grid)
    agree(pipeline, grid, scoring=lambda machine, A, y: -np.abs(machine.predict(A) - y).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (KFold(3), LeaveOneOut()),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), KFold(2)),
        (ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=0), KFold(3)),
        (KFold(3), ShuffleSplit(4, test_size=0.2, random_state=0)),
        (TimeSeriesSplit(3), TimeSeriesSplit(2)),
        (PredefinedSplit(np.arange(N) % 5 - 1), RepeatedKFold(n_splits=2, n_repeats=2)),
    ],
    ids=["one by one", "repeated", "overlapping", "overlap inside", "time", "predefined"],
)
def test_folds_of_any_kind(outer, inner):
    if isinstance(inner, RepeatedKFold):
        inner = RepeatedKFold(n_splits=2, n_repeats=2, random_state=1)
    for machine in (KernelRidge(GAUSS), KernelRidge(GAUSS, intercept=True)):
        agree(machine, PENALTIES, outer=outer, inner=inner, scoring="neg_mean_squared_error")


def test_groups_stay_together_in_both_loops():
    folds = GroupKFold(3)
    agree(KernelRidge(GAUSS), PENALTIES, outer=folds, inner=folds, groups=GROUPS)


class OtherFolds:
    """The other folds of the same partition: a fold is chosen by all but one of the rest."""

    def __init__(self, folds):
        self.tests = [test for _, test in folds.split(X)]

    def split(self, items, y=None, groups=None):
        places = [np.flatnonzero(X[:, 0] == row[0])[0] for row in items]
        for test in self.tests:
            held = np.flatnonzero(np.isin(places, test))
            if len(held):
                yield np.setdiff1d(np.arange(len(items)), held), held


@pytest.mark.parametrize(
    "machine", [KernelRidge(GAUSS, intercept=True), SVR(GAUSS, tol=1e-10)], ids=["ridge", "SVR"]
)
def test_without_inner_folds_the_other_outer_ones_choose(machine):
    grid = PENALTIES if isinstance(machine, KernelRidge) else {"C": [0.1, 1.0, 10.0]}
    found = nested_cv(machine, X, Y, grid, OUTER, None)
    scores, means, choices = naive(machine, X, Y, grid, OUTER, OtherFolds(OUTER))
    np.testing.assert_allclose(found.scores, scores, rtol=1e-8)
    np.testing.assert_allclose(found.inner_scores, means, rtol=1e-8)
    assert found.choices == choices


@pytest.mark.parametrize(
    "outer", [TimeSeriesSplit(3), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)]
)
def test_without_inner_folds_the_outer_ones_must_be_a_partition(outer):
    with pytest.raises(SelectionError, match="inner=None needs outer folds that do not overlap"):
        nested_cv(KernelRidge(GAUSS), X, Y, PENALTIES, outer, None)


def test_outer_folds_that_do_not_learn_from_all_others():
    """With inner=None nothing that the outer fold leaves out may be learned from."""
    outer = [(np.arange(10, 35), np.arange(10)), (np.r_[0:10, 20:38], np.arange(10, 20))]
    found = nested_cv(KernelRidge(GAUSS), X, Y, PENALTIES, outer, None)
    for o, (train, test) in enumerate([(np.arange(20, 35), np.arange(10, 20)),
                                       (np.arange(20, 35), np.arange(10))]):  # fmt: skip
        for row, params in zip(found.inner_scores[o], grid_combinations(PENALTIES), strict=True):
            machine = KernelRidge(GAUSS, **params).fit(X[train], Y[train])
            assert row == pytest.approx(machine.score(X[test], Y[test]), rel=1e-8)


# ---- what is told -----------------------------------------------------------------------------


def test_mean_standard_error_and_stability():
    found = nested_cv(KernelRidge(GAUSS), X, Y, PENALTIES, OUTER, INNER)
    assert found.mean == pytest.approx(found.scores.mean())
    assert found.standard_error == pytest.approx(found.scores.std(ddof=1) / 2)
    counts = [found.choices.count(choice) for choice in found.choices]
    assert found.stability == max(counts) / 4
    assert found.choices.count(found.most_chosen) == max(counts)
    text = str(found)
    assert f"{found.mean:.4g}" in text and f"{max(counts)} of 4 folds chose penalty" in text
    alone = nested_cv(KernelRidge(GAUSS), X, Y, PENALTIES, [(np.arange(30), np.arange(30, N))])
    assert np.isnan(alone.standard_error) and alone.stability == 1.0


def test_a_border_is_told_with_the_wider_grid():
    grid = {"penalty": [10.0, 100.0, 1000.0]}
    with pytest.warns(SelectionWarning, match="best penalty is at the border") as told:
        found = nested_cv(KernelRidge(GAUSS), X, Y, grid, OUTER, INNER)
    text = "the best penalty is at the border of the grid, 10, in 4 of 4 folds; try also 1, 0.1"
    assert [str(one.message) for one in told] == [text] == list(found.warnings)
    assert text in str(found)
    assert told[0].filename == __file__


def test_no_border_is_told_without_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noisy = Y + 0.3 * np.random.default_rng(0).normal(size=N)
        grid = {"penalty": [1e-6, 0.1, 1.0, 10.0, 1e4]}
        assert nested_cv(KernelRidge(GAUSS), X, noisy, grid, OUTER, INNER).warnings == ()
        # C so high that no coefficient is bounded any more: a plateau
        y = np.where(X[:, 0] > 0, 1, -1)
        grid = {"C": [1e6, 1e7, 1e8]}
        folds = StratifiedKFold(3)
        assert nested_cv(SVC(GAUSS), X, y, grid, folds, folds).warnings == ()


@pytest.mark.parametrize(
    ("values", "scores", "expected"),
    [
        ([0.1, 1.0, 10.0], [0.5, 0.3, 0.1], "0.1, in 1 of 1 folds; try also 0.01, 0.001"),
        ([0.1, 1.0, 10.0], [0.1, 0.3, 0.5], "10, in 1 of 1 folds; try also 100, 1e+03"),
        ([10.0, 0.1, 1.0], [0.5, 0.3, 0.1], "10, in 1 of 1 folds; try also 100, 1e+03"),
        ([0.0, 0.5, 1.0], [0.1, 0.3, 0.5], "1, in 1 of 1 folds; try also 1.5, 2"),
        ([-1.0, 0.0, 1.0], [0.5, 0.3, 0.1], "-1, in 1 of 1 folds; try also -2, -3"),
        ([1, 2, 3], [0.1, 0.3, 0.5], "3, in 1 of 1 folds; try also 4, 5"),
        ([1, 10, 100], [0.1, 0.3, 0.5], "100, in 1 of 1 folds; try also 1e+03, 1e+04"),
        ([1, 2, 3], [0.5, 0.3, 0.1], None),  # there is no degree below 1
        ([3, 4, 5], [0.5, 0.3, 0.1], "3, in 1 of 1 folds; try also 2, 1"),
        ([0.1, 1.0, 10.0], [0.1, 0.5, 0.3], None),
        ([0.1, 1.0, 10.0], [0.5, 0.5, 0.3], None),  # a value inside is as good
        ([0.1, 1.0], [0.5, 0.5], None),
        ([0.1, 1.0], [0.3, 0.5], "1, in 1 of 1 folds; try also 10, 100"),
        ([1.0], [0.5], None),
        ([0.1, 1.0, 10.0], [np.nan, 0.3, 0.5], "10, in 1 of 1 folds; try also 100, 1e+03"),
        ([-1.0, 0.1, 1.0], [np.nan, 0.5, 0.3], "0.1, in 1 of 1 folds; try also 0.01, 0.001"),
        ([0.0, 0.001, 0.01], [0.1, 0.3, 0.5], "0.01, in 1 of 1 folds; try also 0.1, 1"),
        (["median", 0.1, 1.0], [0.3, 0.1, 0.5], "1, in 1 of 1 folds; try also 10, 100"),
        (["median", 0.1, 1.0], [0.5, 0.1, 0.3], None),  # the heuristic is better
        ([None, 0.1, 1.0], [0.3, 0.1, 0.5], "1, in 1 of 1 folds; try also 10, 100"),
        (["a", "b"], [0.3, 0.5], None),
        ([0.1, "median"], [0.5, 0.3], None),
        ([False, True], [0.5, 0.3], None),
    ],
)  # fmt: skip
def test_borders(values, scores, expected):
    found = grid_edges([{"p": value} for value in values], np.array([scores]))
    told = [f"the best p is at the border of the grid, {expected}"] if expected else []
    assert found == told


def test_one_score_only():
    for scoring in (["r2"], {"a": "r2"}, lambda machine, A, y: {"a": 1.0}):
        with pytest.raises(SelectionError, match="nested_cv chooses by one score"):
            nested_cv(KernelRidge(GAUSS), X, Y, PENALTIES, scoring=scoring)


def test_a_candidate_that_fails_is_not_chosen():
    with pytest.warns(FitFailedWarning, match="12 of 36 fits failed"):
        found = nested_cv(KernelRidge(GAUSS), X, Y, {"penalty": [-1.0, 0.1, 1.0]}, OUTER, INNER)
    assert np.isnan(found.inner_scores[:, 0]).all()
    assert all(choice["penalty"] > 0 for choice in found.choices)
