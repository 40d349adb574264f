"""Cognition: models of how people categorize, on the same kernels as everything else."""

from mercer.cognition.alcove import ALCOVE
from mercer.cognition.compare import Comparison, compare
from mercer.cognition.confusions import SimilarityChoice
from mercer.cognition.cues import ConfiguralCue, DeltaRule
from mercer.cognition.designs import Design, five_four, medin_schaffer, shj, shj_human
from mercer.cognition.exemplar_ridge import ExemplarRidge
from mercer.cognition.fitting import Fit
from mercer.cognition.gcm import GCM, PrototypeModel, context_model
from mercer.cognition.generalization import Gradient, fit_gradient
from mercer.cognition.learning_curves import Search, fit_alcove
from mercer.cognition.mds_choice import MDSChoice
from mercer.cognition.responses import Experiment
from mercer.cognition.scaling import StimulusMap, classical_scaling, stimulus_map
from mercer.cognition.similarity_axioms import Finding, SimilarityCheck, check_similarity

__all__ = [
    "ALCOVE",
    "GCM",
    "Comparison",
    "ConfiguralCue",
    "DeltaRule",
    "Design",
    "ExemplarRidge",
    "Experiment",
    "Finding",
    "Fit",
    "Gradient",
    "MDSChoice",
    "PrototypeModel",
    "Search",
    "SimilarityCheck",
    "SimilarityChoice",
    "StimulusMap",
    "check_similarity",
    "classical_scaling",
    "compare",
    "context_model",
    "fit_alcove",
    "fit_gradient",
    "five_four",
    "medin_schaffer",
    "shj",
    "shj_human",
    "stimulus_map",
]
