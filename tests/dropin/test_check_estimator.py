"""scikit-learn's checks of estimators, on every name of the drop-in."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.sklearn import decomposition, kernel_approximation, kernel_ridge, svm

MARGINS = [svm.SVC(), svm.NuSVC(), svm.SVR(), svm.NuSVR(), svm.OneClassSVM()]
OTHERS = [
    kernel_ridge.KernelRidge(),
    decomposition.KernelPCA(),
    kernel_approximation.Nystroem(),
    kernel_approximation.RBFSampler(),
]
# scikit-learn's own machines are expected to fail these, for the same reasons.
WITHIN_TOL = "two solutions within tol of 1e-3 differ by more than 1e-7"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WITHIN_TOL,
    "check_sample_weight_equivalence_on_sparse_data": WITHIN_TOL,
}
OF_NU = {
    "check_class_weight_classifiers": "class_weight has no meaning for ν",
    "check_classifiers_one_label_sample_weights": "the message names ν, as LIBSVM's does",
}


def expected(machine):
    if machine in MARGINS:
        return {**EXPECTED, **(OF_NU if isinstance(machine, svm.NuSVC) else {})}
    return {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # as the checks themselves do, where they mean it
@parametrize_with_checks([*MARGINS, *OTHERS], expected_failed_checks=expected)
def test_the_checks_of_estimators(estimator, check):
    check(estimator)
