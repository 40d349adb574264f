"""What machines answer, and whether two of them answer the same to the last bit."""

import numpy as np

METHODS = ("predict", "decision_function", "predict_proba", "transform")


def identical(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype == object:
        assert found.tolist() == expected.tolist()
    else:
        assert found.tobytes() == expected.tobytes()


def answers(machine, items):
    return {name: getattr(machine, name)(items) for name in METHODS if hasattr(machine, name)}


def same_answers(loaded, machine, *sets):
    for items in sets:
        expected, found = answers(machine, items), answers(loaded, items)
        assert set(found) == set(expected) != set()
        for name, values in expected.items():
            identical(found[name], values)
