"""Texts: what is learned from a corpus, what is not, and settings that make no sense."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction import text as sklearn_text

from mercer.errors import DomainError, ValidityError
from mercer.kernels import Idf, Text

OLD = ["the cat sat", "the dog sat", "the the owl"]


def test_weights_are_learned_from_the_texts_that_count():
    k = Text().resolve(OLD)
    assert k.idf.words == ("cat", "dog", "owl", "sat", "the")
    assert k.idf.lookup["the"] == 1.0 and k.idf.lookup["cat"] == np.log(4 / 2) + 1
    weighted = Text().resolve(OLD, np.array([2.0, 0.0, 1.0]))
    assert weighted == Text().resolve([OLD[0], OLD[0], OLD[2]])
    assert "dog" not in weighted.idf.words


def test_rare_words_are_left_out():
    assert Text(min_df=2).resolve(OLD).idf.words == ("sat", "the")
    assert Text(min_df=1.0).resolve(OLD).idf.words == ("the",)
    assert Text(min_df=0.6).resolve(OLD).idf.words == ("sat", "the")


def test_a_word_never_seen_in_training_is_dropped():
    k = Text().resolve(OLD)
    assert k(["zebra cat"], ["cat"]).tolist() == [[1.0]]
    assert k.diagonal(["zebra", ""]).tolist() == [0.0, 0.0]


def test_without_weights_no_data_is_needed():
    k = Text(idf=None, normalized=False)
    assert k.unresolved() == [] and k(["zebra zebra"], ["zebra"]).tolist() == [[2.0]]
    assert k(["", "!"]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("texts", [["", ""], ["a b", "!"], ["the the"]])
def test_a_corpus_without_words_is_refused(texts):
    with pytest.raises(DomainError, match="no word is in enough"):
        Text(stop_words=["the"]).resolve(texts)
    with pytest.raises(DomainError, match="smaller min_df"):
        Text(min_df=3).resolve(["cat", "dog", "owl"])


def test_an_unresolved_kernel_says_what_to_do():
    with pytest.raises(ValidityError, match=r"idf='corpus' .* resolve"):
        Text()(OLD)
    assert len(Text().admit(OLD)) == 3  # texts are texts before anything is learned


def test_the_corpus_is_counted_once(monkeypatch):
    k = Text().resolve(OLD)
    K = k(OLD)
    counted = []

    class Counting(sklearn_text.CountVectorizer):
        def fit_transform(self, texts, y=None):
            counted.append(list(texts))
            return super().fit_transform(texts, y)

    monkeypatch.setattr(sklearn_text, "CountVectorizer", Counting)
    np.testing.assert_array_equal(k(OLD), K)
    np.testing.assert_array_equal(k(["cat"], OLD), k(OLD, ["cat"]).T)
    assert counted == [["cat"], ["cat"]]
    k.set_params(ngrams=(1, 2))(OLD)  # the same words by other settings
    k(OLD[:2])
    assert counted[2:] == [OLD, OLD[:2]]
    again = pickle.loads(pickle.dumps(k))
    assert again == k and again.idf.corpus is None
    np.testing.assert_array_equal(again(OLD), K)


def test_weights_of_words_are_a_value():
    weights = Idf(["cat", "the"], [2, 1.0])
    assert weights == Idf.of({"the": 1.0, "cat": 2.0})
    assert hash(weights) == hash(Idf(("cat", "the"), (2.0, 1.0)))
    assert eval(repr(weights)) == weights != Idf(("cat",), (2.0,))
    assert Text(idf={"the": 1.0, "cat": 2.0}).idf == weights


@pytest.mark.parametrize(
    ("words", "weights"),
    [(("a",), ()), (("a", "a"), (1.0, 2.0)), (("a",), (0.0,)), (("a",), (float("nan"),))],
)
def test_weights_of_words_that_make_no_sense(words, weights):
    with pytest.raises(ValidityError):
        Idf(words, weights)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"analyzer": "words"}, "did you mean 'word'"),
        ({"ngrams": 2}, "pair"),
        ({"ngrams": (2, 1)}, "shortest"),
        ({"ngrams": (0, 1)}, "from 1 on"),
        ({"idf": "corpsu"}, "did you mean 'corpus'"),
        ({"idf": 3}, "idf"),
        ({"sublinear": "yes"}, "True or False"),
        ({"normalized": None}, "True or False"),
        ({"stop_words": "german"}, "stop_words"),
        ({"stop_words": ["the"], "analyzer": "char"}, "analyzer='word'"),
        ({"min_df": 0}, "from 1 on"),
        ({"min_df": -0.5}, "positive"),
        ({"min_df": 2, "idf": None}, "corpus"),
        ({"token_pattern": "("}, "regular expression"),
        ({"token_pattern": "(a)(b)"}, "one group"),
        ({"token_pattern": None}, "regular expression"),
    ],
)
def test_settings_that_make_no_sense(parameters, word):
    with pytest.raises(ValidityError) as caught:
        Text(**parameters)
    assert word in str(caught.value)


def test_places_are_words_or_letters():
    k = Text(ngrams=(2, 2), stop_words=["the"]).resolve(["a cat in the hat", "in the hat"])
    points = k.admit(["Cat in the hat"])
    where = k.occurrences(points)
    names = [k.idf.words[column] for column in where.column]
    parts = [
        where.parts[a:b].tolist() for a, b in zip(where.starts, where.starts[1:], strict=False)
    ]
    assert k.units(points) == [["cat", "in", "the", "hat"]]
    assert dict(zip(names, parts, strict=True)) == {"cat in": [0, 1], "in hat": [1, 3]}
