"""Choosing kernel and parameters of one kind of machine."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import SelectionError
from mercer.kernels import Categorical, Gaussian, Linear, Spectrum
from mercer.selection import GridSearchCV
from mercer.studies.candidates import CLASSIFIERS, REGRESSORS, CandidateKernel
from mercer.studies.folds import splits
from mercer.studies.grid_search import InnerFolds, _at_end, _next, choose
from mercer.studies.losses import loss_of

RIDGE = next(family for family in REGRESSORS if family.name == "ridge")
SVR = next(family for family in REGRESSORS if family.name == "svm")
VOTES = next(family for family in CLASSIFIERS if family.name == "ridge")


def wave(count=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (count, 1))
    y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=count)
    return InnerFolds(X, y, splits(y, 4, rng))


def test_the_choice_is_that_of_a_grid_search_over_all_that_was_tried():
    task = wave()
    found = choose(RIDGE, [CandidateKernel(Gaussian("median"), (0.5, 1.0, 2.0))], task)
    kernels = [Gaussian(float(text.split("=")[1][:-1])) for text in found.surface.rows]
    search = GridSearchCV(
        KernelRidge(intercept=True),
        {"kernel": kernels, "penalty": list(found.surface.values)},
        cv=task.splits,
        scoring="neg_mean_squared_error",
    ).fit(task.X, task.y)
    assert search.best_params_ == {"kernel": found.kernel, "penalty": found.value}
    assert found.error == pytest.approx(np.sqrt(-search.best_score_), rel=1e-8)
    assert found.surface.errors.shape == (len(kernels), len(found.surface.values))


def test_a_grid_goes_on_where_its_best_value_is_at_an_end():
    # The wave is much narrower than the median distance of the items.
    found = choose(RIDGE, [CandidateKernel(Gaussian("median"), (0.5, 1.0, 2.0))], wave())
    widths = sorted(float(text.split("=")[1][:-1]) for text in found.surface.rows)
    assert len(widths) > 3
    assert found.kernel.bandwidth < 0.5 * Gaussian("median").resolve(wave().X).bandwidth


def test_heuristics_are_resolved_on_the_rows_of_the_task():
    task = wave()
    found = choose(RIDGE, [CandidateKernel(Gaussian("median"), (1.0,))], task)
    assert found.kernel.bandwidth == pytest.approx(
        Gaussian("median").resolve(task.X).bandwidth, rel=1e-3
    )


def test_a_kernel_that_is_far_behind_is_not_continued():
    task = wave(200)
    wide, gaussian = (
        CandidateKernel(Gaussian(8.0)),
        CandidateKernel(Gaussian("median"), (0.1, 0.2)),
    )
    alone = choose(RIDGE, [wide], task)
    both = choose(RIDGE, [wide, gaussian], task)
    tried = np.isfinite(both.surface.errors)
    assert alone.candidates > tried[0].sum() == len(RIDGE.values)
    assert tried[1:].sum() >= 2 * len(RIDGE.values)
    assert both.error == choose(RIDGE, [gaussian], task).error
    ordered = replace(task, loss=loss_of("regress", task.y, measure="mae"))
    assert ordered.noise(1.0) == np.inf  # of which no standard error is known
    labels = InnerFolds(task.X, np.array(["a", "b"] * 100, dtype=object), task.splits)
    assert labels.noise(0.0) > 0 and labels.noise(0.5) == pytest.approx(0.5 / np.sqrt(200))


def test_all_families_share_what_heuristics_found():
    task, candidate = wave(), CandidateKernel(Gaussian("median"), (1.0,))
    one = choose(RIDGE, [candidate], task)
    assert task.resolve(candidate) is task.resolved[0][1]
    choose(SVR, [candidate, CandidateKernel(Gaussian("median"), (2.0,))], task)
    assert len(task.resolved) == 2
    fewer = task.X[:20]
    assert one.machine(fewer).kernel == candidate.scale(candidate.resolve(fewer), 1.0)
    assert one.machine(task.X).kernel == one.kernel


def test_the_simplest_kernel_is_taken_where_errors_are_equal():
    y = np.array(["a", "b"] * 20, dtype=object)
    X = np.where(y == "a", 1.0, -1.0)[:, None]
    task = InnerFolds(X, y, splits(y, 4, np.random.default_rng(0)))
    found = choose(
        VOTES, [CandidateKernel(Linear()), CandidateKernel(Gaussian("median"), (1.0, 2.0))], task
    )
    assert found.kernel == Linear() and found.error == 0


def test_margins_are_in_units_of_the_target():
    task = wave()
    thousand = InnerFolds(task.X, 1000 * task.y, task.splits)
    candidates = [CandidateKernel(Gaussian("median"), (0.25,))]
    small, large = choose(SVR, candidates, task), choose(SVR, candidates, thousand)
    assert large.value == pytest.approx(1000 * small.value, rel=1e-3)
    assert large.surface.values == pytest.approx(1000 * np.array(small.surface.values), rel=1e-3)
    assert large.error == pytest.approx(1000 * small.error, rel=1e-2)
    assert large.machine().C == pytest.approx(1000 * small.machine().C, rel=1e-3)


def test_what_cannot_be_fitted_says_why():
    task = wave()
    with pytest.raises(SelectionError, match="string"):
        choose(RIDGE, [CandidateKernel(Spectrum(2))], task)


def test_ends_and_plains():
    assert _at_end({1.0: 0.1, 2.0: 0.2, 4.0: 0.3}) == -1
    assert _at_end({1.0: 0.3, 2.0: 0.2, 4.0: 0.1}) == 1
    assert _at_end({1.0: 0.3, 2.0: 0.1, 4.0: 0.2}) == 0
    assert _at_end({1.0: 0.2, 2.0: 0.2, 4.0: 0.2}) == 0
    assert _at_end({None: 0.2}) == 0
    assert _next({1.0: 0.1, 10.0: 0.2}, 0.01, 100.0) == [0.1]
    assert _next({1.0: 0.1, 10.0: 0.2}, 0.5, 100.0) == []
    assert _next({1.0: np.nan, 10.0: 0.2}, 0.5, 100.0) == [100.0]


def test_an_edge_that_stays_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = X[:, 0] * 1.0  # without noise the smallest penalty is always the best
    found = choose(RIDGE, [CandidateKernel(Linear())], InnerFolds(X, y, splits(y, 4, rng)))
    assert any("penalty" in text and "smallest" in text for text in found.edges)


def test_classes_are_predicted_by_the_chosen_machine():
    task = wave()
    y = np.where(task.y > 0, "up", "down").astype(object)
    found = choose(
        VOTES,
        [CandidateKernel(Gaussian("median"), (0.5, 1.0))],
        InnerFolds(task.X, y, task.splits),
    )
    machine = found.machine()
    assert isinstance(machine, KernelRidgeClassifier)
    assert machine.penalty == found.value and machine.kernel == found.kernel


def test_what_went_wrong_with_all_candidates_is_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(["a", "b"], 30).astype(object)})
    X.loc[4, "kind"] = None
    y = np.array(["u", "v"] * 15, dtype=object)
    task = InnerFolds(X, y, splits(y, 3, rng))
    with pytest.raises(SelectionError, match="nothing in column 'kind'"):
        choose(VOTES, [CandidateKernel(Categorical().on("kind"))], task)
