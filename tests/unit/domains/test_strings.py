"""Strings: any letters, any lengths, and nothing that is not a string."""

import pickle

import numpy as np
import pandas as pd
import pytest

from mercer.domains import CATEGORIES, STRINGS, VECTORS, Strings, join
from mercer.errors import DomainError


@pytest.mark.parametrize(
    "container",
    [
        ["cat", "", "äé"],
        ("cat", "", "äé"),
        np.array(["cat", "", "äé"]),
        np.array(["cat", "", "äé"], dtype=object),
        np.array([["cat"], [""], ["äé"]]),
        pd.Series(["cat", "", "äé"], index=[5, 6, 7]),
        pd.DataFrame({"word": ["cat", "", "äé"]}),
        (word for word in ["cat", "", "äé"]),
    ],
    ids=lambda c: type(c).__name__,
)
def test_strings_come_in_many_containers(container):
    points = STRINGS.admit(container)
    assert list(points.items()) == ["cat", "", "äé"]
    assert all(type(text) is str for text in points.items())


def test_letters_are_code_points_one_string_after_the_other():
    points = STRINGS.admit(["aé", "", "𝔸", "\udc80"])
    assert points.letters.tolist() == [97, 0xE9, 0x1D538, 0xDC80]
    assert points.starts.tolist() == [0, 2, 2, 3, 4]
    assert points.bytes == 16


def test_parts_have_their_own_letters():
    points = STRINGS.admit(["cat", "at", "dog"])
    assert points.letters[0] == ord("c")
    part = points[np.array([2, 1])]
    assert part.letters.tolist() == [ord(c) for c in "dogat"]
    assert list(part.concat(points[:1]).items()) == ["dog", "at", "cat"]


@pytest.mark.parametrize("bad", [None, float("nan"), 3, b"cat", ["c"], pd.NA])
def test_what_is_not_a_string_is_named(bad):
    with pytest.raises(DomainError, match=r"item 2 of X is .*not a string"):
        STRINGS.admit(["cat", "dog", bad])


@pytest.mark.parametrize("bad", ["cat", [], pd.DataFrame({"a": ["x"], "b": ["y"]}), 7])
def test_what_is_not_a_list_of_strings_is_refused(bad):
    with pytest.raises(DomainError):
        STRINGS.admit(bad)


def test_strings_are_pickled_without_their_letters():
    points = STRINGS.admit(["cat", "at"])
    again = pickle.loads(pickle.dumps(points))
    assert points.letters.tolist() == again.letters.tolist()
    assert isinstance(again, Strings) and "letters" in again.__dict__
    assert len(pickle.dumps(points)) == len(pickle.dumps(STRINGS.admit(["cat", "at"])))


def test_strings_can_also_be_tested_for_equality_but_are_no_rows():
    assert join(STRINGS, CATEGORIES) == STRINGS == join(CATEGORIES, STRINGS)
    assert join(STRINGS, VECTORS) is None
