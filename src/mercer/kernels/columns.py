"""Kernels on some columns of a table."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.domains import COLUMNS, Domain, Points, Table
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel, wrapped
from mercer.kernels.block import Block
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, derive, refute

__all__ = ["On"]


@kernel
class On(Kernel):
    """A kernel that looks only at some columns: k(x_a, z_a), as in (6.21) and (6.22).

    Columns are indices, slices or names; two kernels of a sum may overlap in theirs. Made by
    ``k.on(...)``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().on(1)([[1.0, 2.0], [3.0, 4.0]])
    array([[ 4.,  8.],
           [ 8., 16.]])
    """

    kernel: Kernel
    columns: tuple[Any, ...]
    domain: ClassVar[Domain] = COLUMNS
    arrays = 0

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not isinstance(self.columns, tuple | list):
            raise ValidityError(f"columns must be a tuple, found {self.columns!r}")
        if len(self.columns) == 0:
            raise ValidityError(f"({self.kernel!r}).on() needs at least one column")
        for column in self.columns:
            if isinstance(column, bool) or not isinstance(column, int | str | slice | np.integer):
                raise ValidityError(f"a column is an index, a slice or a name, found {column!r}")
        clean = (
            c if isinstance(c, slice) else str(c) if isinstance(c, str) else int(c)
            for c in self.columns
        )
        self._normalize("columns", tuple(clean))

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return self.kernel.threads

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.columns))
        inner = wrapped(self.kernel, 4)
        return f"{inner}.on({inside})"

    def pair(self, x: Any, z: Any) -> float:
        return self.kernel.pair(self._part(x), self._part(z))

    def evaluate(self, block: Block) -> Any:
        return self.inner(self.kernel, block)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return self.inner_slopes("kernel", block, G)

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.kernel, points)

    def sees(self, child: Kernel) -> tuple[Any, Any]:
        columns = tuple(str(c) if isinstance(c, slice) else c for c in self.columns)
        return ("on", columns, child.domain), self._select

    def prove(self) -> Proof:
        rule = "it is a kernel on a part of x (6.21, 6.22), namely"
        inner = self.kernel.proof()
        if inner.witness is None:
            return derive(self, rule, self.kernel)
        return refute(self, rule, [self._lifted(inner.witness.points)], (inner,))

    def _lifted(self, points: Any) -> Any:
        """Return a table that has the given points in the columns of this kernel."""
        values = np.asarray(points)
        values = np.pad(values, ((0, 0), (0, max(len(self.columns) - values.shape[1], 0))))
        if all(isinstance(column, str) for column in self.columns):
            import pandas as pd

            return pd.DataFrame(dict(zip(self.columns, values.T, strict=False)))
        if any(isinstance(column, str | slice) or column < 0 for column in self.columns):
            return values
        table = np.zeros((len(values), max(self.columns) + 1))
        table[:, list(self.columns)] = values[:, : len(self.columns)]
        return table

    def map_features(self, points: Points) -> FeatureMap | None:
        return self.inner_features(self.kernel, points)

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        if any(isinstance(column, str) for column in self.columns):
            return None
        places = np.concatenate([np.atleast_1d(np.arange(width)[c]) for c in self.columns])
        inner = self.kernel.frequencies(rng, count, len(places))
        if inner is None:
            return None
        scattered = np.zeros((count, width))
        for place, frequency in zip(places, inner.T, strict=True):
            scattered[:, place] += frequency  # a column may be named twice
        return scattered

    def _select(self, points: Points) -> Points:
        table = COLUMNS.admit(points)
        assert isinstance(table, Table)
        return self.kernel.domain.admit(table.select(self.columns))

    def _part(self, x: Any) -> Any:
        """Return the columns of one row: a dict or Series by name, anything else by index."""
        if hasattr(x, "keys"):
            names = list(x.keys())
            values = np.empty(len(names), dtype=object)
            values[:] = [x[name] for name in names]
            wanted = [names.index(c) if isinstance(c, str) else c for c in self.columns]
        else:
            values, wanted = np.asarray(x), list(self.columns)
        part = np.concatenate([np.atleast_1d(values[c]) for c in wanted])
        return part[0] if part.dtype == object and len(part) == 1 else part
