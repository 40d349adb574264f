"""Words: names, categories, texts, sequences."""

import uuid

import numpy as np
import pytest

from mercer.sources.entries import Entries
from mercer.sources.text_kinds import infer_text_kind


def kind(entries, name="x"):
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry] = counts.get(entry, 0) + 1
    return infer_text_kind(Entries(name, counts, 0))


def random_strings(letters, count, length, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), length)) for _ in range(count)]


def test_few_words_are_categories():
    assert kind(["red", "blue", "red", "green"] * 5) == ("categorical", "3 different words")
    assert kind(["a-1", "b-2"] * 5) == ("categorical", "2 different entries")


def test_uuids_are_identifiers():
    assert kind([str(uuid.UUID(int=i)) for i in range(5)])[0] == "identifier"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([f"person{i}" for i in range(10)], "identifier"),
        ([f"ticket{i // 2 if i % 3 else i}" for i in range(100)], "identifier"),
        ([f"city{i % 40}" for i in range(100)], "categorical"),
        (["a", "b", "c", "a"], "categorical"),
        (["John Smith", "Mary Jones", "Ann Lee"], "identifier"),
        (["only"], "categorical"),
    ],
)
def test_what_hardly_repeats_names_the_row(entries, expected):
    assert kind(entries)[0] == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([f"this is message number {i}" for i in range(10)], "text"),
        (["I agree very much", "I do not agree", "I cannot say"] * 10, "categorical"),
        ([f"the quick brown fox number {i % 30} jumps over it" for i in range(90)], "text"),
        ([f"https://example.org/{'path' * 10}/{i}" for i in range(10)], "text"),
    ],
)
def test_texts_have_several_words_and_differ(entries, expected):
    assert kind(entries)[0] == expected


@pytest.mark.parametrize(
    ("entries", "word"),
    [
        (random_strings("ACGT", 30, 57), "letters ACGT only, 57 long: nucleotides"),
        (random_strings("acgt", 30, 57), "letters ACGT only, 57 long: nucleotides"),
        (random_strings("ACGU", 30, 20), "letters ACGU only"),
        (random_strings("ACGT" * 9 + "NR", 30, 60), "nucleotides"),
        (random_strings("ACDEFGHIKLMNPQRSTVWY", 30, 9), "letters of amino acids only, 9 long"),
        (random_strings("HEC", 30, 40), "letters CEH only, 40 long"),
    ],
)
def test_sequences_have_a_small_alphabet(entries, word):
    found, why = kind(entries)
    assert found == "sequence"
    assert word in why


@pytest.mark.parametrize(
    "entries",
    [
        ["CAT", "TAG", "ACT", "GAG"],
        ["MARGARET", "ELIZABETH", "JONATHAN", "THEODORA", "BENJAMIN"],
        ["Acgtacgtacgt", "ACGTACGTACGT"],
        random_strings("ACGT0123", 30, 20),
    ],
)
def test_words_and_codes_are_no_sequences(entries):
    assert kind(entries)[0] != "sequence"


def test_lengths_are_said_as_a_span():
    entries = random_strings("ACGT", 5, 30) + random_strings("ACGT", 5, 12)
    assert "12 to 30 long" in kind(entries)[1]
