"""Kernels on tables: some of the columns, what is missing in them, and categories."""

from mercer.kernels.tables.categorical import Categorical
from mercer.kernels.tables.columns import On

__all__ = ["Categorical", "On"]
