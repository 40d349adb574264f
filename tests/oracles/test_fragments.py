"""Tree kernels against all fragments of small trees, listed."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import SubsetTree, normalize

labels = st.sampled_from(["A", "B"])
words = st.sampled_from(["x", "y", "A"])
nodes = st.recursive(
    words,
    lambda child: st.builds(
        lambda label, children: (label, *children), labels, st.lists(child, max_size=3)
    ),
    max_leaves=7,
)
trees = st.builds(lambda children: ("A", *children), st.lists(nodes, min_size=1, max_size=3))


def label_of(node):
    return node[0] if isinstance(node, tuple) else node


def fragments_at(node):
    """Return the fragments whose root is this node, each with the number of its productions."""
    if not isinstance(node, tuple) or len(node) == 1:
        return []
    choices = [[(label_of(child), 0), *fragments_at(child)] for child in node[1:]]
    return [
        ((node[0], *(fragment for fragment, _ in chosen)), 1 + sum(size for _, size in chosen))
        for chosen in product(*choices)
    ]


def features(tree, decay):
    """Return the decayed count of every fragment of a tree."""
    counts, waiting = Counter(), [tree]
    while waiting:
        node = waiting.pop()
        for fragment, size in fragments_at(node):
            counts[fragment] += decay ** (size / 2)
        waiting += node[1:] if isinstance(node, tuple) else ()
    return counts


def inner(one, two):
    return sum(value * two[fragment] for fragment, value in one.items())


@settings(deadline=None, max_examples=60)
@given(st.lists(trees, min_size=2, max_size=4), st.sampled_from([0.1, 0.5, 1.0]))
def test_the_kernel_is_the_inner_product_of_fragments(some, decay):
    phi = [features(tree, decay) for tree in some]
    expected = np.array([[inner(one, two) for two in phi] for one in phi])
    k = SubsetTree(decay)
    np.testing.assert_allclose(k(some), expected, rtol=1e-12)
    np.testing.assert_allclose(k(some[:1], some), expected[:1], rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(some), np.diag(expected), rtol=1e-12)
    assert k.pair(some[0], some[1]) == pytest.approx(expected[0, 1], rel=1e-12)
    lengths = np.sqrt(np.diag(expected))
    # Every tree has a production here, so no length is zero.
    cosines = expected / lengths[:, None] / lengths
    np.testing.assert_allclose(normalize(k)(some), cosines, rtol=1e-12)


def test_the_fragments_of_a_noun_phrase():
    """Collins and Duffy's example: (NP (D the) (N apple)) has six."""
    apple, orange = "(NP (D the) (N apple))", "(NP (D the) (N orange))"
    assert len(features(("NP", ("D", "the"), ("N", "apple")), 1.0)) == 6
    np.testing.assert_array_equal(SubsetTree(1.0)([apple, orange]), [[6.0, 3.0], [3.0, 6.0]])


def chain(depth):
    return "(A " * depth + "x" + ")" * depth


@pytest.mark.parametrize("depth", [1, 2, 7, 1500])
def test_chains_have_a_formula(depth):
    """Nodes of different heights share the fragments that end above the lower word."""
    decay = 0.7
    height = np.arange(1, depth + 1)
    shared = np.minimum(height[:, None], height) - 1 + np.eye(depth)
    expected = np.sum(decay * (1 - decay**shared) / (1 - decay))
    assert SubsetTree(decay).diagonal([chain(depth)])[0] == pytest.approx(expected, rel=1e-11)
