"""The former home of `mercer.engine.block`; import its names from `mercer.kernels`."""

from mercer.engine.block import Block, dots, norms

__all__ = ["Block", "dots", "norms"]
