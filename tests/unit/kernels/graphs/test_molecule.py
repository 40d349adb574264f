"""Fingerprints: their bits, their atoms, and what is no molecule."""

import numpy as np
import pytest

from mercer.domains import SMILES
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Molecule, Spectrum, WeisfeilerLehman, normalize
from tests.laws.graph_items import GRAPH_ITEMS

TEXTS = GRAPH_ITEMS["molecules"]


def test_the_order_of_atoms_in_a_smiles_makes_no_difference():
    assert Molecule()(["OCC"], ["CCO"]) == [[1.0]]


def test_molecules_without_atoms():
    assert Molecule()(["", "C"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert Molecule().pair("", "") == 1.0


@pytest.mark.parametrize("k", [Molecule(), Molecule(0), Molecule(3, 128)], ids=repr)
def test_occurrences_add_up_to_the_bits(k):
    points = SMILES.admit(TEXTS)
    found, bits = k.occurrences(points), k.fragments(points).matrix.toarray()
    total = np.zeros(bits.shape)
    np.add.at(total, (found.item, found.column), found.weight)
    assert np.allclose(total, bits)
    assert found.starts[-1] == len(found.parts)


def test_the_atoms_of_a_fragment_are_those_around_its_center():
    fragments = Molecule(radius=1).atoms("CC(C)O")
    around = {atoms for places in fragments.values() for atoms in places}
    assert (0, 1, 2, 3) in around  # of the middle atom
    assert (1, 3) in around  # of the oxygen
    assert {(0,), (1,), (2,), (3,)} <= around


def test_bits_have_words():
    assert Molecule().fragments(SMILES.admit(["C"])).vocabulary[5] == "fragment 5"


def test_a_bad_smiles_is_refused_by_its_row():
    with pytest.raises(DomainError, match=r"item 1 of X is not a molecule.*'CC\('"):
        Molecule()(["CC", "CC("])


def test_all_kernels_on_molecules_can_be_combined():
    trees, letters = normalize(WeisfeilerLehman(1)), normalize(Spectrum(2))
    k = Molecule() + trees * letters
    expected = Molecule()(TEXTS) + trees(TEXTS) * letters(TEXTS)
    assert np.allclose(k(TEXTS), expected)


@pytest.mark.parametrize("parameters", [(-1,), (1.5,), ("x",), (2, 0), (True,), (False,)])
def test_bad_parameters(parameters):
    with pytest.raises(ValidityError, match=r"radius|bits"):
        Molecule(*parameters)
