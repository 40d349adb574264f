"""Kernels that the user supplies: a function, features, a basis, or the numbers themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.domains import ANYTHING, GRAM_ROWS, Domain, GramRows, require_symmetric
from mercer.engine.block import Array, Block
from mercer.errors import DomainError, ValidityError
from mercer.kernels.algebra.compose import BasisFunctions, Pullback
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.proof import Proof, unknown
from mercer.kernels.vectors.dot import Linear

__all__ = [
    "FromFunction",
    "Precomputed",
    "from_basis",
    "from_features",
    "from_function",
    "precomputed",
]


@kernel
class FromFunction(Kernel):
    """A user's own similarity of two objects. Made by `from_function`."""

    function: Callable[[Any, Any], float]
    domain: ClassVar[Domain] = ANYTHING

    def __post_init__(self) -> None:
        if not callable(self.function):
            found = type(self.function).__name__
            raise ValidityError(f"from_function needs a function of two things, found {found}")

    def __repr__(self) -> str:
        return f"from_function({getattr(self.function, '__name__', repr(self.function))})"

    def pair(self, x: object, z: object) -> float:
        value = self.function(x, z)
        try:
            return float(value)
        except OverflowError as error:
            raise ValidityError(
                f"{self!r} overflows: its value is a whole number too large for a float"
            ) from error
        except (TypeError, ValueError) as error:
            raise ValidityError(f"{self!r} returned {value!r}, which is not a number") from error

    def prove(self) -> Proof:
        return unknown(self, "nobody has proved anything about this function")


@kernel
class Precomputed(Kernel):
    """Similarities that were computed elsewhere. Made by `precomputed`."""

    domain: ClassVar[Domain] = GRAM_ROWS
    threads: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "precomputed()"

    def __call__(self, A: Array, B: Array = None) -> Any:
        if B is None:
            require_symmetric(self.admit(A).matrix)  # type: ignore[attr-defined]
        return super().__call__(A, B)

    def pair(self, x: object, z: object) -> float:
        raise ValidityError("a precomputed kernel knows its matrix, not its points")

    def evaluate(self, block: Block) -> Any:
        left, right = block.left, block.right
        assert isinstance(left, GramRows) and isinstance(right, GramRows)
        if right.places is None:
            raise DomainError(
                f"the reference items of a precomputed kernel must be a square matrix, found "
                f"{right.matrix.shape}"
            )
        return np.array(left.matrix[:, right.places], dtype=np.float64)

    def evaluate_diagonal(self, points: GramRows) -> Any:
        if points.places is None:
            rows, columns = points.matrix.shape
            raise DomainError(
                "Precomputed matrix must be a square matrix to have a diagonal. Input is a "
                f"{rows}x{columns} matrix."
            )
        return points.matrix[np.arange(len(points)), points.places].astype(np.float64)

    def prove(self) -> Proof:
        return unknown(self, "it is whatever matrix it is given; mercer.kernels.check looks at it")


def from_function(pair: Callable[[Any, Any], float]) -> Kernel:
    """Return a kernel from one Python function of two objects, which may be anything.

    Whether it is valid is unknown: `mercer.kernels.check` looks at it on data, `assume_psd` gives
    your word. The function should be symmetric; only one triangle of a Gram matrix is computed.

    Parameters
    ----------
    pair : callable
        From two things to a number.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> def shared_letters(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> from_function(shared_letters)(["cat", "hat", "dog"])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    """
    return FromFunction(pair)


def from_features(phi: Callable[[Any], Any], batched: bool = False) -> Kernel:
    """Return the kernel φ(x)ᵀφ(z) of your own features (6.1).

    Parameters
    ----------
    phi : callable
        From one thing to a vector; with ``batched=True`` from the container to a matrix.
    batched : bool

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from_features(lambda word: [len(word), word.count("a")])(["cat", "banana"])
    array([[10., 21.],
           [21., 45.]])
    """
    return Pullback(Linear(), phi, batched)


def from_basis(functions: Sequence[Callable[[Any], float]]) -> Kernel:
    """Return the kernel Σᵢ φᵢ(x)φᵢ(z) of some basis functions (6.10).

    Parameters
    ----------
    functions : sequence of callables
        Each from one thing to a number.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import math
    >>> k = from_basis([lambda x: 1.0, lambda x: x[0], lambda x: x[0] ** 2])
    >>> k.pair([2.0], [3.0])
    43.0
    """
    return Pullback(Linear(), BasisFunctions(functions))


def precomputed() -> Kernel:
    """Return a kernel whose Gram matrix you pass instead of the data.

    The training data is the square matrix of the training items; new data are rows of their
    similarities to the training items.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> precomputed()([[2.0, 1.0], [1.0, 3.0]])
    array([[2., 1.],
           [1., 3.]])
    """
    return Precomputed()
