"""scikit-learn's kernels of pairs of rows, computed by mercer's, tile by tile on all cores.

Examples
--------
>>> from mercer.sklearn.metrics.pairwise import rbf_kernel
>>> rbf_kernel([[0.0], [1.0]], gamma=0.5).round(3)
array([[1.   , 0.607],
       [0.607, 1.   ]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import pairwise as theirs

from mercer.errors import MercerError
from mercer.kernels import Kernel
from mercer.sklearn.translation import kernel_of, leave

__all__ = [
    "chi2_kernel", "cosine_similarity", "laplacian_kernel", "linear_kernel", "pairwise_kernels",
    "polynomial_kernel", "rbf_kernel", "sigmoid_kernel",
]  # fmt: skip

# scikit-learn's own, before anybody patches them.
ORIGINALS: dict[str, Callable[..., Any]] = {name: getattr(theirs, name) for name in __all__}


def evaluated(
    kernel: Kernel | None, X: Any, Y: Any, original: Callable[[], Any], name: str
) -> Any:
    """Return similarities of rows by a kernel of mercer's, or as scikit-learn computes them."""
    if kernel is None:
        leave(name, "mercer has no kernel of these parameters")
        return original()
    X, Y = theirs.check_pairwise_arrays(X, Y)
    single = X.dtype == np.float32
    try:
        K = kernel(X) if Y is X else kernel(X, Y)
    except MercerError as error:
        leave(name, str(error))
        return original()
    return np.asarray(K, dtype=np.float32 if single else np.float64)


def _gamma(X: Any, gamma: float | None) -> float:
    return 1.0 / np.shape(X)[1] if gamma is None else gamma


def linear_kernel(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """Return xᵀz of all pairs of rows."""
    kernel = kernel_of("linear", 1.0, 1, 0.0) if dense_output else None
    name, original = "linear_kernel", ORIGINALS["linear_kernel"]
    return evaluated(kernel, X, Y, lambda: original(X, Y, dense_output), name)


def cosine_similarity(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """Return the cosine of the angle of all pairs of rows."""
    kernel = kernel_of("cosine", 1.0, 1, 0.0) if dense_output else None
    name, original = "cosine_similarity", ORIGINALS["cosine_similarity"]
    return evaluated(kernel, X, Y, lambda: original(X, Y, dense_output), name)


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    """Return exp(−γ|x − z|²) of all pairs of rows; γ is 1/features by default."""
    kernel = kernel_of("rbf", _gamma(X, gamma), 1, 0.0)
    return evaluated(kernel, X, Y, lambda: ORIGINALS["rbf_kernel"](X, Y, gamma), "rbf_kernel")


def laplacian_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    """Return exp(−γ|x − z|₁) of all pairs of rows; γ is 1/features by default."""
    kernel = kernel_of("laplacian", _gamma(X, gamma), 1, 0.0)
    name, original = "laplacian_kernel", ORIGINALS["laplacian_kernel"]
    return evaluated(kernel, X, Y, lambda: original(X, Y, gamma), name)


def chi2_kernel(X: Any, Y: Any = None, gamma: float = 1.0) -> Any:
    """Return exp(−γ Σ (x − z)²/(x + z)) of all pairs of rows."""
    kernel = kernel_of("chi2", gamma, 1, 0.0)
    return evaluated(kernel, X, Y, lambda: ORIGINALS["chi2_kernel"](X, Y, gamma), "chi2_kernel")


def polynomial_kernel(
    X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1
) -> Any:
    """Return (γxᵀz + coef0)^degree of all pairs of rows; γ is 1/features by default."""
    kernel = kernel_of("poly", _gamma(X, gamma), degree, coef0)
    name, original = "polynomial_kernel", ORIGINALS["polynomial_kernel"]
    return evaluated(kernel, X, Y, lambda: original(X, Y, degree, gamma, coef0), name)


def sigmoid_kernel(X: Any, Y: Any = None, gamma: float | None = None, coef0: float = 1) -> Any:
    """Return tanh(γxᵀz + coef0) of all pairs of rows; γ is 1/features by default."""
    kernel = kernel_of("sigmoid", _gamma(X, gamma), 1, coef0)
    name, original = "sigmoid_kernel", ORIGINALS["sigmoid_kernel"]
    return evaluated(kernel, X, Y, lambda: original(X, Y, gamma, coef0), name)


BY_NAME: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "linear": (linear_kernel, ()),
    "cosine": (cosine_similarity, ()),
    "rbf": (rbf_kernel, ("gamma",)),
    "laplacian": (laplacian_kernel, ("gamma",)),
    "chi2": (chi2_kernel, ("gamma",)),
    "poly": (polynomial_kernel, ("gamma", "degree", "coef0")),
    "polynomial": (polynomial_kernel, ("gamma", "degree", "coef0")),
    "sigmoid": (sigmoid_kernel, ("gamma", "coef0")),
}
"""What computes each of scikit-learn's metrics, and the parameters that it takes."""


def pairwise_kernels(
    X: Any, Y: Any = None, metric: Any = "linear", *, filter_params: bool = False,
    n_jobs: int | None = None, **kwds: Any,
) -> Any:  # fmt: skip
    """Return the similarities of all pairs of rows by a kernel that is named, or a function."""
    if not isinstance(metric, str) or metric not in BY_NAME:
        original = ORIGINALS["pairwise_kernels"]
        return original(X, Y, metric, filter_params=filter_params, n_jobs=n_jobs, **kwds)
    function, known = BY_NAME[metric]
    if filter_params:
        kwds = {name: value for name, value in kwds.items() if name in known}
    return function(X, Y, **kwds)
