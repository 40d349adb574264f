"""Models of other libraries, as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import ValidityError
from mercer.models.base import Model
from mercer.models.distributions import FromSciPy
from mercer.models.gaussian import GaussianDensity
from mercer.models.gaussian_mixture import GaussianMixtureModel
from mercer.models.hmm import HiddenMarkovModel

__all__ = ["as_model"]


def as_model(thing: object) -> Model:
    """Return the model that an object of another library stands for.

    A `Model` stays what it is. A `GaussianMixture` of scikit-learn, fitted or not, becomes a
    `GaussianMixtureModel`; a distribution of `scipy.stats` with its parameters becomes a
    `FromSciPy`, or a `GaussianDensity` if it is a `multivariate_normal`; a `CategoricalHMM` or
    `GaussianHMM` of hmmlearn becomes a `HiddenMarkovModel`.

    Parameters
    ----------
    thing : object
        A model, or an object of another library.

    Returns
    -------
    Model

    Examples
    --------
    >>> from scipy import stats
    >>> as_model(stats.poisson(3.0))
    FromSciPy(distribution='poisson', theta=(('mu', 3.0),), free=('mu',))
    """
    if isinstance(thing, Model):
        return thing
    if not isinstance(thing, type):
        for base in type(thing).__mro__:
            adapter = ADAPTERS.get(base.__name__)
            if adapter is not None:
                return adapter(thing)
    raise ValidityError(
        f"{thing!r} is no model: give one of mercer.models, scikit-learn's GaussianMixture, a "
        "distribution of scipy.stats with its parameters, or an HMM of hmmlearn; for your own "
        "log density use from_log_density"
    )


def _multivariate_normal(frozen: Any) -> Model:
    return GaussianDensity(frozen.mean, frozen.cov)


def _mixture(other: Any) -> Model:
    """Read scikit-learn's GaussianMixture."""
    learned = {}
    if hasattr(other, "weights_"):
        learned = {
            "weights": other.weights_ / other.weights_.sum(),
            "means": other.means_,
            "covariances": other.covariances_,
        }
    return GaussianMixtureModel(
        other.n_components,
        other.covariance_type,
        **learned,
        iterations=other.max_iter,
        tolerance=other.tol,
        starts=other.n_init,
    )


def _categorical_hmm(other: Any) -> Model:
    learned = {}
    if hasattr(other, "emissionprob_"):
        learned = {**_hmm_chain(other), "emission": _distributions(other.emissionprob_)}
    return HiddenMarkovModel(other.n_components, "discrete", **learned, iterations=other.n_iter)


def _gaussian_hmm(other: Any) -> Model:
    full = other.covariance_type in ("full", "tied")
    learned = {}
    if hasattr(other, "means_"):
        matrices = np.asarray(other.covars_)  # whatever the form is, as matrices
        if matrices.ndim == 2:
            matrices = np.repeat(matrices[None], other.n_components, axis=0)
        # A fitted spherical one has each of them as often as there are channels.
        matrices = matrices[:: len(matrices) // other.n_components]
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        learned = {
            **_hmm_chain(other),
            "means": other.means_,
            "covariances": matrices if full else variances,
        }
    return HiddenMarkovModel(
        other.n_components,
        "gaussian",
        covariance="full" if full else "diag",
        **learned,
        iterations=other.n_iter,
    )


def _hmm_chain(other: Any) -> dict[str, Any]:
    return {
        "start": _distributions(other.startprob_),
        "transition": _distributions(other.transmat_),
    }


def _distributions(p: ArrayLike) -> np.ndarray:
    """Return probabilities that sum to one up to rounding, which hmmlearn asks of users only to
    six digits."""
    p = np.asarray(p, dtype=np.float64)
    return p / p.sum(axis=-1, keepdims=True)


ADAPTERS: dict[str, Callable[[Any], Model]] = {
    "CategoricalHMM": _categorical_hmm,
    "GaussianHMM": _gaussian_hmm,
    "GaussianMixture": _mixture,
    "multivariate_normal_frozen": _multivariate_normal,
    "rv_frozen": FromSciPy,
    "rv_continuous_frozen": FromSciPy,
    "rv_discrete_frozen": FromSciPy,
}
