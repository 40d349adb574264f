"""Axes to draw on, without pyplot and its global state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_for", "grid", "limits_of"]

Limits = tuple[tuple[float, float], tuple[float, float]]


def axes_for(ax: Axes | None, size: tuple[float, float] = (4.0, 3.2)) -> Axes:
    """Return the given axes, or new ones on a figure of their own (``ax.figure.savefig``)."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def plane(X: Any, name: str = "X") -> np.ndarray:
    """Return items as rows of two numbers, refusing what does not lie in a plane."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DomainError(
            f"a plot of the plane needs {name} with two columns, found shape {points.shape}; "
            "transform the data first, for example with KernelPCA(n_components=2)"
        )
    return points


def limits_of(X: np.ndarray, margin: float = 0.12) -> Limits:
    """Return the range of both columns, widened a little."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    low, high = low - room, high + room
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def grid(limits: Limits, resolution: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both coordinates of a grid's points, and the points as rows."""
    (left, right), (bottom, top) = limits
    A, B = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
    return A, B, np.column_stack([A.ravel(), B.ravel()])
