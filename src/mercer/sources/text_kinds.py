"""What a column of words is: names, categories, texts, sequences of letters or molecules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from mercer.sources.entries import Entries, rdkit_is_there, unreadable_smiles

__all__ = ["infer_text_kind", "is_smiles"]

MANY_ROWS = 20  # from which on many different entries mean something
NUCLEOTIDES = set("ACGTUN")
AMBIGUOUS = NUCLEOTIDES | set("RYSWKMBDHV-")
AMINO_ACIDS = set("ACDEFGHIKLMNPQRSTVWY")
UUID = re.compile(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
ATOM = r"(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFI]|[bcnops]|\*)"
WRITTEN = re.compile(rf"{ATOM}(?:{ATOM}|[-=#$:/\\~.()@+]|%\d\d|\d)*")
CHEMICAL = re.compile(r"[()=#\[\]]|[a-z]\d")  # what words do not have


def infer_text_kind(entries: Entries) -> tuple[str, str]:
    """Return the kind of a column of words and the reason.

    The rules, in this order: UUIDs are identifiers. SMILES and sequences are told by their
    letters. Texts have three words or more on average and differ in more than half of the rows
    (eight words: more than 20 different ones), or have 40 characters or more. The others are
    categories, unless all entries differ, or more than half of them in at least 20 rows: then
    they are names of the rows.
    """
    counts = entries.counts
    different, present = len(counts), entries.present
    if all(map(UUID.fullmatch, counts)):
        return "identifier", "every entry is a UUID"
    if reason := is_smiles(entries.name, counts):
        return "smiles", reason
    if reason := _sequences(list(counts)):
        return "sequence", reason
    words = sum(len(entry.split()) * times for entry, times in counts.items()) / present
    length = sum(len(entry) * times for entry, times in counts.items()) / present
    many = 2 * different > present
    if (words >= 3 and many) or (words >= 8 and different > MANY_ROWS):
        return "text", f"{words:.0f} words on average, {different:,} different entries"
    if length >= 40 and many:
        return "text", f"{length:.0f} characters on average, {different:,} different entries"
    if present > 1 and different == present:
        return "identifier", "every entry is different and no text: it names the row"
    if present >= MANY_ROWS and many:
        return (
            "identifier",
            f"{different:,} of {present:,} entries are different: it names the row",
        )
    return "categorical", f"{different:,} different {_nouns(counts)}"


def _sequences(counts: list[str]) -> str:
    """Return why entries are sequences of letters, or nothing if they are not."""
    if not all(entry.isascii() and entry.replace("-", "").isalpha() for entry in counts):
        return ""
    total = sum(map(len, counts))
    mean = total / len(counts)
    if mean < 8 or not (all(map(str.isupper, counts)) or all(map(str.islower, counts))):
        return ""
    letters: dict[str, int] = {}
    for entry in counts:
        for letter in set(entry):
            letters[letter.upper()] = letters.get(letter.upper(), 0) + entry.count(letter)
    alphabet = "".join(sorted(letters))
    sizes = _span(map(len, counts))
    if set(letters) <= AMBIGUOUS and _part(letters, NUCLEOTIDES) >= 0.9:
        return f"letters {alphabet} only, {sizes} long: nucleotides"
    if len(letters) >= 10 and _part(letters, AMINO_ACIDS) >= 0.98 and counts[0].isupper():
        return f"letters of amino acids only, {sizes} long"
    if len(letters) <= 8 and mean >= 12:
        return f"letters {alphabet} only, {sizes} long"
    return ""


def _part(letters: dict[str, int], of: set[str]) -> float:
    return sum(times for letter, times in letters.items() if letter in of) / sum(letters.values())


def _span(sizes: Iterable[int]) -> str:
    sizes = list(sizes)
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _nouns(counts: dict[str, int]) -> str:
    one = len(counts) == 1
    if all(entry.isalpha() for entry in counts):
        return "word" if one else "words"
    return "entry" if one else "entries"


def is_smiles(name: str, entries: Iterable[str]) -> str:
    """Return why the entries of a column are SMILES, or nothing if they are not.

    Of the first 200, nine of ten must be read by RDKit, and half of them must have brackets,
    bonds or rings; half of them must be read if the column is called so. Without RDKit, all of
    them must look so.
    """
    few = list(islice(entries, 200))
    called = "smiles" in name.lower()
    enough = (0.5 if called else 0.9) * len(few)  # a name says something, too
    looks = sum(WRITTEN.fullmatch(entry) is not None for entry in few)
    chemical = sum(CHEMICAL.search(entry) is not None for entry in few)
    if looks < enough or not (called or chemical >= len(few) / 2):
        return ""
    if not rdkit_is_there():
        balanced = all(entry.count("(") == entry.count(")") for entry in few)
        return "looks like SMILES" if looks == len(few) and balanced else ""
    good = sum(not unreadable_smiles(entry) for entry in few)
    return f"RDKit reads {good} of {len(few)} that were looked at" if good >= enough else ""
