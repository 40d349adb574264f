"""The benchmarks by name; what they compare is loaded when one is run."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.errors import DomainError, suggestion

__all__ = ["TASKS", "Benchmark", "find"]


@dataclass(frozen=True)
class Benchmark:
    """A comparison that can be run: its name, and what it is."""

    name: str
    about: str

    def run(self) -> str:
        """Measure, and return the table."""
        from mercer.bench.comparisons import ROWS
        from mercer.bench.measure import render

        return render(ROWS[self.name](), bars=False)


TASKS = {
    task.name: task
    for task in (
        Benchmark("gram", "Gram matrices of Gaussian kernels"),
        Benchmark("ridge", "kernel ridge regression: fit, predict"),
        Benchmark("svm", "support vector machines: fit, predict"),
        Benchmark("selection", "grid search with cross-validation"),
    )
}


def find(name: str) -> Benchmark:
    """Return the benchmark of a name."""
    if name not in TASKS:
        raise DomainError(f"there is no benchmark {name!r}{suggestion(name, TASKS)}")
    return TASKS[name]
