"""The former home of `mercer.engine.block`; import its names from `mercer.kernels`."""

from mercer.errors import renamed

MOVED = ("Block", "dots", "norms")

__getattr__ = renamed(__name__, {name: name for name in MOVED}, home="mercer.kernels")
