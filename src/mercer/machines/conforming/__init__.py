"""Conforming: the parts of which intervals and sets with a guarantee are made."""
