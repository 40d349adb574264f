"""Parts of things: words of a text, positions of a sequence, atoms of a molecule, as they are
taken out, put in and exchanged.

A part is a question about an item with a few answers: is the word there, which letter stands at
the position, is the atom known. `with_level` returns the item with another answer, all else as it
is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mercer.domains.molecules import chemistry, read_molecule
from mercer.errors import DomainError, suggestion

__all__ = ["KINDS_OF_PARTS", "Part", "part_of", "parts_of"]

KINDS_OF_PARTS = ("words", "positions", "atoms")
WORD = re.compile(r"\w+")
MASK = "*"  # the atom of which nothing is known


class Part(Protocol):
    """A question about items, with the answers that they have."""

    @property
    def name(self) -> Any:
        """What it is called: the word, the position, the kind of atom."""

    @property
    def levels(self) -> list[str]:
        """Answers."""

    def level(self, item: str) -> int | None:
        """Return the place of an item's answer; None if it cannot be asked about it."""

    def with_level(self, item: str, level: int) -> str:
        """Return the item with another answer."""


@dataclass(frozen=True)
class WordPart:
    """Whether a word is in a text, whatever its case."""

    name: str

    @property
    def levels(self) -> list[str]:
        return ["without", "with"]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\b{re.escape(self.name)}\b", re.IGNORECASE)

    def level(self, item: str) -> int | None:
        return int(self._pattern.search(item) is not None)

    def with_level(self, item: str, level: int) -> str:
        there = self.level(item)
        if level == there:
            return item
        return f"{item} {self.name}" if level else self._pattern.sub(" ", item)


@dataclass(frozen=True)
class PositionPart:
    """Which letter stands at a position of sequences of one length."""

    name: int
    letters: tuple[str, ...]

    @property
    def levels(self) -> list[str]:
        return list(self.letters)

    def level(self, item: str) -> int | None:
        return self.letters.index(item[self.name])

    def with_level(self, item: str, level: int) -> str:
        return item[: self.name] + self.letters[level] + item[self.name + 1 :]


@dataclass(frozen=True)
class AtomPart:
    """Whether the atoms of a kind are known: each may give its place to one of no element."""

    name: str

    @property
    def levels(self) -> list[str]:
        return ["masked", "as it is"]

    def level(self, item: str) -> int | None:
        return 1 if self.name in atom_kinds(item) else None

    def with_level(self, item: str, level: int) -> str:
        if level:
            return item
        Chem = chemistry()
        molecule = Chem.RWMol(read_molecule(item))
        for atom in list(molecule.GetAtoms()):
            if kind_of_atom(atom) == self.name:
                masked = Chem.Atom(0)
                masked.SetIsAromatic(atom.GetIsAromatic())
                masked.SetFormalCharge(atom.GetFormalCharge())
                molecule.ReplaceAtom(atom.GetIdx(), masked)
        return str(Chem.MolToSmiles(molecule))


def kind_of_atom(atom: Any) -> str:
    """Return what an atom is called: its element, small in aromatic rings, with hydrogens."""
    symbol = atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol()
    hydrogens = atom.GetTotalNumHs()
    charge = atom.GetFormalCharge()
    count = "" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}"
    return f"{symbol}{count}{'+' * charge if charge > 0 else '-' * -charge}"


def atom_kinds(item: str) -> list[str]:
    """Return the kind of each atom of a molecule."""
    return [kind_of_atom(atom) for atom in read_molecule(item).GetAtoms()]


def parts_of(items: Sequence[str], kind: str, most: int) -> list[Part]:
    """Return parts of some items, the most frequent words and atoms, or all positions.

    Examples
    --------
    >>> [part.name for part in parts_of(["a cat", "a dog", "cat"], "words", 2)]
    ['a', 'cat']
    """
    if kind == "positions":
        length = _one_length(items)
        letters = [Counter(item[k] for item in items) for k in range(length)]
        open_ones = [k for k in range(length) if len(letters[k]) > 1]
        # Those that vary most say most.
        open_ones.sort(key=lambda k: sum(count**2 for count in letters[k].values()))
        return [PositionPart(k, tuple(sorted(letters[k]))) for k in sorted(open_ones[:most])]
    counts: Counter[str] = Counter()
    for item in items:
        counts.update(
            set(WORD.findall(item.lower())) if kind == "words" else set(atom_kinds(item))
        )
    names = sorted(counts, key=lambda name: (-counts[name], name))
    if kind == "words":
        names = [name for name in names if counts[name] < len(items)]
        return [WordPart(name) for name in names[:most]]
    return [AtomPart(name) for name in names[:most]]


def part_of(items: Sequence[str], kind: str, name: Any) -> Part:
    """Return one part by its name; refuse one that no item has."""
    if kind == "positions":
        length = _one_length(items)
        if not isinstance(name, int | np.integer) or not 0 <= name < length:
            raise DomainError(
                f"there is no position {name!r}; sequences of {length} letters have 0 to "
                f"{length - 1}"
            )
        return PositionPart(int(name), tuple(sorted({item[name] for item in items})))
    if kind == "words":
        word: Part = WordPart(str(name))
        if not any(word.level(item) for item in items):
            raise DomainError(f"the word {name!r} is in none of the {len(items)} texts")
        return word
    known = sorted({one for item in items for one in atom_kinds(item)})
    if name not in known:
        raise DomainError(
            f"no molecule has an atom {name!r}{suggestion(str(name), known)}; there are "
            f"{', '.join(known)}"
        )
    return AtomPart(name)


def _one_length(items: Sequence[str]) -> int:
    lengths = sorted({len(item) for item in items})
    if len(lengths) != 1:
        raise DomainError(
            f"positions mean the same in sequences of one length only; these have {lengths[0]} to "
            f"{lengths[-1]} letters"
        )
    return lengths[0]
