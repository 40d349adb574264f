"""The former home of `mercer.engine.distances`; import its names from `mercer.kernels`."""

from mercer.engine.distances import cityblock, minkowski, squared_distances

__all__ = ["cityblock", "minkowski", "squared_distances"]
