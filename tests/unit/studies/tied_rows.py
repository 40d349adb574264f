"""Tables whose rows are not independent."""

import numpy as np
import pandas as pd


def visits(patients=40, each=25, seed=0):
    """Return visits of patients that are alike, with one label by chance for each patient."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(patients) % 2)
    person = np.repeat(np.arange(patients), each)
    X = rng.normal(size=(patients, 4))[person] + 0.1 * rng.normal(size=(len(person), 4))
    rows = pd.DataFrame(X, columns=list("abcd"))
    return rows.assign(
        person=[f"p{k:02}" for k in person], state=np.where(label[person] == 1, "ill", "well")
    )


def sales(days=500, seed=0):
    """Return sales that drift, with two columns that tell a part of them."""
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(size=days)) * 3
    warm, week = rng.normal(size=days), np.arange(days) % 7
    return pd.DataFrame({
        "day": pd.date_range("2022-01-01", periods=days), "number": np.arange(float(days)),
        "warm": warm, "week": week, "sales": 100 + drift + 5 * warm + rng.normal(size=days),
    })  # fmt: skip
