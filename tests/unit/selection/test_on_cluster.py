"""Searches on a cluster: the same scores, and every candidate and fold once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelLogistic, KernelRidge, KernelRidgeClassifier
from mercer.cluster import Cluster, InProcess, current
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV, nested_cv

WIDTHS = [Gaussian(width) for width in (0.5, 1.0, 2.0)]


def data(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n)


CASES = {
    "closed form": (KernelRidge(), {"kernel": WIDTHS, "penalty": [0.1, 1.0]}, 3),
    "classes": (KernelRidgeClassifier(), {"kernel": WIDTHS, "penalty": [0.1, 1.0]}, 3),
    "along C": (SVC(), {"kernel": WIDTHS, "C": [0.1, 1.0, 10.0]}, 12),
    "refits": (KernelLogistic(), {"kernel": WIDTHS, "penalty": [1.0]}, 12),
    "pipeline": (
        make_pipeline(StandardScaler(), SVC(Gaussian(1.0))), {"svc__C": [0.1, 1.0]}, 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_search_has_the_scores_of_one_computer(name):
    machine, grid, count = CASES[name]
    X, y = data()
    y = y if name == "closed form" else np.where(y > 0, "u", "v")
    here = GridSearchCV(machine, grid, cv=4).fit(X, y)
    with Cluster(InProcess(travel=True)) as cluster:
        there = GridSearchCV(machine, grid, cv=4).fit(X, y)
    np.testing.assert_allclose(
        here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"], rtol=1e-10
    )
    assert here.best_params_ == there.best_params_
    assert sum(share.tasks for share in cluster.account.workers.values()) == count
    assert there.account_.counts["tasks on the cluster"] == count
    assert "worker here" in str(there.account_)


@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
def test_nested_folds_have_the_scores_of_one_computer():
    X, y = data()
    y = np.where(y > 0, "u", "v")
    grid = {"C": [0.1, 1.0, 10.0]}
    here = nested_cv(SVC(Gaussian(1.0)), X, y, grid, outer=3, inner=3)
    with Cluster(InProcess(travel=True)):
        there = nested_cv(SVC(Gaussian(1.0)), X, y, grid, outer=3, inner=3)
    np.testing.assert_allclose(here.scores, there.scores)
    np.testing.assert_allclose(here.inner_scores, there.inner_scores)
    assert here.choices == there.choices


def test_weights_go_with_the_items():
    X, y = data()
    w = np.random.default_rng(1).random(len(y))
    grid = {"penalty": [0.1, 1.0]}
    here = GridSearchCV(KernelRidge(Gaussian(1.0)), grid, cv=4).fit(X, y, sample_weight=w)
    with Cluster(InProcess(travel=True)):
        there = GridSearchCV(KernelRidge(Gaussian(1.0)), grid, cv=4).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(
        here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"], rtol=1e-10
    )


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_candidates_that_fail_are_told_once_and_the_others_go_on():
    X, y = data()
    grid = {"kernel": [Gaussian(1.0)], "penalty": [1.0, -1.0]}
    search = GridSearchCV(KernelLogistic(), grid, cv=4)
    with Cluster(InProcess(travel=True)), pytest.warns(FitFailedWarning, match="4 of 8 fits"):
        search.fit(X, y > 0)
    assert search.best_params_["penalty"] == 1.0


def test_tasks_themselves_have_no_cluster():
    X, y = data()
    seen = []

    def scorer(machine, X, y):
        seen.append(current())
        return 0.0

    with Cluster(InProcess()):
        GridSearchCV(KernelRidge(Gaussian(1.0)), {"penalty": [1.0]}, cv=4, scoring=scorer).fit(
            X, y
        )
    assert seen[0] is not None  # tried out before any work starts
    assert len(seen) == 5 and not any(seen[1:])
