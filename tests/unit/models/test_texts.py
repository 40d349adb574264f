"""Models of counts of words: multinomial mixtures and aspects."""

import numpy as np
import pytest
from scipy import sparse

from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.models import AspectModel, MultinomialMixture
from tests.unit.models.cases import WORDS

SUBJECTS = np.array([[0.4, 0.4, 0.1, 0.05, 0.05, 0.0], [0.0, 0.05, 0.05, 0.1, 0.4, 0.4]])
MIXED = MultinomialMixture(2, [0.3, 0.7], SUBJECTS)
ASPECTS = AspectModel(2, SUBJECTS, strength=0.5)
DOCUMENTS = MIXED.sample(80, seed=0, length=40)
BLENDS = ASPECTS.sample(200, seed=0, length=np.arange(200))


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("kind", [MultinomialMixture, AspectModel])
def test_no_step_loses_likelihood(kind, smoothing):
    learner = kind(3, smoothing=smoothing, tolerance=0.0, iterations=25)
    X = DOCUMENTS if kind is MultinomialMixture else BLENDS
    history = learner.ascend(X, weights=np.arange(len(X)) % 3, seed=1).history
    gains = np.diff(history)
    assert gains[0] > 0
    assert (gains >= -1e-9 * abs(history[-1])).all()


def matched(found, truth):
    """Return found rows in the order of the true ones."""
    return (
        found if np.abs(found - truth).sum() < np.abs(found[::-1] - truth).sum() else found[::-1]
    )


def test_planted_subjects_are_found_again():
    found = MultinomialMixture(2).fit(DOCUMENTS, seed=0)
    np.testing.assert_allclose(matched(found.probabilities, SUBJECTS), SUBJECTS, atol=0.03)
    np.testing.assert_allclose(np.sort(found.weights), [0.3, 0.7], atol=0.12)
    # Who wrote about what is certain.
    R = found.responsibilities(DOCUMENTS)
    np.testing.assert_allclose(R.sum(axis=1), 1)
    assert np.minimum(R, 1 - R).max() < 1e-3


def test_planted_topics_are_found_again():
    found = AspectModel(2, strength=0.5, tolerance=1e-4).fit(BLENDS, seed=0)
    np.testing.assert_allclose(matched(found.words, SUBJECTS), SUBJECTS, atol=0.05)
    pi = ASPECTS.mixtures(BLENDS)
    np.testing.assert_allclose(pi.sum(axis=1), 1)
    long = BLENDS.sum(axis=1) > 100
    other = found.set_params(words=matched(found.words, SUBJECTS)).mixtures(BLENDS)
    assert np.abs(other - pi)[long].mean() < 0.05


def test_sparse_and_dense_documents_are_the_same():
    for model in (MIXED, ASPECTS):
        X = sparse.csr_array(DOCUMENTS)
        stored = X.copy()
        stored.data[0] = 0.0  # a zero that is stored
        changed = DOCUMENTS.copy()
        changed[0, np.flatnonzero(DOCUMENTS[0])[0]] = 0.0
        for one, two in ((X, DOCUMENTS), (stored, changed)):
            np.testing.assert_allclose(model.log_density(one), model.log_density(two), rtol=1e-12)
            np.testing.assert_allclose(model.score(one), model.score(two), atol=1e-9)
        assert stored.data[0] == 0.0  # the user's own stay as they are
        learned = model.fit(X, seed=3)
        np.testing.assert_allclose(
            learned.log_density(X), model.fit(DOCUMENTS, seed=3).log_density(X)
        )


def test_documents_without_words_say_nothing():
    empty = np.zeros((1, 6))
    np.testing.assert_allclose(MIXED.log_density(empty), [0.0], atol=1e-15)
    np.testing.assert_allclose(MIXED.score(empty), np.zeros((1, 9)), atol=1e-15)
    biased = AspectModel(2, SUBJECTS, [0.2, 0.8])
    np.testing.assert_allclose(biased.mixtures(empty), [[0.2, 0.8]])
    plain = AspectModel(2, SUBJECTS, strength=0.0)
    np.testing.assert_array_equal(plain.mixtures(empty), [[0.5, 0.5]])
    np.testing.assert_array_equal(plain.log_density(empty), [0.0])


def test_word_scores_are_hofmanns_counts_beyond_expectation():
    model = AspectModel(2, SUBJECTS, strength=0.0)
    x = np.array([3.0, 1.0, 0.0, 2.0, 4.0, 1.0])
    pi = model.mixtures([x])[0]
    due = x * (pi[:, None] * SUBJECTS) / (pi @ SUBJECTS)  # x_j p(z|x, j)
    excess = due - due.sum(axis=1, keepdims=True) * SUBJECTS
    free = [excess[0, :4], excess[1, 1:5]]
    np.testing.assert_allclose(model.score([x])[0], np.concatenate(free), atol=1e-8)


def test_threads_change_no_digit(use_cores):
    X = ASPECTS.sample(700, seed=4, length=30)
    many = ASPECTS.score(X), ASPECTS.log_density(X)
    use_cores(1)
    np.testing.assert_array_equal(ASPECTS.score(X), many[0])
    np.testing.assert_array_equal(ASPECTS.log_density(X), many[1])


def test_a_fitted_model_does_not_keep_the_documents():
    found = AspectModel(2, iterations=3, tolerance=1e3).fit(BLENDS)
    assert "_known" not in vars(found)


def test_words_that_were_never_seen_are_smoothed():
    X = np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 0.0], [2.0, 2.0, 0.0]])
    new = np.array([[0.0, 1.0, 1.0]])
    for kind in (MultinomialMixture, AspectModel):
        assert np.isfinite(kind(2).fit(X).log_density(new)).all()
        rough = kind(2, smoothing=0.0).fit(X)
        assert rough.log_density(new)[0] == -np.inf
        with pytest.raises(DomainError, match="item 0 of X is impossible"):
            rough.refine(new)


def test_fitting_that_stops_early_says_so():
    for kind in (MultinomialMixture, AspectModel):
        with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} stopped after 2 steps"):
            kind(2, iterations=2, tolerance=0.0).fit(DOCUMENTS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MIXED.set_params(weights=[0.5, 0.6]), "weights .* must sum to one, found 1.1"),
        (lambda: MIXED.set_params(weights=None), "weights and probabilities, or neither"),
        (lambda: MIXED.set_params(probabilities=[[1.0], [0.5]]), r"row \[1\] of probabilities"),
        (lambda: MIXED.set_params(smoothing=-1.0), "smoothing"),
        (lambda: ASPECTS.set_params(words=[[2.0, -1.0], [0.5, 0.5]]), "found -1.0"),
        (lambda: ASPECTS.set_params(proportions=[1.0, 0.0]), "must be positive"),
        (lambda: ASPECTS.set_params(strength=-1.0), "strength"),
        (lambda: AspectModel(0), "whole number"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValidityError, match=message):
        make()


@pytest.mark.parametrize("model", [MIXED, ASPECTS], ids=["mixture", "aspects"])
def test_bad_items_are_named(model):
    with pytest.raises(DomainError, match=r"X has 4 columns, but .* knows 6 words"):
        model.log_density(WORDS)
    with pytest.raises(DomainError, match="negative at row 1, column 2"):
        model.log_density([[0.0] * 6, [0.0, 1.0, -1.0, 0.0, 0.0, 0.0]])
    with pytest.raises(DomainError, match="fewer documents with words"):
        model.fit(np.array([[1.0, 0.0], [0.0, 0.0]]))
