"""Values: immutable objects, and the checked numbers that they are made of."""

from mercer.values.value import (
    Identity,
    Seed,
    Value,
    finite,
    frozen,
    positive,
    sequence,
    shown,
    whole,
)

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
