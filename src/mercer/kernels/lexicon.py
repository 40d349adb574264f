"""The lexicon: what may be named in a kernel expression."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

from mercer.kernels.base import Kernel
from mercer.kernels.strings.idf import Idf
from mercer.models import Model

__all__ = ["functional", "makers"]


@functools.cache
def makers() -> dict[str, Callable[..., Any]]:
    """Return the public classes and functions that make kernels, or what kernels are made of.

    Examples
    --------
    >>> "Gaussian" in makers(), "normalize" in makers(), "pullback" in makers()
    (True, True, False)
    """
    return {name: thing for name, thing in _public().items() if not _takes_function(thing)}


@functools.cache
def functional() -> frozenset[str]:
    """Return the names of those that take a Python function, which text cannot hold.

    Examples
    --------
    >>> "pullback" in functional()
    True
    """
    return frozenset(name for name, thing in _public().items() if _takes_function(thing))


def _public() -> dict[str, Callable[..., Any]]:
    # Looked up late, because this module is a part of what it looks into.
    import mercer.kernels as kernels
    import mercer.models as models

    found: dict[str, Callable[..., Any]] = {}
    for module in (models, kernels):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                concrete = "__dataclass_fields__" in vars(thing)
                if concrete and issubclass(thing, Kernel | Model | Idf):
                    found[name] = thing
            elif inspect.isfunction(thing) and _makes_value(thing) and name != "parse":
                found[name] = thing
    return found


def _makes_value(function: Callable[..., Any]) -> bool:
    """Tell whether a function says that it returns a kernel or a model."""
    made = inspect.signature(function).return_annotation
    cls = getattr(inspect.getmodule(function), made, None) if isinstance(made, str) else made
    return inspect.isclass(cls) and issubclass(cls, Kernel | Model)


def _takes_function(maker: Callable[..., Any]) -> bool:
    if inspect.isclass(maker) and dataclasses.is_dataclass(maker):
        annotations = [str(field.type) for field in dataclasses.fields(maker)]
    else:
        parameters = inspect.signature(maker).parameters.values()
        annotations = [str(parameter.annotation) for parameter in parameters]
    return any("Callable" in annotation for annotation in annotations)
