"""The gradient of a learned function over the plane: where, and along what, it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError
from mercer.plots.axes import axes_for, grid
from mercer.plots.function import expansion_of, ranges_of
from mercer.plots.palette import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_gradient_field"]


def plot_gradient_field(
    function: Any,
    ax: Axes | None = None,
    *,
    limits: ArrayLike | None = None,
    output: int = 0,
    arrows: int = 18,
    resolution: int = 120,
) -> Axes:
    """Draw how fast a function of the plane changes, |∇f|, with arrows uphill and its contours.

    The longest arrows are where a small change of an item matters most, and for a decision they
    point to the class that it is changed to.

    Parameters
    ----------
    function : Function or Featured, or a fitted machine that holds one
    ax : Axes, optional
    limits : ((left, right), (bottom, top)), optional
        By default the range of the points that a `Function` holds, widened.
    output : int
        Which of several outputs.
    arrows, resolution : int
        Arrows, and shades, in each direction.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.rkhs import Function
    >>> f = Function(Gaussian(1.0), [[0.0, 0.0], [2.0, 1.0]], [1.0, -0.5])
    >>> ax = plot_gradient_field(f)
    >>> len(ax.figure.axes)  # with the bar of shades
    2
    """
    function = getattr(function, "function_", function)
    if not hasattr(function, "gradient"):
        raise DomainError(f"{function!r} has no gradient; give a Function or a fitted machine")
    ranges = ranges_of(limits, expansion_of(function))
    if len(ranges) != 2:
        raise DomainError("a gradient field is drawn over the plane; for a line see plot_function")
    plane = ranges[0], ranges[1]
    ax = axes_for(ax)
    A, B, places = grid(plane, resolution)
    speed = np.linalg.norm(_output(function.gradient(places), output, 2), axis=1).reshape(A.shape)
    values = _output(np.asarray(function(places)), output, 1).reshape(A.shape)
    mesh = ax.pcolormesh(A, B, speed, cmap="Greys", vmin=0.0, shading="gouraud", rasterized=True)
    ax.contour(A, B, values, levels=7, colors=MUTED, linewidths=0.7)
    _, _, some = grid(plane, arrows)
    g = _output(function.gradient(some), output, 2)
    ax.quiver(some[:, 0], some[:, 1], g[:, 0], g[:, 1], color=INK, width=0.003, angles="xy")
    ax.figure.colorbar(mesh, ax=ax, label="|∇f(x)|")
    return ax


def _output(values: np.ndarray, output: int, single: int) -> np.ndarray:
    """Return one of several outputs; with one there are `single` axes."""
    return values if values.ndim == single else values[..., output]
