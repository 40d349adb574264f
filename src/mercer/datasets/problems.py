"""Small problems in the plane and on pictures that no straight line can solve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mercer.datasets.dataset import Dataset
from mercer.errors import DomainError

__all__ = ["circle", "connectivity", "shj_types", "sinc", "xor"]


def circle(count: int = 60, radius: float = 1.0, gap: float = 0.3, seed: int = 0) -> Dataset:
    """Draw crosses inside and circles outside of a circle (figs. 3 and 4).

    In the plane no line separates them; after (x₁, x₂) ↦ (x₁², √2x₁x₂, x₂²), the features of
    ``Polynomial(2)``, the plane z₁ + z₃ = radius² does: (9) of Jäkel, Schölkopf & Wichmann (2007).

    Parameters
    ----------
    count : int
        Half of them are inside.
    radius : float
    gap : float
        Width of the empty ring around the circle.
    seed : int

    Returns
    -------
    Dataset
        Labels are 1 inside and −1 outside.

    Examples
    --------
    >>> X, y = circle()
    >>> bool(np.all((np.sum(X**2, axis=1) < 1) == (y == 1)))
    True
    """
    if not 0 <= gap < 2 * radius:
        raise DomainError(f"gap must be in [0, 2·radius), found {gap} with radius {radius}")
    rng = np.random.default_rng(seed)
    inside = count // 2
    low = np.repeat([radius + gap / 2, 0.0], (count - inside, inside))
    high = np.repeat([1.75 * radius, radius - gap / 2], (count - inside, inside))
    # Squared radii are uniform, so that the points are spread evenly over each region.
    r = np.sqrt(rng.uniform(low**2, high**2))
    angle = rng.uniform(0, 2 * np.pi, count)
    X = r[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.repeat([-1, 1], (count - inside, inside))
    return Dataset(X, y, ("circles", "crosses"), {"radius": radius})


def xor() -> Dataset:
    """Return "either, but not both": four points that no line separates (Minsky & Papert, 1969).

    Returns
    -------
    Dataset
        Labels are 1 where the two numbers differ, −1 where they are the same.

    Examples
    --------
    >>> xor().X.tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return Dataset(X, np.array([-1, 1, 1, -1]), ("same", "different"))


def connectivity() -> Dataset:
    """Return four line drawings: is the figure connected? (Minsky & Papert, 1969).

    Three horizontal bars are joined at the left by a vertical bar in the upper or the lower half,
    and so at the right. Detectors of upper vertical bars, one for each side, tell all that can be
    told locally; connected is the figure if exactly one of them answers. So a perceptron on the
    pixels, or on any detectors that see one side only, would have to solve `xor`.

    Returns
    -------
    Dataset
        Rows of pixels, 1 for ink; ``extra["shape"]`` makes pictures of them and
        ``extra["detectors"]`` holds (φ₁, φ₂).

    Examples
    --------
    >>> problem = connectivity()
    >>> for row in problem.X[1].reshape(problem.extra["shape"]):
    ...     print("".join(" #"[int(pixel)] for pixel in row))
    #########
            #
    #########
    #
    #########
    >>> problem.names[int(problem.y[1] > 0)]
    'connected'
    """
    detectors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    pictures = np.zeros((4, 5, 9))
    pictures[:, ::2] = 1
    for picture, (left, right) in zip(pictures, detectors, strict=True):
        picture[1 if left else 3, 0] = picture[1 if right else 3, -1] = 1
    y = np.where(detectors[:, 0] != detectors[:, 1], 1, -1)
    extra = {"shape": (5, 9), "detectors": detectors}
    return Dataset(pictures.reshape(4, -1), y, ("separate", "connected"), extra)


def sinc(count: int = 40, noise: float = 0.1, limit: float = 10.0, seed: int = 0) -> Dataset:
    """Draw points of sin(x)/x with Gaussian noise: room to fit too much and too little.

    Parameters
    ----------
    count : int
    noise : float
        Its standard deviation.
    limit : float
        Inputs are uniform in [−limit, limit], sorted.
    seed : int

    Returns
    -------
    Dataset
        ``extra["function"]`` is the curve without noise.

    Examples
    --------
    >>> X, y = sinc(noise=0.0)
    >>> bool(np.allclose(y, np.sin(X[:, 0]) / X[:, 0]))
    True
    """
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(-limit, limit, count))[:, None]
    y = _curve(X) + noise * rng.standard_normal(count)
    return Dataset(X, y, extra={"function": _curve, "noise": noise})


def _curve(X: ArrayLike) -> np.ndarray:
    """Return sin(x)/x of the one column."""
    return np.sinc(np.asarray(X, dtype=np.float64)[:, 0] / np.pi)


def shj_types() -> dict[str, Dataset]:
    """Return the six category structures of Shepard, Hovland & Jenkins (1961).

    Eight stimuli with three binary dimensions, four in category A. Up to the names of dimensions
    and values there are six ways: type I needs one dimension, type II two (it is `xor` with an
    irrelevant third), III–V a rule with exceptions, type VI all three. People find them harder in
    the order I < II < III, IV, V < VI.

    Returns
    -------
    dict of str to Dataset
        The types "I" to "VI".

    Examples
    --------
    >>> types = shj_types()
    >>> list(types)
    ['I', 'II', 'III', 'IV', 'V', 'VI']
    >>> X, y = types["II"]
    >>> "".join(y)
    'AABBBBAA'
    """
    from mercer.cognition.experiments.designs import (
        SIX_TYPES,  # with its models, which take a while to load
    )

    stimuli = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=np.float64)
    problems = {}
    for name, members in SIX_TYPES.items():
        inside = np.isin(np.arange(1, 9), members)
        y = np.where(inside, "A", "B")
        problems[name] = Dataset(stimuli.copy(), y, ("A", "B"), {"type": name})
    return problems
