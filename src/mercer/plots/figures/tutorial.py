"""Figures of Jäkel, Schölkopf & Wichmann (2007), *A tutorial on kernel methods for
categorization*: from a line between two classes to regularization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.datasets import circle, correlated_classes, two_gaussians
from mercer.kernels import Gaussian, Kernel, Polynomial
from mercer.plots.axes import grid, limits_of
from mercer.plots.decision import (
    decision_gradient,
    draw_class,
    plot_decision,
    plot_decision_image,
    plot_points,
)
from mercer.plots.figures.registry import COLUMN, PAGE, picture
from mercer.plots.function import plot_function
from mercer.plots.palette import CLASSES, INK, MUTED
from mercer.plots.selection import plot_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

    from mercer.datasets import Dataset

NARROW = Gaussian(0.6)


def overlapping() -> Dataset:
    """Return the categories of figs. 7 and 8."""
    return two_gaussians(80, seed=1)


@picture(
    "tutorial-1",
    "Tutorial, fig. 1",
    "A perceptron is a hyperplane: w is its normal, θ shifts it away from the origin. On the side "
    "that w points to, ⟨w, x⟩ is greater than θ.",
    (COLUMN, 3.6),
)
def hyperplane(figure: Figure) -> None:
    from mercer.machines.perceptron import Perceptron

    spread = np.array([[0.14, -0.05], [-0.05, 0.14]])
    X, y = two_gaussians(36, [[-0.45, -0.3], [1.7, 1.6]], [spread, spread], seed=0)
    machine: BaseEstimator = Perceptron("linear", margin=2.0).fit(X, y)
    length = float(np.linalg.norm(machine.coef_))
    w, theta = machine.coef_ / length, -machine.intercept_ / length

    ax: Any = figure.subplots()
    plot_points(X, y, ax)
    for offset, text, line in ((0.0, "⟨w, x⟩ = 0", "--"), (theta, "⟨w, x⟩ = θ", "-")):
        along = np.array([w[1], -w[0]])  # downward, for the words beside the lower end
        ends = offset * w + np.array([-9.0, 9.0])[:, None] * along
        ax.plot(*ends.T, line, color=MUTED if offset == 0 else INK)
        low = offset * w + along * (1.0 + offset * w[1]) / w[0]
        angle = np.degrees(np.arctan2(along[1], along[0]))
        ax.text(*(low + 0.06 * w), text, rotation=angle, rotation_mode="anchor", ha="center",
                va="bottom", fontsize=8)  # fmt: skip
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", 1.1 * w, (0, 0), arrowprops=arrow)
    ax.text(*(1.22 * w), "w", fontweight="bold", ha="center", va="center")
    ax.plot(0, 0, ".", color=INK)
    ax.set(xlim=(-1.5, 2.7), ylim=(-1.5, 2.6), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")


@picture(
    "tutorial-2",
    "Tutorial, fig. 2",
    "Each bound is orthogonal to the line between the two means (squares), but in its own inner "
    "product. The standard one (dashed) ignores the correlation; the inverse covariance (dotted) "
    "becomes the standard one after rotating and scaling.",
    (PAGE, 2.7),
)
def prototypes(figure: Figure) -> None:
    from mercer.machines.prototype import PrototypeClassifier

    X, y = correlated_classes(seed=2)
    plain = PrototypeClassifier("linear").fit(X, y)
    clever: Any = PrototypeClassifier("linear", metric="covariance").fit(X, y)
    values, vectors = np.linalg.eigh(np.asarray(clever.kernel_.matrix))
    scale = np.sqrt(values)
    maps = (
        ("as given", np.eye(2)),
        ("rotated", vectors.T),
        ("rotated and scaled", scale[:, None] * vectors.T),
    )
    means = np.array([X[y == label].mean(axis=0) for label in (-1, 1)])
    for ax, (title, T) in zip(figure.subplots(1, 3), maps, strict=True):
        Z, back = X @ T.T, np.linalg.inv(T).T
        plot_points(Z, y, ax, size=14)
        limits = _square(Z)
        A, B, places = grid(limits, 120)
        for machine, line in ((plain, "--"), (clever, ":")):
            values = machine.decision_function(places @ back).reshape(A.shape)
            ax.contour(A, B, values, levels=[0.0], colors=INK, linestyles=line, linewidths=1.6)
        ax.plot(*(means @ T.T).T, "s-", color=INK, linewidth=1.2, markersize=5.5,
                markeredgecolor="white", zorder=4)  # fmt: skip
        ax.set(title=title, xlim=limits[0], ylim=limits[1], aspect="equal", xticks=[], yticks=[])


def _square(X: np.ndarray) -> Any:
    """Return limits of a square that holds all points."""
    center = (X.min(axis=0) + X.max(axis=0)) / 2
    half = 1.1 * float(np.ptp(X, axis=0).max()) / 2
    return tuple((float(c - half), float(c + half)) for c in center)


@picture(
    "tutorial-3",
    "Tutorial, fig. 3",
    "No straight line separates the crosses from the circles around them.",
    (COLUMN, 3.4),
)
def not_separable(figure: Figure) -> None:
    X, y = circle(seed=1)
    ax = plot_points(X, y, figure.subplots())
    ticks = [-1, 0, 1]
    ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$", xticks=ticks, yticks=ticks)


@picture(
    "tutorial-4",
    "Tutorial, fig. 4",
    "The same items after (x₁, x₂) → (x₁², √2x₁x₂, x₂²): a linear perceptron finds a plane "
    "between them, seen here nearly from its edge.",
    (COLUMN, 3.6),
)
def separable(figure: Figure) -> None:
    from mercer.machines.perceptron import Perceptron

    X, y = circle(seed=1)
    Z = Polynomial(2).features(X)
    machine: BaseEstimator = Perceptron("linear", margin=1.0).fit(Z, y)
    (a, b, c), d = machine.coef_, machine.intercept_

    ax: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    A, B, _ = grid(((0.0, float(-d / a)), (-1.9, 1.9)), 2)  # down to the floor
    ax.plot_surface(A, B, -(a * A + b * B + d) / c, color=MUTED, alpha=0.35, linewidth=0, zorder=1)
    for k, label in enumerate((-1, 1)):
        draw_class(ax, Z[y == label].T, k, 18, depthshade=False)
    ax.set(xlabel="$x_1^2$", ylabel=r"$\sqrt{2}\,x_1x_2$", zlabel="$x_2^2$")
    ax.set(xticks=[0, 1, 2, 3], yticks=[-2, 0, 2], zticks=[0, 1, 2, 3])
    ax.tick_params(pad=-2)
    for axis, pad in ((ax.xaxis, -6), (ax.yaxis, 0), (ax.zaxis, -7)):
        axis.labelpad = pad
        axis.pane.set_facecolor("white")
    ax.view_init(elev=14, azim=-97)
    ax.set_box_aspect((1, 1, 0.9), zoom=1.05)


@picture(
    "tutorial-5",
    "Tutorial, fig. 5",
    "A function of the space that a Gaussian kernel spans: the sum (solid) of seven Gaussians "
    "(dotted), each as high as its weight.",
    (COLUMN, 2.7),
)
def linear_combination(figure: Figure) -> None:
    from mercer.rkhs import Function

    centers = [[0.6], [1.5], [2.3], [3.4], [4.4], [5.3], [6.4]]
    f = Function(Gaussian(np.sqrt(0.5)), centers, [0.7, -0.9, 0.5, 1.1, -0.6, 0.4, 0.8])
    ax = figure.subplots()
    plot_function(f, ax, limits=(-1.5, 8.5), parts=True, color=INK, linewidth=2)
    ax.plot(np.ravel(centers), f.coefficients, ".", color=CLASSES[0])
    ax.axhline(0, color=MUTED, linewidth=0.6)
    ax.set(xlabel="x", ylabel="f(x)")


@picture(
    "tutorial-6",
    "Tutorial, fig. 6",
    "An RBF network: each cell answers a stimulus x (vertical line) by its tuning curve k(·, xᵢ), "
    "and the output neuron adds the answers with weights wᵢ = (K⁻¹y)ᵢ, negative ones dashed.",
    (COLUMN, 3.6),
)
def network(figure: Figure) -> None:
    from mercer import KernelRidge

    centers = np.array([0.8, 2.0, 3.1, 4.3, 5.4])
    machine = KernelRidge(Gaussian(0.7), penalty=0.0)
    f = machine.fit(centers[:, None], [1, 1, -1, 1, -1]).function_
    x = 2.7
    answers = f.kernel([[x]], f.points)[0]

    ax: Any = figure.subplots()
    cells = np.array([(1.3 * i, 1.55) for i in range(len(centers))])
    top, bottom = np.array([2.6, 3.45]), np.array([2.6, 0.0])
    for i, (cell, w, k) in enumerate(zip(cells, f.coefficients, answers, strict=True)):
        paint = CLASSES[1] if w > 0 else CLASSES[0]
        ax.plot(*np.array([bottom, cell]).T, color=MUTED, linewidth=0.8, zorder=1)
        ax.plot(*np.array([cell, top]).T, "-" if w > 0 else "--", color=paint, zorder=1,
                linewidth=0.6 + 1.3 * abs(w))  # fmt: skip
        _cell(ax, cell, f.kernel, centers[i], x)
        place = cell + 0.52 * (top - cell)
        weight = f"{w:+.1f}".replace("-", "−")
        ax.text(*place, weight, ha="center", va="center", fontsize=7.5, color=paint, bbox=PAPER)
        ax.text(cell[0], cell[1] - 0.62, f"{k:.2f}", ha="center", va="center", fontsize=7.5,
                bbox=PAPER)  # fmt: skip
    output = f"{f([[x]])[0]:.2f}".replace("-", "−")
    for place, text in ((top, f"f(x) = Σwᵢk(x, xᵢ) = {output}"), (bottom, f"x = {x}")):
        ax.text(*place, text, ha="center", va="center", fontsize=8.5,
                bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": INK})  # fmt: skip
    ax.set(xlim=(-0.7, 5.9), ylim=(-0.3, 3.8))
    ax.set_axis_off()


PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def _cell(ax: Axes, at: np.ndarray, kernel: Kernel, center: float, x: float) -> None:
    """Draw a neuron as a disk that holds its tuning curve and the place of the stimulus."""
    from matplotlib.patches import Ellipse

    ax.add_patch(Ellipse(tuple(at), 1.12, 0.92, facecolor="white", edgecolor=INK, zorder=2))
    t = np.linspace(-0.4, 6.6, 80)
    across = at[0] - 0.42 + 0.84 * (t - t[0]) / np.ptp(t)
    ax.plot(across, at[1] - 0.2 + 0.45 * kernel(t[:, None], [[center]])[:, 0], color=INK,
            linewidth=1.0, zorder=3)  # fmt: skip
    here = at[0] - 0.42 + 0.84 * (x - t[0]) / np.ptp(t)
    ax.plot([here, here], [at[1] - 0.2, at[1] + 0.25], color=CLASSES[2], linewidth=1.2, zorder=3)


@picture(
    "tutorial-7",
    "Tutorial, fig. 7",
    "Without a penalty the function goes through all items, and its bound (solid) is far from the "
    "best possible one (dashed): it has learned by heart.",
    (COLUMN, 3.75),
)
def overfitted(figure: Figure) -> None:
    from mercer import KernelRidge

    problem = overlapping()
    machine = KernelRidge(NARROW, penalty=0.0).fit(*problem)
    _compare(figure.subplots(), machine, problem, "no penalty")


@picture(
    "tutorial-8",
    "Tutorial, fig. 8",
    "With a penalty, chosen by cross-validation, the same machine comes close to the best "
    "possible bound (dashed).",
    (COLUMN, 3.75),
)
def regularized(figure: Figure) -> None:
    from sklearn.model_selection import GridSearchCV, KFold

    from mercer import KernelRidge

    problem = overlapping()
    folds = KFold(10, shuffle=True, random_state=0)
    search = GridSearchCV(KernelRidge(NARROW), {"penalty": np.logspace(-3, 2, 21)}, cv=folds)
    machine = search.fit(*problem).best_estimator_
    _compare(figure.subplots(), machine, problem, f"λ = {machine.penalty:.2g}")


@picture(
    "ridge-path",
    "Tutorial, the choice of λ for fig. 8",
    "Left, the error of items that the machine has not seen (with its standard error), its "
    "generalized form, and what new items show; training errors (dashed) prefer the smallest λ. "
    "Right, the probability of the labels under a Gaussian process. Lines mark the best λ.",
    (PAGE, 3.2),
)
def choices(figure: Figure) -> None:
    from mercer import KernelRidge
    from mercer.selection.path import RidgePath

    X, y = overlapping()
    path = RidgePath(KernelRidge(NARROW), np.logspace(-4, 3, 85)).fit(X, y)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    plot_path(path, ax=left, label="leave one out")
    left.plot(path.penalties_, path.gcv_, "-.", color=CLASSES[1], label="generalized")
    few = path.penalties_[::4]
    left.plot(few, [_new_error(KernelRidge(NARROW, penalty=p).fit(X, y)) for p in few], ":",
              color=INK, label="new items")  # fmt: skip
    plot_path(path, ax=right, criterion="evidence")
    right.lines[0].set_color(CLASSES[2])
    chosen = []
    for ax, criterion, k in ((left, "loo", 0), (left, "gcv", 1), (right, "evidence", 2)):
        curve = path.curve(criterion)
        best, height = curve.values[curve.best], curve.heights[curve.best]
        ax.vlines(best, ax.get_ylim()[0], height, color=CLASSES[k], linewidth=0.9, zorder=0)
        ax.set(xlabel="penalty λ", xticks=[1e-4, 1e-2, 1, 1e2], ylim=ax.get_ylim())
        chosen.append(f"λ = {best:.2g}")
    left.set_title(f"leave one out: {chosen[0]}, generalized: {chosen[1]}", fontsize=8)
    right.set_title(f"evidence: {chosen[2]}", fontsize=8)
    left.set_ylabel("mean squared error")
    left.legend(loc="upper right")


def _new_error(machine: BaseEstimator) -> float:
    X, y = two_gaussians(4000, seed=0)
    return float(np.mean((machine.predict(X) - y) ** 2))


def _compare(ax: Axes, machine: BaseEstimator, problem: Dataset, name: str) -> None:
    """Draw a machine beside the optimal bound, and say how often either errs."""
    X, y = problem
    limits = limits_of(X)
    plot_decision(machine, X, y, ax, limits=limits)
    A, B, places = grid(limits, 160)
    best = problem.extra["bound"](places).reshape(A.shape)
    ax.contour(A, B, best, levels=[0.0], colors=INK, linestyles="--", linewidths=1.2)
    new, truth = two_gaussians(20_000, seed=0)
    wrong = [np.mean(np.sign(machine.predict(Z)) != t) for Z, t in ((X, y), (new, truth))]
    ax.set_title(
        f"{name}: {wrong[0]:.0%} of these items wrong,\n{wrong[1]:.1%} of new ones "
        f"(best possible {problem.extra['bayes_error']:.1%})"
    )
    ax.set(xlabel="$x_1$", ylabel="$x_2$")


@picture(
    "tutorial-decision-images",
    "Tutorial, conclusions (Wichmann et al., 2005)",
    "What would change a machine's mind about a picture: more ink where it is vermilion, less "
    "where it is blue. Right, the picture after following this direction until the machine "
    "reads the other digit.",
    (COLUMN, 3.7),
)
def decision_images(figure: Figure) -> None:
    from sklearn.datasets import load_digits

    from mercer import KernelRidgeClassifier

    X, y = load_digits(return_X_y=True)
    axes = figure.subplots(2, 3)
    for row, (digit, other, index) in zip(axes, ((3, 8, 5), (7, 1, 2)), strict=True):
        chosen = np.isin(y, (digit, other))
        Z, t = X[chosen] / 16, y[chosen]
        machine = KernelRidgeClassifier(Gaussian(2.0), penalty=0.1).fit(Z, t)
        x = Z[t == digit][index]
        changed = _persuade(machine, x, other)
        for ax, pixels in ((row[0], x), (row[2], changed)):
            ax.imshow(pixels.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[], xlabel=f"read as {machine.predict(pixels[None])[0]}")
        plot_decision_image(machine, x, row[1], toward=other)
        row[1].set_xlabel(f"toward {other}")
    for ax in axes.flat:
        ax.spines[:].set_visible(True)
    for ax, title in zip(axes[0], ("picture", "decision image", "changed"), strict=True):
        ax.set_title(title)


def _persuade(machine: BaseEstimator, x: np.ndarray, toward: object) -> np.ndarray:
    """Follow the gradient in small steps until the machine answers `toward`."""
    changed = x.copy()
    while machine.predict(changed[None])[0] != toward:
        gradient = decision_gradient(machine, changed, toward)
        changed = np.clip(changed + 0.1 * gradient / np.linalg.norm(gradient), 0, 1)
    return changed
