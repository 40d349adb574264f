"""Sets and bags: what is in them, and what is not one."""

import numpy as np
import pandas as pd
import pytest

from mercer.domains import ANYTHING, SETS, STRINGS, VECTORS, BagDomain, Bags
from mercer.errors import DomainError

NUMBERS, WORDS = BagDomain(VECTORS), BagDomain(STRINGS)

# ---- sets --------------------------------------------------------------------------------------


def test_sets_are_frozen_and_keep_their_elements():
    points = SETS.admit([{1, "a"}, frozenset(), {(2, 3)}])
    assert list(points.items()) == [frozenset({1, "a"}), frozenset(), frozenset({(2, 3)})]
    assert list(points[1:].concat(points[:1]).items())[-1] == {1, "a"}
    assert points.bytes == 36


@pytest.mark.parametrize("bad", [[1, 2], (1,), "ab", {1: 2}, None, 3, np.array([1])])
def test_what_is_not_a_set_is_named(bad):
    with pytest.raises(DomainError, match=r"item 1 of X is .*not a set"):
        SETS.admit([{1}, bad])


def test_the_advice_speaks_of_bags():
    with pytest.raises(DomainError, match="SetKernel"):
        SETS.admit([[1, 1]])


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan")])
def test_a_missing_element_is_named(missing):
    with pytest.raises(DomainError, match="item 1 of X has a missing element"):
        SETS.admit([{1}, {2, missing}])


def test_a_column_of_sets():
    frame = pd.DataFrame({"tags": [{1}, set()]})
    assert list(SETS.admit(frame).items()) == [{1}, set()]


# ---- bags --------------------------------------------------------------------------------------


def elements(bags):
    return np.asarray(bags.elements.array).tolist()


@pytest.mark.parametrize(
    "bags",
    [
        [np.array([[1.0, 2.0], [3.0, 4.0]]), np.empty((0, 2)), np.array([[5.0, 6.0]])],
        [[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]],
        [[(1, 2), (3, 4)], (), [(5, 6)]],
        [
            pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]}),
            [],
            pd.DataFrame({"a": [5.0], "b": 6.0}),
        ],
    ],
    ids=["arrays", "lists", "tuples", "tables"],
)
def test_rows_of_all_bags_are_one_table(bags):
    points = NUMBERS.admit(bags)
    assert elements(points) == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert points.starts.tolist() == [0, 2, 2, 3]
    assert points.sizes.tolist() == [2, 0, 1]


def test_numbers_are_rows_with_one_column():
    assert elements(NUMBERS.admit([[1, 2.5], [], {3}])) == [[1.0], [2.5], [3.0]]


def test_a_set_has_an_order_that_does_not_change():
    words = {"wasp", "bee", "owl", "ant", "cat", "dog", "eel"}
    assert list(WORDS.admit([words]).elements.items()) == sorted(words)


@pytest.mark.parametrize("rows", [slice(1, 3), slice(0, 0), np.array([3, 0, 0]), slice(2, 3)])
def test_parts_have_their_own_elements(rows):
    bags = [["cat", "dog"], ["a"], [], ["owl"]]
    part = WORDS.admit(bags)[rows]
    chosen = [bags[i] for i in np.arange(4)[rows]]
    flat = [word for bag in chosen for word in bag]
    assert list(part.items()) == chosen
    assert (list(part.elements.items()) if part.elements is not None else []) == flat
    assert part.starts[-1] == len(flat)


def test_encodings_of_elements_are_sliced_with_the_bags():
    points = WORDS.admit([["cat", "dog"], ["a"], [], ["owl"]])
    points.elements.view("upper", lambda p: STRINGS.admit([t.upper() for t in p.items()]))
    part = points[np.array([3, 0])]
    found = part.elements.view("upper", lambda p: pytest.fail("it was made again"))
    assert list(found.items()) == ["OWL", "CAT", "DOG"]


@pytest.mark.parametrize("parts", [([["a"]], [["b"], []]), ([[]], [["b"]]), ([[]], [[]])])
def test_bags_are_joined_in_order(parts):
    left, right = (WORDS.admit(part) for part in parts)
    both = left.concat(right)
    assert list(both.items()) == [*parts[0], *parts[1]]
    assert both.starts[-1] == sum(map(len, [*parts[0], *parts[1]]))
    assert (both.elements is None) == (both.starts[-1] == 0)
    assert both.bytes == 4 * both.starts[-1]


@pytest.mark.parametrize("bad", ["word", b"word", None, 3, {"a": 1}, float("nan")])
def test_what_is_not_a_bag_is_named(bad):
    with pytest.raises(DomainError, match=r"item 1 of X is .*not a collection"):
        WORDS.admit([["a"], bad])


def test_a_bad_element_is_named_with_its_bag():
    with pytest.raises(DomainError, match="in item 2 of X: item 1 of the bag is None"):
        WORDS.admit([["a"], [], ["b", None]])
    with pytest.raises(DomainError, match=r"in item 1 of X: .*NaN at row 1, column 0"):
        NUMBERS.admit([[[1.0]], [[2.0], [float("nan")]]])
    with pytest.raises(DomainError, match="length"):
        NUMBERS.admit([[[1.0]], [[2.0, 3.0]]])


def test_elements_may_be_anything():
    points = BagDomain(ANYTHING).admit([[{1}, print], ()])
    assert isinstance(points, Bags) and len(points.elements) == 2
