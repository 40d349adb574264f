"""Molecules: SMILES strings, read by RDKit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.graph import Graph
from mercer.domains.points import Domain, Items, Points, RowIndex
from mercer.domains.strings import StringDomain
from mercer.domains.tables import things
from mercer.errors import DomainError

__all__ = [
    "SMILES",
    "MoleculeDomain",
    "Molecules",
    "is_molecule",
    "molecule_graph",
    "read_molecule",
]


class Molecules(Points):
    """SMILES strings, and the molecules that RDKit reads in them.

    Parameters
    ----------
    texts : ndarray of str
        SMILES.
    molecules : ndarray of object
        The same as molecules of RDKit.

    Examples
    --------
    >>> points = SMILES.admit(["CO", "c1ccccc1"])
    >>> [molecule.GetNumAtoms() for molecule in points.molecules]
    [2, 6]
    """

    def __init__(self, texts: np.ndarray, molecules: np.ndarray) -> None:
        super().__init__()
        self.texts = texts
        self.molecules = molecules

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: RowIndex) -> Molecules:
        return Molecules(self.texts[rows], self.molecules[rows])

    def concat(self, other: Molecules) -> Molecules:
        texts = np.concatenate([self.texts, other.texts])
        return Molecules(texts, np.concatenate([self.molecules, other.molecules]))

    def items(self) -> Iterator[str]:
        return iter(self.texts)

    def units(self) -> list[list[str]]:
        return [[atom.GetSymbol() for atom in m.GetAtoms()] for m in self.molecules]


@dataclass(frozen=True)
class MoleculeDomain(Domain):
    """SMILES strings or molecules of RDKit.

    Examples
    --------
    >>> SMILES.admit(["CO", "C1CC"])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 1 of X is not a molecule: RDKit cannot read the SMILES 'C1CC'
    """

    def admit(self, X: Items | Points, name: str = "X") -> Molecules:
        if isinstance(X, Molecules):
            return X
        objects = things(X, name)
        texts, found = (np.empty(len(objects), dtype=object) for _ in range(2))
        for i, item in enumerate(objects.items()):
            try:
                found[i] = read_molecule(item)
            except DomainError as error:
                raise DomainError(f"item {i} of {name} is not a molecule: {error}") from error
            texts[i] = str(item) if isinstance(item, str) else _text(item)
        return Molecules(texts, found)

    def merge(self, other: Domain) -> Domain | None:
        # SMILES are strings; that they are graphs too, the domain of graphs knows.
        return self if isinstance(other, MoleculeDomain | StringDomain) else None


SMILES = MoleculeDomain()


def read_molecule(item: object) -> Any:
    """Return RDKit's molecule of a SMILES string; a molecule is returned as it is."""
    Chem = chemistry()
    if isinstance(item, Chem.Mol):
        return item
    if not isinstance(item, str):
        kind = "None" if item is None else f"something of type {type(item).__name__}"
        raise DomainError(f"{kind} is not a SMILES string")
    from rdkit import rdBase

    with rdBase.BlockLogs():  # what RDKit would print comes as an error
        molecule = Chem.MolFromSmiles(str(item))
    if molecule is None:
        raise DomainError(f"RDKit cannot read the SMILES {str(item)!r}")
    return molecule


def is_molecule(thing: object) -> bool:
    """Tell a molecule of RDKit without importing RDKit."""
    return hasattr(thing, "GetAtoms") and hasattr(thing, "GetBonds")


def molecule_graph(item: object) -> Graph:
    """Return the graph of a molecule: atoms by their symbols, bonds by their types.

    Hydrogen is left out where SMILES leave it out; charges and chirality are not in the labels.

    Examples
    --------
    >>> graph = molecule_graph("CC=O")
    >>> graph.labels, graph.edge_labels
    (('C', 'C', 'O'), ('SINGLE', 'DOUBLE'))
    """
    molecule = read_molecule(item)
    bonds = [
        (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondType().name)
        for bond in molecule.GetBonds()
    ]
    labels = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    return Graph([bond[:2] for bond in bonds], labels, [bond[2] for bond in bonds])


def chemistry() -> Any:
    """Return RDKit's module of molecules, or say how to get it."""
    try:
        from rdkit import Chem
    except ImportError as error:
        raise ImportError(
            "SMILES are read by RDKit, which is not installed: pip install 'mercer[molecules]'"
        ) from error
    return Chem


def _text(molecule: Any) -> str:
    return str(chemistry().MolToSmiles(molecule))
