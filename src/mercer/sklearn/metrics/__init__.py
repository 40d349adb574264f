"""scikit-learn's similarities of pairs, computed by mercer on all cores."""

from mercer.sklearn.metrics import pairwise

__all__ = ["pairwise"]
