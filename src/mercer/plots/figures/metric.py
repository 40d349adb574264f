"""Figures of learned metrics: what rounds find out about columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots.attention import plot_attention, plot_effect
from mercer.plots.figures.registry import PAGE, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["attention", "friedman"]


def friedman(items: int = 300, columns: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return Friedman's first problem: five columns matter, two of them together; others do not.

    Examples
    --------
    >>> friedman(20)[0].shape
    (20, 10)
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(items, columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=items)


@picture(
    "attention",
    "Friedman (1991), problem 1; metric as in Radhakrishnan et al. (2024)",
    "Left, what a learned metric attends to: five of ten columns matter, and it finds them. "
    "Right, the average prediction against the third, a parabola; the band holds 80 % of the "
    "single items.",
    (PAGE, 3.5),
)
def attention(figure: Figure) -> None:
    from mercer.kernels import Exponential
    from mercer.machines import KernelRidge, LearnedMetric

    X, y = friedman()
    machine = LearnedMetric(KernelRidge(Exponential()), metric="diagonal").fit(X, y)
    axes: Any = figure.subplots(1, 2, width_ratios=(1.1, 1.0))
    plot_attention(machine.attention_, axes[0])
    grid = np.linspace(0.02, 0.98, 25)
    some = np.repeat(X[:100], len(grid), axis=0)
    some[:, 2] = np.tile(grid, 100)
    curves = machine.predict(some).reshape(100, len(grid))
    level = curves.mean()
    low, high = level + np.quantile(
        curves - curves.mean(axis=1, keepdims=True), [0.1, 0.9], axis=0
    )
    plot_effect(grid, curves.mean(axis=0), low, high, axes[1])
    axes[1].set(xlabel="x2", ylabel="average prediction")
