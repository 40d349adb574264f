"""Trees: nested tuples and brackets, as deep as they like."""

import numpy as np
import pandas as pd
import pytest

from mercer.domains import TREES
from mercer.errors import DomainError

TUPLES = ("S", ("NP", "she"), ("VP", ("V", "sees"), ("NP", ("D", "a"), ("N", "dog"))))
BRACKETS = "(S (NP she) (VP (V sees) (NP (D a) (N dog))))"


def test_tuples_and_brackets_are_the_same_tree():
    one, two = TREES.admit([TUPLES, BRACKETS]).items()
    assert one == two == TUPLES


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(S)", ("S",)),
        (" ( S\n\t(NP   she))  ", ("S", ("NP", "she"))),
        ("(S(NP she)(VP(V sleeps)))", ("S", ("NP", "she"), ("VP", ("V", "sleeps")))),
        ("((S a))", ("", ("S", "a"))),
        ("(S a (B b) c)", ("S", "a", ("B", "b"), "c")),
        ("(-LRB- naïve ,)", ("-LRB-", "naïve", ",")),
        ("(S (A) b)", ("S", "A", "b")),
    ],
)
def test_brackets(text, tree):
    assert next(TREES.admit([text]).items()) == tree


def test_lists_are_nodes_too_and_a_node_without_children_is_a_leaf():
    trees = TREES.admit([["S", ["NP", "she"], "x"], ("S", ("NP", ("she",)), "x")])
    assert list(trees.items()) == [("S", ("NP", "she"), "x")] * 2


def test_parents_stand_before_their_children():
    trees = TREES.admit([BRACKETS, "(A b)"])
    assert trees.starts.tolist() == [0, 11, 13]
    assert trees.labels[:5].tolist() == ["S", "NP", "she", "VP", "V"]
    assert trees.parents[:5].tolist() == [-1, 0, 1, 0, 3]
    inside = np.concatenate([np.arange(11), np.arange(2)])
    assert np.all(trees.parents < inside)


@pytest.mark.parametrize("depth", [5000])
def test_deep_trees_need_no_recursion(depth):
    text = "(A " * depth + "x" + ")" * depth
    nested = "x"
    for _ in range(depth):
        nested = ("A", nested)
    one, two = TREES.admit([text]), TREES.admit([nested])
    np.testing.assert_array_equal(one.parents, two.parents)
    tree, count = next(two.items()), 0
    while isinstance(tree, tuple):
        (_, tree), count = tree, count + 1
    assert count == depth


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([2, 0, 2]), np.array([1])])
def test_slices(rows):
    trees = ["(A b)", BRACKETS, "(S (A b) (A b))"]
    expected = [next(TREES.admit([trees[i]]).items()) for i in np.arange(3)[rows]]
    assert list(TREES.admit(trees)[rows].items()) == expected


def test_trees_of_a_column_and_joined():
    frame = pd.DataFrame({"parse": ["(A b)", BRACKETS]})
    trees = TREES.admit(frame)
    assert list(trees.concat(trees[:1]).items()) == [("A", "b"), TUPLES, ("A", "b")]
    assert TREES.admit(trees) is trees


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("(S (NP she)", r"item 1 of X: the bracket at character 0 is not closed"),
        ("(S (NP she) (VP", r"item 1 of X: the bracket at character 12 is not closed"),
        ("(S a))", r"item 1 of X: the tree is complete before '\)' at character 5"),
        ("(S a) (S b)", r"item 1 of X: the tree is complete before '\(' at character 6"),
        ("(S ())", r"item 1 of X: the bracket closed at character 4 has no label"),
        (") (S", r"item 1 of X: nothing is open at character 0"),
        ("she sleeps", r"item 1 of X: a tree in brackets begins with '\('.*'she' at character 0"),
        ("", r"item 1 of X is empty; a tree has at least a root"),
        ("  ", r"item 1 of X is empty"),
        ((), r"item 1 of X: node 0 is empty; it needs a label"),
        (("S", ("NP", ())), r"item 1 of X: node 2 is empty"),
        (("S", ("NP", 3)), r"item 1 of X: the label of node 2 is of type int, not a string"),
        ((("S", "x"), "y"), r"item 1 of X: the label of node 0 is of type tuple"),
        (("S", None), r"item 1 of X: the label of node 1 is of type NoneType"),
        (None, r"item 1 of X is None, not a tree"),
        (3.0, r"item 1 of X is of type float, not a tree: nested tuples or brackets"),
    ],
)
def test_what_is_wrong_with_a_tree_is_said_with_its_number_and_place(bad, words):
    with pytest.raises(DomainError, match=words):
        TREES.admit(["(A b)", bad])
