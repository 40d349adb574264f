"""SMILES are molecules, graphs and strings."""

import builtins
import pickle

import numpy as np
import pandas as pd
import pytest
from rdkit import Chem

from mercer.domains import GRAPHS, SMILES, STRINGS, Graph, as_graph, join
from mercer.errors import DomainError

TEXTS = ["CCO", "c1ccccc1", "[Na+].[Cl-]", ""]


@pytest.mark.parametrize(
    "container", [list, pd.Series, np.array, lambda x: pd.DataFrame({"s": x})]
)
def test_containers(container):
    assert list(SMILES.admit(container(TEXTS)).items()) == TEXTS


def test_points_are_sliced_joined_and_pickled():
    points = SMILES.admit(TEXTS)
    again = pickle.loads(pickle.dumps(points[np.array([1, 0])].concat(points[2:])))
    assert list(again.items()) == ["c1ccccc1", "CCO", "[Na+].[Cl-]", ""]
    assert [m.GetNumAtoms() for m in again.molecules] == [6, 3, 2, 0]


def test_a_molecule_is_its_smiles():
    assert list(SMILES.admit([Chem.MolFromSmiles("OCC")]).items()) == ["CCO"]


def test_atoms_and_bonds_are_labels():
    assert as_graph("CC=O") == Graph([(0, 1), (1, 2)], "CCO", ["SINGLE", "DOUBLE"])
    assert as_graph(Chem.MolFromSmiles("CC=O")) == as_graph("CC=O")
    ring = as_graph("c1ccccc1")
    assert len(ring.edges) == 6 and set(ring.edge_labels) == {"AROMATIC"}
    assert len(as_graph("[Na+].[Cl-]").edges) == 0
    assert as_graph("").nodes == 0


@pytest.mark.parametrize("domain", [SMILES, GRAPHS], ids=["SMILES", "GRAPHS"])
def test_what_rdkit_cannot_read_is_refused_by_row_and_silently(domain, capfd):
    with pytest.raises(DomainError, match=r"item 2 of X is not a .*RDKit cannot read.*'C1CC'"):
        domain.admit(["CC", "O", "C1CC"])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("item", [None, 3, float("nan")])
def test_what_is_no_string_is_refused_by_row(item):
    with pytest.raises(DomainError, match="item 1 of X is not a molecule"):
        SMILES.admit(["CC", item])


def test_molecules_serve_kernels_on_graphs_and_strings():
    for other in (GRAPHS, STRINGS):
        assert join(SMILES, other) == join(other, SMILES) == SMILES
        assert len(other.admit(SMILES.admit(TEXTS))) == 4
    assert join(SMILES, SMILES) == join(GRAPHS, STRINGS) == join(STRINGS, GRAPHS) == SMILES


def test_without_rdkit_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **more):
        if name.startswith("rdkit"):
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    for ask in (SMILES.admit, GRAPHS.admit):
        with pytest.raises(ImportError, match=r"mercer\[molecules\]"):
            ask(["CC"])
    assert GRAPHS.admit([[(0, 1)]]).kind == (False, False)
