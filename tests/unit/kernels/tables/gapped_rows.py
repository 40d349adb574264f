"""Rows of numbers with gaps, for the tests of missing values."""

from __future__ import annotations

import numpy as np

__all__ = ["IGNORE", "NAN", "OWN", "TOLERANCE", "rows"]

NAN = np.nan
OWN, IGNORE = "own category", "ignore dimension"
TOLERANCE = {"rtol": 1e-12, "atol": 1e-14}


def rows(n=14, d=3, share=0.3, seed=0):
    """Return numbers with gaps, the first row without any."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[1:][rng.random((n - 1, d)) < share] = NAN
    return X
