"""One function of a machine: on the primal route it is its weights, whatever is asked of it."""

import pickle

import numpy as np
import pytest

import mercer
from mercer import KernelDiscriminant, KernelLogistic, KernelPCA, KernelRidge
from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Constant,
    Gaussian,
    Linear,
    Polynomial,
    Spectrum,
    assume_psd,
    normalize,
    polynomial,
)
from mercer.plans import Plan
from mercer.rkhs import Function, PrimalFunction, gradient_outer_product, section

PRIMAL = Plan(route="primal")
LARGE = 1e6


def uneven(n=100, seed=0):
    """Columns of size 1 and 1e6, of which both matter."""
    X = np.random.default_rng(seed).normal(size=(n, 2)) * [1.0, LARGE]
    return X, 0.1 * X[:, 0] + 0.128 * X[:, 1] / LARGE


def fitted(kernel=Linear(), penalty=1e-6, n=100):  # noqa: B008
    X, y = uneven(n)
    return KernelRidge(kernel, penalty, follow=PRIMAL).fit(X, y), X, y


def test_everything_that_is_asked_of_a_machine_has_one_answer(tmp_path):
    machine, _, _ = fitted()
    f, w = machine.function_, machine.coef_
    new = np.array([[0.0, LARGE], [1.0, 0.0], [3.0, -2 * LARGE]])
    expected = np.array([0.128, 0.1, 0.3 - 0.256])
    np.testing.assert_allclose(machine.predict(new), expected, rtol=1e-6)
    np.testing.assert_array_equal(f(new), machine.predict(new))
    assert f.norm() == pytest.approx(np.linalg.norm(w), rel=1e-14)
    assert f.inner(f) == pytest.approx(w @ w, rel=1e-14)
    np.testing.assert_allclose(f.gradient(new), np.tile(w, (3, 1)), rtol=1e-14)
    assert f.inner(section(Linear(), new[0])) == pytest.approx(f(new[:1])[0], rel=1e-12)
    assert section(Linear(), new[0]).inner(f) == pytest.approx(f(new[:1])[0], rel=1e-12)
    why = mercer.explain(machine, new)
    np.testing.assert_allclose(why.scores, expected, rtol=1e-6)
    shares = why[2].features().set_index("feature")["contribution"]
    np.testing.assert_allclose([shares["0"], shares["1"]], [0.3, -0.256], rtol=1e-6)
    mercer.save(machine, tmp_path / "m.mercer")
    for again in (mercer.load(tmp_path / "m.mercer"), pickle.loads(pickle.dumps(machine))):
        assert isinstance(again.function_, PrimalFunction)
        np.testing.assert_array_equal(again.function_(new), f(new))
        assert again.function_.norm() == f.norm()


def test_the_expansion_alone_would_have_another_value():
    machine, _, _ = fitted()
    f = machine.function_
    plain = Function(f.kernel, f.points, f.coefficients)
    assert abs(plain([[0.0, LARGE]])[0] - 0.128) > 1e3 * abs(f([[0.0, LARGE]])[0] - 0.128)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        3.0 * Linear() + Constant(2.0),
        Polynomial(3, offset=1.0),
        assume_psd(Polynomial(2, offset=0.5, scale=2.0)),
        polynomial(Linear(), [1.0, 2.0, 0.5]),
        normalize(Polynomial(2, offset=1.0)),
        Linear() * Polynomial(2, offset=1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("outputs", [None, 2])
def test_weights_and_expansion_are_the_same_function_where_nothing_cancels(kernel, outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    c = rng.normal(size=30 if outputs is None else (30, outputs))
    points = kernel.admit(X)
    features = kernel.features(points)
    f = PrimalFunction(kernel, points, c, features.T @ c)
    g, new = Function(kernel, points, c), rng.normal(size=(7, 2))
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(f(new), g(new), **close)
    np.testing.assert_allclose(f.gradient(new), g.gradient(new), **close)
    np.testing.assert_allclose(f.norm(), g.norm(), **close)
    other = Function(kernel, new, c[:7])
    np.testing.assert_allclose(f.inner(other), g.inner(other), **close)
    np.testing.assert_allclose(other.inner(f), g.inner(other), **close)
    np.testing.assert_allclose((f + other)(X), (g + other)(X), **close)
    np.testing.assert_allclose((other + f)(X), (g + other)(X), **close)
    np.testing.assert_allclose((2 * f - other).norm(), (2 * g - other).norm(), **close)
    np.testing.assert_allclose(f.distance(other), g.distance(other), **close)
    np.testing.assert_allclose(f.project(new)(new), g(new), **close)
    np.testing.assert_allclose(
        gradient_outer_product(f, new), gradient_outer_product(g, new), **close
    )
    if outputs is None:
        np.testing.assert_allclose(f.angle(other), g.angle(other), **close)
    else:
        np.testing.assert_allclose(f.mix(np.ones(2))(new), g(new).sum(axis=1), **close)


def test_functions_of_two_fits_are_compared_by_their_weights():
    one, X, y = fitted()
    half = KernelRidge(Linear(), 1e-6, follow=PRIMAL).fit(X[:50], y[:50])
    f, g = one.function_, half.function_
    assert f.inner(g) == pytest.approx(one.coef_ @ half.coef_, rel=1e-12)
    assert f.distance(g) == pytest.approx(np.linalg.norm(one.coef_ - half.coef_), abs=1e-15)
    assert isinstance(f - g, PrimalFunction) and isinstance(-f, PrimalFunction)


def test_features_of_which_another_function_has_more_are_no_measure_for_it():
    k = Spectrum(2)
    one, two = k.admit(["abab", "ba"]), k.admit(["abcd", "xyab"])
    f = PrimalFunction(k, one, [1.0, -2.0], np.asarray(k.features(one).T @ [1.0, -2.0]))
    g = Function(k, two, [1.0, 3.0])
    h = PrimalFunction(k, two, [1.0, 3.0], np.asarray(k.features(two).T @ [1.0, 3.0]))
    plain = Function(k, one, [1.0, -2.0])
    assert f.inner(g) == f.inner(h) == h.inner(f) == plain.inner(g)
    np.testing.assert_allclose((f + h)(["abxy"]), (plain + g)(["abxy"]))


def test_weights_have_the_shape_of_the_features():
    with pytest.raises(DomainError, match="2 features"):
        PrimalFunction(Linear(), np.eye(2), np.ones(2), np.ones(3))
    with pytest.raises(DomainError, match="NaN"):
        PrimalFunction(Linear(), np.eye(2), np.ones(2), [1.0, np.nan])
    with pytest.raises(DomainError, match="None features"):
        PrimalFunction(Gaussian(1.0), np.eye(2), np.ones(2), np.ones(2))
    with pytest.raises(ValidityError, match="different spaces"):
        PrimalFunction(Linear(), np.eye(2), np.ones(2), np.ones(2)).inner(
            section(Gaussian(1.0), [1.0, 2.0])
        )


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, offset=1.0)], ids=repr)
def test_every_machine_of_the_primal_route_keeps_its_weights(kernel):
    X, y = uneven()
    labels = (y > 0).astype(int)
    for machine in (
        KernelRidge(kernel, 1e-3),
        KernelLogistic(kernel, 1e-3),
        KernelDiscriminant(kernel, 1e-3),
        KernelPCA(kernel, 2),
    ):
        machine.fit(X / [1.0, LARGE], labels)
        assert isinstance(machine.function_, PrimalFunction), machine
        np.testing.assert_array_equal(machine.function_.weights, machine.coef_)


def test_shares_of_patterns_come_from_their_weights():
    texts, y = ["abab", "abba", "bbbb", "aaab"], [1.0, 2.0, -1.0, 0.5]
    primal = KernelRidge(Spectrum(2), 0.5, follow=PRIMAL).fit(texts, y)
    dual = KernelRidge(Spectrum(2), 0.5, follow=Plan(route="dual")).fit(texts, y)
    one, two = (mercer.explain(m, ["abbx", "zaab"]) for m in (primal, dual))
    np.testing.assert_allclose(one.scores, two.scores, rtol=1e-9)
    for a, b in zip(one, two, strict=True):
        mine, theirs = (e.features().set_index("feature")["contribution"] for e in (a, b))
        np.testing.assert_allclose(mine.sort_index(), theirs.sort_index(), rtol=1e-9)
        np.testing.assert_allclose(a.units()["contribution"], b.units()["contribution"])
