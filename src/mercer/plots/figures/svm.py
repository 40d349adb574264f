"""Pictures of the lecture *Machine Learning: perceptrons and support vector machines*."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.datasets import two_gaussians
from mercer.domains import Items
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.plots.axes import grid, limits_of
from mercer.plots.decision import draw_class, plot_decision, plot_points
from mercer.plots.figures.registry import COLUMN, PAGE, picture
from mercer.plots.palette import CLASSES, INK, MUTED, ORANGE, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

    from mercer.datasets import Dataset

PRICES = (0.05, 1.0, 100.0)  # of slack


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
        _ring(ax, X[wrong], 70.0)
        ax.set(title=f"step {step}: {int(wrong.sum())} wrong", xticks=[], yticks=[])


def _perceptron(X: Items, y: ArrayLike, **parameters: Any) -> Any:
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
    "svm-hard-margin",
    "SVM lecture, maximal margin classifier",
    "Left, of all lines that separate the classes, the one with the widest margin m = 1/‖w‖ on "
    "both sides. It touches the support vectors (rings). Right, without all other items it is "
    "the same line.",
    (PAGE, 3.2),
)
def hard_margin(figure: Figure) -> None:
    from mercer import SVC

    X, y = wide_apart()
    whole = SVC("linear", C=np.inf).fit(X, y)
    used = whole.support_
    few = SVC("linear", C=np.inf).fit(X[used], y[used])
    left, right = figure.subplots(1, 2)
    for ax, machine in ((left, whole), (right, few)):
        _margin(ax, machine)
        _ring(ax, machine.support_vectors_)
        ax.set(xlim=(-2.9, 2.9), ylim=(-2.5, 2.5), xticks=[], yticks=[], aspect="equal")
    plot_points(X, y, left)
    right.scatter(*np.delete(X, used, axis=0).T, s=10, c=PALE, zorder=1)
    plot_points(X[used], y[used], right)
    _measure(left, whole)
    left.set_title(f"all {len(X)} items: m = {whole.margin_:.3f}")
    right.set_title(f"the {len(used)} support vectors: m = {few.margin_:.3f}")


@picture(
    "svm-soft-margin",
    "SVM lecture, soft margin",
    "No line separates these classes. An item inside its margin or beyond pays for its slack ξ "
    "(orange, drawn to its own dashed line). A small C makes slack cheap and the margin wide; "
    "a large C the reverse. Rings are support vectors.",
    (PAGE, 3.0),
)
def soft_margin(figure: Figure) -> None:
    from mercer import SVC

    X, y = overlapping()
    axes = figure.subplots(1, 3, sharey=True)
    for ax, C in zip(axes, PRICES, strict=True):
        machine = SVC("linear", C=C).fit(X, y)
        _margin(ax, machine)
        z = np.where(y == machine.classes_[1], 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - z * machine.decision_function(X))
        late = np.flatnonzero(slack > 1e-2)
        w, _ = _line(machine)
        feet = X[late] + (slack * z)[late, None] * w / (w @ w)
        for start, stop in zip(X[late], feet, strict=True):
            ax.plot(*np.array([start, stop]).T, color=ORANGE, linewidth=1.3, zorder=2)
        plot_points(X, y, ax, size=16.0)
        _ring(ax, machine.support_vectors_, 44.0)
        ax.set(xlim=(-2.9, 2.9), ylim=(-2.9, 2.9), xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"C = {C:g}\nm = {machine.margin_:.2f}, Σξ = {slack.sum():.1f}")


def wide_apart() -> Dataset:
    """Return two classes with room between them for a margin."""
    spread = np.array([[0.4, 0.12], [0.12, 0.4]])
    return two_gaussians(24, [[-1.15, 0.95], [1.15, -0.95]], [spread, spread], seed=62)


def overlapping() -> Dataset:
    """Return two classes that no line separates."""
    spread = np.array([[0.45, 0.1], [0.1, 0.45]])
    return two_gaussians(30, [[-0.85, 0.75], [0.85, -0.75]], [spread, spread], seed=20)


def _line(machine: BaseEstimator) -> tuple[np.ndarray, float]:
    """Return w and w₀ of a machine with a linear kernel."""
    return machine.dual_coef_[0] @ machine.support_vectors_, float(machine.intercept_[0])


def _margin(ax: Axes, machine: BaseEstimator) -> None:
    """Draw the line g = 0, the lines g = ±1 and what is between them."""
    (a, b), c = _line(machine)
    across = np.array([-9.0, 9.0])
    low, middle, high = (-(a * across + c + side) / b for side in (-1.0, 0.0, 1.0))
    ax.fill_between(across, low, high, color=PALE, alpha=0.6, linewidth=0, zorder=0)
    ax.plot(across, middle, color=INK, linewidth=1.4)
    for edge in (low, high):
        ax.plot(across, edge, "--", color=INK, linewidth=0.8)


def _measure(ax: Axes, machine: BaseEstimator) -> None:
    """Name the lines, and draw arrows of length m from the middle one to both others."""
    w, c = _line(machine)
    step, along = w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    along = along if along[1] > 0 else -along  # upward
    tilt = float(np.degrees(np.arctan2(along[1], along[0])))
    middle = -c * step
    for side in (-1, 1):
        foot = middle - 1.6 * along
        ax.annotate("", foot + side * step, foot,
                    arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        x, y = foot + side * step / 2 + 0.2 * along
        ax.text(x, y, "m", ha="center", va="center")
    for value, name in ((-1, "$g = -1$"), (0, "$g = 0$"), (1, "$g = 1$")):
        x, y = middle + value * step + 2.0 * along + 0.17 * step / np.linalg.norm(step)
        ax.text(x, y, name, rotation=tilt, rotation_mode="anchor", ha="center", va="center",
                fontsize=8)  # fmt: skip


def _ring(ax: Axes, items: Items, size: float = 62.0) -> None:
    """Mark items by rings around them."""
    x, y = np.asarray(items).T
    ax.scatter(x, y, s=size, facecolors="none", edgecolors=INK, linewidths=0.9, zorder=4)


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
    "SVM lecture, non-linear SVMs",
    "One machine, SVC with C = 10, and four kernels: the kernel decides which bounds it can draw. "
    "Rings are support vectors, which alone enter the decision; dashed is the margin, g = ±1.",
    (PAGE, 5.4),
)
def kernel_regions(figure: Figure) -> None:
    from sklearn.datasets import make_moons

    from mercer import SVC

    X, y = make_moons(80, noise=0.18, random_state=4)
    kernels = (
        ("linear", Linear()),
        ("polynomial of degree 2", Polynomial(2, offset=1.0)),
        ("polynomial of degree 5", Polynomial(5, offset=1.0)),
        ("Gaussian, σ = 0.4", Gaussian(0.4)),
    )
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for ax, (name, kernel) in zip(axes.flat, kernels, strict=True):
        machine = SVC(kernel, C=10.0).fit(X, y)
        plot_decision(machine, X, y, ax)
        A, B, places = grid(limits_of(X), 160)
        values = machine.decision_function(places).reshape(A.shape)
        ax.contour(A, B, values, levels=[-1.0, 1.0], colors=INK, linestyles="--", linewidths=0.8)
        _ring(ax, machine.support_vectors_)
        wrong, used = int(np.sum(machine.predict(X) != y)), len(machine.support_)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name}:\n{wrong} wrong, {used} support vectors")
