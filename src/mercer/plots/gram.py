"""The Gram matrix as a picture: blocks where classes are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.kernels import named
from mercer.plots.canvas import axes_for
from mercer.plots.lettering import plain
from mercer.plots.palette import INK, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["matrix_of", "plot_gram"]


def plot_gram(
    kernel: Any,
    X: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    *,
    names: tuple[str, ...] | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw all similarities, the items ordered by class, with lines between the classes.

    A kernel that suits the task shows dark blocks on the diagonal and pale ones elsewhere.

    Parameters
    ----------
    kernel : Kernel, name of a kernel, or square array
        Heuristics are resolved on `X`. An array is taken as the Gram matrix itself.
    X : sequence of things, optional
        Not needed with a matrix.
    y : array, optional
        Labels to order by; without them the order of the items is kept.
    ax : Axes, optional
    names : tuple of str, optional
        What the sorted labels mean; by default the labels.
    colorbar : bool

    Examples
    --------
    >>> ax = plot_gram([[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]], y=["a", "b", "a"])
    >>> ax.images[0].get_array()[0].tolist()
    [1.0, 0.9, 0.2]
    """
    K = matrix_of(kernel, X)
    ax = axes_for(ax, (3.8, 3.2))
    if y is not None:
        labels = np.asarray(y)
        if len(labels) != len(K):
            raise DomainError(f"the matrix has {len(K)} rows, but there are {len(labels)} labels")
        order = np.argsort(labels, kind="stable")
        K = K[np.ix_(order, order)]
    picture = ax.imshow(K, interpolation="nearest", **_colors(K))
    ax.set(xticks=[], yticks=[])
    if y is not None:
        _borders(ax, labels, names)
    if colorbar:
        ax.figure.colorbar(picture, ax=ax, label="k(x, z)", shrink=0.9)
    return ax


def matrix_of(kernel: Any, X: Any) -> np.ndarray:
    """Return the Gram matrix of a kernel on items, or the matrix that was given instead."""
    if isinstance(kernel, str) or not isinstance(kernel, list | tuple | np.ndarray):
        if X is None:
            raise DomainError("a kernel needs items X to compare")
        kernel = named(kernel).resolve(X)
        return np.asarray(kernel(X), dtype=np.float64)
    K = np.asarray(kernel, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(K) == 0:
        raise DomainError(f"a Gram matrix is square, found shape {K.shape}")
    return K


def _colors(K: np.ndarray) -> dict[str, Any]:
    """Return one hue for similarities of one sign, two hues around zero for both."""
    if K.min() < 0:
        reach = float(np.abs(K).max())
        return {"cmap": shades(), "vmin": -reach, "vmax": reach}
    return {"cmap": "cividis_r", "vmin": 0.0, "vmax": float(K.max()) or 1.0}


def _borders(ax: Axes, labels: np.ndarray, names: tuple[str, ...] | None) -> None:
    """Draw lines between the classes and write their names at the edges."""
    classes, counts = np.unique(labels, return_counts=True)
    ends = np.cumsum(counts)
    for end in ends[:-1] - 0.5:
        ax.axhline(end, color=INK, linewidth=0.8)
        ax.axvline(end, color=INK, linewidth=0.8)
    texts = [plain(label) for label in (classes if names is None else names)]
    middles = ends - counts / 2 - 0.5
    ax.set_xticks(middles, texts)
    ax.set_yticks(middles, texts)
    ax.tick_params(length=0)
