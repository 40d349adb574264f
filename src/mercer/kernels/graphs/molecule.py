"""The kernel of molecules: how many of their fragments are the same."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer.domains import SMILES, Domain, Graphs, Molecules
from mercer.domains.molecules import chemistry, read_molecule
from mercer.engine.block import Block
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.patterns import Occurrences, Patterns, Vocabulary, multiply
from mercer.kernels.proof import Proof, proved
from mercer.values import whole

__all__ = ["Molecule"]


@kernel
class Molecule(Kernel):
    """The share of fragments that two molecules have in common: |A ∩ B|/|A ∪ B| (Tanimoto).

    A fragment is an atom with what is around it, up to `radius` bonds away: Morgan's (ECFP)
    fingerprint as RDKit computes it, folded into `bits` numbers, so that different fragments may
    fall on the same one. Two molecules without atoms are 1 to each other. Needs RDKit, the extra
    ``molecules``.

    Valid as the series Σ (c/(a + b))ⁿ of products of valid kernels, where a, b and c are the
    numbers of fragments of both and in common (Ralaivola et al., 2005).

    Parameters
    ----------
    radius : int
        0 for atoms alone.
    bits : int

    Examples
    --------
    >>> Molecule()(["CCO", "CCCO", "c1ccccc1"]).round(3)
    array([[1.   , 0.556, 0.   ],
           [0.556, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    radius: int = 2
    bits: int = 2048
    domain: ClassVar[Domain] = SMILES
    threads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._normalize("radius", whole(self, "radius", self.radius, least=0))
        self._normalize("bits", whole(self, "bits", self.bits))

    def pair(self, x: object, z: object) -> float:
        from rdkit.DataStructs import TanimotoSimilarity

        left, right = (read_molecule(item) for item in (x, z))
        if left.GetNumAtoms() == 0 and right.GetNumAtoms() == 0:
            return 1.0
        make = fingerprints(self.radius, self.bits).GetFingerprint
        return float(TanimotoSimilarity(make(left), make(right)))

    def encode(self, points: Graphs) -> None:
        self.fragments(points)

    def fragments(self, points: Any) -> Patterns:
        """Return which bits each molecule has, as rows of ones."""
        return points.view(("fragments", self), self._fragments)

    def evaluate(self, block: Block) -> np.ndarray:
        left, right = self.fragments(block.left), self.fragments(block.right)
        common = multiply(left, right, block.empty())
        a, b = (np.diff(side.matrix.indptr).astype(float) for side in (left, right))
        either = a[:, None] + b[None, :]
        either -= common
        return np.where(either > 0, common / np.where(either > 0, either, 1.0), 1.0)

    def evaluate_diagonal(self, points: Graphs) -> np.ndarray:
        return self.constant(points)

    def prove(self) -> Proof:
        rule = "it is a series (6.15, 6.18) of powers of f-weighted intersections of sets"
        return proved(self, f"{rule} (Ralaivola et al., 2005)")

    def atoms(self, smiles: object) -> dict[int, list[tuple[int, ...]]]:
        """Return the atoms of each fragment of a molecule, by the fragment's bit.

        A bit has several fragments where the same one occurs more than once.

        Examples
        --------
        >>> sorted(Molecule(radius=0).atoms("CCO").values())
        [[(0,)], [(1,)], [(2,)]]
        """
        from rdkit.Chem import rdFingerprintGenerator

        molecule = read_molecule(smiles)
        output = rdFingerprintGenerator.AdditionalOutput()
        output.AllocateBitInfoMap()
        fingerprints(self.radius, self.bits).GetFingerprint(molecule, additionalOutput=output)
        return {
            bit: [_around(molecule, atom, radius) for atom, radius in places]
            for bit, places in output.GetBitInfoMap().items()
        }

    def occurrences(self, points: Molecules) -> Occurrences:
        """Return the fragments of molecules, at their atoms; those of one bit share its weight."""
        item, column, weight, starts = [], [], [], [0]
        parts: list[int] = []
        for i, molecule in enumerate(points.molecules):
            for bit, places in self.atoms(molecule).items():
                for atoms in places:
                    item.append(i)
                    column.append(bit)
                    weight.append(1 / len(places))
                    parts.extend(atoms)
                    starts.append(len(parts))
        kinds = np.int64, np.int64, np.float64, np.int64, np.int64
        values = item, column, weight, starts, parts
        return Occurrences(*(np.array(v, k) for v, k in zip(values, kinds, strict=True)))

    def _fragments(self, points: Molecules) -> Patterns:
        make = fingerprints(self.radius, self.bits).GetFingerprint
        bits = [list(make(molecule).GetOnBits()) for molecule in points.molecules]
        starts = np.concatenate([[0], np.cumsum([len(on) for on in bits])])
        columns = np.array([bit for on in bits for bit in on], np.int32)
        entries = np.ones(len(columns)), columns, starts
        matrix = sparse.csr_array(entries, (len(points), self.bits))
        return Patterns(matrix, Bits(self.bits))


class Bits(Vocabulary):
    """The numbers that fragments are folded into, the same for all molecules."""

    def __init__(self, count: int) -> None:
        super().__init__(range(count))

    def __getitem__(self, column: int) -> str:
        return f"fragment {int(column)}"

    def _find(self, other: object) -> np.ndarray:
        return np.arange(len(self))


@cache
def fingerprints(radius: int, bits: int) -> Any:
    """Return RDKit's generator of Morgan fingerprints."""
    chemistry()
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)


def _around(molecule: Any, atom: int, radius: int) -> tuple[int, ...]:
    """Return the atoms up to `radius` bonds away from one."""
    if radius == 0:
        return (int(atom),)
    Chem = chemistry()
    bonds = Chem.FindAtomEnvironmentOfRadiusN(molecule, radius, atom)
    ends = {int(atom)}
    for bond in (molecule.GetBondWithIdx(b) for b in bonds):
        ends |= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
    return tuple(sorted(ends))
