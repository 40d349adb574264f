"""Values are equal if their parameters are, whatever those are."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from mercer import Nystrom, Plan

THINGS = {
    "rows": np.eye(2),
    "lists": [[1.0, 2.0], [3.0, 4.0]],
    "strings": ["ab", "cd"],
    "objects": np.array(["ab", None, ("c", 1)], dtype=object),
    "pandas": pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]}),
}
OTHERS = {
    "rows": np.eye(2) + 1,
    "lists": [[1.0, 2.0], [3.0, 5.0]],
    "strings": ("ab", "cd"),
    "objects": np.array(["ab", None, ("c", 2)], dtype=object),
    "pandas": pd.DataFrame({"a": [1.0, 2.0], "c": ["x", None]}),
}


@pytest.mark.parametrize("kind", THINGS)
def test_equal_things_make_equal_values(kind):
    one, other = Nystrom(THINGS[kind]), Nystrom(copy.deepcopy(THINGS[kind]))
    assert one == other and hash(one) == hash(other)
    assert Plan(approximate=one) == pickle.loads(pickle.dumps(Plan(approximate=other)))
    assert one != Nystrom(OTHERS[kind])
    assert repr(one).startswith("Nystrom(centers=")


def test_many_given_centers_are_not_all_shown():
    assert repr(Nystrom(np.zeros((500, 3)))) == "Nystrom(centers=<500 items>)"
