"""Coordinates: parameters of a person as numbers without constraints, for a normal population.

Positive numbers are logarithms, shares are log odds. Weights that sum to one are, by a softmax,
coordinates with one direction too many; here they are taken apart along contrasts that are
orthonormal, so that each of their d − 1 directions is like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import helmert

from mercer.cognition.choices.fitting import ParameterLayout, Simplex

__all__ = ["Coordinates"]

FARTHEST = 30.0  # from zero: e³⁰ is more than any sensitivity


@dataclass(frozen=True)
class Coordinates:
    """Where the parameters of a person are in a space of D dimensions.

    Attributes
    ----------
    layout : ParameterLayout

    Examples
    --------
    >>> layout = ParameterLayout({"bias": np.array([0.5, 0.5])}, (Simplex("bias", 2),))
    >>> space = Coordinates(layout)
    >>> space.names, space.size
    (('bias 1',), 1)
    >>> space.params(np.zeros(1))
    {'bias': array([0.5, 0.5])}
    """

    layout: ParameterLayout

    @cached_property
    def basis(self) -> np.ndarray:
        """The map from these coordinates to those of the layout."""
        blocks = [
            helmert(part.size).T if isinstance(part, Simplex) else np.eye(part.size)
            for part in self.layout.parts
        ]
        rows, columns = (sum(b.shape[axis] for b in blocks) for axis in (0, 1))
        basis, row, column = np.zeros((rows, columns)), 0, 0
        for block in blocks:
            r, c = block.shape
            basis[row : row + r, column : column + c] = block
            row, column = row + r, column + c
        return basis

    @property
    def size(self) -> int:
        """Number of dimensions, which is the number of free parameters."""
        return int(self.basis.shape[1])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each dimension."""
        found = []
        for part in self.layout.parts:
            count = part.size - 1 if isinstance(part, Simplex) else part.size
            one = count == 1 and not isinstance(part, Simplex)
            found += [part.name if one else f"{part.name} {i + 1}" for i in range(count)]
        return tuple(found)

    def params(self, u: np.ndarray) -> dict[str, Any]:
        """Return the values of all parameters, by name."""
        return self.layout.params(np.clip(self.basis @ u, -FARTHEST, FARTHEST))

    def of(self, params: Any) -> np.ndarray:
        """Return the coordinates of given values."""
        return np.asarray(self.basis.T @ self.layout.coordinates(params))

    def readable(self, u: np.ndarray) -> dict[str, float]:
        """Return the values of the free parameters as numbers with names.

        Examples
        --------
        >>> layout = ParameterLayout({"bias": np.array([0.5, 0.5])}, (Simplex("bias", 2),))
        >>> sorted(Coordinates(layout).readable(np.zeros(1)))
        ['bias[0]', 'bias[1]']
        """
        params, found = self.params(u), {}
        for part in self.layout.parts:
            value = params[part.name]
            scalar = np.ndim(value) == 0
            for i, number in enumerate(np.ravel(value)):
                found[part.name if scalar else f"{part.name}[{i}]"] = float(number)
        return found
