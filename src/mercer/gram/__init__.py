"""Assemble: kernel and points become an operator."""

from mercer.gram.operator import Blocked, Dense, LowRank, Operator, assemble, features_of
from mercer.gram.product import product

__all__ = ["Blocked", "Dense", "LowRank", "Operator", "assemble", "features_of", "product"]
