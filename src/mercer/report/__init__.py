"""Reports: what a study has found, in files that a person or a program reads."""

from mercer.report.figures import metrics, predictions
from mercer.report.page import html
from mercer.report.writing import write

__all__ = ["html", "metrics", "predictions", "write"]
