"""Densities that the user supplies: a function of a thing and of named parameters.

The user writes ln p(x|θ). Scores come from differences of it, for plain NumPy, or from automatic
differentiation, for Torch.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from mercer import errors
from mercer.domains import ANYTHING, Domain, Points
from mercer.errors import ValidityError
from mercer.models.base import Model, model
from mercer.values import positive

__all__ = ["FromLogDensity", "FromTorch", "from_log_density", "from_torch"]

STEP = float(np.finfo(np.float64).eps ** (1 / 3))  # of central differences, relative


class UserDensity(Model):
    """What the densities of users have in common: a function, and parameters with names."""

    function: Callable[..., Any]
    theta: Any
    vectorized: bool

    domain: ClassVar[Domain] = ANYTHING

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValidityError(
                f"{type(self).__name__} needs a function of a thing and its parameters, found "
                f"{type(self.function).__name__}"
            )
        pairs = self.theta.items() if isinstance(self.theta, Mapping) else self.theta
        try:
            clean = tuple((str(name), _frozen(value)) for name, value in pairs)
        except (TypeError, ValueError) as error:
            raise ValidityError(
                f"theta of {type(self).__name__} must be a dict of names and numbers: {error}"
            ) from error
        flat = _flat(clean)
        if len(flat) == 0 or not np.isfinite(flat).all():
            raise ValidityError(
                f"theta of {type(self).__name__} must hold finite numbers, at least one; found "
                f"{self.theta!r}"
            )
        self._normalize("theta", clean)
        self._normalize("vectorized", bool(self.vectorized))

    @property
    def parameter_names(self) -> list[str]:
        return [
            f"{name}{list(at)}" if at else name
            for name, value in self.theta
            for at in np.ndindex(np.shape(value))
        ]

    def learn(self, points: Points, weights: np.ndarray | None, seed: int) -> Self:
        """Climb to the highest likelihood, beginning with the present parameters."""
        from scipy.optimize import minimize

        w = np.ones(len(points)) if weights is None else weights
        counted = w > 0  # an item without weight may be impossible

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            moved, some = self._at(flat), points[np.flatnonzero(counted)]
            with np.errstate(all="ignore"):
                value = float(w[counted] @ moved.log_densities(some))
                slope = w[counted] @ moved.scores(some)
            if math.isfinite(value) and np.isfinite(slope).all():
                return -value, -slope
            return math.inf, np.zeros(len(flat))

        start = _flat(self.theta)
        if loss(start)[0] == math.inf:
            raise ValidityError(
                f"{self!r} cannot be fitted: at its present parameters, where the search begins, "
                "some item has no finite log density"
            )
        end = minimize(loss, start, jac=True, method="L-BFGS-B")
        if not end.success:
            warnings.warn(
                f"the search for the parameters of {type(self).__name__} stopped early "
                f"({end.message}); begin with better ones",
                errors.ConvergenceWarning,
                stacklevel=3,
            )
        return self._at(end.x)

    def _at(self, flat: np.ndarray) -> Self:
        """Return this model with other parameters."""
        return self.set_params(theta=tuple(_unflat(self.theta, flat)))


@model
class FromLogDensity(UserDensity):
    """A user's own density, whose scores are differences. Made by `from_log_density`.

    The score is (ln p(x|θ + h) − ln p(x|θ − h))/2h for each parameter, with h = `step` times |θ|,
    or times 1 where that is larger. Its error is about h²/6 times the third derivative, plus
    10⁻¹⁶/h times |ln p|: with the default step, about ten digits of a well-scaled function.

    Parameters
    ----------
    function : callable
        Returns ln p(x|θ), −∞ for what is impossible: ``function(x, **theta)``.
    theta : dict
        Numbers or arrays by name: all of them are free. Fitting begins with them.
    vectorized : bool
        Whether `function` takes all things at once, and returns one number for each.
    step : float

    Examples
    --------
    >>> def log_exponential(x, rate):
    ...     return np.log(rate) - rate * x
    >>> FromLogDensity(log_exponential, {"rate": 2.0}).score([0.5, 1.5]).round(6)
    array([[ 0.],
           [-1.]])
    """

    function: Callable[..., Any]
    theta: Any
    vectorized: bool = False
    step: float = STEP

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalize("step", positive(self, "step", self.step))

    def log_densities(self, points: Points) -> np.ndarray:
        return self._values(points, _flat(self.theta))

    def scores(self, points: Points) -> np.ndarray:
        theta = _flat(self.theta)
        found = np.empty((len(points), len(theta)))
        for j, h in enumerate(self.step * np.maximum(np.abs(theta), 1.0)):
            up, down = theta.copy(), theta.copy()
            up[j] += h
            down[j] -= h
            with np.errstate(invalid="ignore"):  # −∞ − (−∞), which `score` complains about
                rise = self._values(points, up) - self._values(points, down)
            found[:, j] = rise / (up[j] - down[j])
        return found

    def _values(self, points: Points, flat: np.ndarray) -> np.ndarray:
        theta = dict(_unflat(self.theta, flat))
        if self.vectorized:
            found = np.asarray(self.function(_everything(points), **theta), dtype=np.float64)
            if found.shape != (len(points),):
                raise ValidityError(
                    f"{self!r} returned an array of shape {found.shape} for {len(points)} items; "
                    "it must return one number for each"
                )
            return found
        values = [self.function(x, **theta) for x in points.items()]
        try:
            return np.array([float(value) for value in values])
        except (TypeError, ValueError) as error:
            raise ValidityError(f"{self!r} returned what is not a number: {error}") from error


@model
class FromTorch(UserDensity):
    """A user's own density in Torch, differentiated automatically. Made by `from_torch`.

    Parameters
    ----------
    function : callable
        Returns ln p(x|θ) as a tensor: ``function(x, **theta)``, where x and θ are tensors in
        double precision.
    theta : dict
        Numbers or arrays by name: all of them are free. Fitting begins with them.
    vectorized : bool
        Whether `function` takes the rows of all things at once, and returns one number for each.
    device : str
        Where to compute: "cpu", "cuda", ...

    Examples
    --------
    >>> def exponential(x, log_rate):
    ...     return log_rate - log_rate.exp() * x
    >>> FromTorch(exponential, {"log_rate": 0.5}).parameter_names
    ['log_rate']
    """

    function: Callable[..., Any]
    theta: Any
    vectorized: bool = False
    device: str = "cpu"

    def log_densities(self, points: Points) -> np.ndarray:
        torch = _torch()
        with torch.no_grad():
            values = self._values(points, self._tensors())
            return np.asarray(torch.stack(list(values)).cpu(), dtype=np.float64)

    def scores(self, points: Points) -> np.ndarray:
        torch = _torch()
        theta = self._tensors()
        leaves = [value.requires_grad_() for value in theta.values()]
        found = np.zeros((len(points), sum(leaf.numel() for leaf in leaves)))
        for i, value in enumerate(self._values(points, theta)):
            if not value.requires_grad:  # it depends on no parameter
                continue
            slopes = torch.autograd.grad(value, leaves, retain_graph=True, allow_unused=True)
            parts = [
                torch.zeros_like(leaf) if slope is None else slope
                for leaf, slope in zip(leaves, slopes, strict=True)
            ]
            found[i] = np.asarray(torch.cat([part.reshape(-1) for part in parts]).cpu())
        return found

    def _tensors(self) -> dict[str, Any]:
        torch = _torch()
        return {
            name: torch.tensor(value, dtype=torch.float64, device=self.device)
            for name, value in self.theta
        }

    def _values(self, points: Points, theta: dict[str, Any]) -> Any:
        """Return the log density of each thing, as tensors of a single number."""
        torch = _torch()

        def tensor(x: object) -> Any:
            return torch.as_tensor(x, dtype=torch.float64, device=self.device)

        if not self.vectorized:
            return (self._number(self.function(tensor(x), **theta)) for x in points.items())
        found = self.function(tensor(_everything(points)), **theta)
        if tuple(found.shape) != (len(points),):
            raise ValidityError(
                f"{self!r} returned a tensor of shape {tuple(found.shape)} for {len(points)} "
                "items; it must return one number for each"
            )
        return iter(found)

    def _number(self, value: Any) -> Any:
        if getattr(value, "numel", lambda: 0)() != 1:
            raise ValidityError(f"{self!r} must return a tensor of one number, found {value!r}")
        return value.reshape(())


def from_log_density(
    function: Callable[..., Any], vectorized: bool = False, **theta: Any
) -> FromLogDensity:
    """Return a model of a user's own log density, a function of a thing and of parameters.

    Parameters
    ----------
    function : callable
        ``function(x, **theta)`` returns ln p(x|θ).
    vectorized : bool
        Whether it takes the rows of all things at once, and returns one number for each.
    **theta : float or array
        Parameters, all of them free. Fitting begins with them.

    Returns
    -------
    FromLogDensity

    Examples
    --------
    >>> def coin(x, log_odds):
    ...     return x * log_odds - np.log(1 + np.exp(log_odds))
    >>> model = from_log_density(coin, log_odds=0.0)
    >>> model.score([1, 0]).round(6)
    array([[ 0.5],
           [-0.5]])
    >>> model.fit([1, 1, 0, 1]).theta[0][1]  # ln 3
    1.0986...
    """
    return FromLogDensity(function, theta, vectorized)


def from_torch(
    function: Callable[..., Any], vectorized: bool = False, device: str = "cpu", **theta: Any
) -> FromTorch:
    """Return a model of a user's own log density in Torch, with exact scores.

    Torch comes with the extra ``gpu``.

    Parameters
    ----------
    function : callable
        ``function(x, **theta)`` returns ln p(x|θ) as a tensor.
    vectorized : bool
        Whether it takes the rows of all things at once, and returns one number for each.
    device : str
        Where to compute: "cpu", "cuda", ...
    **theta : float or array
        Parameters, all of them free. Fitting begins with them.

    Returns
    -------
    FromTorch

    Examples
    --------
    >>> def exponential(x, log_rate):
    ...     return log_rate - log_rate.exp() * x
    >>> from_torch(exponential, log_rate=0.5)
    FromTorch(function=exponential, theta=(('log_rate', 0.5),), vectorized=False, device='cpu')
    """
    return FromTorch(function, theta, vectorized, device)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("FromTorch needs Torch: pip install 'mercer[gpu]'") from error
    return torch


def _frozen(value: object) -> Any:
    """Return a number, or an array as nested tuples."""
    array = np.asarray(value, dtype=np.float64)
    return _tuples(array.tolist())


def _tuples(value: object) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value


def _flat(theta: Any) -> np.ndarray:
    """Return all numbers of all parameters, one after the other."""
    parts = [np.ravel(np.asarray(value, dtype=np.float64)) for _, value in theta]
    return np.concatenate(parts) if parts else np.empty(0)


def _unflat(theta: Any, flat: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Yield the parameters by name that `flat` stands for: floats, or arrays."""
    begin = 0
    for name, value in theta:
        shape = np.shape(value)
        part = flat[begin : begin + math.prod(shape)]
        yield name, part.reshape(shape) if shape else float(part[0])
        begin += math.prod(shape)


def _everything(points: Points) -> Any:
    """Return all things in the container that the domain made of them."""
    array: Any = getattr(points, "array", getattr(points, "frame", None))
    if getattr(array, "dtype", None) == np.dtype(object):
        try:
            return np.asarray(array.tolist(), dtype=np.float64)
        except (TypeError, ValueError):
            return array
    return array
