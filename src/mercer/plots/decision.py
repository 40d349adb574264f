"""What a machine would answer in the plane, and what would change its mind about a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items
from mercer.errors import DomainError
from mercer.plots.axes import Limits, axes_for, grid, limits_of, plane
from mercer.plots.palette import INK, color, marker, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from mercer.rkhs import Function

__all__ = ["decision_gradient", "plot_decision", "plot_decision_image", "plot_points"]


def plot_decision(
    machine: BaseEstimator | Function,
    X: Items,
    y: ArrayLike | None = None,
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
    X: Items,
    y: ArrayLike,
    ax: Axes | None = None,
    *,
    names: tuple[str, ...] | None = None,
    classes: Any = None,
    size: float = 22.0,
) -> Axes:
    """Draw labeled points of the plane, each class with its color and marker.

    Parameters
    ----------
    X : array of shape (n, 2)
    y : array of shape (n,)
    ax : Axes, optional
    names : tuple of str, optional
        What the sorted labels mean, for a legend.
    classes : sequence of labels, optional
        All that there are, where some have no point here; each keeps its color.
    size : float
        Area of a marker, in points.

    Returns
    -------
    Axes

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


def _scores(
    machine: BaseEstimator | Function, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
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
    predict = getattr(machine, "predict", machine)
    if len(classes):
        answers = np.asarray(predict(places))
        scores = (answers[:, None] == classes).astype(np.float64)
        return (scores[:, 1] - scores[:, 0] if len(classes) == 2 else scores), classes
    return np.asarray(predict(places), dtype=np.float64).reshape(len(places)), classes


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


def plot_decision_image(
    machine: BaseEstimator | Function,
    x: ArrayLike,
    ax: Axes | None = None,
    *,
    shape: tuple[int, int] | None = None,
    toward: object = None,
    against: object = None,
) -> Axes:
    """Draw, pixel by pixel, the direction that most changes a machine's decision about a picture.

    It is the gradient of the decision function at the picture: ink where more of it speaks for
    the class (vermilion) and against it (blue). For a linear machine it is the same everywhere,
    the weight vector; for the prototype classifier the difference of the mean pictures
    (Wichmann, Graf, Simoncelli, Bülthoff & Schölkopf, 2005).

    Parameters
    ----------
    machine : fitted classifier or regressor, or Function
    x : array
        A picture, as a row of pixels or with its shape.
    ax : Axes, optional
    shape : (rows, columns), optional
        Of the picture; by default that of `x`, or a square.
    toward, against : labels, optional
        Of a machine with several classes: the score of one class, minus that of another if given.
        By default the class that the machine chooses.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelRidgeClassifier
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> machine = KernelRidgeClassifier("gaussian").fit(X, y)
    >>> plot_decision_image(machine, X[0]).images[0].get_array().shape
    (8, 8)
    """
    picture = np.asarray(x, dtype=np.float64)
    shape = shape or _shape(picture)
    gradient = decision_gradient(machine, picture.ravel(), toward, against).reshape(shape)
    ax = axes_for(ax, (2.6, 2.6))
    reach = float(np.abs(gradient).max()) or 1.0
    ax.imshow(gradient, cmap=shades(), vmin=-reach, vmax=reach, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax


def decision_gradient(
    machine: BaseEstimator | Function,
    x: ArrayLike,
    toward: object = None,
    against: object = None,
) -> np.ndarray:
    """Return the gradient of a machine's decision function at x, by central differences.

    Two evaluations for each number in x, all at once, so it works for every kernel and machine.
    The error is about 1e-10 of the function's size, divided by the scale of x.

    Parameters
    ----------
    machine : fitted machine, or Function
    x : array
        A vector, in any shape.
    toward, against : labels, optional
        Of a machine with several classes: the score of one, minus that of another if given. By
        default the class that the machine chooses.

    Returns
    -------
    ndarray
        As many numbers as `x` has.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.rkhs import Function
    >>> f = Function(Gaussian(1.0), [[0.0, 0.0]], [1.0])
    >>> decision_gradient(f, [1.0, 0.0]).round(6)  # −x·k(x, 0)
    array([-0.606531,  0.      ])
    """
    x = np.asarray(x, dtype=np.float64).ravel()
    step = np.cbrt(np.finfo(float).eps) * max(1.0, float(np.abs(x).max()))
    moves = step * np.eye(len(x))
    score = _score(machine, x, toward, against)
    return (score(x + moves) - score(x - moves)) / (2 * step)


def _score(
    machine: BaseEstimator | Function,
    x: np.ndarray,
    toward: object,
    against: object,
) -> Any:
    """Return the function to differentiate, with one number for each row."""
    names = ("decision_function", "predict_proba", "predict")
    found = [getattr(machine, name) for name in names if hasattr(machine, name)]
    if not found and not callable(machine):
        raise DomainError(f"{machine!r} is not a fitted machine and not a function")
    evaluate = found[0] if found else machine
    classes = np.asarray(getattr(machine, "classes_", ()))
    values = np.asarray(evaluate(x[None]))
    if values.ndim == 1:
        if toward is None and against is None:
            return evaluate
        sign = _sign(classes, toward, against)
        return lambda X: sign * evaluate(X)
    plus = int(values[0].argmax()) if toward is None else _column(classes, toward)
    if against is None:
        return lambda X: np.asarray(evaluate(X))[:, plus]
    minus = _column(classes, against)
    return lambda X: np.asarray(evaluate(X))[:, plus] - np.asarray(evaluate(X))[:, minus]


def _sign(classes: np.ndarray, toward: object, against: object) -> float:
    """Return 1 toward the second of two classes, −1 toward the first."""
    if toward is not None:
        return 1.0 if _column(classes, toward) == 1 else -1.0
    return -1.0 if _column(classes, against) == 1 else 1.0


def _column(classes: np.ndarray, label: object) -> int:
    places = np.flatnonzero(classes == label)
    if len(places) == 0:
        raise DomainError(f"the machine has no class {label!r}; it has {classes.tolist()}")
    return int(places[0])


def _shape(picture: np.ndarray) -> tuple[int, int]:
    if picture.ndim == 2 and 1 not in picture.shape:
        return picture.shape[0], picture.shape[1]
    side = int(np.sqrt(picture.size))
    if side * side != picture.size:
        raise DomainError(f"{picture.size} pixels make no square; say shape=(rows, columns)")
    return side, side
