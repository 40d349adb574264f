"""Strategies that draw points and compositions of kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer.kernels import (
    ArcCosine,
    Brownian,
    Categorical,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    Sigmoid,
    Tanimoto,
    assume_psd,
    exp,
    gaussian_over,
    normalize,
    polynomial,
    pullback,
    rescale,
)
from tests.laws.functions import damping, folded

__all__ = ["finite_trees", "leaves", "points", "stationary", "trees"]

WIDTH = 3
moderate = st.floats(0.25, 4.0)
coefficients = st.one_of(st.just(0.0), st.floats(1e-3, 2.0))
# Ordinary numbers, and those at which formulas stumble.
coordinates = st.one_of(
    st.floats(-3.0, 3.0), st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 1e-9])
)


def points(least: int = 2, most: int = 7) -> st.SearchStrategy[np.ndarray]:
    """Draw some rows of numbers, zeros and duplicates among them."""
    shape = st.tuples(st.integers(least, most), st.just(WIDTH))
    return hnp.arrays(np.float64, shape, elements=coordinates)


bandwidths = st.one_of(moderate, st.tuples(*[moderate] * WIDTH))
stationary = st.one_of(
    st.builds(Gaussian, bandwidths),
    st.builds(Laplacian, bandwidths),
    st.builds(Exponential, bandwidths),
    st.builds(Matern, st.sampled_from([0.5, 0.8, 1.5, 2.5, 3.3]), bandwidths),
    st.builds(RationalQuadratic, moderate, bandwidths),
    st.builds(Periodic, moderate, bandwidths),
    st.builds(Shepard, moderate, st.just(2.0), st.floats(0.5, 2.0)),
    st.builds(
        Shepard, moderate, st.just(1.0), st.floats(0.5, 1.0), st.tuples(*[moderate] * WIDTH)
    ),
)
finite = st.one_of(
    st.builds(Linear),
    st.builds(Cosine),
    st.builds(Categorical),
    st.builds(Constant, coefficients),
    st.builds(Polynomial, st.integers(1, 3), coefficients, coefficients),
    st.builds(lambda F: QuadraticForm(F @ F.T), hnp.arrays(float, (WIDTH, 2), elements=moderate)),
)
leaves = st.one_of(
    stationary,
    finite,
    st.builds(Brownian),
    st.builds(Tanimoto),
    st.builds(ArcCosine, st.integers(0, 2)),
)
anything = st.one_of(leaves, st.builds(Sigmoid, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)))


def finite_combinations(parts):
    """Combine kernels so that finitely many features remain finitely many."""
    return st.one_of(
        st.builds(lambda a, b: a + b, parts, parts),
        st.builds(lambda a, b: a * b, parts, parts),
        st.builds(lambda c, a: c * a, coefficients, parts),
        st.builds(lambda a: a**2, parts),
        st.builds(polynomial, parts, st.lists(coefficients, min_size=1, max_size=3)),
        st.builds(normalize, parts),
        st.builds(lambda a: rescale(a, damping), parts),
        st.builds(assume_psd, parts),
    )


def combinations(parts):
    """Combine kernels by every rule of the algebra."""
    return st.one_of(
        finite_combinations(parts),
        st.builds(lambda c, a: exp(c * a), st.floats(0.0, 0.5), parts),
        st.builds(gaussian_over, parts, moderate),
    )


# Some columns, or images of rows: kernels on three numbers do not fit there.
partial = st.one_of(
    st.builds(lambda s, i: Gaussian(s).on(i), moderate, st.integers(-WIDTH, WIDTH - 1)),
    st.builds(lambda i, j: Linear().on(slice(i, None), j), st.integers(0, 2), st.integers(0, 2)),
    st.builds(lambda s: pullback(Laplacian(s), folded), moderate),
)
finite_trees = st.recursive(finite, finite_combinations, max_leaves=4)
trees = st.recursive(st.one_of(leaves, partial), combinations, max_leaves=5)
any_trees = st.recursive(st.one_of(anything, partial), combinations, max_leaves=5)
