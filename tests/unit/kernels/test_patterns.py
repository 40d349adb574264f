"""Patterns: sparse rows over vocabularies that are not the same."""

import numpy as np
import pytest
from scipy import sparse

import mercer.kernels.patterns as patterns
from mercer import SVC, GaussianProcess, KernelRidge, KernelRidgeClassifier
from mercer.kernels import Spectrum, Text, WeightedDegree
from mercer.kernels.patterns import Patterns, Vocabulary, count_patterns
from mercer.kernels.strings import Mismatch

WORDS = ["banana", "", "ananas", "na", "nab"]


def test_a_vocabulary_finds_its_patterns_in_another():
    seen, new = Vocabulary(["cat", ("a", 1), 7]), Vocabulary([7, "dog", "cat"])
    assert new.places(seen).tolist() == [2, -1, 0]
    assert seen.places(new).tolist() == [2, -1, 0]
    assert new.places(new).tolist() == [0, 1, 2]
    assert new.places(seen) is new.places(seen)


def test_rows_over_another_vocabulary_lose_what_it_does_not_have():
    rows = Patterns(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), Vocabulary(["cat", "dog"]))
    other = Vocabulary(["dog", "owl"])
    np.testing.assert_array_equal(rows.over(other).toarray(), [[2.0, 0.0], [3.0, 0.0]])
    assert rows.over(rows.vocabulary) is rows.matrix


def test_occurrences_are_counted():
    found = count_patterns(np.array([0, 0, 2, 0]), np.array([1, 1, 0, 0]), (3, 2))
    np.testing.assert_array_equal(found.toarray(), [[1.0, 2.0], [0.0, 0.0], [1.0, 0.0]])


def test_common_patterns_are_those_of_the_whole_set(monkeypatch):
    monkeypatch.setattr(patterns, "MIN_ITEMS_FOR_BLAS", 2)
    monkeypatch.setattr(patterns, "COMMON_SHARE", 0.5)
    matrix = sparse.csr_array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    rows = Patterns(matrix, Vocabulary("abc"))
    assert rows.common.tolist() == [0, -1, 1]
    assert rows[2:].common is rows.common
    assert rows[np.array([1])][:1].common is rows.common


@pytest.mark.parametrize(
    "kernel",
    [
        Spectrum(2),
        Mismatch(2, 1, "abn"),
        WeightedDegree(3),
        WeightedDegree(2, shift=2),
        Text("char", idf=None, ngrams=(1, 2)),
        Text("char_wb", idf=None, ngrams=(1, 3)),
        Text("char", idf={"a": 2.0, "n": 1.0}),
    ],
    ids=repr,
)
def test_occurrences_add_up_to_the_rows(kernel):
    for points in (kernel.admit(WORDS), kernel.admit(WORDS)[np.array([4, 0, 1])]):
        rows, where, units = (
            kernel.encoded(points),
            kernel.occurrences(points),
            kernel.units(points),
        )
        total = sparse.coo_array((where.weight, (where.item, where.column)), rows.matrix.shape)
        np.testing.assert_allclose(total.toarray(), rows.matrix.toarray(), atol=1e-12)
        assert len(where.starts) == len(where.item) + 1 and where.starts[-1] == len(where.parts)
        for o, item in enumerate(where.item):
            parts = where.parts[where.starts[o] : where.starts[o + 1]]
            assert len(parts) and 0 <= min(parts) and max(parts) < len(units[item])


def test_the_parts_of_an_occurrence_spell_the_pattern():
    kernel = Spectrum(3)
    points = kernel.admit(WORDS)
    where, vocabulary = kernel.occurrences(points), kernel.encoded(points).vocabulary
    for o, (item, column) in enumerate(zip(where.item, where.column, strict=True)):
        parts = where.parts[where.starts[o] : where.starts[o + 1]]
        assert "".join(WORDS[item][p] for p in parts) == vocabulary[column]


def test_new_things_are_mapped_to_the_columns_of_the_old():
    transform = Spectrum(2).feature_map(["banana"])
    np.testing.assert_array_equal(transform(["nax", "xyz"]).toarray(), [[0, 0, 1], [0, 0, 0]])


def test_what_has_never_been_seen_counts_only_in_the_length():
    assert Spectrum(1)(["aß"], ["a"]).tolist() == [[1.0]]
    assert Spectrum(1).diagonal(["aß"]).tolist() == [2.0]


@pytest.mark.parametrize(
    "machine",
    [KernelRidge(), KernelRidgeClassifier(), SVC(), GaussianProcess()],
    ids=lambda m: type(m).__name__,
)
def test_things_without_any_pattern_can_be_learned_from(machine):
    X, y = ["aa", "bb", "a", ""], np.array([0, 1, 1, 0])
    machine = machine.set_params(kernel=Spectrum(3)).fit(X, y)
    assert machine.predict(["abc", "x"]).shape == (2,)
    assert Spectrum(3).features(X).toarray().tolist() == [[0.0]] * 4
