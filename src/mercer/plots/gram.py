"""The Gram matrix as a picture, with blocks where classes are alike, and its eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items
from mercer.errors import DomainError
from mercer.kernels import Kernel, named
from mercer.plots.axes import axes_for, plain
from mercer.plots.palette import CLASSES, INK, MUTED, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["effective_rank", "matrix_of", "plot_gram", "plot_spectrum"]


def plot_gram(
    kernel: Kernel | str | ArrayLike,
    X: Items | None = None,
    y: ArrayLike | None = None,
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

    Returns
    -------
    Axes

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


def matrix_of(kernel: Kernel | str | ArrayLike, X: Items | None) -> np.ndarray:
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


def plot_spectrum(
    kernel: Kernel | str | ArrayLike,
    X: Items | None = None,
    ax: Axes | None = None,
    *,
    penalty: float | None = None,
    label: str | None = None,
) -> Axes:
    """Draw the eigenvalues of the Gram matrix, the largest first, and the effective rank.

    Eigenvalues that are zero to rounding are left out; negative ones, which a valid kernel cannot
    have, are drawn as crosses by their size.

    Parameters
    ----------
    kernel : Kernel, name of a kernel, or square array
        As in `plot_gram`.
    X : sequence of things, optional
    ax : Axes, optional
    penalty : float, optional
        Draws a ridge penalty λ; the effective rank is then Σ μ/(μ + λ), the degrees of freedom of
        ridge regression. Without it, exp(−Σ p log p) with p = μ/Σμ.
    label : str, optional
        Name of the line in a legend.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_spectrum(np.diag([4.0, 4.0, 0.0]))
    >>> ax.get_title()
    'effective rank 2.0 of 3'
    """
    K = matrix_of(kernel, X)
    values = np.linalg.eigvalsh((K + K.T) / 2)[::-1]
    tolerance = len(K) * np.finfo(float).eps * float(np.abs(values).max())
    if tolerance == 0:
        raise DomainError("all similarities are zero, so there is no spectrum")
    ax = axes_for(ax)
    places = np.arange(1, len(values) + 1)
    good, bad = values > tolerance, values < -tolerance
    ax.plot(places[good], values[good], ".-", markersize=4, linewidth=1.0, label=label)
    if bad.any():
        ax.plot(places[bad], -values[bad], "x", color=CLASSES[1], label="negative")
        ax.legend()
    if penalty:
        ax.axhline(penalty, color=MUTED, linestyle="--", linewidth=1.0)
        ax.annotate("λ", (places[-1], penalty), ha="right", va="bottom", color=MUTED)
    ax.set(yscale="log", xlabel="index", ylabel="eigenvalue")
    ax.set_title(f"effective rank {effective_rank(values, penalty):.1f} of {len(K)}")
    return ax


def effective_rank(eigenvalues: ArrayLike, penalty: float | None = None) -> float:
    """Return how many directions count: degrees of freedom, or the entropy of the spectrum.

    Parameters
    ----------
    eigenvalues : sequence of float
        Negative ones count as zero.
    penalty : float, optional
        λ of Σ μ/(μ + λ), the degrees of freedom of ridge regression; without it, exp(−Σ p log p)
        with p = μ/Σμ.

    Returns
    -------
    float

    Examples
    --------
    >>> round(effective_rank([1.0, 1.0, 1.0, 0.0]), 9)
    3.0
    >>> effective_rank([1.0, 1.0], penalty=1.0)
    1.0
    """
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    if penalty:
        return float(np.sum(values / (values + penalty)))
    if not values.any():
        return 0.0
    p = values[values > 0] / values.sum()
    return float(np.exp(-np.sum(p * np.log(p))))
