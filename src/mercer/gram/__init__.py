"""Assemble: kernel and points become an operator."""

from mercer.gram.operator import Blocked, Dense, Operator, assemble
from mercer.gram.product import product

__all__ = ["Blocked", "Dense", "Operator", "assemble", "product"]
