"""Powers of a target: the scales on which skewed positive numbers may be learned.

The ladder of powers (Tukey, 1977; Box & Cox, 1964) has 1, the root, the fourth root and, at its
end, the logarithm. Each step draws large numbers in further. All are increasing, so that an
interval on one scale is an interval on every other.
"""

from __future__ import annotations

import numpy as np

from mercer.errors import DomainError, ValidityError, suggestion

__all__ = ["POWERS", "backward", "forward", "require_power", "require_scalable"]

# What each scale is called, and the power that it is; 0 stands for the logarithm.
POWERS = {"none": 1.0, "root": 0.5, "fourth root": 0.25, "log": 0.0}
MAX_LOG = 700.0  # whose exponential is still finite


def require_power(name: object) -> str:
    """Return the name of a scale, or say which there are.

    Examples
    --------
    >>> require_power("log")
    'log'
    """
    if not isinstance(name, str) or name not in POWERS:
        hint = suggestion(name, POWERS) if isinstance(name, str) else ""
        raise ValidityError(
            f"a target cannot be on the scale {name!r}{hint}; choose among "
            f"{', '.join(map(repr, POWERS))}"
        )
    return name


def require_scalable(y: np.ndarray, scale: str) -> None:
    """Refuse targets that have no such power, by the first one."""
    wrong = {"none": np.zeros(len(y), dtype=bool), "log": y <= 0}.get(scale, y < 0)
    if wrong.any():
        place = int(np.argmax(wrong))
        what = "logarithm" if scale == "log" else scale
        least = "greater than 0" if scale == "log" else "0 or more"
        zeros = scale == "log" and bool(y.min() >= 0)
        hint = "; 'root' and 'fourth root' take zeros" if zeros else ""
        raise DomainError(
            f"the {what} needs targets that are {least}, but {int(wrong.sum())} of {len(y)} are "
            f"not: item {place} has {y[place]:g}{hint}"
        )


def forward(y: np.ndarray, scale: str) -> np.ndarray:
    """Return targets on a scale.

    Examples
    --------
    >>> forward(np.array([1.0, 16.0]), "fourth root")
    array([1., 2.])
    """
    power = POWERS[scale]
    return np.log(y) if power == 0 else y**power


def backward(t: np.ndarray, scale: str) -> np.ndarray:
    """Return numbers on a scale as targets; what is below all targets is the least there can be.

    Examples
    --------
    >>> backward(np.array([-1.0, 2.0]), "root")
    array([0., 4.])
    """
    power = POWERS[scale]
    if power == 0:
        return np.exp(np.minimum(t, MAX_LOG))
    return t if power == 1 else np.maximum(t, 0.0) ** (1 / power)
