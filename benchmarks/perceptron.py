"""Epochs of the perceptron against scikit-learn's: time, and the same weights.

The data are the USPS digits if `MERCER_DATA` has them, otherwise as many images made up like them.
No class is separable within the epochs that are timed, so both sides make every pass.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import Perceptron as Peer

from mercer.bench.measure import Row, at_least, best_of, same
from mercer.errors import ConvergenceWarning
from mercer.machines.perceptron import Perceptron

EPOCHS = 50
ITEMS, SIDE, CLASSES = 7291, 16, 10


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    X, y, name = digits()
    ours, peer = fit_ours(X, y), fit_peer(X, y)
    assert (ours.solution_.wrong > 0).all(), "a class was separated, so its passes ended early"
    mine, other = (
        seconds / EPOCHS for seconds in best_of(lambda: fit_ours(X, y), lambda: fit_peer(X, y))
    )
    n, d = X.shape
    task = f"one epoch, {n}x{d}, {len(ours.classes_)} classes, {name}"
    return [
        Row(task, f"{1e3 * mine:.1f} ms", f"{1e3 * other:.1f} ms", other / mine, at_least(5.0)),
        same(f"relative difference of weights after {EPOCHS} epochs", ours.coef_, peer.coef_.T),
    ]


def fit_ours(X: np.ndarray, y: np.ndarray) -> Perceptron:
    """Fit mercer's machine for a fixed number of epochs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Perceptron(max_epochs=EPOCHS).fit(X, y)


def fit_peer(X: np.ndarray, y: np.ndarray) -> Peer:
    """Fit scikit-learn's machine for as many epochs, in the same order of the items."""
    return Peer(max_iter=EPOCHS, tol=None, shuffle=False).fit(X, y)


def digits() -> tuple[np.ndarray, np.ndarray, str]:
    """Return images and labels, and what they are called."""
    path = Path(os.environ.get("MERCER_DATA", "")) / "usps" / "usps.npz"
    if path.is_file():
        with np.load(path) as arrays:
            return arrays["X_train"].astype(np.float64), arrays["y_train"], "USPS"
    return *made_up(), "made up"


def made_up(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return smooth images around ten shapes, with wrong labels so that none is separable."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, ITEMS)
    waves = np.cos(np.pi * np.outer(np.arange(6), (np.arange(SIDE) + 0.5) / SIDE))
    shapes = rng.normal(size=(CLASSES, 6, 6))
    parts = shapes[y] + rng.normal(size=(ITEMS, 6, 6))
    images = np.einsum("nij,ia,jb->nab", parts, waves, waves).reshape(ITEMS, -1)
    X = np.tanh(images / 4) + 0.1 * rng.normal(size=images.shape)
    wrong = rng.random(ITEMS) < 0.03
    return X, np.where(wrong, rng.integers(0, CLASSES, ITEMS), y)
