"""Published numbers of the generalized context model and its relatives.

The 5-4 structure is experiment 2 of Medin & Schaffer (1978); the model is Nosofsky's (1986).
"""

import numpy as np
import pytest

from mercer import ExemplarClassifier, ExemplarRegressor
from mercer.cognition.choices.exemplar_ridge import ExemplarRidge
from mercer.cognition.choices.gcm import GCM, PrototypeModel, context_model
from mercer.kernels import Shepard
from mercer.machines.ridge import KernelRidge


def bits(words):
    return np.array([[int(digit) for digit in word] for word in words.split()])


A, B = "1110 1010 1011 1101 0111", "1100 0110 0001 0000"
NEW = "1001 1000 1111 0010 0101 0011 0100"
EXEMPLARS, CATEGORIES, STIMULI = bits(f"{A} {B}"), list("AAAAABBBB"), bits(f"{A} {B} {NEW}")
TRAINED = [0.78, 0.88, 0.81, 0.88, 0.81, 0.16, 0.16, 0.12, 0.03]
OBSERVED = np.array([*TRAINED, 0.59, 0.31, 0.94, 0.34, 0.50, 0.62, 0.16])
PROPORTIONS = np.column_stack([OBSERVED, 1 - OBSERVED])
WORDS = f"{A} {B} {NEW}".split()


def fitted(model):
    return model.set_params(loss="sse", starts=20).fit(EXEMPLARS, CATEGORIES, STIMULI, PROPORTIONS)


def test_reference_1_strengths_and_bias():
    exemplars = [[0, 1, 1], [1, 0, 2], [1, 0, 5], [0, 1, 1]]
    model = GCM(3.0, attention=(0.2, 0.3, 0.5), bias=(1 / 3, 2 / 3))
    model.fit(exemplars, ["A", "A", "B", "B"], strengths=[3, 1, 1, 5])
    expected = [0.248063003882215, 0.233684163448389, 0.285261575734667, 0.240360372012061]
    for last in (0, 1):
        stimuli = [[0, 0, last], [0, 1, last], [1, 0, last], [1, 1, last]]
        p = model.predict_proba(stimuli)
        np.testing.assert_allclose(p[:, 0], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-15)
    assert model.params_["sensitivity"] == 3.0 and model.params_["gamma"] == 1.0


def test_reference_2_the_context_model():
    model = context_model((0.16, 0.16, 0.18, 0.14)).fit(EXEMPLARS, CATEGORIES)
    expected = [0.7808, 0.9375, 0.9678, 0.8625, 0.8593, 0.2522, 0.2389, 0.0711, 0.0364]
    expected += [0.6453, 0.4255, 0.9261, 0.3845, 0.6030, 0.6057, 0.1352]
    np.testing.assert_array_equal(model.predict_proba(STIMULI)[:, 0].round(4), expected)


def test_reference_2_least_squares():
    model = fitted(GCM())
    assert round(model.sse_, 4) == 0.0595
    assert model.params_["sensitivity"] == pytest.approx(7.06, abs=0.005)
    published = [0.242, 0.196, 0.253, 0.309]
    np.testing.assert_array_equal(model.params_["attention"].round(3), published)


def test_reference_2_least_squares_with_a_free_power():
    model = fitted(GCM(free=("sensitivity", "attention", "gamma")))
    assert model.sse_ == pytest.approx(0.0382, abs=1e-4)
    assert model.params_["sensitivity"] == pytest.approx(15.35, abs=0.005)
    assert round(model.params_["gamma"], 3) == 0.380


def test_reference_2_the_prototype_model():
    assert round(fitted(PrototypeModel()).sse_, 4) == 0.2049


def test_reference_2_the_signature_of_exemplars():
    # 1010 is less like the mean of A than 1110, but more like the exemplars of A than of B.
    less_typical, typical = WORDS.index("1010"), WORDS.index("1110")
    exemplar = fitted(GCM()).predict_proba(STIMULI)[:, 0]
    prototype = fitted(PrototypeModel()).predict_proba(STIMULI)[:, 0]
    assert exemplar[less_typical] > exemplar[typical]
    assert prototype[less_typical] < prototype[typical]
    assert OBSERVED[less_typical] > OBSERVED[typical]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("exponent", [1, 2])
def test_without_bias_and_power_the_gcm_is_nadaraya_watson(order, exponent):
    rng = np.random.default_rng(3)
    X, y, new = rng.normal(size=(30, 3)), np.arange(30) % 3, rng.normal(size=(50, 3))
    w = (0.2, 0.5, 0.3)
    model = GCM(1.7, attention=w, order=order, exponent=exponent).fit(X, y)
    kernel = Shepard(1.7, order, exponent, w)
    regression = ExemplarRegressor(kernel).fit(X, np.eye(3)[y])
    np.testing.assert_allclose(model.predict_proba(new), regression.predict(new), rtol=1e-12)
    classifier = ExemplarClassifier(kernel, priors="empirical").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(new), classifier.predict_proba(new), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), classifier.predict(new))


def test_strengths_are_the_weights_of_nadaraya_watson():
    rng = np.random.default_rng(4)
    X, y, V = rng.normal(size=(12, 2)), np.arange(12) % 2, rng.uniform(0.1, 3.0, 12)
    model = GCM(2.0).fit(X, y, strengths=V)
    machine = ExemplarRegressor(Shepard(2.0, 1, 1, (0.5, 0.5)))
    machine.fit(X, np.eye(2)[y], sample_weight=V)
    np.testing.assert_allclose(model.predict_proba(X), machine.predict(X), rtol=1e-12)


def test_21_without_weights_exemplar_ridge_decides_by_summed_similarity():
    model = ExemplarRidge(3.0, penalty=np.inf).fit(EXEMPLARS, CATEGORIES)
    sums = GCM(3.0).fit(EXEMPLARS, CATEGORIES).function_(STIMULI)
    np.testing.assert_allclose(model.function_(STIMULI), sums, rtol=1e-13)
    large = ExemplarRidge(3.0, penalty=1e9).fit(EXEMPLARS, CATEGORIES)
    np.testing.assert_allclose(large.function_(STIMULI), sums, rtol=1e-7)


def test_24_without_penalty_exemplar_ridge_knows_every_exemplar():
    model = ExemplarRidge(3.0, penalty=0.0).fit(EXEMPLARS, CATEGORIES)
    labels = np.array([[label == "A", label == "B"] for label in CATEGORIES], dtype=float)
    np.testing.assert_allclose(model.function_(EXEMPLARS), labels, atol=1e-12)


def test_the_log_odds_of_exemplar_ridge_are_ridge_regression_on_signs():
    model = ExemplarRidge(2.0, penalty=0.4, choice=1.5).fit(EXEMPLARS, CATEGORIES)
    signs = np.where(np.array(CATEGORIES) == "A", 1.0, -1.0)
    ridge = KernelRidge(Shepard(2.0, 1, 1, (0.25,) * 4), penalty=0.4).fit(EXEMPLARS, signs)
    log_p = model.predict_log_proba(STIMULI)
    np.testing.assert_allclose(
        log_p[:, 0] - log_p[:, 1], 1.5 * 1.4 * ridge.predict(STIMULI), rtol=1e-10
    )
