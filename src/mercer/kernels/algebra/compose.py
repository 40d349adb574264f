"""Kernels of changed points: rescale and pullback."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.domains import ANYTHING, Domain, Points, Vectors
from mercer.engine.block import Block
from mercer.errors import DomainError, ValidityError
from mercer.kernels.algebra.composite import Composite, need_kernel
from mercer.kernels.base import Kernel, in_library_of, kernel
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.kernels.proof import Proof, derive
from mercer.kernels.vectors.dot import Linear
from mercer.values import Identity, Value

__all__ = ["BasisFunctions", "Pullback", "Rescale", "pullback", "rescale"]


PROBES = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)


@kernel
class Rescale(Composite):
    """f(x)·k(x, z)·f(z) (6.14). Made by `rescale`."""

    kernel: Kernel
    function: Callable[[Any], float]

    def __post_init__(self) -> None:
        _require_callable(self.function, "f")
        probes = [_try(self.function, np.full(d, v)) for d in (1, 2, 3) for v in PROBES]
        answers = [value for value in probes if value is not None]
        if answers and not any(math.isfinite(value) for value in answers):
            raise ValidityError(
                f"f of rescale({self.kernel!r}, f) returned {answers[0]} wherever it was tried; "
                "it must return finite numbers (6.14)"
            )

    def __repr__(self) -> str:
        return f"rescale({self.kernel!r}, {_name(self.function)})"

    def pair(self, x: object, z: object) -> float:
        return float(self.function(x)) * self.kernel.pair(x, z) * float(self.function(z))

    def encode(self, points: Points) -> None:
        super().encode(points)
        points.view(("factors", Identity(self.function)), self._factors)

    def evaluate(self, block: Block) -> Any:
        factors = block.view(("factors", Identity(self.function)), self._factors)
        left = in_library_of(_column(factors.left), block.left)
        right = in_library_of(_column(factors.right), block.right)
        return self.inner(self.kernel, block) * left[:, None] * right[None, :]

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        factors = block.view(("factors", Identity(self.function)), self._factors)
        left, right = _column(factors.left), _column(factors.right)
        return self.inner_slopes("kernel", block, G * left[:, None] * right[None, :])

    def evaluate_diagonal(self, points: Points) -> Any:
        f = _column(points.view(("factors", Identity(self.function)), self._factors))
        return self.inner_diagonal(self.kernel, points) * in_library_of(f, points) ** 2

    def prove(self) -> Proof:
        return derive(self, "it is f(x)·k·f(z) (6.14) of", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        inner = self.inner_features(self.kernel, points)
        if inner is None:
            return None

        def transform(p: Points) -> Any:
            f = _column(p.view(("factors", Identity(self.function)), self._factors))
            return scaled_rows(inner.transform(p), f)

        return FeatureMap(inner.count, transform)

    def _factors(self, points: Points) -> Points:
        values = np.empty((len(points), 1))
        for i, x in enumerate(points.items()):
            try:
                values[i, 0] = float(self.function(x))
            except OverflowError:
                values[i, 0] = math.inf
            except (TypeError, ValueError) as error:
                raise ValidityError(
                    f"f of rescale({self.kernel!r}, f) does not return a number for item {i}"
                ) from error
            if not math.isfinite(values[i, 0]):
                raise ValidityError(
                    f"f of rescale({self.kernel!r}, f) is {values[i, 0]} for item {i}; it must "
                    "return finite numbers (6.14)"
                )
        return Vectors(values)


class BasisFunctions(Value):
    """The vector (φ₁(x), …, φ_M(x)) of the values of some functions."""

    def __init__(self, functions: Sequence[Callable[[Any], float]]) -> None:
        functions = tuple(functions) if hasattr(functions, "__iter__") else ()
        if not functions or not all(map(callable, functions)):
            raise ValidityError("from_basis needs a sequence of functions of one thing")
        self.functions = functions

    def parameters(self) -> dict[str, Any]:
        return {"functions": self.functions}

    def __call__(self, x: object) -> np.ndarray:
        return np.array([float(np.squeeze(f(x))) for f in self.functions])


@kernel
class Pullback(Kernel):
    """k(φ(x), φ(z)) (6.19). Made by `pullback`, `from_features` and `from_basis`."""

    kernel: Kernel
    map: Callable[[Any], Any]
    batched: bool = False
    domain: ClassVar[Domain] = ANYTHING
    arrays = 0

    def __post_init__(self) -> None:
        _require_callable(self.map, "phi")

    def __repr__(self) -> str:
        if isinstance(self.map, BasisFunctions) and self.kernel == Linear():
            return f"from_basis([{', '.join(map(_name, self.map.functions))}])"
        ending = ", batched=True" if self.batched else ""
        return f"pullback({self.kernel!r}, {_name(self.map)}{ending})"

    def pair(self, x: object, z: object) -> float:
        mapped = (self.map([a])[0] if self.batched else self.map(a) for a in (x, z))
        return self.kernel.pair(*mapped)

    def evaluate(self, block: Block) -> Any:
        return self.inner(self.kernel, block)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return self.inner_slopes("kernel", block, G)

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.kernel, points)

    def sees(self, child: Kernel) -> tuple[Any, Any]:
        return ("pullback", Identity(self.map), self.batched, child.domain), self._mapped

    def prove(self) -> Proof:
        return derive(self, "it is k(φ(x), φ(z)) (6.19), where k is", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        return self.inner_features(self.kernel, points)

    def _mapped(self, points: Points) -> Points:
        if self.batched:
            things = getattr(points, "array", getattr(points, "frame", None))
            images = self.map(list(points.items()) if things is None else things)
        else:
            images = [self.map(x) for x in points.items()]
        if len(images) != len(points):
            raise DomainError(f"phi returned {len(images)} images of {len(points)} items")
        return self.kernel.domain.admit(images, "phi(X)")


def rescale(k: Kernel, f: Callable[[Any], float]) -> Kernel:
    """Return f(x)·k(x, z)·f(z), valid by (6.14) for any function f of one thing.

    Parameters
    ----------
    k : Kernel
    f : callable
        From one thing to a number.

    Returns
    -------
    Kernel
        Valid if `k` is.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> rescale(Linear(), lambda x: 2.0).pair([1.0], [3.0])
    12.0
    """
    return Rescale(need_kernel(k), f)


def pullback(k: Kernel, phi: Callable[[Any], Any], batched: bool = False) -> Kernel:
    """Return k(φ(x), φ(z)), valid by (6.19) for any map φ into what `k` compares.

    Parameters
    ----------
    k : Kernel
    phi : callable
        Of one thing; with ``batched=True``, of the whole container, returning one image each.
    batched : bool

    Returns
    -------
    Kernel
        Valid if `k` is.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> k = pullback(Gaussian(1.0), lambda word: [len(word)])
    >>> k(["cat", "dog"])
    array([[1., 1.],
           [1., 1.]])
    """
    return Pullback(need_kernel(k), phi, batched)


def _require_callable(function: object, name: str) -> None:
    if not callable(function):
        raise ValidityError(f"{name} must be a function, found {type(function).__name__}")


def _try(function: Callable[[Any], float], x: np.ndarray) -> float | None:
    """Return f(x), or None where f does not take such an x: it may want other things."""
    try:
        with np.errstate(all="ignore"):
            return float(function(x))
    except Exception:
        return None


def _column(points: Any) -> np.ndarray:
    return points.array[:, 0]


def _name(function: object) -> str:
    return getattr(function, "__name__", None) or repr(function)
