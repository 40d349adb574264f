"""SMILES among the words of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import islice

__all__ = ["ADVICE", "can_read", "is_smiles", "unreadable"]

LOOKED_AT = 200
SHARE = 0.9
CALLED = 0.5  # share that is enough if the column is called so
ATOM = r"(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFI]|[bcnops]|\*)"
WRITTEN = re.compile(rf"{ATOM}(?:{ATOM}|[-=#$:/\\~.()@+]|%\d\d|\d)*")
CHEMICAL = re.compile(r"[()=#\[\]]|[a-z]\d")  # what words do not have
ADVICE = "SMILES were not checked, because RDKit is not installed: pip install 'mercer[molecules]'"


def is_smiles(name: str, entries: Iterable[str]) -> str:
    """Return why the entries of a column are SMILES, or nothing if they are not.

    Of the first 200, nine of ten must be read by RDKit, and half of them must have brackets,
    bonds or rings; half of them must be read if the column is called so. Without RDKit, all of
    them must look so.
    """
    few = list(islice(entries, LOOKED_AT))
    called = "smiles" in name.lower()
    enough = (CALLED if called else SHARE) * len(few)
    looks = sum(WRITTEN.fullmatch(entry) is not None for entry in few)
    chemical = sum(CHEMICAL.search(entry) is not None for entry in few)
    if looks < enough or not (called or chemical >= len(few) / 2):
        return ""
    if not can_read():
        balanced = all(entry.count("(") == entry.count(")") for entry in few)
        return "looks like SMILES" if looks == len(few) and balanced else ""
    good = sum(not unreadable(entry) for entry in few)
    return f"RDKit reads {good} of {len(few)} that were looked at" if good >= enough else ""


def can_read() -> bool:
    """Tell whether RDKit is there."""
    return find_spec("rdkit") is not None


def unreadable(entry: str) -> bool:
    """Tell whether RDKit cannot read a SMILES."""
    from mercer.domains.molecules import read_molecule
    from mercer.errors import DomainError

    try:
        read_molecule(entry)
    except DomainError:
        return True
    return False
