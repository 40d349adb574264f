"""Decision images: what in a picture would change a machine's mind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.plots.canvas import axes_for
from mercer.plots.palette import shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["decision_gradient", "plot_decision_image"]


def plot_decision_image(
    machine: Any,
    x: Any,
    ax: Axes | None = None,
    *,
    shape: tuple[int, int] | None = None,
    toward: Any = None,
    against: Any = None,
) -> Axes:
    """Draw, pixel by pixel, the direction that most changes a machine's decision about a picture.

    It is the gradient of the decision function at the picture: ink where more of it speaks for
    the class (vermilion) and against it (blue). For a linear machine it is the same everywhere,
    the weight vector; for the prototype classifier the difference of the mean pictures
    (Wichmann, Graf, Simoncelli, Bülthoff & Schölkopf, 2005).

    Parameters
    ----------
    machine : fitted classifier or regressor, or Function
    x : array
        A picture, as a row of pixels or with its shape.
    ax : Axes, optional
    shape : (rows, columns), optional
        Of the picture; by default that of `x`, or a square.
    toward, against : labels, optional
        Of a machine with several classes: the score of one class, minus that of another if given.
        By default the class that the machine chooses.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelRidgeClassifier
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> machine = KernelRidgeClassifier("gaussian").fit(X, y)
    >>> plot_decision_image(machine, X[0]).images[0].get_array().shape
    (8, 8)
    """
    picture = np.asarray(x, dtype=np.float64)
    shape = shape or _shape(picture)
    gradient = decision_gradient(machine, picture.ravel(), toward, against).reshape(shape)
    ax = axes_for(ax, (2.6, 2.6))
    reach = float(np.abs(gradient).max()) or 1.0
    ax.imshow(gradient, cmap=shades(), vmin=-reach, vmax=reach, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax


def decision_gradient(machine: Any, x: Any, toward: Any = None, against: Any = None) -> np.ndarray:
    """Return the gradient of a machine's decision function at x, by central differences.

    Two evaluations for each number in x, all at once, so it works for every kernel and machine.
    The error is about 1e-10 of the function's size, divided by the scale of x.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.rkhs import Function
    >>> f = Function(Gaussian(1.0), [[0.0, 0.0]], [1.0])
    >>> decision_gradient(f, [1.0, 0.0]).round(6)  # −x·k(x, 0)
    array([-0.606531,  0.      ])
    """
    x = np.asarray(x, dtype=np.float64).ravel()
    step = np.cbrt(np.finfo(float).eps) * max(1.0, float(np.abs(x).max()))
    moves = step * np.eye(len(x))
    score = _score(machine, x, toward, against)
    return (score(x + moves) - score(x - moves)) / (2 * step)


def _score(machine: Any, x: np.ndarray, toward: Any, against: Any) -> Any:
    """Return the function to differentiate, with one number for each row."""
    names = ("decision_function", "predict_proba", "predict")
    found = [getattr(machine, name) for name in names if hasattr(machine, name)]
    if not found and not callable(machine):
        raise DomainError(f"{machine!r} is not a fitted machine and not a function")
    evaluate = found[0] if found else machine
    classes = np.asarray(getattr(machine, "classes_", ()))
    values = np.asarray(evaluate(x[None]))
    if values.ndim == 1:
        if toward is None and against is None:
            return evaluate
        sign = _sign(classes, toward, against)
        return lambda X: sign * evaluate(X)
    plus = int(values[0].argmax()) if toward is None else _column(classes, toward)
    if against is None:
        return lambda X: np.asarray(evaluate(X))[:, plus]
    minus = _column(classes, against)
    return lambda X: np.asarray(evaluate(X))[:, plus] - np.asarray(evaluate(X))[:, minus]


def _sign(classes: np.ndarray, toward: Any, against: Any) -> float:
    """Return 1 toward the second of two classes, −1 toward the first."""
    if toward is not None:
        return 1.0 if _column(classes, toward) == 1 else -1.0
    return -1.0 if _column(classes, against) == 1 else 1.0


def _column(classes: np.ndarray, label: Any) -> int:
    places = np.flatnonzero(classes == label)
    if len(places) == 0:
        raise DomainError(f"the machine has no class {label!r}; it has {classes.tolist()}")
    return int(places[0])


def _shape(picture: np.ndarray) -> tuple[int, int]:
    if picture.ndim == 2 and 1 not in picture.shape:
        return picture.shape[0], picture.shape[1]
    side = int(np.sqrt(picture.size))
    if side * side != picture.size:
        raise DomainError(f"{picture.size} pixels make no square; say shape=(rows, columns)")
    return side, side
