"""Models: how things come about, and how probable they are."""

from mercer.models.adapters import as_model
from mercer.models.aspects import AspectModel
from mercer.models.base import Model, model
from mercer.models.chains import MarkovChain
from mercer.models.distributions import FromSciPy
from mercer.models.em import Ascent
from mercer.models.gaussian import GaussianDensity
from mercer.models.gaussian_mixture import GaussianMixtureModel
from mercer.models.hmm import HiddenMarkovModel
from mercer.models.log_density import FromLogDensity, FromTorch, from_log_density, from_torch
from mercer.models.multinomial import MultinomialMixture

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
