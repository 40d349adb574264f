"""What a machine would answer everywhere in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import Limits, axes_for, grid, limits_of, plane
from mercer.plots.palette import INK, color, marker, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_decision", "plot_points"]


def plot_decision(
    machine: Any,
    X: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    names: tuple[str, ...] | None = None,
    limits: Limits | None = None,
    resolution: int = 160,
) -> Axes:
    """Draw a fitted machine's decision regions in the plane, with the data on top.

    With two classes the shade is the decision function and the line is where it is zero; with
    more classes each region has the color of its class. A regressor is drawn like two classes.

    Parameters
    ----------
    machine : estimator or callable
        Fitted, on items with two columns; or a function of such items that is zero at the bound.
    X : array of shape (n, 2)
    y : array of shape (n,), optional
        Labels; without them the points are not drawn.
    ax : Axes, optional
    names : tuple of str, optional
        What the sorted labels mean, for a legend.
    limits : ((left, right), (bottom, top)), optional
        By default the range of the data, a little widened.
    resolution : int
        Points of the grid in each direction.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> from mercer.datasets import circle
    >>> X, y = circle()
    >>> ax = plot_decision(KernelRidgeClassifier("gaussian").fit(X, y), X, y)
    >>> ax.figure.savefig("decision.png")  # doctest: +SKIP
    """
    points = plane(X)
    ax = axes_for(ax)
    limits = limits or limits_of(points)
    A, B, places = grid(limits, resolution)
    scores, classes = _scores(machine, places)
    if scores.ndim == 1:
        _shade(ax, A, B, scores.reshape(A.shape))
    else:
        _regions(ax, A, B, scores.reshape(*A.shape, -1))
    if y is not None:
        plot_points(points, y, ax, names=names, classes=classes)
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def plot_points(
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    names: tuple[str, ...] | None = None,
    classes: Any = None,
    size: float = 22.0,
) -> Axes:
    """Draw labeled points of the plane, each class with its color and marker.

    Examples
    --------
    >>> from mercer.datasets import xor
    >>> ax = plot_points(*xor(), names=xor().names)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['same', 'different']
    """
    points, labels = plane(X), np.asarray(y)
    if len(labels) != len(points):
        raise DomainError(f"there are {len(points)} points, but {len(labels)} labels")
    ax = axes_for(ax)
    known = np.unique(labels) if classes is None or len(classes) == 0 else np.asarray(classes)
    for k, label in enumerate(known):
        here = labels == label
        name = None if names is None else names[k]
        draw_class(ax, points[here].T, k, size, label=name)
    if names is not None:
        ax.legend(loc="best", frameon=True, framealpha=0.85, edgecolor="none")
    return ax


def draw_class(ax: Any, coordinates: Any, k: int, size: float = 22.0, **more: Any) -> Any:
    """Draw the points of class number k; markers with an inside get a white rim."""
    line_only = marker(k) in "x+"
    edge = {"linewidths": 1.4} if line_only else {"linewidths": 0.6, "edgecolors": "white"}
    return ax.scatter(*coordinates, s=size, c=color(k), marker=marker(k), zorder=3, **edge, **more)


def _scores(machine: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a score per place, or one for each class, and the classes."""
    # A clustering has no classes, but the clusters that it found.
    classes = np.unique(getattr(machine, "classes_", getattr(machine, "labels_", ())))
    for name in ("decision_function", "predict_proba"):
        if hasattr(machine, name):
            scores = np.asarray(getattr(machine, name)(places), dtype=np.float64)
            if scores.ndim == 2 and scores.shape[1] == 2:
                scores = scores[:, 1] - scores[:, 0]
            elif scores.ndim == 2 and scores.shape[1] == 1:
                scores = scores[:, 0]
            return scores, classes
    if len(classes):
        answers = np.asarray(machine.predict(places))
        scores = (answers[:, None] == classes).astype(np.float64)
        return (scores[:, 1] - scores[:, 0] if len(classes) == 2 else scores), classes
    function = machine.predict if hasattr(machine, "predict") else machine
    return np.asarray(function(places), dtype=np.float64).reshape(len(places)), classes


def _shade(ax: Axes, A: np.ndarray, B: np.ndarray, values: np.ndarray) -> None:
    """Draw a function as shades around zero, and the line where it is zero."""
    # A few extreme values must not make everything else look like zero.
    reach = float(np.quantile(np.abs(values), 0.95)) or 1.0
    ax.pcolormesh(
        A, B, np.clip(values, -reach, reach), cmap=shades(), vmin=-1.4 * reach, vmax=1.4 * reach,
        shading="gouraud", rasterized=True,
    )  # fmt: skip
    if values.min() < 0 < values.max():
        ax.contour(A, B, values, levels=[0.0], colors=INK, linewidths=1.4)


def _regions(ax: Axes, A: np.ndarray, B: np.ndarray, scores: np.ndarray) -> None:
    """Draw the region of each class in its color, paler, with lines between them."""
    from matplotlib.colors import to_rgb

    codes, count = scores.argmax(axis=2), scores.shape[2]
    paints = np.array([0.35 * np.array(to_rgb(color(k))) + 0.65 for k in range(count)])
    extent = (A[0, 0], A[0, -1], B[0, 0], B[-1, 0])
    ax.imshow(paints[codes], origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    for k in np.unique(codes):
        # How far a class is ahead of all others is zero on its border, and smooth around it.
        ahead = scores[:, :, k] - np.delete(scores, k, axis=2).max(axis=2)
        if ahead.min() < 0 < ahead.max():
            ax.contour(A, B, ahead, levels=[0.0], colors=INK, linewidths=0.7)
