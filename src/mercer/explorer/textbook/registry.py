"""The registry: all demonstrations by name, in the order in which a course meets them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from mercer.errors import DomainError, suggestion
from mercer.explorer.textbook.chart import Demonstration
from mercer.explorer.textbook.functions import GAUSSIANS, REGULARIZATION
from mercer.explorer.textbook.psychology import SHEPARD, SIX_TYPES
from mercer.explorer.textbook.separating import KERNEL_TRICK, MARGIN, PERCEPTRON, PROTOTYPES

__all__ = ["DEMONSTRATIONS", "demonstrate", "titles"]

DEMONSTRATIONS: dict[str, Demonstration] = {
    "perceptron": PERCEPTRON,
    "prototypes": PROTOTYPES,
    "kernel-trick": KERNEL_TRICK,
    "gaussians": GAUSSIANS,
    "regularization": REGULARIZATION,
    "margin": MARGIN,
    "shepard": SHEPARD,
    "six-types": SIX_TYPES,
}


def titles() -> list[dict[str, Any]]:
    """Return what there is, with knobs and points as they are at first."""
    return [
        {
            "name": name, "title": one.title, "about": one.about, "source": one.source,
            "knobs": [asdict(knob) for knob in one.knobs], "points": one.points.tolist(),
            "classes": list(one.classes), "steps": one.steps,
        }
        for name, one in DEMONSTRATIONS.items()
    ]  # fmt: skip


def demonstrate(
    name: str, values: Any = None, points: Any = None, step: Any = 0
) -> dict[str, Any]:
    """Return what one sees of a demonstration.

    Parameters
    ----------
    name : str
    values : dict, optional
        Positions of knobs.
    points : list of [x, y, class], optional
    step : int

    Examples
    --------
    >>> scene = demonstrate("margin", {"C": 100.0})
    >>> [chart["title"] for chart in scene["charts"]], scene["readouts"][0][0]
    (['The widest margin'], 'support vectors')
    """
    if name not in DEMONSTRATIONS:
        hint = suggestion(str(name), list(DEMONSTRATIONS))
        raise DomainError(f"there is no demonstration {str(name)[:40]!r}{hint}")
    one = DEMONSTRATIONS[name]
    return one.draw(one.state(values, points, step)).plain()
