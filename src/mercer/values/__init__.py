"""Values: immutable objects, and the checked numbers that they are made of."""

from mercer.values.parameters import Seed, finite, positive, sequence, whole
from mercer.values.value import Identity, Value, frozen

__all__ = ["Identity", "Seed", "Value", "finite", "frozen", "positive", "sequence", "whole"]
