"""The generalized context model and the prototype model, as estimators."""

import math
import pickle
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from mercer.cognition.choices.gcm import GCM, PrototypeModel, context_model
from mercer.errors import DomainError, ValidityError
from mercer.plots import plot_decision

mpl.use("Agg")

X = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [0.5, 1, 2]], dtype=float)
Y = ["a", "a", "b", "b", "c"]
NEW = np.array([[0, 0, 0], [1, 1, 0], [0.2, 0.9, 1.5]])
COUNTS = np.array([[12, 5, 3], [4, 11, 5], [6, 3, 11]])


def test_probabilities_are_the_formula():
    c, w, b, gamma, r, p = 1.3, (0.5, 0.2, 0.3), (0.2, 0.5, 0.3), 1.7, 1.5, 2.0
    V = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    model = GCM(c, w, b, gamma, order=r, exponent=p).fit(X, Y, strengths=V)
    for stimulus, found in zip(NEW, model.predict_proba(NEW), strict=True):
        evidence = []
        for k, label in enumerate("abc"):
            total = 0.0
            for j in range(len(X)):
                if Y[j] == label:
                    d = sum(w[m] * abs(stimulus[m] - X[j, m]) ** r for m in range(3)) ** (1 / r)
                    total += V[j] * math.exp(-c * d**p)
            evidence.append(b[k] * total**gamma)
        np.testing.assert_allclose(found, np.array(evidence) / sum(evidence), rtol=1e-12)


def test_without_responses_the_given_parameters_are_kept():
    model = GCM(2.5, gamma=0.7).fit(X, Y)
    assert list(model.params_) == ["sensitivity", "attention", "bias", "gamma"]
    assert model.params_["sensitivity"] == 2.5 and model.params_["gamma"] == 0.7
    np.testing.assert_allclose(model.params_["attention"], 1 / 3)
    np.testing.assert_allclose(model.params_["bias"], 1 / 3)
    assert not hasattr(model, "log_likelihood_")
    with pytest.raises(ValidityError, match="no responses"):
        model.intervals()


def test_a_second_fit_forgets_the_first():
    model = GCM().fit(X, Y, NEW, COUNTS)
    assert hasattr(model, "aic_")
    model.fit(X, Y)
    assert not hasattr(model, "aic_") and model.params_["sensitivity"] == 1.0


def test_what_is_not_free_stays():
    model = GCM(2.0, bias=(0.2, 0.3, 0.5), gamma=1.5, free=("attention",))
    model.fit(X, Y, NEW, COUNTS)
    assert model.params_["sensitivity"] == 2.0 and model.params_["gamma"] == 1.5
    np.testing.assert_array_equal(model.params_["bias"], (0.2, 0.3, 0.5))
    assert model.params_["attention"].sum() == pytest.approx(1.0)
    assert model.free_ == ("attention",) and model.fit_.parameters == 2


def test_nothing_free_is_only_evaluated():
    model = GCM(2.0, free=()).fit(X, Y, NEW, COUNTS)
    p = GCM(2.0).fit(X, Y).predict_proba(NEW)
    assert model.log_likelihood_ == pytest.approx(np.sum(COUNTS * np.log(p)))
    assert model.aic_ == pytest.approx(-2 * model.log_likelihood_)


def test_criteria_count_free_parameters():
    # Counts of a known model: those above have no best gamma, their likelihood rises for ever.
    stimuli, known = np.concatenate([X, NEW]), GCM(1.5, (0.5, 0.3, 0.2), (0.4, 0.35, 0.25), 2.0)
    counts = np.round(200 * known.fit(X, Y).predict_proba(stimuli))
    free = ("sensitivity", "attention", "bias", "gamma")
    model = GCM(free=free, starts=3).fit(X, Y, stimuli, counts)
    assert model.fit_.parameters == 1 + 2 + 2 + 1
    assert model.aic_ == pytest.approx(12 - 2 * model.log_likelihood_)
    assert model.bic_ == pytest.approx(6 * np.log(counts.sum()) - 2 * model.log_likelihood_)


def test_the_exemplars_are_the_stimuli_by_default():
    counts = np.array([[8, 1, 1], [7, 2, 1], [2, 7, 1], [1, 8, 1], [1, 1, 8]])
    first = GCM().fit(X, Y, responses=counts)
    second = GCM().fit(X, Y, X, counts)
    assert first.log_likelihood_ == second.log_likelihood_


def test_far_stimuli_still_have_probabilities():
    far = np.array([[1e3, 0, 0], [-1e4, 1e4, 5.0], [1e8, 1e8, 1e8]])
    for model in (GCM(50.0, gamma=2.0), PrototypeModel(50.0, exponent=2, order=2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            p = model.fit(X, Y).predict_proba(far)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


def test_a_far_stimulus_goes_to_the_nearest_category():
    model = GCM(100.0).fit([[0.0], [1.0]], ["near", "far"][::-1])
    np.testing.assert_allclose(model.predict_proba([[50.0]]), [[0.0, 1.0]], atol=1e-12)
    assert model.predict([[50.0]]).tolist() == ["near"]


def test_responses_to_a_far_stimulus_can_be_fitted():
    model = GCM(5.0, starts=3).fit([[0.0], [1.0]], ["a", "b"], [[0.1], [300.0]], [[9, 1], [4, 6]])
    assert np.isfinite(model.log_likelihood_)


def test_the_function_is_the_summed_similarity():
    model = GCM(1.2, (0.5, 0.2, 0.3), (0.2, 0.5, 0.3), 1.7).fit(X, Y, strengths=[1, 2, 3, 4, 5])
    evidence = model.params_["bias"] * model.function_(NEW) ** 1.7
    np.testing.assert_allclose(
        model.predict_proba(NEW), evidence / evidence.sum(axis=1, keepdims=True), rtol=1e-12
    )
    assert model.kernel_ == model.function_.kernel


def test_the_prototype_model_is_a_gcm_of_means():
    V = np.array([1.0, 3.0, 1.0, 1.0, 2.0])
    model = PrototypeModel(2.0, bias=(0.2, 0.3, 0.5)).fit(X, Y, strengths=V)
    means = [np.average(X[:2], axis=0, weights=V[:2]), X[2:4].mean(axis=0), X[4]]
    np.testing.assert_allclose(model.prototypes_, means)
    same = GCM(2.0, bias=(0.2, 0.3, 0.5)).fit(means, ["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba(NEW), same.predict_proba(NEW), rtol=1e-14)


def test_of_prototypes_only_the_product_of_power_and_sensitivity_is_fitted():
    free = ("sensitivity", "attention", "gamma")
    model = PrototypeModel(gamma=2.0, free=free).fit(X, Y, NEW, COUNTS)
    plain = PrototypeModel().fit(X, Y, NEW, COUNTS)
    assert model.free_ == ("sensitivity", "attention") and model.params_["gamma"] == 2.0
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, abs=1e-6)
    assert 2 * model.params_["sensitivity"] == pytest.approx(
        plain.params_["sensitivity"], rel=1e-3
    )


def test_the_context_model_multiplies_similarities():
    model = context_model([0.5, 0.2, 0.1], gamma=2.0).fit([[0, 0, 0], [1, 1, 1]], ["a", "b"])
    np.testing.assert_allclose(model.function_([[1, 0, 1]]), [[0.05, 0.2]], rtol=1e-12)
    assert model.gamma == 2.0 and model.order == model.exponent == 1


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.5, 1.2], [], [0.0, 0.5]])
def test_the_context_model_refuses_other_similarities(values):
    with pytest.raises(ValidityError, match="similarities"):
        context_model(values)


@pytest.mark.parametrize("model", [GCM(), PrototypeModel()])
def test_it_is_an_estimator(model):
    assert is_classifier(model)
    copy = clone(model.set_params(gamma=2.0, starts=4))
    assert copy.gamma == 2.0 and copy.get_params()["starts"] == 4
    copy.fit(X, Y, NEW, COUNTS)
    again = pickle.loads(pickle.dumps(copy))
    np.testing.assert_array_equal(again.predict_proba(NEW), copy.predict_proba(NEW))
    assert copy.score(X, Y) > 0.5
    with pytest.raises(ValueError, match="nonsense"):
        model.set_params(nonsense=1)


@pytest.mark.parametrize("labels", [["a", "b", "a", "b"], ["a", "b", "c", "a"]])
@pytest.mark.parametrize("kind", [GCM, PrototypeModel])
def test_it_is_drawn_like_any_classifier(labels, kind):
    places = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.5]]
    ax = plot_decision(kind(3.0).fit(places, labels), places, labels, resolution=20)
    assert ax.collections
    ax.figure.clf()


def test_simulated_counts_have_the_given_totals():
    model = GCM(2.0).fit(X, Y)
    counts = model.simulate(NEW, [5, 10, 20000], random_state=0)
    assert counts.sum(axis=1).tolist() == [5, 10, 20000]
    np.testing.assert_allclose(counts[2] / 20000, model.predict_proba(NEW)[2], atol=0.02)
    np.testing.assert_array_equal(counts, model.simulate(NEW, [5, 10, 20000], random_state=0))


def test_tables_of_pandas():
    stimuli = pd.DataFrame(NEW, columns=["x", "y", "z"])
    table = pd.DataFrame(COUNTS[:, ::-1], columns=["c", "b", "a"])
    model = GCM().fit(pd.DataFrame(X), pd.Series(Y), stimuli, table)
    assert model.log_likelihood_ == GCM().fit(X, Y, NEW, COUNTS).log_likelihood_


def test_large_sets_are_predicted_in_stripes(monkeypatch):
    places = np.random.default_rng(0).normal(size=(101, 3))
    model = GCM(2.0).fit(X, Y)
    whole = model.predict_proba(places)
    monkeypatch.setattr("mercer.cognition.choices.choice_model.NUMBERS_AT_ONCE", 100)
    np.testing.assert_array_equal(model.predict_proba(places), whole)


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sensitivity": -1.0}, "sensitivity of GCM must be a finite number and positive"),
        ({"sensitivity": "high"}, "sensitivity"),
        ({"gamma": 0.0}, "gamma"),
        ({"order": 0}, "order"),
        ({"exponent": -2}, "exponent"),
        ({"attention": (0.5, 0.4, 0.2)}, "attention of GCM must sum to 1, but sums to 1.1"),
        ({"attention": (0.5, 0.7, -0.2)}, "dimension 2 is -0.2"),
        ({"attention": (0.5, 0.5)}, "one number per dimension, 3 in all"),
        ({"attention": "all"}, "must be numbers"),
        ({"bias": (0.5, 0.5, 0.5)}, "bias of GCM must sum to 1"),
        ({"bias": (0.5, 0.5, 0.0)}, "category 2 is 0.0"),
        ({"bias": (0.5, 0.5)}, "one number per category, 3 in all"),
        ({"free": ("sensitivty",)}, "did you mean 'sensitivity'"),
        ({"loss": "likelyhood"}, "did you mean 'likelihood'"),
        ({"starts": 0, "free": ("gamma",)}, "starts"),
    ],
)
def test_parameters_that_cannot_be(change, message):
    with pytest.raises(ValidityError, match=message):
        GCM(**change).fit(X, Y, NEW, COUNTS)


def changed(row, column, value):
    counts = COUNTS.astype(float)
    counts[row, column] = value
    return counts


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        (changed(1, 2, -3), "row 1, category 'c' holds -3"),
        (changed(2, 0, np.nan), "row 2, category 'a' holds nan"),
        (changed(2, 1, np.inf), "row 2, category 'b' holds inf"),
        (changed(0, 1, 2.5), r"row 0, category 'b' holds 2.5.*loss=\"sse\""),
        (COUNTS[:, :2], "2 columns, but the exemplars have 3 categories"),
        (np.c_[COUNTS, COUNTS[:, 0]], "4 columns.*category without exemplars"),
        (COUNTS[:2], "2 rows, but there are 3 stimuli"),
        (COUNTS * [[1], [0], [1]], "stimulus 1 .*no responses"),
        (COUNTS[0], "shape"),
        ([["many", "few", "none"]] * 3, "responses must hold numbers"),
        (np.array([COUNTS, 0 * COUNTS]), "subject 1 has no responses"),
        (np.array([COUNTS, changed(1, 2, -3)]), "subject 1, row 1, category 'c' holds -3"),
        (np.empty((0, 3, 3)), "no subjects"),
        (pd.DataFrame(COUNTS, columns=["a", "b", "d"]), "column 'd'.*no exemplars"),
        (pd.DataFrame(COUNTS[:, :2], columns=["a", "b"]), "no column for the category 'c'"),
    ],
)
def test_responses_that_cannot_be(responses, message):
    with pytest.raises(DomainError, match=message):
        GCM().fit(X, Y, NEW, responses)


def test_rounding_errors_of_counts_are_forgiven():
    shares = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    model = GCM(free=()).fit(X, Y, NEW, 100 * shares)  # 100 times 0.55 is not 55
    assert model.log_likelihood_ == GCM(free=()).fit(X, Y, NEW, 5 * COUNTS).log_likelihood_


def test_proportions_must_sum_to_one():
    good = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    assert np.isnan(GCM(loss="sse").fit(X, Y, NEW, good).log_likelihood_)
    GCM(loss="sse").fit(X, Y, NEW, good.round(2))
    with pytest.raises(DomainError, match=r"row 1 sums to 0\.7"):
        GCM(loss="sse").fit(X, Y, NEW, good * [[1], [0.7], [1]])


@pytest.mark.parametrize("kind", [GCM, PrototypeModel])
def test_exemplars_that_cannot_be(kind):
    with pytest.raises(DomainError, match=r"category 'c'.*strength zero"):
        kind().fit(X, Y, strengths=[1, 1, 1, 1, 0])
    with pytest.raises(DomainError, match="row 3 has -1"):
        kind().fit(X, Y, strengths=[1, 1, 1, -1, 1])
    with pytest.raises(DomainError, match="each of 5 exemplars"):
        kind().fit(X, Y, strengths=[1, 1])
    with pytest.raises(DomainError, match="5 exemplars, but 4 categories"):
        kind().fit(X, Y[:4])
    with pytest.raises(DomainError, match="only one category"):
        kind().fit(X, ["a"] * 5)
    with pytest.raises(DomainError, match="'d' has no exemplars"):
        kind().fit(X, pd.Categorical(Y, categories=["a", "b", "c", "d"]))
    with pytest.raises(DomainError, match="row 1, column 0"):
        kind().fit([[0.0], [np.nan]], ["a", "b"])


def test_stimuli_of_other_dimensionality():
    with pytest.raises(DomainError, match=r"stimuli have 2 dimensions .*row 0.*exemplars have 3"):
        GCM().fit(X, Y, NEW[:, :2], COUNTS)
    with pytest.raises(DomainError, match="stimuli have 2 dimensions"):
        GCM().fit(X, Y).predict_proba(NEW[:, :2])
