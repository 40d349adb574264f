"""Curves: one number along one parameter, with its name and its best value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import SelectionError, suggestion

__all__ = ["Curve", "chosen"]


@dataclass(frozen=True)
class Curve:
    """One criterion along a path, as `mercer.plots.plot_path` draws it.

    Attributes
    ----------
    parameter : str
    values : ndarray
        Of the parameter, ascending.
    heights : ndarray
        The criterion at these; nan where it is not known.
    errors : ndarray or None
        One standard error.
    training : ndarray or None
        The same criterion on the training items.
    name : str
        What the criterion is.
    best : int
        Place of the best value.
    limit : float or None
        Height beyond which it is bad enough not to be looked at.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection.path import RidgePath
    >>> path = RidgePath(KernelRidge("linear"), [0.1, 10.0]).fit([[1.0], [2.0]], [1.0, 2.5])
    >>> curve = path.curve("loo")
    >>> curve.name, float(curve.values[curve.best])
    ('leave-one-out error', 0.1)
    """

    parameter: str
    values: np.ndarray
    heights: np.ndarray
    errors: np.ndarray | None
    training: np.ndarray | None
    name: str
    best: int
    limit: float | None = None


def chosen(criterion: str, known: dict[str, Any]) -> Any:
    """Return what is known under the name of a criterion.

    Examples
    --------
    >>> chosen("low", {"loo": 1, "gcv": 2})
    Traceback (most recent call last):
    mercer.errors.SelectionError: criterion cannot be 'low'; did you mean 'loo'?
    """
    if criterion not in known:
        raise SelectionError(f"criterion cannot be {criterion!r}{suggestion(criterion, known)}")
    return known[criterion]
