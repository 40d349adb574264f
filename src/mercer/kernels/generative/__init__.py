"""Kernels from generative models: densities, mixtures, hidden causes, Fisher scores."""

from mercer.kernels.generative.fisher import Fisher
from mercer.kernels.generative.hidden_markov import HiddenMarkov
from mercer.kernels.generative.integral import LatentIntegral
from mercer.kernels.generative.latent import LatentGaussian
from mercer.kernels.generative.mixture import Density, Mixture
from mercer.kernels.generative.probability_product import ProbabilityProduct

__all__ = [
    "Density",
    "Fisher",
    "HiddenMarkov",
    "LatentGaussian",
    "LatentIntegral",
    "Mixture",
    "ProbabilityProduct",
]
