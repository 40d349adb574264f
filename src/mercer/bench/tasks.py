"""The benchmarks by name, each loaded when it is run."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from mercer.errors import DomainError, suggestion

__all__ = ["TASKS", "Benchmark", "find"]


@dataclass(frozen=True)
class Benchmark:
    """A comparison that can be run: its name, the module that measures it, and what it is."""

    name: str
    module: str
    about: str

    def run(self) -> str:
        """Measure, and return the table."""
        from mercer.bench.table import render

        return render(importlib.import_module(self.module).rows(), bars=False)


TASKS = {
    task.name: task
    for task in (
        Benchmark("gram", "mercer.bench.gram", "Gram matrices of Gaussian kernels"),
        Benchmark("ridge", "mercer.bench.ridge", "kernel ridge regression: fit, predict"),
        Benchmark("svm", "mercer.bench.svm", "support vector machines: fit, predict"),
        Benchmark("selection", "mercer.bench.selection", "grid search with cross-validation"),
    )
}


def find(name: str) -> Benchmark:
    """Return the benchmark of a name.

    Examples
    --------
    >>> find("ridge").about
    'kernel ridge regression: fit, predict'
    >>> find("rigde")
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: there is no benchmark 'rigde'; did you mean 'ridge'?
    """
    if name not in TASKS:
        raise DomainError(f"there is no benchmark {name!r}{suggestion(name, TASKS)}")
    return TASKS[name]
