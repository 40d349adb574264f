"""What machines answer, and whether two of them answer the same to the last bit."""

import numpy as np

METHODS = ("predict", "decision_function", "predict_proba", "transform")


def identical(found, expected, case=""):
    """Assert that two arrays are equal to the last bit; `case` says which, if there are many."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, case
    assert found.shape == expected.shape, case
    if found.dtype == object:
        assert found.tolist() == expected.tolist(), case
    else:
        assert found.tobytes() == expected.tobytes(), case


def answers(machine, items):
    return {name: getattr(machine, name)(items) for name in METHODS if hasattr(machine, name)}


def same_answers(loaded, machine, *sets):
    for items in sets:
        expected, found = answers(machine, items), answers(loaded, items)
        assert set(found) == set(expected) != set()
        for name, values in expected.items():
            identical(found[name], values)
