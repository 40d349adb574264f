"""Plots of your own data and machines; each function takes and returns matplotlib axes."""

from mercer.plots.agreement import plot_agreement
from mercer.plots.calibration import plot_calibration, reliability
from mercer.plots.cognition import plot_gradient, plot_learning, plot_map, plot_observed
from mercer.plots.confusion import plot_confusion
from mercer.plots.curve import plot_curve
from mercer.plots.decision import plot_decision, plot_points
from mercer.plots.explanation import plot_atoms, plot_letters, plot_nodes
from mercer.plots.function import plot_function
from mercer.plots.gram import plot_gram
from mercer.plots.image import decision_gradient, plot_decision_image
from mercer.plots.palette import style
from mercer.plots.path import plot_path
from mercer.plots.spectrum import effective_rank, plot_spectrum
from mercer.plots.surface import plot_surface
from mercer.plots.weights import plot_weights

__all__ = [
    "decision_gradient",
    "effective_rank",
    "plot_agreement",
    "plot_atoms",
    "plot_calibration",
    "plot_confusion",
    "plot_curve",
    "plot_decision",
    "plot_decision_image",
    "plot_function",
    "plot_gradient",
    "plot_gram",
    "plot_learning",
    "plot_letters",
    "plot_map",
    "plot_nodes",
    "plot_observed",
    "plot_path",
    "plot_points",
    "plot_spectrum",
    "plot_surface",
    "plot_weights",
    "reliability",
    "style",
]
