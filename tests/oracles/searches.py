"""Two searches on the same machine, ours and scikit-learn's, and what they must agree about."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.model_selection import KFold

from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV

RNG = np.random.default_rng(8)
N = 36
X = RNG.normal(size=(N, 3)) * [1.0, 5.0, 0.2]
Y = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + 0.1 * RNG.normal(size=N)
LABELS = np.array(["no", "yes"])[(Y > 0).astype(int)]
THREE = np.digitize(Y, [-0.5, 0.5])
WEIGHTS = RNG.uniform(0.2, 3.0, N)
FOLDS = KFold(4, shuffle=True, random_state=0)
GAUSS = Gaussian(2.0)
RIDGES = {"kernel__bandwidth": [0.5, 2.0], "penalty": [1e-3, 0.1, 10.0]}


def both(estimator, grid, X, y, fit=None, **options):
    """Return our search and theirs, fitted."""
    fit, options = fit or {}, {"cv": FOLDS, **options}
    ours = GridSearchCV(clone(estimator), grid, **options).fit(X, y, **fit)
    theirs = model_selection.GridSearchCV(clone(estimator), grid, **options).fit(X, y, **fit)
    return ours, theirs


def agree(estimator, grid, X, y, fit=None, **options):
    """Compare the tables of both searches, and what follows from them; return ours."""
    ours, theirs = both(estimator, grid, X, y, fit, **options)
    found, expected = ours.cv_results_, theirs.cv_results_
    assert list(found) == list(expected)
    assert repr(found["params"]) == repr(expected["params"])
    for key, values in expected.items():
        if key.startswith("rank") or key.startswith("param_"):
            assert repr(found[key]) == repr(values), key
        elif key != "params" and "time" not in key:
            np.testing.assert_allclose(found[key], values, rtol=1e-8, atol=1e-8, err_msg=key)
    for name in ("n_splits_", "multimetric_", "best_index_", "best_params_"):
        assert repr(getattr(ours, name, None)) == repr(getattr(theirs, name, None)), name
    assert hasattr(ours, "best_estimator_") == hasattr(theirs, "best_estimator_")
    if hasattr(theirs, "best_score_"):
        expected = pytest.approx(theirs.best_score_, rel=1e-8, abs=1e-8, nan_ok=True)
        assert ours.best_score_ == expected
    if hasattr(theirs, "best_estimator_"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert getattr(ours, "n_features_in_", 0) == getattr(theirs, "n_features_in_", 0)
    return ours


def own(machine, X, y):
    """Return a score that depends on the items themselves."""
    return -float(np.abs(machine.predict(X) - y).max()) + 0.001 * float(np.sum(np.asarray(X)))
