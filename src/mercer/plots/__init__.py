"""Plots of your own data and machines; each function takes and returns matplotlib axes."""

from mercer.plots.attention import plot_attention, plot_effect
from mercer.plots.cognition import plot_gradient, plot_learning, plot_map, plot_observed
from mercer.plots.decision import (
    decision_gradient,
    plot_decision,
    plot_decision_image,
    plot_points,
)
from mercer.plots.explanation import plot_atoms, plot_letters, plot_nodes
from mercer.plots.function import plot_function, plot_weights
from mercer.plots.gradient_field import plot_gradient_field
from mercer.plots.gram import effective_rank, plot_gram, plot_spectrum
from mercer.plots.palette import style
from mercer.plots.people import (
    plot_learning_curve,
    plot_model_recovery,
    plot_power,
    plot_profile,
    plot_recovery,
)
from mercer.plots.performance import (
    plot_agreement,
    plot_calibration,
    plot_confusion,
    plot_curve,
    reliability,
)
from mercer.plots.selection import plot_path, plot_surface

__all__ = [
    "decision_gradient",
    "effective_rank",
    "plot_agreement",
    "plot_atoms",
    "plot_attention",
    "plot_calibration",
    "plot_confusion",
    "plot_curve",
    "plot_decision",
    "plot_decision_image",
    "plot_effect",
    "plot_function",
    "plot_gradient",
    "plot_gradient_field",
    "plot_gram",
    "plot_learning",
    "plot_learning_curve",
    "plot_letters",
    "plot_map",
    "plot_model_recovery",
    "plot_nodes",
    "plot_observed",
    "plot_path",
    "plot_points",
    "plot_power",
    "plot_profile",
    "plot_recovery",
    "plot_spectrum",
    "plot_surface",
    "plot_weights",
    "reliability",
    "style",
]
