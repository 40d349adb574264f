"""Pictures of the lecture *Cognitive Algorithms: Kernel Methods* (Müller, Samek & Brandl)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.datasets import sinc
from mercer.kernels import Gaussian, Linear, Shepard
from mercer.plots.axes import grid
from mercer.plots.figures.registry import PAGE, picture
from mercer.plots.function import plot_function
from mercer.plots.palette import CLASSES, INK, MUTED, PALE
from mercer.plots.selection import plot_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

LIMITS = (-10.5, 10.5)


@picture(
    "lecture-fitting",
    "Lecture, generalization",
    "A model that is too complex follows the noise, one that is too simple misses the curve "
    "(dashed). Both are farther from it than the one between.",
    (PAGE, 2.6),
)
def over_and_underfitting(figure: Figure) -> None:
    from mercer import KernelRidge

    problem = sinc(40, noise=0.15, seed=1)
    new = sinc(2000, noise=0.15, seed=2)
    models = (("overfitting", 0.3, 1e-6), ("better fit", 1.5, 0.1), ("underfitting", 8.0, 1.0))
    axes = figure.subplots(1, 3, sharey=True)
    for ax, (name, bandwidth, penalty) in zip(axes, models, strict=True):
        machine = KernelRidge(Gaussian(bandwidth), penalty=penalty).fit(*problem)
        _scene(ax, problem)
        plot_function(machine, ax, limits=LIMITS, color=CLASSES[1], linewidth=1.4)
        errors = [_rms(machine, data) for data in (problem, new)]
        ax.set_title(f"{name}\nerror {errors[0]:.2f}, on new data {errors[1]:.2f}", fontsize=8)
        ax.set(xlabel="x", xticks=[-10, 0, 10], ylim=(-0.75, 1.35))
    axes[0].set_ylabel("y")


def _scene(ax: Axes, problem: Any) -> None:
    """Draw the data and the curve that they come from."""
    x = np.linspace(*LIMITS, 300)[:, None]
    ax.plot(x, problem.extra["function"](x), "--", color=INK, linewidth=1.0)
    ax.plot(problem.X, problem.y, "o", color=CLASSES[0], markersize=2.8)


def _rms(machine: BaseEstimator, data: Any) -> float:
    return float(np.sqrt(np.mean((machine.predict(data.X) - data.y) ** 2)))


@picture(
    "lecture-shepard",
    "Lecture, Shepard's law",
    "Left, similarity falls off with the distance from μ: exponentially in Shepard's law, or as a "
    "Gaussian. Right, places that are equally similar to μ, for separable (city-block) and "
    "integral (Euclidean) dimensions.",
    (PAGE, 3.0),
)
def shepard_gradient(figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    x = np.linspace(-4, 4, 401)[:, None]
    laws = (("exponential, $e^{-d}$", 1, "-"), ("Gaussian, $e^{-d^2}$", 2, "--"))
    for k, (name, exponent, line) in enumerate(laws):
        kernel = Shepard(1.0, order=exponent, exponent=exponent)
        left.plot(x, kernel(x, [[0.0]])[:, 0], line, color=CLASSES[k], label=name)
    left.set(
        xlabel="distance from μ", ylabel="similarity", xticks=[-4, -2, 0, 2, 4], ylim=(0, 1.05)
    )
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2}
    above |= {"columnspacing": 1.0, "handlelength": 1.8}
    left.legend(**above)

    A, B, places = grid(((-2.2, 2.2), (-2.2, 2.2)), 200)
    for k, order in enumerate((1, 2)):
        values = Shepard(1.0, order=order)(places, [[0.0, 0.0]]).reshape(A.shape)
        right.contour(A, B, values, levels=np.exp([-1.8, -1.2, -0.6]), colors=CLASSES[k + 2],
                      linestyles="-" if order == 1 else "--")  # fmt: skip
        right.plot([], [], "-" if order == 1 else "--", color=CLASSES[k + 2],
                   label=("city-block", "Euclidean")[k])  # fmt: skip
    right.plot(0, 0, ".", color=INK)
    right.annotate("μ", (0, 0), (3, 3), textcoords="offset points")
    right.set(aspect="equal", xticks=[], yticks=[], xlabel="$x_1$", ylabel="$x_2$")
    right.legend(**above)


@picture(
    "lecture-cross-validation",
    "Lecture, cross-validation",
    "Left, in each row another part of the data is held out (vermilion) and predicted by a "
    "machine that learned from the rest. Right, the mean of these scores chooses the penalty "
    "(ring), while the training score (dashed) always prefers the smallest one.",
    (PAGE, 3.1),
)
def cross_validation(figure: Figure) -> None:
    from sklearn.model_selection import GridSearchCV, KFold

    from mercer import KernelRidge

    problem = sinc(30, noise=0.15, seed=3)
    folds = KFold(5, shuffle=True, random_state=0)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    scores = _splits(left, KernelRidge(Gaussian(1.2), penalty=0.1), problem, folds)
    left.set_title(f"R² of the held-out parts: mean {np.mean(scores):.2f}")

    grid = {"penalty": np.logspace(-4, 2, 19)}
    search = GridSearchCV(KernelRidge(Gaussian(1.2)), grid, cv=folds, return_train_score=True)
    plot_path(search.fit(*problem), ax=right)
    right.set(xlabel="penalty λ", ylabel="R²", ylim=(0.0, 1.05))


def _splits(ax: Axes, machine: BaseEstimator, problem: Any, folds: Any) -> list[float]:
    """Draw which items are held out in each fold, and write the score beside it."""
    X, y = problem
    order = np.concatenate([test for _, test in folds.split(X)])
    place = np.argsort(order)
    scores = []
    for row, (train, test) in enumerate(folds.split(X)):
        ax.barh(row, 0.9, left=place[train], height=0.62, align="center", color=PALE)
        ax.barh(row, 0.9, left=place[test], height=0.62, align="center", color=CLASSES[1])
        scores.append(machine.fit(X[train], y[train]).score(X[test], y[test]))
        ax.text(len(y) + 0.6, row, f"{scores[-1]:.2f}", va="center", fontsize=8)
    ax.set(xlim=(0, len(y) + 4.5), xticks=[], ylim=(4.6, -0.6), xlabel="items")
    ax.set_yticks(range(len(scores)), [f"fold {row + 1}" for row in range(len(scores))])
    ax.tick_params(length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return scores


@picture(
    "lecture-ridge",
    "Lecture, from linear to kernel ridge regression",
    "The same method, (K + λI)α = y, with two kernels. With a Gaussian the prediction is a sum of "
    "bumps on the data (dotted), and the line becomes a curve.",
    (PAGE, 2.9),
)
def kernel_ridge(figure: Figure) -> None:
    from mercer import KernelRidge

    rng = np.random.default_rng(5)
    X = (np.linspace(0.2, 5.8, 14) + 0.1 * rng.standard_normal(14))[:, None]
    y = 0.9 * np.sin(1.4 * X[:, 0]) + 0.18 * X[:, 0] + 0.1 * rng.standard_normal(len(X))
    axes = figure.subplots(1, 2, sharey=True)
    machines = (
        ("linear kernel", KernelRidge(Linear() + 1.0, penalty=0.1)),
        ("Gaussian kernel", KernelRidge(Gaussian(0.6), penalty=0.1)),
    )
    for ax, (name, machine) in zip(axes, machines, strict=True):
        machine.fit(X, y)
        curved = ax is axes[1]
        plot_function(machine, ax, limits=(-0.3, 6.3), parts=curved, color=CLASSES[1])
        ax.plot(X, y, "o", color=CLASSES[0], markersize=4)
        ax.axhline(0, color=MUTED, linewidth=0.6, zorder=0)
        ax.set(title=name, xlabel="x", ylim=(-1.6, 2.4))
    axes[0].set_ylabel("y")
