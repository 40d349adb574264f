"""Models: how things come about, and how probable they are."""

from mercer.models.adapters import as_model
from mercer.models.aspects import AspectModel
from mercer.models.base import Model, model
from mercer.models.chains import MarkovChain
from mercer.models.counts import MultinomialMixture
from mercer.models.distributions import FromSciPy
from mercer.models.em import Ascent
from mercer.models.gaussian import GaussianDensity
from mercer.models.hmm import HiddenMarkovModel
from mercer.models.mixture import GaussianMixtureModel
from mercer.models.own import FromLogDensity, FromTorch, from_log_density, from_torch

__all__ = [
    "Ascent",
    "AspectModel",
    "FromLogDensity",
    "FromSciPy",
    "FromTorch",
    "GaussianDensity",
    "GaussianMixtureModel",
    "HiddenMarkovModel",
    "MarkovChain",
    "Model",
    "MultinomialMixture",
    "as_model",
    "from_log_density",
    "from_torch",
    "model",
]
