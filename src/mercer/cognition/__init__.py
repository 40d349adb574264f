"""Cognition: models of how people categorize, on the same kernels as everything else."""

from mercer.cognition.choices.abstraction import MixtureModel, VaryingAbstraction
from mercer.cognition.choices.bounds import LinearBound, QuadraticBound
from mercer.cognition.choices.compare import Comparison, compare
from mercer.cognition.choices.confusions import SimilarityChoice
from mercer.cognition.choices.exemplar_ridge import ExemplarRidge
from mercer.cognition.choices.fitting import Fit
from mercer.cognition.choices.gcm import GCM, PrototypeModel, context_model
from mercer.cognition.choices.mds_choice import MDSChoice
from mercer.cognition.choices.optimal_bound import OptimalBound
from mercer.cognition.choices.profiles import ParameterProfile, parameter_profile
from mercer.cognition.choices.random_walk import EBRW
from mercer.cognition.experiments.classics import (
    dot_patterns,
    dot_patterns_asked,
    information_integration,
    inverse_base_rate,
    inverse_base_rate_human,
    probabilistic_diagnosis,
)
from mercer.cognition.experiments.designs import Design, five_four, medin_schaffer, shj, shj_human
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.perception import (
    circles,
    condensation_human,
    filtration_condensation,
)
from mercer.cognition.learners.alcove import ALCOVE
from mercer.cognition.learners.associative import Mackintosh, PearceHall, RescorlaWagner
from mercer.cognition.learners.covis import COVIS
from mercer.cognition.learners.cues import ConfiguralCue, DeltaRule
from mercer.cognition.learners.diva import DIVA
from mercer.cognition.learners.exit import EXIT
from mercer.cognition.learners.learning_curves import Search, fit_alcove, fit_curves
from mercer.cognition.learners.rational import RationalModel
from mercer.cognition.learners.sustain import SUSTAIN
from mercer.cognition.people.comparing import PeopleComparison, compare_people
from mercer.cognition.people.curves import BlockCurve, attention_over_trials, learning_curve
from mercer.cognition.people.identify import Identification, identify
from mercer.cognition.people.population import Population, fit_people
from mercer.cognition.people.posterior import Posterior, posterior
from mercer.cognition.people.recovery import (
    ModelRecovery,
    PowerCurve,
    Recovery,
    power,
    recover,
    recover_models,
)
from mercer.cognition.people.simulation import SimulatedPeople, simulate_people
from mercer.cognition.similarity.generalization import Gradient, fit_gradient
from mercer.cognition.similarity.scaling import StimulusMap, classical_scaling, stimulus_map
from mercer.cognition.similarity.similarity_axioms import (
    Finding,
    SimilarityCheck,
    check_similarity,
)
from mercer.errors import renamed

__all__ = [
    "ALCOVE",
    "COVIS",
    "DIVA",
    "EBRW",
    "EXIT",
    "GCM",
    "SUSTAIN",
    "BlockCurve",
    "Comparison",
    "ConfiguralCue",
    "DeltaRule",
    "Design",
    "ExemplarRidge",
    "Experiment",
    "Finding",
    "Fit",
    "Gradient",
    "Identification",
    "LinearBound",
    "MDSChoice",
    "Mackintosh",
    "MixtureModel",
    "ModelRecovery",
    "OptimalBound",
    "ParameterProfile",
    "PearceHall",
    "PeopleComparison",
    "Population",
    "Posterior",
    "PowerCurve",
    "PrototypeModel",
    "QuadraticBound",
    "RationalModel",
    "Recovery",
    "RescorlaWagner",
    "Search",
    "SimilarityCheck",
    "SimilarityChoice",
    "SimulatedPeople",
    "StimulusMap",
    "VaryingAbstraction",
    "attention_over_trials",
    "check_similarity",
    "circles",
    "classical_scaling",
    "compare",
    "compare_people",
    "condensation_human",
    "context_model",
    "dot_patterns",
    "dot_patterns_asked",
    "filtration_condensation",
    "fit_alcove",
    "fit_curves",
    "fit_gradient",
    "fit_people",
    "five_four",
    "identify",
    "information_integration",
    "inverse_base_rate",
    "inverse_base_rate_human",
    "learning_curve",
    "medin_schaffer",
    "parameter_profile",
    "posterior",
    "power",
    "probabilistic_diagnosis",
    "recover",
    "recover_models",
    "shj",
    "shj_human",
    "simulate_people",
    "stimulus_map",
]

__getattr__ = renamed(__name__, {"LearningCurve": "BlockCurve", "Power": "PowerCurve"})
