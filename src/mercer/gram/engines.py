"""Engines: where the numbers of a Gram matrix are computed.

Machines and solvers see operators and sketches, never an engine or a device. Three functions make
what they need from a kernel, points, and what was decided::

    gram = assemble(kernel, points, decision)  # square, symmetric
    sketch = assemble_sketch(kernel, rows, centers, decision)  # tall, summed up in passes
    values = multiply(kernel, A, B, coefficients, decision)  # K(A, B) @ coefficients

A decision has a `route` and a `device`, which is the name of an engine. NumPy ("cpu") and Torch
with Triton ("cuda") are engines. Another one, say on a cluster, needs the methods of `Engine` and
a name, after which ``Plan(device="cluster")`` leads every machine there::

    register_engine("cluster", Cluster())

One that can also store a whole matrix where it computes, and factor it there, has one method more
(`Storing`). An engine is never chosen by "auto" unless it says that it wants the work
(`Engine.wants`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mercer.domains import Domain, GramRows, Points, Rows, Stream, Streamed, Table, Vectors
from mercer.errors import PlanError, suggestion
from mercer.gram.climbing import Climbing
from mercer.gram.operator import (
    Blocked,
    Dense,
    Gram,
    LowRank,
    Operator,
    features_of,
    product,
    square_matrix,
)
from mercer.gram.sketch import CenterSketch, FeatureSketch, Sketch
from mercer.kernels import Kernel, assume_psd, named
from mercer.memory import format_bytes

__all__ = [
    "Carrying",
    "Choice",
    "Engine",
    "NumPyEngine",
    "StoredMatrix",
    "Storing",
    "Surveying",
    "TorchEngine",
    "assemble",
    "assemble_features",
    "assemble_sketch",
    "choose_engine",
    "engine_named",
    "engine_names",
    "multiply",
    "name_of",
    "register_engine",
    "surveying_engine",
]

GPU_FROM_ITEMS = 10_000  # for fewer, the way to a GPU takes longer than the work


class Choice(Protocol):
    """What was decided, as far as the place of the computation is concerned."""

    @property
    def route(self) -> str: ...

    @property
    def device(self) -> str: ...


class Engine(Protocol):
    """What computes products, columns, diagonals, whole matrices and sums of similarities.

    Examples
    --------
    >>> engine = engine_named("cpu")
    >>> isinstance(engine, NumPyEngine), engine.wants(Points())
    (True, False)
    """

    def wants(self, points: Points) -> bool:
        """Tell whether to take these items where the user leaves it open."""
        ...

    def require(self, points: Points) -> None:
        """Raise `PlanError` if these items cannot be compared here, with what is missing."""
        ...

    def explain(self, kernel: Kernel, width: int, precision: str) -> str:
        """Say in words how this engine evaluates a kernel on rows of some width, for plans."""
        ...

    def free_bytes(self) -> int | None:
        """Return the memory that is free where the matrices would lie, None if unknown."""
        ...

    def gram(self, kernel: Kernel, points: Points, precision: str) -> Gram:
        """Return the Gram matrix of some items, to multiply with and to take parts of."""
        ...

    def sketch(
        self, kernel: Kernel, rows: Rows, centers: Points, precision: str, uniform: bool
    ) -> Any:
        """Return the matrix of similarities to centers, with the methods of `Sketch`."""
        ...

    def multiply(
        self, kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray
    ) -> np.ndarray:
        """Return K(A, B) @ coefficients: the predictions of a function."""
        ...


class StoredMatrix(Protocol):
    """SKS in the memory of an engine, with S the roots of weights: what `Storing` returns."""

    @property
    def on_cpu(self) -> Operator:
        """K as this computer's processor computes it."""

    def multiply(self, X: np.ndarray) -> np.ndarray | None:
        """Return SKS @ X, or None if the matrix is not there at the moment."""

    def solve(self, R: np.ndarray, penalty: float) -> np.ndarray | None:
        """Return X with (SKS + λI)X = R, or None if that matrix is not positive definite.

        Raises `MemoryError`, whose words go on from "the Gram matrix", where it does not fit.
        """


@runtime_checkable
class Storing(Protocol):
    """An engine that can store a Gram matrix and factor it where it lies."""

    def stored(self, gram: Operator, roots: np.ndarray | None) -> StoredMatrix:
        """Return SKS, stored as soon as a system with it is to be solved."""
        ...


@runtime_checkable
class Carrying(Protocol):
    """An engine that solves quadratic programs on matrices, also on those that the host has."""

    def carry(self, array: np.ndarray) -> Climbing:
        """Return a stored matrix as something to climb on in the engine's memory."""
        ...

    def explain_programs(self, items: int, width: int | None, each: int) -> str:
        """Say in words where similarities lie while programs are solved, for plans.

        `width` is that of the rows, None for a matrix of the host; `each` are bytes of a
        similarity.
        """
        ...


class NumPyEngine:
    """Tiles in the caches of this computer's processor, on all its cores."""

    def wants(self, points: Points) -> bool:
        return False

    def require(self, points: Points) -> None:
        pass

    def explain(self, kernel: Kernel, width: int, precision: str) -> str:
        return "on the CPU"

    def free_bytes(self) -> int | None:
        return None

    def gram(self, kernel: Kernel, points: Points, precision: str) -> Gram:
        return Blocked(kernel, points)

    def sketch(
        self, kernel: Kernel, rows: Rows, centers: Points, precision: str, uniform: bool
    ) -> CenterSketch:
        return CenterSketch(kernel, rows, centers, uniform)

    def multiply(
        self, kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray
    ) -> np.ndarray:
        return product(kernel, A, B, coefficients)


class TorchEngine:
    """A GPU by Torch, with fused products by Triton where a kernel allows it.

    Torch takes a second and 200 MB to load, so nothing is imported before there is work for it.

    Parameters
    ----------
    device : str
        Torch's name of the device; with "cpu" everything but the speed is that of a GPU.
    devices : tuple of str, optional
        Those that share products with Gram matrices; by default all GPUs of this computer.
    """

    def __init__(self, device: str = "cuda", devices: tuple[str, ...] | None = None) -> None:
        self.device, self._devices = device, devices

    @property
    def devices(self) -> tuple[str, ...]:
        """Torch's names of the devices that share products."""
        if self._devices is None and self.device == "cuda":
            import torch

            count = torch.cuda.device_count()
            self._devices = tuple(f"cuda:{i}" for i in range(count)) if count > 1 else None
        return self._devices or (self.device,)

    def __repr__(self) -> str:
        return f"TorchEngine({self.device!r})"

    def wants(self, points: Points) -> bool:
        from mercer.gram.device import device_choice

        large = len(points) >= GPU_FROM_ITEMS and isinstance(points, Vectors | Table)
        return large and device_choice("auto") == "cuda"

    def require(self, points: Points) -> None:
        from mercer.gram.device import device_choice

        if not isinstance(points, Vectors | Table):
            name = type(points).__name__.lower()
            raise PlanError(f'{name} are no rows of numbers for a GPU; use device="cpu"')
        device_choice("cuda")

    def explain(self, kernel: Kernel, width: int, precision: str) -> str:
        from mercer.gram.device import explain_products

        where = f"on {len(self.devices)} GPUs" if len(self.devices) > 1 else "on the GPU"
        return f"{where}, {explain_products(kernel, width, self.device, precision)}"

    def free_bytes(self) -> int | None:
        from mercer.gram.device.devices import free_bytes, torch_device

        return min(free_bytes(torch_device(device)) for device in self.devices)

    def gram(self, kernel: Kernel, points: Points, precision: str) -> Gram:
        from mercer.gram.device import OnDevice
        from mercer.gram.device.divided import Divided

        if len(self.devices) > 1:
            return Divided(kernel, points, self.devices, precision)  # type: ignore[arg-type]
        return OnDevice(kernel, points, self.device, precision)  # type: ignore[arg-type]

    def stored(self, gram: Operator, roots: np.ndarray | None) -> StoredMatrix:
        from mercer.gram.device.matrix import DeviceMatrix

        return DeviceMatrix(gram, roots, self.device)

    def carry(self, array: np.ndarray) -> Climbing:
        from mercer.gram.device.climber import ArrayOnDevice
        from mercer.gram.device.devices import torch_device

        return ArrayOnDevice(array, torch_device(self.device))

    def explain_programs(self, items: int, width: int | None, each: int) -> str:
        from mercer.gram.device.climber import fits
        from mercer.gram.device.devices import torch_device
        from mercer.gram.device.fused import available

        if width is not None and self.device == "cuda" and not available(self.device):
            return "working sets on the CPU, products on the GPU, because Triton is not here"
        size, free = format_bytes(each * items**2), format_bytes(self.free_bytes() or 0)
        if fits(items, each, torch_device(self.device)):
            return (
                f"all programs at once on the GPU, on one Gram matrix there: {size} of the {free} "
                "that are free"
            )
        if width is None:
            return f"on the CPU, because the Gram matrix of {size} does not fit into the GPU"
        return (
            f"on the GPU, rows as they are needed: the Gram matrix of {size} does not fit into "
            f"the {free} that are free"
        )

    def sketch(
        self, kernel: Kernel, rows: Rows, centers: Points, precision: str, uniform: bool
    ) -> Any:
        from mercer.gram.device import DeviceSketch

        return DeviceSketch(kernel, rows, centers, self.device, precision)  # type: ignore[arg-type]

    def multiply(
        self, kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray
    ) -> np.ndarray:
        from mercer.gram.device import device_choice
        from mercer.gram.device import product as device_product

        if not isinstance(A, Vectors | Table):  # only the programs were solved there
            return product(kernel, A, B, coefficients)
        if device_choice("auto") != "cuda":  # the machine was fitted on another computer
            return product(kernel, A, B, coefficients)
        return device_product(kernel, A, B, coefficients, self.device)


@runtime_checkable
class Surveying(Protocol):
    """An engine that reads streams itself, from the first pass on."""

    def wants_streams(self) -> bool:
        """Tell whether to take streams where the user leaves it open."""
        ...

    def survey(self, stream: Stream, domain: Domain, sample: int, seed: int = 0) -> Streamed:
        """Read a stream for the first time, and return its rows with what was found."""
        ...

    def features(self, features: Callable[[Points], Any], rows: Rows, count: int) -> Sketch:
        """Return the matrix of explicit features of such rows."""
        ...


_engines: dict[str, Engine] = {"cpu": NumPyEngine(), "cuda": TorchEngine()}


def register_engine(name: str, engine: Engine) -> None:
    """Give an engine a name by which plans may ask for it; an older one of that name goes.

    Parameters
    ----------
    name : str
    engine : Engine

    Examples
    --------
    >>> register_engine("cpu", NumPyEngine())
    >>> "cpu" in engine_names()
    True
    """
    _engines[name] = engine


def engine_names() -> tuple[str, ...]:
    """Return the names of all engines.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "cpu" in engine_names()
    True
    """
    return tuple(_engines)


def engine_named(name: str) -> Engine:
    """Return the engine of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Engine

    Examples
    --------
    >>> engine_named("gpu")
    Traceback (most recent call last):
        ...
    mercer.errors.PlanError: there is no device 'gpu'; did you mean 'cpu'?
    """
    if name not in _engines:
        raise PlanError(f"there is no device {name!r}{suggestion(name, _engines)}")
    return _engines[name]


def surveying_engine(asked: str) -> Surveying | None:
    """Return the engine that reads streams itself: the one that is asked for, or that wants to.

    None leaves them to this process.

    Parameters
    ----------
    asked : str
        A name, or "auto".

    Returns
    -------
    Surveying or None

    Examples
    --------
    >>> surveying_engine("cpu") is None
    True
    """
    some = _engines.values() if asked == "auto" else [engine_named(asked)]
    for engine in some:
        if isinstance(engine, Surveying) and (asked != "auto" or engine.wants_streams()):
            return engine
    return None


def name_of(engine: object) -> str:
    """Return the name of an engine.

    Parameters
    ----------
    engine : Engine
        One that has a name.

    Returns
    -------
    str

    Examples
    --------
    >>> name_of(engine_named("cpu"))
    'cpu'
    """
    return next(name for name, one in _engines.items() if one is engine)


def choose_engine(asked: str, points: Points) -> str:
    """Return the engine for these items: the one that is asked for, or with "auto" the one that
    wants them.

    Raises `PlanError` if the one that is asked for cannot have them.

    Parameters
    ----------
    asked : str
        A name, or "auto".
    points : Points

    Returns
    -------
    str

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> choose_engine("auto", VECTORS.admit([[1.0]]))
    'cpu'
    """
    if asked == "auto":
        return next((name for name, one in _engines.items() if one.wants(points)), "cpu")
    engine_named(asked).require(points)
    return asked


def assemble(
    kernel: Kernel, points: Points, decision: Choice | str = "dual", precision: str = "double"
) -> Gram:
    """Return the Gram operator of a resolved kernel and admitted points.

    On the primal route it holds the features. A precomputed matrix is used where it lies;
    anything else is computed by the decided engine when a solver asks.

    Parameters
    ----------
    kernel : Kernel
    points : Points
    decision : Choice or str
        What was decided, or a route on this computer's processor.
    precision : {"single", "double"}
        Of the similarities, where the engine lets one choose.

    Returns
    -------
    Gram
        To multiply with, and to take parts of.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> assemble(k, k.admit([[1.0], [2.0]])) @ np.array([1.0, 1.0])
    array([3., 6.])
    """
    route, device = _place(decision)
    if route == "primal":
        return LowRank(features_of(kernel, points)(points))
    if isinstance(points, GramRows):
        matrix = square_matrix(points)
        if kernel in (named("precomputed"), assume_psd(named("precomputed"))):
            return Dense(matrix)
    return engine_named(device).gram(kernel, points, precision)


def assemble_sketch(
    kernel: Kernel,
    rows: Rows,
    centers: Points,
    decision: Choice | str = "nystrom",
    precision: str = "double",
    uniform: bool = False,
) -> Any:
    """Return the sketch of many items by their similarities to some centers.

    With `uniform` the centers are a random sample of the items.

    Parameters
    ----------
    kernel : Kernel
    rows : Rows
        The items.
    centers : Points
    decision : Choice or str
        What was decided, or a route on this computer's processor.
    precision : {"single", "double"}
        Of the similarities, where the engine lets one choose.
    uniform : bool

    Returns
    -------
    Sketch

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.kernels import Gaussian
    >>> points = VECTORS.admit(np.eye(3))
    >>> sketch = assemble_sketch(Gaussian(1.0), InMemory(points, 2), points[:2])
    >>> type(sketch).__name__
    'CenterSketch'
    """
    engine = engine_named(_place(decision)[1])
    return engine.sketch(kernel, rows, centers, precision, uniform)


def assemble_features(
    features: Callable[[Points], Any], rows: Rows, count: int, decision: Choice | str = "random"
) -> Sketch:
    """Return the matrix of explicit features of many items, where it was decided to compute.

    Parameters
    ----------
    features : callable
        From points to their features, as `features_of` gives it.
    rows : Rows
    count : int
        How many features there are.
    decision : Choice or str
        What was decided, or a route on this computer's processor.

    Returns
    -------
    Sketch

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.kernels import Linear
    >>> points = VECTORS.admit(np.eye(3))
    >>> sketch = assemble_features(features_of(Linear(), points), InMemory(points, 2), 3)
    >>> type(sketch).__name__
    'FeatureSketch'
    """
    engine = engine_named(_place(decision)[1])
    if isinstance(engine, Surveying):
        return engine.features(features, rows, count)
    return FeatureSketch(features, rows, count)


def multiply(
    kernel: Kernel,
    A: Points,
    B: Points,
    coefficients: np.ndarray,
    decision: Choice | str = "dual",
) -> np.ndarray:
    """Return K(A, B) @ coefficients, where it was decided to compute.

    A machine may have been fitted by an engine that is not here; then NumPy computes.

    Parameters
    ----------
    kernel : Kernel
    A, B : Points
    coefficients : ndarray of shape (B,) or (B, outputs)
    decision : Choice or str
        What was decided, or a route on this computer's processor.

    Returns
    -------
    ndarray of shape (A,) or (A, outputs)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> multiply(k, k.admit([[1.0], [2.0]]), k.admit([[3.0], [4.0]]), np.array([1.0, 1.0]))
    array([ 7., 14.])
    """
    engine = _engines.get(_place(decision)[1], _engines["cpu"])
    return engine.multiply(kernel, A, B, coefficients)


def _place(decision: Choice | str) -> tuple[str, str]:
    if isinstance(decision, str):
        return decision, "cpu"
    return decision.route, decision.device
