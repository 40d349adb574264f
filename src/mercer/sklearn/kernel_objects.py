"""scikit-learn's kernel objects of Gaussian processes, said as covariances of mercer.

There noise is a kernel, `WhiteKernel`, and the parameters of a tree of kernels are a vector θ of
logarithms. Here noise belongs to machines, and derivatives have names. A `Covariance` is a kernel
and a variance of noise, with where each entry of θ is found in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as theirs

from mercer.errors import ValidityError
from mercer.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
)
from mercer.kernels.algebra import Power, Product, Scale, Sum
from mercer.sklearn.translation import kernel_of

__all__ = ["Covariance", "covariance_of"]

NOTHING = Constant(0.0)  # what is left of a kernel that is noise alone


@dataclass(frozen=True)
class Slot:
    """Where the derivative by an entry of θ comes from.

    Attributes
    ----------
    name : str
        Of the parameter of the kernel; empty if there is none, as of noise.
    entry : int or None
        Which of its entries, if it has one for each dimension.
    factor : float
        By which the derivative by the logarithm of that parameter is multiplied.
    """

    name: str = ""
    entry: int | None = None
    factor: float = 1.0


@dataclass(frozen=True)
class Covariance:
    """A kernel of mercer and a variance of noise, for one of scikit-learn's kernel objects.

    Attributes
    ----------
    kernel : Kernel
    noise : float
        What `WhiteKernel` adds to k(x, x).
    own : float or None
        k(x, x) of the kernel, if it is the same for all x.
    slots : tuple of Slot
        One for each entry of θ.
    own_slopes, noise_slopes : ndarray
        Derivatives of `own` and `noise` by each entry of θ.

    Examples
    --------
    >>> found = covariance_of(2.0 * theirs.RBF(3.0) + theirs.WhiteKernel(0.5), width=1)
    >>> found.kernel, found.noise, [slot.name for slot in found.slots]
    (2.0 * Gaussian(bandwidth=3.0), 0.5, ['factor', 'kernel__bandwidth', ''])
    """

    kernel: Kernel
    noise: float
    own: float | None
    slots: tuple[Slot, ...]
    own_slopes: np.ndarray
    noise_slopes: np.ndarray

    def slopes(self, found: Mapping[str, Any], trace: float) -> np.ndarray:
        """Return derivatives by θ of a criterion.

        Parameters
        ----------
        found : dict
            Its derivatives by the logarithms of the kernel's parameters.
        trace : float
            The sum of those by the entries of the diagonal.
        """
        result = trace * self.noise_slopes
        for place, slot in enumerate(self.slots):
            slope = found.get(slot.name, 0.0)
            result[place] += slot.factor * (slope if slot.entry is None else slope[slot.entry])
        return result

    def below(self, name: str) -> tuple[Slot, ...]:
        """Return the slots by their names in a kernel of which this one is a part."""
        return tuple(
            replace(slot, name=f"{name}__{slot.name}" if slot.name else "") for slot in self.slots
        )

    @property
    def nowhere(self) -> tuple[Slot, ...]:
        """Slots of a part that is not in the whole."""
        return (Slot(),) * len(self.slots)


def covariance_of(kernel: Any, width: int | None) -> Covariance:
    """Return what one of scikit-learn's kernel objects stands for.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
    width : int or None
        Number of columns of the items, where it is known.

    Raises
    ------
    ValidityError
        If mercer has nothing that is the same.
    """
    translate = TRANSLATED.get(type(kernel))
    if translate is None:
        raise ValidityError(f"mercer has no counterpart of {type(kernel).__name__}")
    return translate(kernel, width)


def _leaf(kernel: Any, made: Kernel, own: float | None, **named: tuple[str, float]) -> Covariance:
    """Return the covariance of a kernel without parts.

    `named` says for each of its hyperparameters the name of mercer's and the factor of slopes.
    """
    slots: list[Slot] = []
    for hyperparameter in kernel.hyperparameters:
        name, factor = named.get(hyperparameter.name, ("", 0.0))
        if hyperparameter.fixed:
            continue
        if hyperparameter.n_elements == 1:
            slots.append(Slot(name, None, factor))
        else:
            slots += [Slot(name, entry, factor) for entry in range(hyperparameter.n_elements)]
    none: np.ndarray = np.zeros(len(slots))
    return Covariance(made, 0.0, own, tuple(slots), none, none)


def _constant(kernel: Any, width: int | None) -> Covariance:
    value = float(kernel.constant_value)
    found = _leaf(kernel, Constant(value), value, constant_value=("value", 1.0))
    return replace(found, own_slopes=np.full(len(found.slots), value))


def _white(kernel: Any, width: int | None) -> Covariance:
    level = float(kernel.noise_level)
    found = _leaf(kernel, NOTHING, 0.0)
    return replace(found, noise=level, noise_slopes=np.full(len(found.slots), level))


def _reach(kernel: Any) -> float | tuple[float, ...]:
    """Return a length scale as a bandwidth."""
    scale = np.ravel(kernel.length_scale).astype(np.float64)
    return float(scale[0]) if len(scale) == 1 else tuple(scale.tolist())


def _rbf(kernel: Any, width: int | None) -> Covariance:
    return _leaf(kernel, Gaussian(_reach(kernel)), 1.0, length_scale=("bandwidth", 1.0))


def _matern(kernel: Any, width: int | None) -> Covariance:
    made = Matern(float(kernel.nu), _reach(kernel))
    return _leaf(kernel, made, 1.0, length_scale=("bandwidth", 1.0))


def _rational(kernel: Any, width: int | None) -> Covariance:
    made = RationalQuadratic(float(kernel.alpha), float(kernel.length_scale))
    return _leaf(kernel, made, 1.0, alpha=("alpha", 1.0), length_scale=("bandwidth", 1.0))


def _periodic(kernel: Any, width: int | None) -> Covariance:
    if width != 1:
        raise ValidityError(
            "ExpSineSquared takes the sine of the distance, which is a valid kernel of one column "
            "alone; mercer's Periodic sums over columns"
        )
    made = Periodic(float(kernel.periodicity), float(kernel.length_scale))
    return _leaf(kernel, made, 1.0, length_scale=("bandwidth", 1.0), periodicity=("period", 1.0))


def _dot(kernel: Any, width: int | None) -> Covariance:
    made = Linear() + Constant(float(kernel.sigma_0) ** 2)
    return _leaf(kernel, made, None, sigma_0=("right__value", 2.0))


# For metrics of `PairwiseKernel` the parameter that γ stands for, and the power of it that γ is.
PAIRWISE = {
    "linear": ("", 0.0),
    "cosine": ("", 0.0),
    "rbf": ("bandwidth", -0.5),
    "laplacian": ("bandwidth", -1.0),
    "poly": ("scale", 1.0),
    "polynomial": ("scale", 1.0),
}


def _pairwise(kernel: Any, width: int | None) -> Covariance:
    given = {"degree": 3, "coef0": 1.0, **(kernel.pairwise_kernels_kwargs or {})}
    made = None
    if kernel.metric in PAIRWISE and set(given) == {"degree", "coef0"}:
        made = kernel_of(kernel.metric, float(kernel.gamma), given["degree"], given["coef0"])
    if made is None or made.proof().verdict != "proved":
        raise ValidityError(f"mercer has no counterpart of PairwiseKernel({kernel.metric!r})")
    own = 1.0 if kernel.metric in ("rbf", "laplacian") else None
    return _leaf(kernel, made, own, gamma=PAIRWISE[kernel.metric])


def _sum(kernel: Any, width: int | None) -> Covariance:
    a, b = (covariance_of(part, width) for part in (kernel.k1, kernel.k2))
    if b.kernel == NOTHING:
        made, slots = a.kernel, a.slots + b.nowhere
    elif a.kernel == NOTHING:
        made, slots = b.kernel, a.nowhere + b.slots
    else:
        made, slots = Sum(a.kernel, b.kernel), a.below("left") + b.below("right")
    own = None if a.own is None or b.own is None else a.own + b.own
    return Covariance(
        made, a.noise + b.noise, own, slots,
        np.concatenate([a.own_slopes, b.own_slopes]),
        np.concatenate([a.noise_slopes, b.noise_slopes]),
    )  # fmt: skip


def _product(kernel: Any, width: int | None) -> Covariance:
    """Return that of a product; noise is multiplied by what the other factor has at x = z."""
    a, b = (covariance_of(part, width) for part in (kernel.k1, kernel.k2))
    if (a.noise and b.own is None) or (b.noise and a.own is None):
        raise ValidityError(
            "noise that is multiplied by a kernel that is not stationary differs between items"
        )
    made, slots = _times(a, b)
    own = None if a.own is None or b.own is None else a.own * b.own
    x, z = a.own or 0.0, b.own or 0.0
    own_slopes = np.concatenate([a.own_slopes * z, b.own_slopes * x])
    noise_slopes = np.concatenate([
        a.noise_slopes * (z + b.noise) + a.own_slopes * b.noise,
        b.noise_slopes * (x + a.noise) + b.own_slopes * a.noise,
    ])  # fmt: skip
    noise = a.noise * z + x * b.noise + a.noise * b.noise
    return Covariance(made, noise, own, slots, own_slopes, noise_slopes)


def _times(a: Covariance, b: Covariance) -> tuple[Kernel, tuple[Slot, ...]]:
    """Return the product of two kernels, a multiple where one is a constant."""
    if NOTHING in (a.kernel, b.kernel):
        return NOTHING, a.nowhere + b.nowhere
    if isinstance(a.kernel, Constant):
        factor = tuple(replace(slot, name="factor") for slot in a.slots)
        return Scale(a.kernel.value, b.kernel), factor + b.below("kernel")
    if isinstance(b.kernel, Constant):
        factor = tuple(replace(slot, name="factor") for slot in b.slots)
        return Scale(b.kernel.value, a.kernel), a.below("kernel") + factor
    return Product(a.kernel, b.kernel), a.below("left") + b.below("right")


def _exponentiation(kernel: Any, width: int | None) -> Covariance:
    a, p = covariance_of(kernel.kernel, width), float(kernel.exponent)
    if p < 1 or p != int(p):
        raise ValidityError(f"the power {p:g} of a valid kernel need not be valid")
    if a.noise and a.own is None:
        raise ValidityError("a power of noise and a kernel that is not stationary differs by item")
    own = None if a.own is None else a.own**p
    x = a.own or 0.0
    own_slopes = p * x ** (p - 1) * a.own_slopes
    both = p * (x + a.noise) ** (p - 1) * (a.own_slopes + a.noise_slopes)
    noise = (x + a.noise) ** p - x**p if a.noise else 0.0
    return Covariance(
        Power(a.kernel, int(p)), noise, own, a.below("kernel"), own_slopes, both - own_slopes
    )


TRANSLATED: dict[type, Callable[[Any, int | None], Covariance]] = {
    theirs.ConstantKernel: _constant,
    theirs.WhiteKernel: _white,
    theirs.RBF: _rbf,
    theirs.Matern: _matern,
    theirs.RationalQuadratic: _rational,
    theirs.ExpSineSquared: _periodic,
    theirs.DotProduct: _dot,
    theirs.PairwiseKernel: _pairwise,
    theirs.Sum: _sum,
    theirs.Product: _product,
    theirs.Exponentiation: _exponentiation,
}
"""What translates each of scikit-learn's kernel objects; a subclass may mean something else."""
