"""The delta rule, on features and on their conjunctions, as estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.cognition.experiments.designs import shj
from mercer.cognition.learners.cues import ConfiguralCue, DeltaRule
from mercer.errors import DomainError, SolveError, ValidityError

MODELS = [DeltaRule(0.05, 3.0), DeltaRule(0.05, 3.0, bias=False), ConfiguralCue(0.02, 3.0)]


def sequence(kind="II", seed=0):
    design = shj(kind)
    order = design.trials(np.random.default_rng(seed))
    return design.stimuli[order], design.categories[order]


@pytest.mark.parametrize("bias", [True, False])
def test_the_delta_rule_one_number_at_a_time(bias):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    model = DeltaRule(0.03, choice=2.0, bias=bias).fit(X, y)
    w, trace = np.zeros(5), []
    for x, label in zip(X, y, strict=True):
        cues = np.append(x, float(bias))
        o, t = w @ cues, 1.0 if label == 1 else -1.0
        trace.append(1 / (1 + np.exp(-2.0 * o)))
        w += 0.03 * (t - o) * cues
    np.testing.assert_allclose(model.trace_[:, 1], trace, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, np.column_stack([-w[:4], w[:4]]), rtol=1e-11)
    np.testing.assert_allclose(model.intercept_, [-w[4], w[4]], rtol=1e-11)
    np.testing.assert_allclose(model.function_(X) + model.intercept_, np.outer(
        X @ w[:4] + w[4], [-1, 1]), rtol=1e-10, atol=1e-12)  # fmt: skip


def test_many_categories_have_an_output_each():
    X, y = np.tile(np.eye(3), (200, 1)), np.tile(["x", "y", "z"], 200)
    model = DeltaRule(0.1, choice=4.0, bias=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, 2 * np.eye(3) - 1, atol=1e-6)
    assert model.predict(np.eye(3)).tolist() == ["x", "y", "z"]
    shares = np.exp(2.0 * model.coef_)
    np.testing.assert_allclose(
        model.predict_proba(np.eye(3)), shares / shares.sum(1, keepdims=True)
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_learners_share_one_interface(model):
    model = clone(model)
    X, y = sequence("I")
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, y)
    assert model.trace_.shape == (256, 2)
    assert model.classes_.tolist() == ["A", "B"]
    np.testing.assert_array_equal(model.trace_[0], [0.5, 0.5])
    part = clone(model).fit(X[:-1], y[:-1])
    np.testing.assert_allclose(part.predict_proba(X[-1:])[0], model.trace_[-1], rtol=1e-10)
    control = np.where(np.arange(256) < 100, 0, 2)
    still, short = clone(model).fit(X, y, control=control), clone(model).fit(X[:100], y[:100])
    np.testing.assert_allclose(still.trace_[100:], short.predict_proba(X[100:]), rtol=1e-10)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_simulated_subject_is_a_fit_to_its_trials(model):
    design = shj("V", blocks=2)
    curves = model.simulate(design, subjects=2, seed=5, return_subjects=True)
    codes = (design.categories == "B").astype(int)
    for order, curve in zip(design.orders(2, seed=5), curves, strict=True):
        trace = clone(model).fit(design.stimuli[order], design.categories[order]).trace_
        wrong = 1 - trace[np.arange(32), codes[order]]
        np.testing.assert_allclose(wrong.reshape(2, 16).mean(axis=1), curve, rtol=1e-11)
    np.testing.assert_allclose(model.simulate(design, 2, 5), curves.mean(axis=0))


def test_no_line_divides_types_II_and_VI_but_conjunctions_do():
    for kind in ("II", "VI"):
        design = shj(kind)
        right = {}
        for model in (DeltaRule(0.05), ConfiguralCue(0.05)):
            model.fit(*sequence(kind))
            right[type(model)] = np.mean(model.predict(design.stimuli) == design.categories)
        assert right[ConfiguralCue] == 1 > right[DeltaRule]


@pytest.mark.parametrize("dimensions", [1, 2, 4, 5])
def test_the_kernel_of_conjunctions_in_any_number_of_dimensions(dimensions):
    rng = np.random.default_rng(0)
    X, Z = rng.integers(0, 3, (12, dimensions)), rng.integers(0, 3, (9, dimensions))
    matches = (X[:, None] == Z[None]).sum(axis=-1)
    np.testing.assert_array_equal(ConfiguralCue.kernel(dimensions)(X, Z), 2.0**matches - 1)


def test_a_stimulus_with_both_categories_and_values_never_seen():
    X, y = np.tile([[0, 0], [0, 0], [1, 1]], (40, 1)), np.tile(["a", "b", "b"], 40)
    model = ConfiguralCue(0.1, 2.0).fit(X, y)
    assert model.predict([[1, 1]]).tolist() == ["b"]
    np.testing.assert_array_equal(model.predict_proba([[7, 8]]), [[0.5, 0.5]])


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("name", ["rate", "choice"])
def test_negative_parameters_are_refused(model, name):
    with pytest.raises(ValidityError, match=f"{name} of .* not negative, found -1"):
        clone(model).set_params(**{name: -1}).fit(*sequence())


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_bad_trials_are_refused(model):
    X, y = sequence()
    with pytest.raises(DomainError, match="NaN at row 2"):
        clone(model).fit([[0.0], [1.0], [np.nan]], ["a", "b", "a"])
    with pytest.raises(DomainError, match="category of row 1 is missing"):
        clone(model).fit([[0.0], [1.0], [0.0]], ["a", None, "a"])
    with pytest.raises(DomainError, match=r"row 0 of X has 2 dimensions, but .* have 3"):
        clone(model).fit(X, y).predict(X[:, :2])
    with pytest.raises(DomainError, match="subjects must be"):
        model.simulate(shj("I"), subjects=-1)
    with pytest.raises(SolveError, match="diverged at trial"):
        clone(model).set_params(rate=50.0).fit(X, y)
    with pytest.raises(DomainError, match="at least one dimension"):
        ConfiguralCue.kernel(0)
