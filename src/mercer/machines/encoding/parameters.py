"""Parameters of an encoding, checked before it looks at a table."""

from __future__ import annotations

import numbers as abstract
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.machines.encoding.scales import SCALES
from mercer.machines.encoding.target import TARGETS

__all__ = ["check_parameters", "scales_of"]

LEVELS = ("auto", "onehot", "target")


def scales_of(numbers: Any) -> tuple[str, ...]:
    """Return the scales that the parameter `numbers` names, one or several.

    Examples
    --------
    >>> scales_of("robust"), scales_of(["standard", "quantile"])
    (('robust',), ('standard', 'quantile'))
    """
    named = tuple(numbers) if isinstance(numbers, list | tuple) else (numbers,)
    for name in named:
        if name not in SCALES:
            raise DomainError(f"numbers cannot be {name!r}{suggestion(str(name), SCALES)}")
    if not named or len(set(named)) < len(named):
        raise DomainError(
            f"numbers must be one of {', '.join(SCALES)}, or several different ones, found "
            f"{numbers!r}"
        )
    return named


def check_parameters(encode: Any) -> None:
    """Refuse parameters that no table can be encoded with."""
    scales_of(encode.numbers)
    if encode.levels not in LEVELS:
        raise DomainError(
            f"levels cannot be {encode.levels!r}{suggestion(str(encode.levels), LEVELS)}"
        )
    if encode.target_kind not in (None, *TARGETS):
        raise DomainError(
            f"target_kind cannot be {encode.target_kind!r}"
            f"{suggestion(str(encode.target_kind), TARGETS)}"
        )
    for name, least in (("max_onehot", 0), ("min_rows", 1), ("folds", 2)):
        value = getattr(encode, name)
        if not isinstance(value, abstract.Integral) or value < least:
            raise DomainError(
                f"{name} must be a whole number of at least {least}, found {value!r}"
            )
    smoothing = encode.smoothing
    number = isinstance(smoothing, abstract.Real) and 0 < float(smoothing) < np.inf
    if smoothing != "auto" and not number:
        raise DomainError(f"smoothing must be 'auto' or a positive number, found {smoothing!r}")
    if encode.kinds is not None and not isinstance(encode.kinds, Mapping):
        raise DomainError(f"kinds must be a dict from columns to kinds, found {encode.kinds!r}")
