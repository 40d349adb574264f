"""Kernels on strings, texts and sets against loops that say what the definitions say."""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from mercer.kernels import (
    Gaussian,
    Jaccard,
    Mismatch,
    SetKernel,
    Spectrum,
    Subsequence,
    Text,
    WeightedDegree,
    kernel,
    normalize,
)
from mercer.rkhs import mean_embedding

letters = st.text(alphabet="abä", max_size=7)
anything = st.text(max_size=12)
some = st.lists(letters, min_size=2, max_size=5)


def gram(pair, A, B):
    return np.array([[pair(x, z) for z in B] for x in A], dtype=float)


# ---- substrings --------------------------------------------------------------------------------


@given(st.lists(anything, min_size=1, max_size=5), st.lists(anything, min_size=1, max_size=5))
@settings(max_examples=30)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_spectrum_counts_equal_substrings(length, A, B):
    def pair(x, z):
        starts = product(range(len(x) - length + 1), range(len(z) - length + 1))
        return sum(x[i : i + length] == z[j : j + length] for i, j in starts)

    np.testing.assert_array_equal(Spectrum(length)(A, B), gram(pair, A, B))


def test_long_substrings_do_not_overflow_their_numbers():
    rng = np.random.default_rng(0)
    strings = ["".join(map(chr, rng.integers(33, 1000, 200))) for _ in range(4)]
    strings.append(strings[0][50:120] + strings[1][:90])
    K = Spectrum(60)(strings)
    assert K[4, 0] == 11 and K[4, 1] == 31 and K[0, 1] == 0 and K[0, 0] == 141


def within(u, w):
    return sum(a != b for a, b in zip(u, w, strict=True))


@given(some)
@settings(max_examples=30)
@pytest.mark.parametrize(("length", "wrong"), [(1, 0), (2, 1), (3, 1), (3, 2), (4, 2)])
def test_a_mismatch_kernel_counts_words_near_both(length, wrong, strings):
    words = ["".join(w) for w in product("aä", repeat=length)]

    def features(x):
        inside = [x[i : i + length] for i in range(len(x) - length + 1)]
        inside = [u for u in inside if set(u) <= {"a", "ä"}]
        return np.array([sum(within(u, w) <= wrong for u in inside) for w in words])

    def pair(x, z):
        return features(x) @ features(z)

    k = Mismatch(length, wrong, "aä")
    np.testing.assert_array_equal(k(strings), gram(pair, strings, strings))


@kernel
class Gapped(Mismatch):
    """Lists no neighbors, as if its alphabet were large."""

    listed = False


@given(some, some)
@settings(max_examples=30)
@pytest.mark.parametrize(("length", "wrong"), [(2, 0), (2, 1), (3, 1), (3, 2), (5, 2), (4, 3)])
def test_neighbors_and_gaps_give_the_same_mismatch_kernel(length, wrong, A, B):
    by_neighbors, by_gaps = (
        [k(A, B), k(A), k.diagonal(A)]
        for k in (Mismatch(length, wrong, "abä"), Gapped(length, wrong, "abä"))
    )
    for found, expected in zip(by_gaps, by_neighbors, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_mismatch_is_a_spectrum():
    words = ["banana", "ananas", "", "na"]
    k = Mismatch(2, 0).resolve(words)
    np.testing.assert_array_equal(k(words), Spectrum(2)(words))


# ---- subsequences ------------------------------------------------------------------------------


def subsequences(x, z, length, decay):
    """Add up the weights of all pairs of places with equal letters."""
    total = 0.0
    for q in range(1, length + 1):
        left = [(tuple(x[i] for i in u), u) for u in combinations(range(len(x)), q)]
        right = [(tuple(z[j] for j in v), v) for v in combinations(range(len(z)), q)]
        for a, u in left:
            for b, v in right:
                if a == b:
                    total += decay ** (u[-1] - u[0] + 1 + v[-1] - v[0] + 1)
    return total


@given(some, some)
@settings(max_examples=30)
@pytest.mark.parametrize(("length", "decay"), [(1, 0.5), (2, 0.7), (3, 0.5), (4, 1.0), (9, 0.9)])
def test_subsequences_are_weighted_by_their_spans(length, decay, A, B):
    k = Subsequence(length, decay)
    expected = gram(lambda x, z: subsequences(x, z, length, decay), A, B)
    np.testing.assert_allclose(k(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(gram(k.pair, A, B), expected, rtol=1e-12)
    own = [subsequences(x, x, length, decay) for x in A]
    np.testing.assert_allclose(k.diagonal(A), own, rtol=1e-12)


def test_the_published_example_of_subsequences():
    # Lodhi et al. (2002), section 3: "cat" and "car" share c-a, λ⁴; "cat" with itself 2λ⁴ + λ⁶.
    decay = 0.6
    longer, shorter = Subsequence(2, decay), Subsequence(1, decay)
    pairs = longer(["cat"], ["car", "cat"]) - shorter(["cat"], ["car", "cat"])
    np.testing.assert_allclose(pairs, [[decay**4, 2 * decay**4 + decay**6]])


def test_many_strings_of_very_different_lengths():
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list("acgt"), n)) for n in [0, 1, 40, 3, 17, 2, 25, 9, 33, 8, 5]]
    for k in (Subsequence(4, 0.6), WeightedDegree(5), WeightedDegree(3, shift=4)):
        expected = gram(k.pair, strings, strings)
        np.testing.assert_allclose(k(strings), expected, rtol=1e-12)
        np.testing.assert_allclose(k(strings[::2], strings), expected[::2], rtol=1e-12)
        np.testing.assert_allclose(k.diagonal(strings), np.diag(expected), rtol=1e-12)


# ---- substrings at a place ---------------------------------------------------------------------


@given(some, some)
@settings(max_examples=30)
@pytest.mark.parametrize(("degree", "shift"), [(1, 0), (3, 0), (20, 0), (2, 1), (4, 3), (1, 9)])
def test_weighted_degrees_count_substrings_at_a_place(degree, shift, A, B):
    def pair(x, z):
        total, s = 0.0, range(shift + 1)
        for d in range(1, degree + 1):
            beta = 2 * (degree - d + 1) / (degree * (degree + 1))
            for i, step in product(range(max(len(x), len(z))), s):
                ahead = x[i + step : i + step + d] == z[i : i + d] and i + d <= len(z)
                behind = x[i : i + d] == z[i + step : i + step + d] and i + d <= len(x)
                total += beta / (2 * (step + 1)) * (ahead + behind)
        return total

    np.testing.assert_allclose(
        WeightedDegree(degree, shift)(A, B), gram(pair, A, B), rtol=1e-12, atol=1e-12
    )


def test_the_weights_of_shifts_are_positive_definite():
    # Rogosinski & Szegő (1928): 1/2 + Σ cos(sθ)/(s + 1) ≥ 0 for every number of terms.
    angles = np.linspace(0, np.pi, 4001)
    total = np.ones_like(angles)
    for s in range(1, 300):
        total += np.cos(s * angles) / (s + 1)
        assert total.min() >= 0.5 - 1e-12


@pytest.mark.parametrize("shift", [1, 5, 30])
def test_weighted_degrees_with_a_shift_are_valid_on_few_letters(shift):
    # Long runs of one letter are all shifts of each other: the worst case for the weights.
    strings = ["a" * n for n in range(0, 40, 3)] + [
        "a" * n + "b" + "a" * (9 - n) for n in range(9)
    ]
    values = np.linalg.eigvalsh(WeightedDegree(2, shift)(strings))
    assert values[0] > -1e-12 * values[-1]


# ---- a peer ------------------------------------------------------------------------------------


def test_strkernels_has_the_same_numbers():
    peer = pytest.importorskip("strkernels")
    rng = np.random.default_rng(2)
    strings = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(12)]
    pairs = [  # its spectrum is that of all lengths
        (Spectrum(1) + Spectrum(2) + Spectrum(3), peer.SpectrumStringKernel(order=3)),
        (Subsequence(3, 0.5), peer.SubsequenceStringKernel(maxlen=3, ssk_lambda=0.5)),
        (WeightedDegree(4), peer.WeightedDegreeStringKernel(degree=4)),
    ]
    for mine, other in pairs:
        np.testing.assert_allclose(normalize(mine)(strings), other(strings, strings), rtol=1e-10)


# ---- texts -------------------------------------------------------------------------------------

OLD = [
    "The cat sat on the mat", "the dog", "", "dog   dog\tcat é Été", "a", "cat cat cat mat",
    "It's the owl's", "the the THE",
]  # fmt: skip
NEW = ["zebra", "the zebra cat", "a b", "dog on mat mat", ""]
SETTINGS = [
    ({}, {}),
    ({"ngrams": (1, 2)}, {"ngram_range": (1, 2)}),
    ({"analyzer": "char", "ngrams": (1, 3)}, {"analyzer": "char", "ngram_range": (1, 3)}),
    ({"analyzer": "char_wb", "ngrams": (1, 6)}, {"analyzer": "char_wb", "ngram_range": (1, 6)}),
    ({"analyzer": "char_wb", "ngrams": (4, 5)}, {"analyzer": "char_wb", "ngram_range": (4, 5)}),
    ({"stop_words": "english"}, {"stop_words": "english"}),
    ({"stop_words": ["cat"], "ngrams": (2, 3)}, {"stop_words": ["cat"], "ngram_range": (2, 3)}),
    ({"min_df": 2}, {"min_df": 2}),
    ({"min_df": 0.4}, {"min_df": 0.4}),
    ({"sublinear": True, "normalized": False}, {"sublinear_tf": True, "norm": None}),
    ({"lowercase": False}, {"lowercase": False}),
    ({"token_pattern": r"\b(\w)"}, {"token_pattern": r"\b(\w)"}),
]


@pytest.mark.parametrize(("mine", "theirs"), SETTINGS, ids=[str(mine) for mine, _ in SETTINGS])
def test_texts_are_compared_as_by_scikit_learn(mine, theirs):
    k, vectorizer = Text(**mine).resolve(OLD), TfidfVectorizer(**theirs)
    old = vectorizer.fit_transform(OLD)
    new = vectorizer.transform(NEW)
    assert k.idf.words == tuple(vectorizer.get_feature_names_out())
    np.testing.assert_allclose(k.idf.weights, vectorizer.idf_, rtol=1e-14)
    np.testing.assert_allclose(k(OLD), linear_kernel(old), atol=1e-14)
    np.testing.assert_allclose(k(NEW, OLD), linear_kernel(new, old), atol=1e-14)
    np.testing.assert_allclose(k(NEW), linear_kernel(new), atol=1e-14)
    np.testing.assert_allclose(k.features(OLD).toarray(), old.toarray(), atol=1e-14)
    np.testing.assert_allclose(gram(k.pair, NEW, OLD), linear_kernel(new, old), atol=1e-14)


def test_plain_counts_are_those_of_scikit_learn():
    counts = CountVectorizer().fit_transform([*OLD, *NEW]).toarray()
    k = Text(idf=None, normalized=False)
    np.testing.assert_array_equal(k(OLD, NEW), counts[: len(OLD)] @ counts[len(OLD) :].T)


# ---- sets and bags -----------------------------------------------------------------------------


def test_jaccard_is_the_chance_of_the_same_first_element():
    universe = range(5)
    sets = [{0}, {0, 1}, {1, 2, 3}, {0, 1, 2, 3, 4}, {4}]
    orders = list(permutations(universe))

    def chance(a, b):
        return np.mean([min(a, key=o.index) == min(b, key=o.index) for o in orders])

    np.testing.assert_allclose(Jaccard()(sets), gram(chance, sets, sets))


@pytest.mark.parametrize("average", [True, False])
def test_bags_are_compared_by_their_embeddings(average):
    rng = np.random.default_rng(4)
    bags = [rng.normal(size=(n, 6)) + 100 for n in (3, 1, 7, 2)]
    k = Gaussian(1.5)
    embedded = [mean_embedding(k, bag) for bag in bags]
    expected = gram(lambda f, g: f.inner(g), embedded, embedded)
    if not average:
        expected = expected * np.outer([3, 1, 7, 2], [3, 1, 7, 2])
    K = SetKernel(k, average)
    np.testing.assert_allclose(K(bags), expected, rtol=1e-10)
    np.testing.assert_allclose(K.diagonal(bags), np.diag(expected), rtol=1e-10)


@given(st.lists(st.lists(st.text("ab", max_size=3), max_size=4), min_size=1, max_size=5))
@settings(max_examples=30)
def test_bags_of_strings_add_up_their_counts(bags):
    def counts(bag):
        return Counter(letter for text in bag for letter in text)

    def pair(a, b):
        return sum(n * counts(b)[letter] for letter, n in counts(a).items())

    np.testing.assert_array_equal(SetKernel(Spectrum(1), False)(bags), gram(pair, bags, bags))
