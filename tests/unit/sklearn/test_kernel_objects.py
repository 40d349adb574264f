"""scikit-learn's kernel objects as covariances: values, noise and derivatives by θ."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

from mercer.errors import ValidityError
from mercer.gram.slopes import slopes_of
from mercer.sklearn.kernel_objects import covariance_of

X = np.random.default_rng(0).normal(size=(12, 3))
KERNELS = [
    RBF(1.3),
    RBF([0.7, 1.3, 2.0]),
    RBF([2.0, 1.0, 3.0], "fixed") + RBF(1.0),
    Matern(1.5, nu=0.5),
    Matern([1.0, 2.0, 3.0], nu=1.5),
    Matern(1.5, nu=2.5),
    Matern(1.5, nu=np.inf),
    RationalQuadratic(1.5, 0.8),
    DotProduct(1.7),
    2.5 * RBF(1.3) + WhiteKernel(0.3),
    RBF(1.3) * 2.5,
    ConstantKernel(2.0) * ConstantKernel(0.5),
    WhiteKernel(0.3) + DotProduct(2.0),
    ConstantKernel(0.5) * (RBF(0.8) + WhiteKernel(0.2)),
    (RBF(1.0) + 0.5 * Matern(2.0)) * RationalQuadratic(),
    (RBF(1.0) + ConstantKernel(0.5) + WhiteKernel(0.1)) ** 3,
    WhiteKernel(0.2) * (WhiteKernel(0.3) + ConstantKernel(2.0)) + RBF(1.0),
    DotProduct(0.5) ** 2 + ConstantKernel(3.0, "fixed"),
    PairwiseKernel(0.4, metric="linear"),
]
IN_NUMBERS = [  # whose derivatives scikit-learn takes by differences
    Matern(1.5, nu=0.8),
    PairwiseKernel(0.4, metric="rbf"),
    PairwiseKernel(0.4, metric="laplacian"),
    PairwiseKernel(0.4, metric="poly"),
]


def slopes(covariance, points, G):
    return covariance.slopes(slopes_of(covariance.kernel, points, G), float(np.trace(G)))


@pytest.mark.parametrize("kernel", KERNELS + IN_NUMBERS, ids=repr)
def test_similarities_and_derivatives_are_scikit_learns(kernel):
    rows = X
    covariance = covariance_of(kernel, rows.shape[1])
    points = covariance.kernel.admit(rows)
    expected, tensor = kernel(rows, eval_gradient=True)
    found = covariance.kernel(rows) + covariance.noise * np.eye(len(rows))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert len(covariance.slots) == len(kernel.theta)
    G = np.random.default_rng(1).normal(size=(12, 12))
    G += G.T
    rough = kernel in IN_NUMBERS
    np.testing.assert_allclose(
        slopes(covariance, points, G), np.einsum("ij,ijk->k", G, tensor),
        rtol=1e-4 if rough else 1e-10, atol=1e-4 if rough else 1e-11,
    )  # fmt: skip


def test_a_wave_is_translated_in_one_column():
    kernel, column = ExpSineSquared(1.2, 3.0), X[:, :1]
    covariance = covariance_of(kernel, 1)
    expected, tensor = kernel(column, eval_gradient=True)
    np.testing.assert_allclose(covariance.kernel(column), expected, rtol=1e-12)
    G = np.ones((12, 12))
    found = slopes(covariance, covariance.kernel.admit(column), G)
    np.testing.assert_allclose(found, tensor.sum(axis=(0, 1)), rtol=1e-10)
    for width in (3, None):
        with pytest.raises(ValidityError, match="one column alone"):
            covariance_of(kernel, width)


class Steeper(RBF):
    """A kernel of somebody's that may mean anything."""


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Steeper(1.0), "no counterpart of Steeper"),
        (RBF() + 2.0 * Steeper(), "no counterpart of Steeper"),
        (CompoundKernel([RBF(), RBF()]), "no counterpart of CompoundKernel"),
        (PairwiseKernel(metric="sigmoid"), r"no counterpart of PairwiseKernel\('sigmoid'\)"),
        (PairwiseKernel(metric="chi2"), r"no counterpart of PairwiseKernel\('chi2'\)"),
        (RBF() ** 0.5, "power 0.5 of a valid kernel"),
        (DotProduct() * WhiteKernel(), "differs between items"),
        ((DotProduct() + WhiteKernel()) ** 2, "differs by item"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(kernel, reason):
    with pytest.raises(ValidityError, match=reason):
        covariance_of(kernel, 3)
