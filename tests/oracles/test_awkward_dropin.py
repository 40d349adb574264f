"""Twenty awkward data sets: the drop-in's labels are LIBSVM's, or its objective is not worse.

The objective is computed here, in long double, from the coefficients that either shows.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm as theirs
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer.sklearn import svm as ours

TOL = 1e-6
FEASIBLE = 1e-12  # share by which rounding may go beyond a constraint
MAX_STEPS = 100_000  # of LIBSVM, which would go on for hours where features are not scaled


def blobs(seed=0, n=120, **options):
    return make_classification(n, 6, n_informative=4, random_state=seed, **options)


def cases():
    """Return twenty data sets by name, each with the parameters that it is learned with."""
    X, y = blobs()
    rng = np.random.default_rng(0)
    cancer, wine = load_breast_cancer(return_X_y=True), load_wine(return_X_y=True)
    units = X * 10.0 ** np.arange(-3, 3)
    rare = np.where(np.arange(len(y)) % 40 == 0, 1, 0)
    names = np.array(["yes, of course", "no"])[y]
    rbf, line = {"gamma": 0.2}, {"kernel": "linear"}
    return {
        "unscaled": (*cancer, {"C": 1.0}),
        "unscaled, three classes": (*wine, {"C": 10.0}),
        "units from 1e-3 to 1e2": (units, y, {"C": 1.0}),
        "offset 1e4": (X + 1e4, y, rbf),
        "offset 1e8": (np.round(X * 64) / 64 + 1e8, y, rbf),
        "linear, offset 1e3": (X + 1e3, y, line),
        "a constant column": (np.column_stack([X, np.full(len(X), 7.0)]), y, rbf),
        "all columns but one constant": (X * (np.arange(6) == 2), y, rbf),
        "duplicates": (np.repeat(X[:40], 3, axis=0), np.repeat(y[:40], 3), rbf),
        "duplicates of other labels": (np.tile(X[:60], (2, 1)), y, {"C": 5.0, **rbf}),
        "C = 1e-6": (X, y, {"C": 1e-6, **rbf}),
        "C = 1e6": (X, y, {"C": 1e6, **rbf}),
        "C = 1e6, noisy": (X, rng.permutation(y), {"C": 1e6, "gamma": 0.01}),
        "a rare class": (X, rare, {"C": 10.0, **rbf}),
        "balanced weights": (X, rare, {"class_weight": "balanced", **rbf}),
        "sparse": (sparse.random_array((150, 80), density=0.04, rng=rng).tocsr(),
                   np.arange(150) % 2, {"gamma": 1.0}),
        "single precision": (X.astype(np.float32), y, rbf),
        "strings as labels": (X, names, rbf),
        "four items": (X[:4], np.array([0, 1, 0, 1]), rbf),
        "polynomial": (X, y, {"kernel": "poly", "coef0": 1.0, "gamma": 0.1}),
    }  # fmt: skip


CASES = cases()


def fitted(module, X, y, params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        steps = MAX_STEPS if module is theirs else -1
        return module.SVC(tol=TOL, max_iter=steps, **params).fit(X, y)


def similarities(machine, X):
    """Return the Gram matrix of the training items by the textbook's formula, in long double."""
    A = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.longdouble)
    gamma = np.longdouble(machine._gamma)
    if machine.kernel == "rbf":
        return np.exp(-gamma * ((A[:, None] - A[None]) ** 2).sum(axis=2))
    D = A @ A.T
    return D if machine.kernel == "linear" else (gamma * D + machine.coef0) ** machine.degree


def objectives(machine, K):
    """Return tᵀβ − ½βᵀKβ of every pair of classes, which a fit makes large.

    Only among feasible β does that say anything: their sum is zero, and none is above its price.
    """
    dual = machine.dual_coef_
    dual = np.asarray(dual.toarray() if sparse.issparse(dual) else dual, dtype=np.longdouble)
    ends = np.cumsum([0, *machine.n_support_])
    found, k = [], len(machine.n_support_)
    for i in range(k):
        for j in range(i + 1, k):
            a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            beta = np.concatenate([dual[j - 1, a], dual[i, b]])
            places = np.concatenate([machine.support_[a], machine.support_[b]])
            quadratic = beta @ K[np.ix_(places, places)] @ beta
            total, prices = np.abs(beta).sum(), machine.C * machine.class_weight_[[i, j]]
            assert abs(beta.sum()) <= FEASIBLE * total
            for part, price in ((dual[j - 1, a], prices[0]), (dual[i, b], prices[1])):
                assert np.abs(part).max(initial=0.0) <= price * (1 + FEASIBLE)
            found.append(total - quadratic / 2)
    return found


def test_there_are_twenty():
    assert len(CASES) == 20


@pytest.mark.parametrize("name", CASES)
def test_labels_are_equal_or_the_objective_is_not_worse(name):
    X, y, params = CASES[name]
    mine, other = (fitted(module, X, y, params) for module in (ours, theirs))
    K = similarities(mine, X)
    for a, b in zip(objectives(mine, K), objectives(other, K), strict=True):
        # Either is within tol·Σ|β| of the best, which is what a tolerance of slopes means.
        least = b - TOL * np.abs(mine.dual_coef_).sum() - 1e-15 * abs(b)
        assert (mine.predict(X) == other.predict(X)).all() or a >= least
        assert a >= least
