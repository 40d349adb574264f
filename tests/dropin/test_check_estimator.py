"""scikit-learn's checks of estimators, on every name of the drop-in."""

from __future__ import annotations

import pytest
import sklearn.svm as theirs
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.sklearn import (
    decomposition,
    gaussian_process,
    kernel_approximation,
    kernel_ridge,
    model_selection,
    svm,
)

MARGINS = [svm.SVC(), svm.NuSVC(), svm.SVR(), svm.NuSVR(), svm.OneClassSVM()]
LINEAR = [svm.LinearSVC(), svm.LinearSVR()]
OTHERS = [
    kernel_ridge.KernelRidge(),
    decomposition.KernelPCA(),
    kernel_approximation.Nystroem(),
    kernel_approximation.RBFSampler(),
    gaussian_process.GaussianProcessRegressor(),
    gaussian_process.GaussianProcessClassifier(),
    model_selection.GridSearchCV(svm.SVC(), {"C": [1.0, 2.0]}),
]
WEIGHTS = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]
WITHIN_TOL = "two solutions within tol differ by more than 1e-7"
WIDTH = "gamma='scale' is of rows, not of their weights, and " + WITHIN_TOL
OF_NU = {
    "check_class_weight_classifiers": "class_weight has no meaning for ν",
    "check_classifiers_one_label_sample_weights": "the message names ν, as LIBSVM's does",
}


def expected(machine):
    """Return the checks that are not kept, with reasons; scikit-learn's machines keep neither."""
    if machine in LINEAR:
        return dict.fromkeys(WEIGHTS, WITHIN_TOL)
    if machine in MARGINS:
        return dict.fromkeys(WEIGHTS, WIDTH) | (OF_NU if isinstance(machine, svm.NuSVC) else {})
    return {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("machine", [*MARGINS, *LINEAR], ids=lambda m: type(m).__name__)
def test_what_is_expected_to_fail_does_also_in_scikit_learn(machine, name):
    check = getattr(estimator_checks, name)
    for one in (machine, getattr(theirs, type(machine).__name__)()):
        with pytest.raises((AssertionError, ValueError), match=r"not equivalent|infeasible"):
            check(type(one).__name__, clone(one))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(
    "machine",
    [
        svm.SVC(gamma=0.1, tol=1e-10),
        svm.NuSVC(nu=0.2, gamma=0.1, tol=1e-10),
        svm.SVR(gamma=0.1, tol=1e-10),
        svm.NuSVR(gamma=0.1, tol=1e-10),
        svm.LinearSVC(tol=1e-10, max_iter=10**5),
        svm.LinearSVR(tol=1e-10, max_iter=10**5),
    ],
    ids=lambda m: type(m).__name__,
)
def test_weights_are_repetitions_where_width_and_tolerance_allow_it(machine, name):
    getattr(estimator_checks, name)(type(machine).__name__, machine)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # as the checks themselves do, where they mean it
@parametrize_with_checks([*MARGINS, *LINEAR, *OTHERS], expected_failed_checks=expected)
def test_the_checks_of_estimators(estimator, check):
    check(estimator)
