"""The former home of `mercer.engine.distances`; import its names from there."""

from mercer.errors import renamed

MOVED = ("cityblock", "minkowski", "squared_distances")

__getattr__ = renamed(__name__, {name: name for name in MOVED}, home="mercer.engine.distances")
