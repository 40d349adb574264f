"""Subjects that the tests look at: tables of numbers, of all kinds, of strings and of texts."""

from functools import cache

import numpy as np
import pandas as pd

from mercer.explorer.quick_fit import learn_quickly
from mercer.sources import read_frame


def numbers(count=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(size=(count, 3)), columns=["a", "b", "c"])
    return rows.assign(y=np.sin(2 * rows.a) + rows.b**2 + 0.1 * rng.normal(size=count))


def mixed(count=90, seed=1):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "size": rng.normal(3.0, 1.0, count).round(3),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, count), "D"),
            "home": rng.choice(["lake", "wood", "<b>hill</b>"], count),
        }
    )
    rows.loc[4, "size"] = np.nan
    return rows.assign(kind=np.where(rows["size"] + (rows.home == "lake") > 3.5, "big", "small"))


def flowers():
    from sklearn.datasets import load_iris

    found = load_iris(as_frame=True)
    return found.frame.assign(target=found.target_names[found.target])


def sequences(count=60, seed=2):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"dna": ["".join(rng.choice([*"ACGT"], 12)) for _ in range(count)]})
    return rows.assign(y=["p" if text.count("A") > 3 else "n" for text in rows.dna])


def texts(count=60, seed=3):
    rng = np.random.default_rng(seed)
    words = ["good", "bad", "film", "plot", "actor", "very"]
    rows = pd.DataFrame({"text": [" ".join(rng.choice(words, 9)) for _ in range(count)]})
    return rows.assign(
        y=["p" if "good good" in t or t.count("good") > 1 else "n" for t in rows.text]
    )


TABLES = {
    "numbers": (numbers, "y"),
    "mixed": (mixed, "kind"),
    "flowers": (flowers, "target"),
    "sequences": (sequences, "y"),
    "texts": (texts, "y"),
}


@cache
def subject_of(name):
    make, target = TABLES[name]
    return learn_quickly(read_frame(make(), target))
