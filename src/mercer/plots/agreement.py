"""Agreement: predicted numbers against true ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.palette import BLUE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_agreement"]

CROWD = 3000  # points of which more make a large file and no other picture


def plot_agreement(y: Any, prediction: Any, ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Draw predictions against the truth; on the diagonal they agree.

    Parameters
    ----------
    y, prediction : arrays
    ax : Axes, optional
    seed : int
        Of the choice of 3000 points where there are more.

    Examples
    --------
    >>> ax = plot_agreement([1.0, 2.0, 3.0], [1.1, 1.9, 3.2])
    >>> ax.get_xlabel(), len(ax.collections[0].get_offsets())
    ('true', 3)
    """
    true, said = np.asarray(y, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
    if true.shape != said.shape or true.ndim != 1 or len(true) == 0:
        raise DomainError(
            f"one prediction is needed for each number, found shapes {said.shape} and {true.shape}"
        )
    ax = axes_for(ax, (4.0, 3.8))
    low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
    room = 0.04 * ((high - low) or abs(high) or 1.0)
    ax.plot([low - room, high + room], [low - room, high + room], "--", color=MUTED, linewidth=1.0)
    if len(true) > CROWD:
        some = np.sort(np.random.default_rng(seed).choice(len(true), CROWD, replace=False))
        true, said = true[some], said[some]
    alpha = float(np.clip(60 / np.sqrt(len(true)) / 4, 0.25, 0.8))
    ax.scatter(true, said, s=12, color=BLUE, alpha=alpha, linewidths=0)
    ax.set(xlim=(low - room, high + room), ylim=(low - room, high + room), aspect="equal")
    ax.set(xlabel="true", ylabel="predicted")
    return ax
