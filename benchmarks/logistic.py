"""Kernel logistic regression: time against the number of items. There is no peer.

The column of ratios holds the norm of the gradient at the end, which must be at most 1e-6, and
then the exponent of the time's growth with n; a factor at every step would make it 3.
"""

from __future__ import annotations

import numpy as np

from mercer.bench.measure import Row, at_most, best_of
from mercer.kernels import Gaussian
from mercer.machines.logistic import KernelLogistic

SIZES = (500, 1000, 2000)
D = 20
BANDWIDTH = D**0.5
TASKS = (  # classes and penalty
    (2, 1.0),
    (3, 1.0),
    (10, 1.0),
    (3, 1e-3),
)


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [row for classes, penalty in TASKS for row in growth(classes, penalty)]


def growth(classes: int, penalty: float) -> list[Row]:
    """Time fits of growing size, and fit an exponent to the times."""
    found, times = [], []
    for n in SIZES:
        X, y = sample(n, classes)
        machine = KernelLogistic(Gaussian(BANDWIDTH), penalty)
        (time,) = best_of(lambda machine=machine, X=X, y=y: machine.fit(X, y), repeats=3)
        times.append(time)
        found.append(
            Row(
                f"fit and gradient, n={n}, {classes} classes, λ={penalty:g}",
                f"{time:.3f} s",
                "",
                machine.solution_.certificate,
                at_most(1e-6, "{:.0e}"),
            )
        )
    exponent = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
    task = f"exponent of n, {classes} classes, λ={penalty:g}"
    return [*found, Row(task, "", "", exponent, at_most(3.0, "{:.2f}"))]


def sample(n: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points of classes that overlap, with curved bounds between them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    scores = np.sin(X[:, :4] @ rng.standard_normal((4, classes))) + 0.3 * X @ rng.standard_normal(
        (D, classes)
    )
    return X, np.argmax(scores + 0.3 * rng.standard_normal((n, classes)), axis=1)
