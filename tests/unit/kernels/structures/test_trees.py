"""The subset-tree kernel: decay, vocabularies, large trees."""

import numpy as np
import pandas as pd
import pytest

import mercer.kernels.structures.trees as trees_module
from mercer import SVC
from mercer.errors import PlanError, ValidityError
from mercer.kernels import SubsetTree, normalize

SHE = "(S (NP she) (VP (V sees) (NP (D a) (N dog))))"
HE = "(S (NP he) (VP (V sees) (NP (D the) (N dog))))"
IT = "(S (NP it) (VP (V rains)))"


def test_smaller_fragments_count_more_as_decay_shrinks():
    """To first order in decay only single productions count: k/decay → Σ of their products."""
    k = SubsetTree(1e-6)
    # SHE and HE share S→NP VP, VP→V NP, V→sees, NP→D N, N→dog.
    assert k([SHE], [HE])[0, 0] / 1e-6 == pytest.approx(5.0, rel=1e-4)


def test_new_productions_meet_nothing_but_count_in_the_length():
    k = SubsetTree(0.5)
    joint = k([SHE, HE, IT])
    np.testing.assert_array_equal(k([IT, HE], [SHE]), joint[[2, 1]][:, [0]])
    np.testing.assert_array_equal(k([SHE], [IT, HE]), joint[[0]][:, [2, 1]])
    other = "(X (Y z))"
    assert k([other], [SHE])[0, 0] == 0.0
    assert k.diagonal([other])[0] == 0.5 * 1.5 + 0.5
    assert normalize(k)([other])[0, 0] == 1.0


def test_a_leaf_alone_has_no_fragments():
    np.testing.assert_array_equal(SubsetTree()(["(S)", ("S",)]), np.zeros((2, 2)))
    K = normalize(SubsetTree())(["(S)", "(S a)"])
    np.testing.assert_allclose(K, [[0.0, 0.0], [0.0, 1.0]], rtol=1e-15)
    np.testing.assert_array_equal(SubsetTree().diagonal(["(S)"]), [0.0])


def test_the_order_of_children_matters():
    assert SubsetTree()(["(S (A x) (B y))"], ["(S (B y) (A x))"])[0, 0] == 1.0


def test_large_trees_of_many_equal_fragments_are_refused_not_infinite():
    wide = "(S" + " (A x)" * 1500 + ")"
    for k in (SubsetTree(1.0), normalize(SubsetTree(1.0))):
        with pytest.raises(ValidityError, match=r"not a finite number"):
            k([wide])
    assert np.isfinite(SubsetTree(0.01)([wide])).all()


def test_room_for_large_pairs_is_asked_for(monkeypatch, free_memory):
    expected = SubsetTree(0.4)([SHE, HE, SHE])
    monkeypatch.setattr(trees_module, "UNASKED_VALUES", 1)
    np.testing.assert_array_equal(SubsetTree(0.4)([SHE, HE, SHE]), expected)
    np.testing.assert_array_equal(SubsetTree(0.4).diagonal([SHE, HE]), np.diag(expected)[:2])

    free_memory(0)
    with pytest.raises(PlanError, match=r"comparing two large trees needs \d+ bytes"):
        SubsetTree(0.4)([SHE, HE])


@pytest.mark.parametrize("decay", [0.0, -0.5, 1.5, np.nan, "half"])
def test_decay_is_above_zero_and_at_most_one(decay):
    with pytest.raises(ValidityError, match=r"decay of SubsetTree must be"):
        SubsetTree(decay)
    assert SubsetTree(1).decay == 1.0


def test_machines_learn_from_trees_in_a_column():
    subjects, verbs = ["she", "he", "it", "one"], ["sees", "hears", "likes"]
    frame = pd.DataFrame(
        {
            "parse": [
                f"(S (NP {s}) (VP (V {v}) (NP (D a) (N dog))))"
                if i % 2
                else f"(S (NP {s}) (V {v}))"
                for i in range(2)
                for s in subjects
                for v in verbs
            ]
        }
    )
    labels = np.repeat([0, 1], 12)
    machine = SVC(normalize(SubsetTree()).on("parse")).fit(frame[::2], labels[::2])
    assert machine.score(frame[1::2], labels[1::2]) == 1.0
