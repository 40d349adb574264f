"""Measure the named tasks: ``python -m benchmarks gram ridge import``.

Without a name, the tasks are listed. A bar that is not reached is said in the table, not in the
exit status, because one noisy run on a busy computer is no verdict.
"""

from __future__ import annotations

import sys
from importlib import import_module

from mercer.bench.measure import describe, render

TASKS = {
    "gram": ("benchmarks.gram", "Gram matrices of Gaussian kernels"),
    "ridge": ("benchmarks.ridge", "kernel ridge regression: fit, predict, memory"),
    "scale": ("benchmarks.scale", "beyond one Gram matrix: exact, approximate, in passes"),
    "gpu": ("benchmarks.gpu", "products and machines on a GPU, with what it can do at best"),
    "perceptron": ("benchmarks.perceptron", "epochs of the perceptron"),
    "pca": ("benchmarks.pca", "kernel principal components: fit, memory"),
    "logistic": ("benchmarks.logistic", "kernel logistic regression: time against n"),
    "svm": ("benchmarks.svm", "support vector machines: fit, predict, memory, time against n"),
    "survey": (
        "benchmarks.survey",
        "support vector machines on 24 sets x 9 settings; survey:sizes=1000/4000,sets=NAME/NAME",
    ),
    "usps": ("benchmarks.usps", "test errors on handwritten digits, beside the lecture's"),
    "small": ("benchmarks.small", "small fits, grids and folds, one row, graphs of networkx"),
    "selection": ("benchmarks.selection", "grid search, leave-one-out, nested folds"),
    "cognition": ("benchmarks.cognition", "simulated subjects, maximum likelihood of the GCM"),
    "structured": ("benchmarks.structured", "strings, texts, graphs, molecules: speed, accuracy"),
    "generative": ("benchmarks.generative", "Fisher vectors, hidden Markov models: forward"),
    "tables": ("benchmarks.tables", "open tables: a study, boosted trees, xRFM; tables:NAME,NAME"),
    "cold": ("benchmarks.cold", "first uses, when nothing has been compiled"),
    "reasons": ("benchmarks.reasons", "Shapley values of columns: exact, beside sampled ones"),
    "explore": ("benchmarks.explore", "the explorer: first picture, answers, exported page"),
    "intervals": ("benchmarks.intervals", "jackknife+ and CV+ in closed form, in units of a fit"),
    "serve": (
        "benchmarks.service",
        "one row over HTTP: predictions a second, odd requests",
    ),
    "cluster": ("benchmarks.cluster", "a cluster of processes: overhead, kills, searches"),
    "memory": ("benchmarks.memory", "measured by predicted bytes, for every machine"),
    "dropin": ("benchmarks.dropin", "a script before and after mercer.sklearn.patch()"),
    "import": ("benchmarks.imports", "how long `import mercer` takes"),
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, print their tables and return the exit status."""
    if not names:
        print("python -m benchmarks NAME [NAME ...]\n")
        print("\n".join(f"  {name:12}{about}" for name, (_, about) in TASKS.items()))
        return 0
    parts = [name.partition(":") for name in names]  # tables:autos,german measures some of it
    unknown = [name for name, _, _ in parts if name not in TASKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; known are {', '.join(TASKS)}", file=sys.stderr)
        return 2
    print(describe())
    for name, _, chosen in parts:
        module, about = TASKS[name]
        found = import_module(module)
        if chosen:
            text = found.report(chosen.split(","))
        else:
            # Errors on real data have more to say than rows of one table.
            text = found.report() if hasattr(found, "report") else render(found.rows())
        print(f"\n{name}: {about}\n\n{text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
