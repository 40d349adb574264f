"""SMILES among words."""

import pytest

from mercer.sources import read
from mercer.sources.text_kinds import is_smiles

DRUGS = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "CCO",
    "c1ccccc1",
    "C#N",
    "[Na+].[Cl-]",
]


@pytest.fixture
def no_rdkit(monkeypatch):
    for module in ("entries", "reading", "text_kinds"):
        monkeypatch.setattr(f"mercer.sources.{module}.rdkit_is_there", lambda: False)


def test_molecules_are_told_from_words():
    assert is_smiles("x", DRUGS)
    assert not is_smiles("x", ["CC", "CO", "CN", "NO"])  # could be anything
    assert is_smiles("SMILES", ["CC", "CO", "CN", "NO"])
    assert not is_smiles("x", ["I (hope) so", "no=yes"])
    assert not is_smiles("x", ["B(2)", "C(3)", "S(9)(9)", "P1", "F2"])  # no such molecules


def test_one_in_ten_may_be_broken():
    assert is_smiles("x", DRUGS * 3 + ["C1CC"])
    assert not is_smiles("x", [*DRUGS, "C1CC(", "c1ccc"])


def test_without_rdkit_all_must_look_so(no_rdkit):
    assert is_smiles("x", DRUGS) == "looks like SMILES"
    assert not is_smiles("x", [*DRUGS, "C(("])
    assert not is_smiles("x", ["hello", "(you)"])


def test_a_table_of_molecules(write):
    rows = "".join(f"{smiles},{i}.5\n" for i, smiles in enumerate(DRUGS * 3))
    path = write("smiles,y\n" + rows + "C1CC,7.5\n")
    sheet = read(path, "y", skip_bad=True)
    assert sheet.used[0].kind == "smiles"
    assert len(sheet) == 18
    assert sheet.bad[0].line == 20
    assert "RDKit cannot read the SMILES 'C1CC'" in sheet.bad[0].problem


def test_without_rdkit_it_is_said_that_nothing_was_checked(write, no_rdkit):
    sheet = read(write("mol,y\n" + "".join(f"{s},{i}.5\n" for i, s in enumerate(DRUGS))), "y")
    assert sheet.used[0].kind == "smiles"
    assert "pip install 'mercer[molecules]'" in sheet.notes[-1]
