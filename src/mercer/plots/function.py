"""Functions of one or two variables, and the weights of the exemplars that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError
from mercer.plots.axes import Limits, axes_for, grid, limits_of
from mercer.plots.palette import INK, MUTED, color, marker, shades
from mercer.rkhs import Function

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

__all__ = ["plot_function", "plot_weights"]


def plot_function(
    function: Any,
    ax: Axes | None = None,
    *,
    limits: ArrayLike | None = None,
    parts: bool = False,
    output: int | None = None,
    resolution: int | None = None,
    **line: Any,
) -> Axes:
    """Draw a function of the line or the plane, such as what a machine has learned.

    Parameters
    ----------
    function : Function, fitted machine, or callable on arrays of shape (n, 1) or (n, 2)
        Of a machine its ``predict`` (a regressor) or ``decision_function`` is drawn.
    ax : Axes, optional
    limits : (left, right) or ((left, right), (bottom, top)), optional
        By default the range of the points that a `Function` or machine holds, widened.
    parts : bool
        Whether to draw the summands wᵢk(·, xᵢ) of a function of one variable, dotted (fig. 5).
    output : int, optional
        Which of several outputs; by default all of them on the line, the first in the plane.
    resolution : int, optional
        Points in each direction: by default 400 on the line and 160 in the plane.
    **line
        Passed to ``ax.plot``, or to ``ax.contour`` in the plane.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.rkhs import Function
    >>> f = Function(Gaussian(1.0), [[0.0], [2.0]], [1.0, -0.5])
    >>> ax = plot_function(f, parts=True)
    >>> len(ax.lines)
    3
    """
    expansion = expansion_of(function)
    ranges = ranges_of(limits, expansion)
    evaluate = _callable(function)
    ax = axes_for(ax)
    if len(ranges) == 1:
        return _curve(ax, evaluate, ranges[0], expansion if parts else None, output,
                      resolution or 400, line)  # fmt: skip
    if parts:
        raise DomainError("parts are drawn for functions of one variable only")
    A, B, places = grid((ranges[0], ranges[1]), resolution or 160)
    values = np.asarray(evaluate(places), dtype=np.float64)
    values = values if values.ndim == 1 else values[:, output or 0]
    reach = float(np.abs(values).max()) or 1.0
    mesh = ax.pcolormesh(
        A, B, values.reshape(A.shape), cmap=shades(), vmin=-reach, vmax=reach,
        shading="gouraud", rasterized=True,
    )  # fmt: skip
    if values.min() < 0 < values.max():
        look: dict[str, Any] = {"levels": [0.0], "colors": INK, "linewidths": 1.4}
        ax.contour(A, B, values.reshape(A.shape), **look | line)
    ax.figure.colorbar(mesh, ax=ax, label="f(x)")
    return ax


def _curve(
    ax: Axes,
    evaluate: Callable[[np.ndarray], ArrayLike],
    limits: tuple[float, float],
    expansion: Function | None,
    output: int | None,
    resolution: int,
    line: dict[str, Any],
) -> Axes:
    x = np.linspace(*limits, resolution)
    if expansion is not None:
        weights = expansion.coefficients
        weights = weights if weights.ndim == 1 else weights[:, output or 0]
        similarities = expansion.kernel(x[:, None], expansion.points)
        for w, column in zip(weights, similarities.T, strict=True):
            ax.plot(x, w * column, ":", color=MUTED, linewidth=1.0)
    values = np.asarray(evaluate(x[:, None]), dtype=np.float64)
    columns = values[:, None] if values.ndim == 1 else values
    columns = columns if output is None or values.ndim == 1 else columns[:, [output]]
    for k, column in enumerate(columns.T):
        ax.plot(x, column, **{"color": color(k)} | line)
    ax.set_xlim(*limits)
    return ax


def expansion_of(function: Any) -> Function | None:
    """Return the RKHS function behind the argument, if there is one."""
    found = getattr(function, "function_", function)
    return found if isinstance(found, Function) else None


def _callable(function: Any) -> Any:
    for name in ("decision_function", "predict"):
        if hasattr(function, name):
            return getattr(function, name)
    if not callable(function):
        raise DomainError(f"{function!r} is not a function, and not a fitted machine")
    return function


def ranges_of(limits: ArrayLike | None, expansion: Function | None) -> list[tuple[float, float]]:
    """Return one range for each variable."""
    if limits is not None:
        given = np.asarray(limits, dtype=np.float64)
        if given.shape not in ((2,), (2, 2)):
            raise DomainError(
                "limits must be (left, right) or ((left, right), (bottom, top)), found shape "
                f"{given.shape}"
            )
        return [(float(a), float(b)) for a, b in np.atleast_2d(given)]
    if expansion is None:
        raise DomainError("limits are needed: the function does not know where its data lie")
    points = np.array([np.ravel(item) for item in expansion.points.items()], dtype=np.float64)
    if points.shape[1] > 2:
        raise DomainError(
            f"a function of {points.shape[1]} variables cannot be drawn; only one or two can"
        )
    if points.shape[1] == 2:
        wide: Limits = limits_of(points, 0.25)
        return list(wide)
    low, high = float(points.min()), float(points.max())
    room = 0.25 * (high - low or 4.0)
    return [(low - room, high + room)]


def plot_weights(
    machine: BaseEstimator | Function,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    output: int = 0,
    names: tuple[str, ...] | None = None,
) -> Axes:
    """Draw the weight wᵢ of each exemplar in f = Σ wᵢk(·, xᵢ), class by class, smallest first.

    A large penalty makes the weights of a class alike, as in the exemplar model (21) of Jäkel,
    Schölkopf & Wichmann (2007); without a penalty few exemplars shout against each other (24).

    Parameters
    ----------
    machine : fitted machine, or Function
    y : array, optional
        Labels of the exemplars, to order and color by.
    ax : Axes, optional
    output : int
        Which of several outputs.
    names : tuple of str, optional
        What the sorted labels mean, for a legend.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.rkhs import Function
    >>> f = Function(Gaussian(1.0), [[0.0], [1.0], [2.0]], [1.0, -2.0, 0.5])
    >>> ax = plot_weights(f, y=[1, 0, 1], names=("B", "A"))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['B', 'A']
    """
    function = getattr(machine, "function_", machine)
    if not isinstance(function, Function):
        raise DomainError(f"{machine!r} has no exemplar weights; fit a machine first")
    weights = function.coefficients
    weights = weights if weights.ndim == 1 else weights[:, output]
    labels = np.zeros(len(weights), dtype=int) if y is None else np.asarray(y)
    if len(labels) != len(weights):
        raise DomainError(f"there are {len(weights)} exemplars, but {len(labels)} labels")
    ax = axes_for(ax)
    start = 0
    for k, label in enumerate(np.unique(labels)):
        heights = np.sort(weights[labels == label])
        places = np.arange(start, start + len(heights))
        ax.vlines(places, 0.0, heights, color=color(k), linewidth=0.8)
        text = names[k] if names is not None else (None if y is None else str(label))
        ax.plot(places, heights, marker(k), color=color(k), markersize=3.5, label=text)
        start += len(heights) + 1
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.set(xlabel="exemplar", ylabel="weight", xticks=[])
    if y is not None:
        ax.legend()
    return ax
