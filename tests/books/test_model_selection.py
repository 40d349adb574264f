"""Model selection as the lecture on kernel ridge regression has it: Algorithm 4, line by line."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.selection import nested_cv

FOLDS = 4
WIDTHS = [0.3, 1.0, 3.0, 10.0]
PENALTY = 0.1


def regress(X, y, new, width):
    """Equation (1) of the lecture: predictions are combinations of similarities to the data."""

    def similarity(a, b):
        return np.exp(-((a[:, None] - b) ** 2) / (2 * width**2))

    coefficients = np.linalg.solve(similarity(X, X) + PENALTY * np.eye(len(X)), y)
    return similarity(new, X) @ coefficients


def algorithm_4(x, y, folds):
    """Return the error of each outer fold, and the width that was picked for it."""
    errors, picked = [], []
    everything = set(range(len(folds)))
    for outer in sorted(everything):
        means = []
        for width in WIDTHS:
            wrong = []
            for inner in sorted(everything - {outer}):
                train = np.concatenate([folds[f] for f in sorted(everything - {outer, inner})])
                guess = regress(x[train], y[train], x[folds[inner]], width)
                wrong.append(np.mean((y[folds[inner]] - guess) ** 2))
            means.append(np.mean(wrong))
        best = WIDTHS[int(np.argmin(means))]
        train = np.concatenate([folds[f] for f in sorted(everything - {outer})])
        guess = regress(x[train], y[train], x[folds[outer]], best)
        errors.append(np.mean((y[folds[outer]] - guess) ** 2))
        picked.append(best)
    return np.array(errors), picked


@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
def test_algorithm_4_nested_cross_validation():
    rng = np.random.default_rng(3)
    x = rng.uniform(-4, 4, size=42)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=42)
    splitter = KFold(FOLDS, shuffle=True, random_state=0)
    folds = [test for _, test in splitter.split(x[:, None])]

    errors, picked = algorithm_4(x, y, folds)
    found = nested_cv(
        KernelRidge(Gaussian(), penalty=PENALTY),
        x[:, None],
        y,
        {"kernel__bandwidth": WIDTHS},
        outer=splitter,
        inner=None,
        scoring="neg_mean_squared_error",
    )

    np.testing.assert_allclose(-found.scores, errors, rtol=1e-9)
    assert [choice["kernel__bandwidth"] for choice in found.choices] == picked
    assert found.mean == pytest.approx(-errors.mean())


def test_a_score_that_chose_the_parameters_is_too_good():
    """Where there is nothing to learn, the best of many scores still looks like something."""
    rng = np.random.default_rng(0)
    best, honest = [], []
    for _ in range(10):
        X, y = rng.normal(size=(30, 2)), rng.choice([-1.0, 1.0], size=30)
        grid = {"kernel__bandwidth": [0.1, 0.3, 1.0, 3.0, 10.0], "penalty": [0.01, 1.0, 100.0]}
        with pytest.warns():
            found = nested_cv(
                KernelRidge(Gaussian()), X, y, grid, scoring="neg_mean_squared_error"
            )
        best.append(found.inner_scores.max(axis=1).mean())
        honest.append(found.mean)
    assert np.mean(best) > np.mean(honest)
