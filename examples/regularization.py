"""Why a penalty helps: figures 7 and 8 of Jäkel, Schölkopf & Wichmann (2007).

Two categories overlap, so no rule can be right about every item. A function without a penalty
goes through all training items nevertheless, and gets a boundary that no new item respects. The
penalized one, its λ chosen by cross-validation, comes near the best boundary there is. Writes
regularization.png, or the file given by ``--out``.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from scipy.stats import multivariate_normal
from sklearn.model_selection import GridSearchCV, KFold

from mercer import KernelRidge
from mercer.kernels import Gaussian

BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by everyone (Okabe & Ito)
SHADES = LinearSegmentedColormap.from_list("shades", ["#79b7dd", "#ffffff", "#f2ad7c"])
KERNEL = Gaussian(0.6)
LOW, HIGH = np.array([-3.4, -3.1]), np.array([4.1, 3.4])

CATEGORIES = (
    multivariate_normal([-0.6, 0.0], [[1.6, 0.5], [0.5, 0.9]]),
    multivariate_normal([1.3, 0.2], [[0.7, -0.4], [-0.4, 1.3]]),
)


def main(out: Path) -> None:
    X, y = sample(40, seed=1)
    interpolation = KernelRidge(KERNEL, penalty=0.0).fit(X, y)
    figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.5))
    for ax, machine in zip(axes, (interpolation, regularized(X, y)), strict=True):
        draw(ax, machine, X, y)
        name = f"penalty λ = {machine.penalty:.2g}"
        errors = f"{error(machine.predict, X, y):.0%} of training items wrong, "
        errors += f"{error(machine.predict, *sample(20_000, seed=0)):.0%} of new ones"
        ax.set_title(f"{name}\n{errors}", fontsize=10)
        print(f"{name}: {errors}")
    print(f"best possible: {error(log_odds, *sample(20_000, seed=0)):.0%} of new items wrong")
    legend(figure)
    figure.savefig(out, dpi=144, pil_kwargs={"optimize": True})


def sample(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw equally many items of both categories, labeled −1 and 1."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([category.rvs(count, random_state=rng) for category in CATEGORIES])
    return X, np.repeat([-1, 1], count)


def regularized(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    """Choose the penalty by cross-validation."""
    folds = KFold(10, shuffle=True, random_state=0)
    search = GridSearchCV(KernelRidge(KERNEL), {"penalty": np.logspace(2, -4, 13)}, cv=folds)
    return search.fit(X, y).best_estimator_


def log_odds(X: np.ndarray) -> np.ndarray:
    """Return log p(x | 1)/p(x | −1), a quadratic function; the best boundary is where it is 0."""
    return CATEGORIES[1].logpdf(X) - CATEGORIES[0].logpdf(X)


def error(function: Callable, X: np.ndarray, y: np.ndarray) -> float:
    """Return the share of items for which a function has the wrong sign."""
    return float(np.mean(np.sign(function(X)) != y))


def draw(ax: Axes, machine: KernelRidge, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the learned function, its boundary, the best boundary and the training items."""
    x1, x2 = (np.linspace(a, b, 240) for a, b in zip(LOW, HIGH, strict=True))
    grid = np.stack(np.meshgrid(x1, x2), axis=-1)
    f = machine.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(x1, x2, np.clip(f, -1.2, 1.2), np.linspace(-1.2, 1.2, 13), cmap=SHADES)
    ax.contour(x1, x2, f, [0], colors="black", linewidths=1.6, zorder=1)
    ax.contour(x1, x2, log_odds(grid), [0], colors="black", linewidths=1.4, linestyles="--")
    for label, marker, color in ((-1, "o", BLUE), (1, "^", ORANGE)):
        ax.scatter(
            *X[y == label].T, s=26, marker=marker, color=color, ec="white", lw=0.7, zorder=3
        )
    ax.set(xticks=[], yticks=[], xlim=(LOW[0], HIGH[0]), ylim=(LOW[1], HIGH[1]), aspect="equal")


def legend(figure: plt.Figure) -> None:
    """Explain lines and markers once, below both panels."""
    figure.legend(
        handles=[
            Line2D([], [], color=BLUE, marker="o", ls="", label="category A"),
            Line2D([], [], color=ORANGE, marker="^", ls="", label="category B"),
            Line2D([], [], color="black", lw=1.6, label="learned boundary"),
            Line2D([], [], color="black", lw=1.4, ls="--", label="best possible boundary"),
        ],
        loc="lower center", ncols=4, frameon=False, fontsize=9,
    )  # fmt: skip
    figure.subplots_adjust(left=0.01, right=0.99, top=0.87, bottom=0.11, wspace=0.03)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the effect of a penalty.")
    parser.add_argument("--out", type=Path, default=Path("regularization.png"))
    main(parser.parse_args().out)
