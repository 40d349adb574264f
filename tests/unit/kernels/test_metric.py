"""Metrics of stationary kernels: attention to dimensions, and matrices."""

import numpy as np
import pytest

import mercer
from mercer.errors import DomainError, ValidityError
from mercer.gram.slopes import slopes_of
from mercer.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    Shepard,
    parse,
)

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 3))
A = rng.normal(size=(3, 3))
M = A @ A.T
WEIGHTS = (0.5, 2.0, 1.5)
FAMILIES = {
    "gaussian": lambda metric: Gaussian(1.3, metric=metric),
    "laplacian": lambda metric: Laplacian(1.3, metric=metric),
    "exponential": lambda metric: Exponential(1.3, metric=metric),
    "power": lambda metric: Exponential(1.3, exponent=0.7, order=1.4, metric=metric),
    "matern": lambda metric: Matern(2.5, 1.3, metric),
    "rational": lambda metric: RationalQuadratic(0.7, 1.3, metric),
    "shepard": lambda metric: Shepard(0.5, 2.0, 1.3, metric),
}
each = pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)


@pytest.mark.parametrize("kernel", [Gaussian, Matern, RationalQuadratic, Exponential])
def test_weights_are_squared_inverse_bandwidths(kernel):
    sigma = np.array([0.5, 1.0, 3.0])
    one, other = kernel(bandwidth=1.0, metric=1 / sigma**2), kernel(bandwidth=sigma)
    assert np.allclose(one(X), other(X), atol=1e-14)


def test_weights_of_the_city_block_distance_are_inverse_bandwidths():
    sigma = np.array([0.5, 1.0, 3.0])
    assert np.allclose(Laplacian(1.0, metric=1 / sigma)(X), Laplacian(sigma)(X), atol=1e-14)


@each
def test_a_diagonal_matrix_is_a_vector_of_weights(make):
    kernel = make(np.diag(WEIGHTS))
    order = getattr(kernel, "order", 1.0 if isinstance(kernel, Laplacian) else 2.0)
    # Rows are transformed by M^½ first, so that a weight enters to the power of r/2.
    vector = make(np.asarray(WEIGHTS) ** (order / 2))
    assert np.allclose(kernel(X), vector(X), atol=1e-13)


@each
def test_a_matrix_compares_transformed_rows(make):
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(values) @ vectors.T
    assert np.allclose(make(M)(X), make(None)(X @ root), atol=1e-12)


@each
def test_what_gets_no_weight_is_not_looked_at(make):
    Z = X.copy()
    Z[:, 1] = 1e3 * rng.normal(size=len(X))
    kernel = make((1.0, 0.0, 2.0))
    assert np.allclose(kernel(X), kernel(Z), atol=1e-12)
    flat = make(np.zeros((3, 3)))
    assert np.array_equal(flat(X), np.ones((40, 40)))


def test_shepard_and_exponential_are_one_family():
    for p, q in ((2.0, 1.0), (2.0, 0.7), (1.0, 0.7), (1.5, 1.5)):
        for metric in (None, WEIGHTS, M):
            one = Exponential(1.7, exponent=q, order=p, metric=metric)
            two = Shepard(1.7**-q, p, q, metric)
            assert np.allclose(one(X), two(X), atol=1e-13)
            assert one.proof().verdict == two.proof().verdict == "proved"
    bad = Exponential(1.7, exponent=2.0, order=1.0, metric=M).proof()
    assert bad.verdict == "refuted" and bad.witness.eigenvalue < 0
    # Of rank two a norm of any order embeds in L₁.
    assert Exponential(1.0, 1.0, 5.0, np.diag([1.0, 2.0, 0.0])).proof().verdict == "proved"


@pytest.mark.parametrize("metric", [WEIGHTS, M], ids=["weights", "matrix"])
def test_the_median_is_that_of_the_kernels_own_distance(metric):
    U = X @ np.linalg.cholesky(M) if metric is M else X * np.sqrt(WEIGHTS)
    found = Exponential("median", exponent=0.7, metric=metric).resolve(X).bandwidth
    between = np.linalg.norm(U[:, None] - U[None], axis=2)[np.triu_indices(40, 1)]
    assert found == pytest.approx(np.median(between))
    assert Gaussian("median", metric=metric).resolve(X).bandwidth == pytest.approx(found)


@each
@pytest.mark.parametrize("metric", [WEIGHTS, M], ids=["weights", "matrix"])
def test_slopes_by_the_bandwidth_are_those_of_small_changes(make, metric):
    kernel = make(metric)
    name = "sensitivity" if isinstance(kernel, Shepard) else "bandwidth"
    value, step = getattr(kernel, name), 1e-5
    G = rng.normal(size=(40, 40))
    G += G.T
    up, down = (
        np.sum(G * kernel.set_params(**{name: value * np.exp(s)})(X)) for s in (step, -step)
    )
    found = slopes_of(kernel, kernel.admit(X), G)
    assert found[name] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-6)
    assert "metric" not in found


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0])
def test_slopes_by_several_bandwidths_beside_weights(order):
    kernel = Exponential((1.0, 2.0, 0.7), exponent=0.8, order=order, metric=WEIGHTS)
    G, step = np.ones((40, 40)), 1e-5
    found = slopes_of(kernel, kernel.admit(X), G)["bandwidth"]
    for i in range(3):
        turn = np.exp(step * np.eye(3)[i])
        widths = np.asarray(kernel.bandwidth)
        up, down = (
            kernel.set_params(bandwidth=w)(X).sum() for w in (widths * turn, widths / turn)
        )
        assert found[i] == pytest.approx((up - down) / (2 * step), rel=1e-6)


@each
def test_formula_notation_and_files_keep_the_metric(make, tmp_path):
    for metric in (WEIGHTS, M):
        kernel = make(metric)
        assert parse(repr(kernel)) == kernel and hash(parse(repr(kernel))) == hash(kernel)
        assert kernel.set_params(**kernel.get_params()) == kernel
        machine = mercer.KernelRidge(kernel, penalty=0.1).fit(X, X[:, 0])
        mercer.save(machine, tmp_path / "m")
        again = mercer.load(tmp_path / "m")
        assert again.kernel_ == kernel
        assert np.array_equal(again.predict(X), machine.predict(X))
    assert "metric" not in repr(Gaussian(1.0)) and "order" not in repr(Exponential(1.0))


@pytest.mark.parametrize("make", [Gaussian, Exponential, Laplacian, Matern, RationalQuadratic])
def test_a_metric_that_is_none_is_refused_by_the_kernels_name(make):
    name = make.__name__
    bad = {
        "positive semi-definite": [[1.0, 2.0], [2.0, 1.0]],
        "symmetric": [[1.0, 2.0], [0.0, 1.0]],
        "square": [[1.0, 2.0]],
        "NaN": [[np.nan, 0.0], [0.0, 1.0]],
        "not negative": (1.0, -1.0),
        "numbers": (),
    }
    for words, metric in bad.items():
        with pytest.raises(ValidityError, match=f"metric of {name}.*{words}"):
            make(metric=metric)
    with pytest.raises(ValidityError, match="one bandwidth per dimension"):
        make(bandwidth=(1.0, 2.0), metric=np.eye(2))
    with pytest.raises(ValidityError, match="2 bandwidths and a metric of 3 weights"):
        make(bandwidth=(1.0, 2.0), metric=(1.0, 2.0, 3.0))
    with pytest.raises(DomainError, match=f"parameters of {name} are made for 2"):
        make(bandwidth=1.0, metric=(1.0, 2.0))(X)
    with pytest.raises(DomainError, match=f"parameters of {name} are made for 2"):
        make(metric=np.eye(2)).resolve(X)


def test_equal_rows_are_at_distance_zero_in_every_metric():
    rows = np.repeat(rng.normal(size=(50, 6)), 3, axis=0) + 1e5
    B = rng.normal(size=(6, 6))
    for metric in (B @ B.T, B[:, :1] @ B[:, :1].T):
        kernel = Exponential(1e-9, metric=metric)
        K = kernel(rows, rows[::-1])[:, ::-1]
        assert np.all(K[rows[:, 0][:, None] == rows[:, 0][None]] == 1.0)


def test_random_features_of_a_power_of_the_distance():
    kernel = Exponential(1.5, exponent=0.6, metric=M)
    Z = kernel.random_features(20_000, seed=1)(X)
    assert np.max(np.abs(Z @ Z.T - kernel(X))) < 0.05


def test_the_density_of_exemplars_knows_the_metric():
    labels = X[:, 0] > 0
    plain = mercer.ExemplarClassifier(Gaussian((0.5, 1.0, 2.0))).fit(X, labels)
    metric = mercer.ExemplarClassifier(Gaussian(1.0, metric=(4.0, 1.0, 0.25))).fit(X, labels)
    assert np.allclose(plain.predict_proba(X), metric.predict_proba(X))
