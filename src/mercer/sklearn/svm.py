"""scikit-learn's support vector machines, learned by mercer's.

The classes derive from scikit-learn's own: signatures, defaults, checks and attributes are theirs.
What LIBSVM did, `mercer.SVC` and its like do; `native()` returns that machine.

Examples
--------
>>> from mercer.sklearn.svm import SVC
>>> machine = SVC(gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
>>> machine.predict([[0.2], [2.8]]).tolist(), machine.native().solution_.status
(['a', 'b'], 'solved')
"""

from __future__ import annotations

import sklearn.svm as theirs
from sklearn.svm import l1_min_c

from mercer.sklearn.libsvm import LibsvmEstimator
from mercer.sklearn.linear import LinearSVC, LinearSVR

__all__ = [
    "SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "l1_min_c",
]  # fmt: skip


class SVC(LibsvmEstimator, theirs.SVC):
    """scikit-learn's `SVC`, learned by `mercer.SVC`."""


class NuSVC(LibsvmEstimator, theirs.NuSVC):
    """scikit-learn's `NuSVC`, learned by `mercer.NuSVC`."""


class SVR(LibsvmEstimator, theirs.SVR):
    """scikit-learn's `SVR`, learned by `mercer.SVR`."""


class NuSVR(LibsvmEstimator, theirs.NuSVR):
    """scikit-learn's `NuSVR`, learned by `mercer.NuSVR`."""


class OneClassSVM(LibsvmEstimator, theirs.OneClassSVM):
    """scikit-learn's `OneClassSVM`, learned by `mercer.OneClassSVM`.

    Items on the boundary are told apart as LIBSVM does it, at the middle of what rounding allows.
    """
