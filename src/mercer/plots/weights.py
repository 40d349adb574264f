"""Exemplar weights: how much each stored item has to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.palette import MUTED, color, marker
from mercer.rkhs import Function

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_weights"]


def plot_weights(
    machine: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    output: int = 0,
    names: tuple[str, ...] | None = None,
) -> Axes:
    """Draw the weight wᵢ of each exemplar in f = Σ wᵢk(·, xᵢ), class by class, smallest first.

    A large penalty makes the weights of a class alike, as in the exemplar model (21); without a
    penalty few exemplars shout against each other (24).

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
