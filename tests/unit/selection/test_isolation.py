"""One candidate that cannot work spoils no other; transformers are fitted once in each fold."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelPCA, KernelRidge
from mercer.errors import DomainError, SelectionError, ValidityError
from mercer.kernels import Chi2, Gaussian, Polynomial, Sigmoid, Spectrum, from_function
from mercer.selection import GridSearchCV, learn_weights, leave_one_out, nested_cv
from mercer.selection.grid_edges import grid_edges

rng = np.random.default_rng(5)
X = rng.normal(size=(30, 2))
Y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
SQUARES = "neg_mean_squared_error"


def broken(x, z):
    raise RuntimeError("this kernel is broken")


@pytest.mark.parametrize(
    "bad",
    [Chi2(1.0), Polynomial(300, scale=1e10), Gaussian((1.0, 2.0, 3.0)), from_function(broken)],
    ids=["domain", "overflow", "width", "raises"],
)
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_kernel_that_fails_gets_the_error_score(bad):
    grid = {"kernel": [bad, Gaussian(1.0)], "penalty": [0.1, 1.0]}
    with pytest.warns(FitFailedWarning):
        search = GridSearchCV(KernelRidge(), grid, cv=3, scoring=SQUARES).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"][:2]).all()
    alone = GridSearchCV(
        KernelRidge(Gaussian(1.0)), {"penalty": [0.1, 1.0]}, cv=3, scoring=SQUARES
    ).fit(X, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"][2:], alone.cv_results_["mean_test_score"]
    )


def test_it_raises_if_errors_are_to_be_raised():
    grid = {"kernel": [Chi2(1.0), Gaussian(1.0)]}
    with pytest.raises(DomainError, match="negative"):
        GridSearchCV(KernelRidge(), grid, cv=3, error_score="raise").fit(X, Y)


@pytest.mark.parametrize(
    "before",
    [
        StandardScaler(),
        make_column_transformer((StandardScaler(), [0, 1])),
        make_union(StandardScaler()),
        make_pipeline(StandardScaler(), StandardScaler()),
    ],
    ids=["scaler", "columns", "union", "pipeline"],
)
def test_what_comes_before_a_machine_is_fitted_once_in_each_fold(before):
    pipeline = make_pipeline(before, KernelRidge(Gaussian(1.0)))
    search = GridSearchCV(pipeline, {"kernelridge__penalty": [0.1, 1.0, 10.0]}, cv=4).fit(X, Y)
    assert search.account_.counts["Gram matrices"] == 4


def test_explained_variance_of_a_single_item_is_refused_wherever_it_hides():
    grid = {"penalty": [0.1, 1.0]}
    with pytest.raises(SelectionError, match="single held-out item"):
        nested_cv(KernelRidge(Gaussian(1.0)), X, Y, grid, outer=LeaveOneOut(), inner=3)
    uneven = [(np.arange(10, 30), np.arange(10)), (np.arange(29), np.array([29]))]
    with pytest.raises(SelectionError, match="single held-out item"):
        GridSearchCV(KernelRidge(Gaussian(1.0)), grid, cv=uneven).fit(X, Y)


def test_targets_that_are_no_numbers_are_refused_before_any_fit():
    spoiled = Y.copy()
    spoiled[7] = np.nan
    with pytest.raises(DomainError, match="row 7"):
        GridSearchCV(KernelRidge(), {"penalty": [0.1]}, refit=False).fit(X, spoiled)


def test_the_loop_with_too_many_folds_is_named():
    for name in ("outer", "inner"):
        with pytest.raises(SelectionError, match=f"{name} is 100 folds"):
            nested_cv(KernelRidge(), X, Y, {"penalty": [0.1, 1.0]}, **{name: 100})


def test_no_border_is_suggested_where_nothing_can_lie():
    def told(values):
        return grid_edges([{"C": v} for v in values], np.array([np.arange(len(values))[::-1]]))

    assert told([1.0, np.inf]) == []
    assert told([0.0, 1.0, 2.0]) == []  # a penalty below zero
    assert "try also -2, -3" in told([-1.0, 0.0, 1.0])[0]


def test_accounts_do_not_claim_that_a_refit_was_cheaper_where_there_was_no_choice():
    weights = np.ones(30)
    weights[::3] = 0.0
    search = GridSearchCV(KernelRidge(Gaussian(1.0)), {"penalty": [0.1, 1.0]}, cv=3)
    search.fit(X, Y, sample_weight=weights)
    assert search.account_.counts["refitted because the shortcut does not hold"] == 6
    assert "0 multiplications" not in str(search.account_)


def test_what_predicts_nothing_cannot_be_held_out():
    with pytest.raises(SelectionError, match="KernelPCA predicts neither"):
        leave_one_out(KernelPCA(), X, Y)


def test_weights_are_for_valid_kernels_only():
    with pytest.raises(ValidityError, match="positive semi-definite"):
        learn_weights([Gaussian(1.0), Sigmoid(1.0, -1.0)], X, Y)
    with pytest.raises(ValidityError, match="penalty"):
        learn_weights([Gaussian(1.0)], X, Y, penalty=-1.0)


def test_one_class_alone_is_told_before_anything_else():
    with pytest.raises(DomainError, match="only 1 class"):
        GridSearchCV(SVC(), {"C": [1.0, 2.0]}).fit(X, np.ones(30, dtype=int))


def test_support_vector_machines_share_a_gram_matrix_though_there_are_few_features():
    rng = np.random.default_rng(4)
    X = ["".join(rng.choice(list("ab"), 9)) for _ in range(40)]  # two features, forty items
    y = np.array([text.count("a") > 4 for text in X])
    search = GridSearchCV(SVC(), {"kernel": [Spectrum(1)], "C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.account_.counts["along C"] == 6
    assert search.account_.counts["refitted"] == 0


def test_ridges_of_several_kernels_are_foretold_together_as_they_are_alone():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    kernels, penalties = [Gaussian(0.5), Gaussian(1.0), Gaussian(3.0)], [1e-3, 0.1, 10.0]
    both = GridSearchCV(KernelRidge(), {"kernel": kernels, "penalty": penalties}, cv=4).fit(X, y)
    for k, kernel in enumerate(kernels):
        alone = GridSearchCV(KernelRidge(kernel), {"penalty": penalties}, cv=4).fit(X, y)
        expected = alone.cv_results_["mean_test_score"]
        found = both.cv_results_["mean_test_score"][3 * k : 3 * k + 3]
        assert np.allclose(found, expected, rtol=0, atol=1e-10)
    assert both.account_.counts["without a refit"] == 36
