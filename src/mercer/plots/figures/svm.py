"""Pictures of the lecture *Machine Learning: perceptrons and support vector machines*."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.datasets import two_gaussians
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.plots.canvas import limits_of
from mercer.plots.decision import draw_class, plot_decision, plot_points
from mercer.plots.figures.registry import COLUMN, PAGE, picture
from mercer.plots.palette import CLASSES, INK, MUTED, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mercer.datasets import Dataset


def apart(seed: int) -> Dataset:
    """Return two classes that a line separates, for the seeds that are used here."""
    spread = np.array([[0.4, 0.12], [0.12, 0.4]])
    return two_gaussians(28, [[-0.9, 0.8], [0.9, -0.7]], [spread, spread], seed=seed)


@picture(
    "svm-perceptron",
    "SVM lecture, perceptron algorithm (batch version)",
    "Each step adds all misclassified items (rings) to the weight vector, until none is left.",
    (PAGE, 2.15),
)
def perceptron_steps(figure: Figure) -> None:
    X, y = apart(seed=26)
    X = X + 2.5  # away from the origin, so that it takes some steps
    total = _perceptron(X, y, rule="batch").n_epochs_
    shown = np.linspace(1, total, 4).round().astype(int).tolist()
    axes = figure.subplots(1, len(shown), sharey=True)
    limits = limits_of(X, 0.1)
    for ax, step in zip(axes, shown, strict=True):
        machine = _perceptron(X, y, rule="batch", max_epochs=step)
        plot_decision(machine, X, y, ax, limits=limits)
        wrong = machine.predict(X) != y
        ax.scatter(*X[wrong].T, s=70, facecolors="none", edgecolors=INK, linewidths=1.0, zorder=4)
        ax.set(title=f"step {step}: {int(wrong.sum())} wrong", xticks=[], yticks=[])


def _perceptron(X: Any, y: Any, **parameters: Any) -> Any:
    """Fit a perceptron; one that is stopped early on purpose need not complain."""
    from mercer.errors import ConvergenceWarning
    from mercer.machines.perceptron import Perceptron

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Perceptron(**parameters).fit(X, y)


@picture(
    "svm-margin",
    "SVM lecture, the margin idea",
    "Left, perceptrons that saw the same items in 20 different orders: each separates the "
    "classes, and none is better than another. Right, with a margin they nearly agree, at a "
    "safe distance (shaded) from both classes.",
    (PAGE, 3.1),
)
def margin_idea(figure: Figure) -> None:
    X, y = apart(seed=15)
    across = np.array([-9.0, 9.0])
    axes = figure.subplots(1, 2)
    for ax, margin in zip(axes, (0.0, 40.0), strict=True):
        for order in range(20):
            machine = _perceptron(X, y, margin=margin, shuffle=True, random_state=order)
            (a, b), c = machine.coef_, machine.intercept_
            ax.plot(across, -(a * across + c) / b, color=MUTED, linewidth=0.7)
        if margin:
            near = float(np.min(np.abs(machine.decision_function(X))))
            low, high = (-(a * across + c + side) / b for side in (-near, near))
            ax.fill_between(across, low, high, color=PALE, linewidth=0, zorder=0)
        plot_points(X, y, ax)
        ax.set(xlim=(-2.9, 2.9), ylim=(-2.5, 2.5), xticks=[], yticks=[], aspect="equal")
        ax.set_title("no margin" if margin == 0 else f"margin $m$ = {margin:.0f}")


@picture(
    "svm-quadratic-map",
    "SVM lecture, quadratic map",
    "The map x → (x, x²) bends the line into a parabola. One straight split of the plane then "
    "cuts the line (below) twice: the middle is one class, both ends are the other.",
    (COLUMN, 3.5),
)
def quadratic_map(figure: Figure) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-2.2, -1.15, 7), rng.uniform(1.5, 2.4, 7),
                        rng.uniform(-0.75, 1.1, 10)])  # fmt: skip
    y = np.repeat([-1, 1], (14, 10))
    machine = _perceptron(np.column_stack([x, x**2]), y, margin=1.0)
    (a, b), c = machine.coef_, machine.intercept_
    edges = np.sort(np.roots([b, a, c]).real)

    ax = figure.subplots()
    t = np.linspace(-2.6, 2.7, 200)
    ax.plot(t, t**2, color=MUTED, linewidth=1.0)
    ax.plot(t, -(a * t + c) / b, color=INK)
    for k, label in enumerate((-1, 1)):
        draw_class(ax, (x[y == label], x[y == label] ** 2), k)
        draw_class(ax, (x[y == label], np.full(int(np.sum(y == label)), -1.0)), k, 16)
    ax.axhline(-1.0, color=MUTED, linewidth=0.8, zorder=0)
    parts = ((t[0], edges[0], 0), (edges[0], edges[1], 1), (edges[1], t[-1], 0))
    for low, high, k in parts:
        ax.plot([low, high], [-1.0, -1.0], color=CLASSES[k], linewidth=7, alpha=0.3,
                solid_capstyle="butt")  # fmt: skip
    ax.vlines(edges, -1.0, edges**2, colors=INK, linestyles=":", linewidth=1.0)
    ax.set(xlabel="x", ylabel="x²", ylim=(-1.5, 6.5), yticks=[0, 2, 4, 6])


@picture(
    "svm-regions",
    "SVM lecture, kernel decision regions",
    "One machine, the averaged perceptron, with four kernels: the kernel decides which bounds it "
    "can draw.",
    (PAGE, 5.3),
)
def kernel_regions(figure: Figure) -> None:
    from sklearn.datasets import make_moons

    X, y = make_moons(80, noise=0.18, random_state=4)
    kernels = (
        ("linear", Linear()),
        ("polynomial of degree 2", Polynomial(2, offset=1.0)),
        ("polynomial of degree 5", Polynomial(5, offset=1.0)),
        ("Gaussian, σ = 0.4", Gaussian(0.4)),
    )
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for ax, (name, kernel) in zip(axes.flat, kernels, strict=True):
        machine = _perceptron(X, y, kernel=kernel, averaged=True, max_epochs=200)
        _region(ax, machine, X, y, name)


def _region(ax: Axes, machine: Any, X: np.ndarray, y: np.ndarray, name: str) -> None:
    plot_decision(machine, X, y, ax)
    wrong = int(np.sum(machine.predict(X) != y))
    ax.set(title=f"{name}: {wrong} wrong", xticks=[], yticks=[])
