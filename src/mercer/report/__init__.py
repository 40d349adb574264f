"""Reports: what a study has found, in files that a person or a program reads."""

from mercer.report.output import metrics, predictions, write
from mercer.report.page import html

__all__ = ["html", "metrics", "predictions", "write"]
