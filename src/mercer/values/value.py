"""Values: immutable objects that are nothing but their parameters.

Two values with equal parameters are equal; `repr` evaluates back to an equal value; scikit-learn
finds ``get_params``. Because nothing can change, ``set_params`` returns a changed copy and
cloning returns the value itself. The numbers that they are made of are checked when they are made.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, Self, TypeAlias, dataclass_transform

import numpy as np

from mercer.errors import ValidityError, suggestion

__all__ = [
    "Identity",
    "Seed",
    "Value",
    "finite",
    "frozen",
    "positive",
    "sequence",
    "shown",
    "whole",
]

# What scikit-learn calls `random_state`.
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


@dataclass_transform(frozen_default=True, eq_default=False)
def frozen(cls: type) -> Any:
    """Make a class of values out of annotated parameters: a frozen dataclass.

    Kernels and models are made so, as ``@kernel class ...`` and ``@model class ...``.

    Parameters
    ----------
    cls : type
        With annotated parameters, and defaults for some.

    Returns
    -------
    type
        The same class, with an initializer and frozen values.

    Examples
    --------
    >>> @frozen
    ... class Length(Value):
    ...     unit: float = 1.0
    >>> Length(unit=2.0)
    Length(unit=2.0)
    >>> Length(units=2.0)
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: Length has no parameter 'units'; did you mean 'unit'?
    """
    made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    known = [field.name for field in dataclasses.fields(made)]
    initialize = made.__init__

    @functools.wraps(initialize)
    def with_known_names(self: Any, *args: Any, **parameters: Any) -> None:
        for name in parameters:
            if name not in known:
                hint = suggestion(name, known)
                raise ValidityError(f"{cls.__name__} has no parameter {name!r}{hint}")
        initialize(self, *args, **parameters)

    made.__init__ = with_known_names
    return made


class Identity:
    """A thing that is equal to itself alone, and can be a key even if it has no hash."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


class Value:
    """Base of frozen dataclasses whose identity is their parameters."""

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments by name."""
        cls: Any = type(self)
        return {name: getattr(self, name) for name in _names(cls)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name, those of nested values as ``outer__inner``."""
        found = self.parameters()
        if deep:
            for name, value in self.parameters().items():
                if isinstance(value, Value):
                    nested = value.get_params().items()
                    found.update({f"{name}__{key}": inner for key, inner in nested})
        return found

    def set_params(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed; this value stays as it is.

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> (Gaussian(1.0) + Linear()).set_params(left__bandwidth=2.0)
        Gaussian(bandwidth=2.0) + Linear()
        """
        mine = self.parameters()
        nested: dict[str, dict[str, Any]] = {}
        for path, value in changes.items():
            name, _, rest = path.partition("__")
            if name not in mine or (rest and not isinstance(mine[name], Value)):
                raise ValidityError(
                    f"{type(self).__name__} has no parameter {path!r}"
                    f"{suggestion(path, self.get_params())}"
                )
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                mine[name] = value
        for name, inner in nested.items():
            mine[name] = mine[name].set_params(**inner)
        return type(self)(**mine)

    def _normalize(self, name: str, value: object) -> None:
        """Store a cleaned parameter; only for ``__post_init__``."""
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        known = self.__dict__.get("_known_hash")
        if known is None:  # encodings of points are found by it, for every block
            known = hash((type(self).__name__, self._key()))
            object.__setattr__(self, "_known_hash", known)
        return known

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(self.parameters())})"

    def __sklearn_clone__(self) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.parameters())

    def _key(self) -> tuple[Any, ...]:
        return tuple(_hashable(value) for value in self.parameters().values())


@functools.cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _rebuilt(cls: type, parameters: dict[str, Any]) -> Any:
    """Make a value of its parameters again, as its constructor would."""
    return cls(**parameters)


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:  # its bytes are addresses
            return (value.shape, _hashable(value.ravel().tolist()))
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, tuple):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, list):
        return ("list", *(_hashable(item) for item in value))
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):  # a table
        names = list(value.columns)
        return (_hashable(names), *(_hashable(np.asarray(value[name])) for name in names))
    return value if getattr(value, "__hash__", None) else Identity(value)


def shown(parameters: dict[str, Any]) -> str:
    """Return named arguments as code."""
    return ", ".join(f"{name}={_show(value)}" for name, value in parameters.items())


def _show(value: object) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, float) and value == float("inf"):
        return "float('inf')"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return repr(value)


# ---- checked parameters ------------------------------------------------------------------------


def finite(owner: object, name: str, value: object) -> float:
    """Return `value` as a float, refusing what is not a finite number."""
    number = _number(value)
    if not math.isfinite(number):
        raise ValidityError(f"{name} of {_called(owner)} must be a finite number, found {value!r}")
    return number


def positive(owner: object, name: str, value: object, zero: bool = False) -> float:
    """Return `value` as a float, refusing what is not a positive (or zero) finite number."""
    number = _number(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "not negative" if zero else "positive"
        raise ValidityError(
            f"{name} of {_called(owner)} must be a finite number and {kind}, found {value!r}"
        )
    return number


def whole(owner: object, name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int, refusing what is not a whole number from `least` on."""
    number = _number(value)
    inside = math.isfinite(number) and number == int(number) and number >= least
    if isinstance(value, bool) or not inside:
        raise ValidityError(
            f"{name} of {_called(owner)} must be a whole number from {least} on, found {value!r}"
        )
    return int(number)


def sequence(
    owner: Any, name: str, values: Any, check: Callable[[Any, str, Any], float]
) -> tuple[float, ...]:
    """Return one or several numbers as a tuple, each checked."""
    try:
        items = list(np.ravel(values))
    except ValueError:
        items = []
    if not items:
        raise ValidityError(
            f"{name} of {_called(owner)} must be one or several numbers, found {values!r}"
        )
    return tuple(check(owner, name, item) for item in items)


def _called(owner: object) -> str:
    """Return the name of a function or class, or of the class of anything else."""
    return str(getattr(owner, "__name__", type(owner).__name__))


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        return math.nan  # a text that looks like a number is a mistake all the same
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
