"""Kernels: how alike two things are.

A kernel is an immutable value and a pure function of two arguments. ``k(A, B)`` is its Gram
matrix, ``k(A)`` is ``k(A, A)``, ``k.diagonal(A)`` never builds the matrix. To write a new one,
say what it compares (`domain`), give the formula for one pair (`pair`) and the reason why it is
valid (`prove`); everything else has a default. A kernel on vectors adds `evaluate`, the same
formula for a whole `Block`, in array-API code, and so becomes fast on every array library::

    @kernel
    class Brownian(VectorKernel):
        def pair(self, x, z): ...
        def evaluate(self, block): ...
        def prove(self): ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Self

import array_api_compat
import numpy as np

from mercer.domains import ANYTHING, VECTORS, Domain, Items, Points, Vectors
from mercer.engine.block import Array, Block, same_width
from mercer.engine.tiles import diagonal, fill, on_numpy, quiet
from mercer.errors import DomainError, ValidityError
from mercer.kernels.features import FeatureMap, RandomFeatures
from mercer.kernels.proof import Proof, unknown
from mercer.memory import afford
from mercer.values import Value
from mercer.values import frozen as kernel

__all__ = ["Kernel", "VectorKernel", "kernel"]


class Kernel(Value):
    """A similarity of two things.

    Attributes
    ----------
    domain : Domain
        What it compares; admits and encodes the user's objects.
    threads : bool
        Whether tiles may be evaluated on several threads at once.
    heuristic : tuple of str
        Parameters that may be the name of a heuristic until `resolve` has seen data.

    Examples
    --------
    >>> from mercer.kernels import proved
    >>> @kernel
    ... class SameLength(Kernel):
    ...     def pair(self, x, z):
    ...         return float(len(x) == len(z))
    ...
    ...     def prove(self):
    ...         return proved(self, "equality of a property is an inner product of indicators")
    >>> SameLength()(["oak", "ash", "beech"])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    >>> SameLength().proof().verdict
    'proved'
    """

    domain: ClassVar[Domain] = ANYTHING
    threads: ClassVar[bool] = False
    costly: ClassVar[bool] = False  # whether one pair takes long, as in a dynamic program
    heuristic: ClassVar[tuple[str, ...]] = ()
    arrays: ClassVar[int] = 4  # of the size of a tile, that `evaluate` holds at once
    precedence: ClassVar[int] = 9  # how tightly the repr binds: sums 1, products 2, powers 3

    # ---- what the author of a kernel writes; points are those that its domain admits --------

    def pair(self, x: Any, z: Any) -> float:
        """Return k(x, z) by the textbook's formula, slowly: the oracle of all tests."""
        raise NotImplementedError

    def evaluate(self, block: Block) -> Any:
        """Return the Gram matrix of a block in a new array; by default from `logarithms`, if the
        kernel has them, or pair by pair."""
        logs = self.logarithms(block)
        if logs is not None:
            with quiet():
                return in_library_of(np.exp(logs, out=logs), block.left)
        xs, zs = list(block.left.items()), list(block.right.items())
        K = np.empty(block.shape)
        for i, x in enumerate(xs):
            for j in range(i if block.symmetric else 0, len(zs)):
                K[i, j] = self.pair(x, zs[j])
                if block.symmetric:
                    K[j, i] = K[i, j]
        return K

    def evaluate_diagonal(self, points: Any) -> Any:
        """Return k(x, x) of each point; by default from `log_diagonal`, or by `pair`."""
        logs = self.log_diagonal(points)
        if logs is not None:
            with quiet():
                return in_library_of(np.exp(logs), points)
        return np.array([self.pair(x, x) for x in points.items()], dtype=np.float64)

    def logarithms(self, block: Block) -> np.ndarray | None:
        """Return ln k(x, z) in a new array, for a positive kernel whose values may overflow.

        With `log_diagonal` it lets `normalize` work where the kernel itself is too large for a
        floating-point number. By default there is nothing to return.
        """
        return None

    def log_diagonal(self, points: Any) -> np.ndarray | None:
        """Return ln k(x, x) of each point, if the kernel has `logarithms`."""
        return None

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        """Return the derivatives of Σ Gᵢⱼ k(xᵢ, zⱼ) by the logarithms of positive parameters.

        Names are those of `get_params`; one bandwidth per dimension has an array. A parameter
        that is not named stays as it is in a search. With NumPy only.
        """
        return {}

    def gradient(self, block: Block, G: Array) -> Any:
        """Return Σⱼ Gᵢⱼ ∂k(xᵢ, zⱼ)/∂xᵢ of the rows of a block, one column for each of theirs.

        None if the kernel has no derivative, or none that is known. A kernel with a kink at
        x = z leaves such pairs out. The block is not a symmetric one; G is an array of the
        library that holds the points, and is not written into.
        """
        return None

    def diagonal_gradient(self, points: Points, g: Array) -> Any:
        """Return gᵢ·∂k(xᵢ, xᵢ)/∂xᵢ: both arguments change, so it is twice that of one."""
        xp = points.xp if isinstance(points, Vectors) else np
        weights = xp.zeros_like(g)[:, None] + 2 * g[None, :]
        order = xp.arange(len(points), device=array_api_compat.device(g))
        weights = xp.where(order[:, None] == order[None, :], weights, 0.0 * weights)
        return self.gradient(Block(points, points), weights)

    def prove(self) -> Proof:
        """Return the proof of this kernel's validity."""
        return unknown(self, "no rule speaks about it")

    def resolve_heuristics(self, points: Any, weights: np.ndarray | None) -> Self:
        """Return a copy in which this kernel's own heuristics are numbers."""
        return self

    def encode(self, points: Any) -> None:
        """Make the encodings that `evaluate` will ask for, once for all points."""
        for child in self.children():
            child.encode(points.view(*self.sees(child)))

    def sees(self, child: Kernel) -> tuple[Hashable, Callable[[Any], Points]]:
        """Return what a part of this kernel sees of the points: a key and the encoding."""
        return child.domain, child.domain.admit

    def map_features(self, points: Any) -> FeatureMap | None:
        """Return a finite feature map whose columns are fixed by `points`, or None."""
        return None

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        """Draw from the spectral density of a shift-invariant kernel, or return None."""
        return None

    # ---- what its users call ----------------------------------------------------------------

    def __call__(self, A: Array, B: Array = None) -> Any:
        """Return the Gram matrix of all pairs from `A` and `B` (from `A` alone if B is None).

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear()([[1.0, 2.0], [3.0, 4.0]])
        array([[ 5., 11.],
               [11., 25.]])
        """
        self.require_resolved()
        left = self.admit(A)
        if B is None:
            return fill(self, left)
        right = self.admit(B)
        same_width(left, right)
        return fill(self, left, right)

    def diagonal(self, A: Items | Points) -> Any:
        """Return k(x, x) of each item without the matrix.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().diagonal([[1.0, 2.0], [3.0, 4.0]])
        array([ 5., 25.])
        """
        self.require_resolved()
        return diagonal(self, self.admit(A))

    def admit(self, X: Items | Points, name: str = "X") -> Points:
        """Validate and encode the user's objects for this kernel."""
        points = self.domain.admit(X, name)
        self.encode(points)
        return points

    def proof(self) -> Proof:
        """Return why this kernel is positive semi-definite, or that it is not.

        Examples
        --------
        >>> from mercer.kernels import Sigmoid
        >>> Sigmoid(1.0, -1.0).proof().verdict
        'refuted'
        """
        return self.prove()

    def resolve(self, A: Items | Points, weights: np.ndarray | None = None) -> Self:
        """Return the kernel with every heuristic replaced by its value on the items of `A`.

        A weight of an item counts like its repetition.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Gaussian("median").resolve([[0.0], [1.0], [3.0]])
        Gaussian(bandwidth=2.0)
        """
        if not self.unresolved():
            return self
        points = self.domain.admit(A)
        parts = {
            name: child.resolve(points.view(*self.sees(child)), weights)
            for name, child in self.parameters().items()
            if isinstance(child, Kernel)
        }
        changed = dataclasses.replace(self, **parts) if parts else self  # type: ignore[type-var]
        return changed.resolve_heuristics(points, weights)

    def unresolved(self) -> list[str]:
        """Return a description of each heuristic that is still only a name."""
        mine = [
            f"{name}={getattr(self, name)!r} of {self!r}"
            for name in self.heuristic
            if isinstance(getattr(self, name), str)
        ]
        return mine + [found for child in self.children() for found in child.unresolved()]

    def require_resolved(self) -> None:
        """Refuse to compute with a heuristic that has not seen data."""
        open_names = self.unresolved()
        if open_names:
            raise ValidityError(
                f"{open_names[0]} is a heuristic that needs data: call k.resolve(X) first, or "
                "give its value (machines resolve inside each training fold)"
            )

    def features(self, A: Items | Points) -> Any:
        """Return explicit features with ``features @ features.T == k(A)``.

        Raises `ValidityError` if this kernel has no finite feature map.

        Examples
        --------
        >>> from mercer.kernels import Polynomial
        >>> Polynomial(2).features([[1.0, 2.0]]).round(3)
        array([[1.   , 2.828, 4.   ]])
        """
        transform = self.feature_map(A)
        count = len(transform.reference or ()) * transform.count
        afford(8 * min(count, 10**18), f"{transform.count} features", "use the kernel instead")
        found = transform.transform(transform.reference)
        return found.copy() if hasattr(found, "copy") else found  # never the user's own array

    def feature_map(self, A: Items | Points) -> FeatureMap:
        """Return the map to explicit features, its columns fixed by the items of `A`.

        New items are then mapped to the same columns; a column that only new items would have
        (an unseen category) is left out, which changes no similarity to the items of `A`.
        """
        self.require_resolved()
        points = self.admit(A)
        found = self.map_features(points)
        if found is None:
            raise ValidityError(
                f"{self!r} has no finite feature map; "
                "use random_features, or rkhs.empirical_map for features on given points"
            )
        return dataclasses.replace(found, admit=self.admit, reference=points)

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        """Return the gradients of φ(x)ᵀw by the columns of x, or None where nobody knows them.

        `weights` has a row for each feature; the answer is of shape (n, d, outputs). Differences
        of similarities would lose the digits of features of small size.
        """
        return None

    def random_features(self, count: int, seed: int = 0) -> Callable[[Any], Any]:
        """Return a map to `count` random features whose inner products approximate a
        shift-invariant kernel (Rahimi & Recht, 2007), with an error of order 1/√count.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> phi = Gaussian(1.0).random_features(2000, seed=0)
        >>> Z = phi([[0.0], [1.0]])
        >>> abs(float((Z @ Z.T)[0, 1]) - 0.6065) < 0.05
        True
        """
        self.require_resolved()
        return RandomFeatures(self, count, seed)

    def constant(self, points: Points, value: float = 1.0) -> Any:
        """Return the diagonal of a kernel whose k(x, x) is the same for all x."""
        if not isinstance(points, Vectors) or points.is_sparse:
            return np.full(len(points), value)
        array, device = points.array, array_api_compat.device(points.array)
        return points.xp.full(len(points), value, dtype=array.dtype, device=device)

    def inner(self, child: Kernel, block: Block) -> Any:
        """Return the Gram matrix of a part of this kernel."""
        return in_library_of(child.evaluate(block.view(*self.sees(child))), block.left)

    def inner_slopes(self, name: str, block: Block, G: np.ndarray) -> dict[str, Any]:
        """Return the slopes of a part of this kernel, by their names in the whole."""
        child = getattr(self, name)
        found = child.slopes(block.view(*self.sees(child)), G)
        return {f"{name}__{key}": slope for key, slope in found.items()}

    def inner_gradient(self, child: Kernel, block: Block, G: Array) -> Any:
        """Return the gradient of a part of this kernel, by the rows that the whole sees."""
        return child.gradient(block.view(*self.sees(child)), G)

    def shared_inner(self, child: Kernel, block: Block) -> Any:
        """Return the Gram matrix of a part, computed once in a block; nobody may write into it."""
        return block.share(("gram", child), lambda: self.inner(child, block))

    def lacks_gradient(self) -> Kernel | None:
        """Return the innermost part that has no gradient, for messages; None if all have one."""
        for child in self.children():
            if (found := child.lacks_gradient()) is not None:
                return found
        return None if type(self).gradient is not Kernel.gradient else self

    def inner_diagonal(self, child: Kernel, points: Points) -> Any:
        """Return the diagonal of a part of this kernel."""
        return in_library_of(child.evaluate_diagonal(points.view(*self.sees(child))), points)

    def inner_features(self, child: Kernel, points: Points) -> FeatureMap | None:
        """Return the feature map of a part of this kernel, on the points of the whole."""
        key, encode = self.sees(child)
        found = child.map_features(points.view(key, encode))
        if found is None:
            return None
        return found.over(lambda new: new.view(key, encode))

    @property
    def slow(self) -> bool:
        """Whether some part takes so long for a pair that tiles should be small."""
        return self.costly or any(child.slow for child in self.children())

    def workspace(self) -> int:
        """Return how many arrays of a tile's size an evaluation takes, for plans."""
        return self.arrays + sum(child.workspace() for child in self.children())

    def children(self) -> list[Kernel]:
        """Return the kernels that this one is made of."""
        return [value for value in self.parameters().values() if isinstance(value, Kernel)]

    # ---- algebra ----------------------------------------------------------------------------

    # Their nodes are kernels themselves; those modules enter them in OPERATIONS.

    def __add__(self, other: object) -> Kernel:
        return OPERATIONS["add"](self, other)

    def __radd__(self, other: object) -> Kernel:
        return OPERATIONS["add"](other, self)

    def __mul__(self, other: object) -> Kernel:
        return OPERATIONS["multiply"](self, other)

    def __rmul__(self, other: object) -> Kernel:
        return OPERATIONS["multiply"](other, self)

    def __pow__(self, exponent: int) -> Kernel:
        return OPERATIONS["power"](self, exponent)

    def on(self, *columns: Any, missing: str = "error") -> Kernel:
        """Return this kernel looking only at some columns (indices, slices or names).

        Missing entries are refused, or have the meaning that `missing` gives them: "own category"
        or "ignore dimension", see `mercer.kernels.tables.columns.On`.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> Gaussian(1.0).on("height") + Linear().on(0, 1)
        Gaussian(bandwidth=1.0).on('height') + Linear().on(0, 1)
        """
        return OPERATIONS["on"](self, columns, missing)


OPERATIONS: dict[str, Callable[..., Kernel]] = {}


class VectorKernel(Kernel):
    """A kernel on rows of numbers, evaluated block by block in array-API code.

    Examples
    --------
    >>> from mercer.kernels import dots, proved
    >>> @kernel
    ... class Doubled(VectorKernel):
    ...     def pair(self, x, z):
    ...         return 2.0 * float(np.dot(x, z))
    ...
    ...     def evaluate(self, block):
    ...         return 2.0 * dots(block)
    ...
    ...     def prove(self):
    ...         return proved(self, "twice an inner product")
    >>> Doubled()([[1.0], [3.0]])
    array([[ 2.,  6.],
           [ 6., 18.]])
    """

    domain: ClassVar[Domain] = VECTORS
    threads: ClassVar[bool] = True

    @property
    def width(self) -> int | None:
        """Number of columns that the parameters are made for, None for any."""
        return None

    def encode(self, points: Any) -> None:
        """Check the width; rows of numbers need no encoding, unless a subclass makes one."""
        self.check_width(points)

    def check_width(self, points: Points) -> None:
        """Refuse rows of another width than that of the parameters."""
        if self.width is not None and points.width != self.width:
            raise DomainError(
                f"X has {points.width} columns, but the parameters of {type(self).__name__} are "
                f"made for {self.width}"
            )

    def evaluate_diagonal(self, points: Any) -> Any:
        """Return k(x, x), by default of one-by-one blocks."""
        parts = [
            self.evaluate(Block(points[i : i + 1], points[i : i + 1]))[0, :]
            for i in range(len(points))
        ]
        return array_api_compat.array_namespace(parts[0]).concat(parts)


def parenthesized(part: Kernel, least: int) -> str:
    """Return the repr of a part, in parentheses if it binds less tightly than `least`."""
    return repr(part) if part.precedence >= least else f"({part!r})"


def in_library_of(values: Array, points: Points) -> Any:
    """Return what a part computed with NumPy as an array of the library that holds the points."""
    if not isinstance(values, np.ndarray) or on_numpy(points):
        return values
    array: Any = getattr(points, "array", getattr(points, "frame", None))
    xp = array_api_compat.array_namespace(array)
    return xp.asarray(values, dtype=array.dtype, device=array_api_compat.device(array))
