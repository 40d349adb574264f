"""The figures of the textbooks, drawn from live computations: ``mercer figures``."""

# Each module registers its figures when it is imported, and this is the order of the list.
from mercer.plots.figures import tutorial  # isort: split

from mercer.plots.figures import book, cognition, lecture, metric, structured, svm
from mercer.plots.figures.registry import FIGURES, FORMATS, Picture, find

__all__ = [
    "FIGURES",
    "FORMATS",
    "Picture",
    "book",
    "cognition",
    "find",
    "lecture",
    "metric",
    "structured",
    "svm",
    "tutorial",
]
