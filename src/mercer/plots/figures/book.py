"""Figure 6.1 of Bishop (2006), *Pattern Recognition and Machine Learning*: kernels from bases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.kernels import from_basis
from mercer.plots.figures.registry import PAGE, picture
from mercer.plots.palette import CLASSES, INK, MUTED
from mercer.rkhs import section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Basis = list[Callable[[Any], Any]]
CENTERS = np.linspace(-1, 1, 11)


@picture(
    "book-6-1",
    "Bishop, fig. 6.1",
    "Above, basis functions; below, the kernel k(x, x′) = Σφᵢ(x)φᵢ(x′) that they make, as a "
    "function of x with x′ at the cross. Left x′ = −½, because at 0 powers of x leave a constant.",
    (PAGE, 3.9),
)
def basis_functions(figure: Figure) -> None:
    families = (
        ("powers of x", powers(), -0.5),
        ("Gaussians", gaussians(), 0.0),
        ("logistic sigmoids", sigmoids(), 0.0),
    )
    x = np.linspace(-1, 1, 201)
    axes = figure.subplots(2, 3, sharex=True)
    for column, (name, basis, place) in enumerate(families):
        above, below = axes[:, column]
        for k, phi in enumerate(basis):
            above.plot(x, phi(x), color=CLASSES[k % 6], linewidth=1.0)
        f = section(from_basis(basis), [place])
        below.plot(x, f(x[:, None]), color=INK)
        below.plot(place, 0.0, "x", color=CLASSES[1], markersize=7, markeredgewidth=2)
        below.axhline(0, color=MUTED, linewidth=0.6, zorder=0)
        above.set_title(name)
        below.set(xlabel="x", xticks=[-1, 0, 1])
    axes[0, 0].set_ylabel("φᵢ(x)")
    axes[1, 0].set_ylabel("k(x, x′)")


def powers() -> Basis:
    """Return 1, x, …, x¹⁰."""
    return [partial(_power, exponent=j) for j in range(11)]


def gaussians() -> Basis:
    """Return Gaussians with evenly spread centers."""
    return [partial(_gaussian, center=c) for c in CENTERS]


def sigmoids() -> Basis:
    """Return logistic sigmoids with evenly spread centers."""
    return [partial(_sigmoid, center=c) for c in CENTERS]


def _power(x: ArrayLike, exponent: int) -> np.ndarray:
    return np.asarray(x) ** exponent


def _gaussian(x: ArrayLike, center: float) -> np.ndarray:
    return np.exp(-((np.asarray(x) - center) ** 2) / (2 * 0.2**2))


def _sigmoid(x: ArrayLike, center: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(np.asarray(x) - center) / 0.1))
