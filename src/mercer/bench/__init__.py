"""Benchmarks that anyone can run: mercer beside scikit-learn, measured in the same run.

They need nothing but the installation and take under a minute together. Those of the repository,
larger and with more peers, are in its folder ``benchmarks``.
"""

from mercer.bench.tasks import TASKS, Benchmark, find

__all__ = ["TASKS", "Benchmark", "find"]
