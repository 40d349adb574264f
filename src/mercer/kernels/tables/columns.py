"""Kernels on some columns of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Self

import array_api_compat
import numpy as np

from mercer.domains import (
    COLUMNS,
    MISSING,
    Anything,
    CategoryDomain,
    Columns,
    Domain,
    Items,
    Points,
    Table,
    VectorDomain,
)
from mercer.engine.block import Array, Block
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import OPERATIONS, Kernel, in_library_of, kernel, parenthesized
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, proved, refute
from mercer.kernels.tables.incomplete import complete
from mercer.kernels.tables.missing import CHOICES, MissingRule, rule_for

__all__ = ["On"]

# Where a kernel that compares rows on their common columns may show that it is not valid: in
# units of its bandwidth.
WITNESS_SCALES = (1.0, 3.0, 0.3, 10.0, 0.1, 30.0, 0.03, 100.0, 0.01)
WITNESS_COLUMNS = 8  # of a table that is made to show it
PART = "it is a kernel on a part of x (6.21, 6.22), namely"


@kernel
class On(Kernel):
    """A kernel that looks only at some columns: k(x_a, z_a), as in (6.21) and (6.22).

    Columns are indices, slices or names; two kernels of a sum may overlap in theirs. A kernel on
    numbers may look at several; one on whole things, such as strings or graphs, at the one that
    holds them. Made by ``k.on(...)``.

    An entry of a table may be missing: None, NaN, NA or NaT. What that means is a choice:

    - "error": there must be none; a gap is refused by its row and column.
    - "own category": what lacks something is compared only with what lacks the same columns. For
      numbers and categories k is [same gaps]·k of the entries that are there, with 0 (or one more
      category) in the gaps; a whole thing that is missing is 1 to other missing things and 0 to
      all others. Valid if k is, as a product with an equality kernel or a direct sum.
    - "ignore dimension": two rows of numbers are compared on the columns that both have, with
      zeros in the others. Valid for kernels of the dot product, where a zero adds nothing. For
      kernels of a distance it is **not**: a row without entries is then fully alike to rows that
      are unlike each other, and the proof says so with a witness. A whole thing that is missing
      has no features and is 0 to everything, itself included, which is valid.

    Heuristics look only at rows of which nothing is missing in these columns.

    Parameters
    ----------
    kernel : Kernel
    columns : tuple of int, str or slice
    missing : {"error", "own category", "ignore dimension"}

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> Linear().on(1)([[1.0, 2.0], [3.0, 4.0]])
    array([[ 4.,  8.],
           [ 8., 16.]])
    >>> rows = [[1.0, 2.0], [1.0, None], [3.0, None]]
    >>> Gaussian(1.0).on(0, 1, missing="own category")(rows).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 1.   , 0.135],
           [0.   , 0.135, 1.   ]])
    """

    kernel: Kernel
    columns: tuple[Any, ...]
    missing: str = "error"
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
        if self.missing not in CHOICES:
            hint = suggestion(self.missing, CHOICES)
            raise ValidityError(f"missing cannot be {self.missing!r}{hint}")

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return COLUMNS if self.missing == "error" else Columns(gaps=True)

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return self.kernel.threads

    @property
    def rule(self) -> MissingRule | None:
        """What is done about missing entries; None if there must be none."""
        return rule_for(self.missing, self.kernel.domain)

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.columns))
        choice = "" if self.missing == "error" else f", missing={self.missing!r}"
        return f"{parenthesized(self.kernel, 4)}.on({inside}{choice})"

    # ---- values -----------------------------------------------------------------------------

    def pair(self, x: object, z: object) -> float:
        a, b = self._entries(x), self._entries(z)
        if self.missing != "error":
            gaps, others = (
                frozenset(k for k, v in row.items() if _is_missing(v)) for row in (a, b)
            )
            numbers = isinstance(self.kernel.domain, VectorDomain)
            if self.missing == "ignore dimension":
                if not numbers and gaps | others:
                    return 0.0
                gaps = others = gaps | others
            if gaps != others:
                return 0.0
            if gaps and not numbers and not isinstance(self.kernel.domain, CategoryDomain):
                return 1.0
            filling = 0.0 if numbers else MISSING
            a, b = ({k: filling if k in gaps else v for k, v in row.items()} for row in (a, b))
        named = hasattr(x, "keys")
        return self.kernel.pair(self._seen(a, named), self._seen(b, named))

    def evaluate(self, block: Block) -> Any:
        if self.rule is None:
            return self.inner(self.kernel, block)
        return in_library_of(self.rule.evaluate(self.kernel, self._gapped(block)), block.left)

    def evaluate_diagonal(self, points: Points) -> Any:
        if self.rule is None:
            return self.inner_diagonal(self.kernel, points)
        return in_library_of(self.rule.diagonal(self.kernel, self._gapped(points)), points)

    def logarithms(self, block: Block) -> np.ndarray | None:
        if self.rule is not None:
            return None
        return self.kernel.logarithms(block.view(*self.sees(self.kernel)))

    def log_diagonal(self, points: Points) -> np.ndarray | None:
        if self.rule is not None:
            return None
        return self.kernel.log_diagonal(points.view(*self.sees(self.kernel)))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        if self.rule is None:
            return self.inner_slopes("kernel", block, G)
        found = self.rule.slopes(self.kernel, self._gapped(block), G)
        return {f"kernel__{name}": slope for name, slope in found.items()}

    def gradient(self, block: Block, G: Array) -> Any:
        """Return the gradient of the part, and 0 in columns that it does not look at.

        Categories have no derivatives: there it is 0, too.
        """
        if self.rule is not None:
            return None
        xp, width = array_api_compat.array_namespace(G), block.left.width
        device = array_api_compat.device(G)
        whole = xp.zeros((len(block.left), width), dtype=G.dtype, device=device)
        if isinstance(self.kernel.domain, CategoryDomain):
            return whole
        inner = self.inner_gradient(self.kernel, block, G)
        if inner is None:
            return None
        table: Any = COLUMNS.admit(block.left)
        places = table.positions(self.columns)
        scattered = np.zeros((len(places), width))
        np.add.at(scattered, (np.arange(len(places)), places), 1.0)
        return inner @ xp.asarray(scattered, dtype=inner.dtype, device=device)

    def lacks_gradient(self) -> Kernel | None:
        if self.rule is not None:
            return self
        categories = isinstance(self.kernel.domain, CategoryDomain)
        return None if categories else self.kernel.lacks_gradient()

    def map_features(self, points: Points) -> FeatureMap | None:
        if self.rule is None:
            return self.inner_features(self.kernel, points)
        found = self.rule.features(self.kernel, self._gapped(points))
        return found and FeatureMap(found.count, lambda new: found.transform(self._gapped(new)))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        if self.missing != "error" or any(isinstance(column, str) for column in self.columns):
            return None
        places = self._places(width)
        inner = self.kernel.frequencies(rng, count, len(places))
        if inner is None:
            return None
        scattered = np.zeros((count, width))
        for place, frequency in zip(places, inner.T, strict=True):
            scattered[:, place] += frequency  # a column may be named twice
        return scattered

    # ---- what the kernel sees of a table ----------------------------------------------------

    def encode(self, points: Points) -> None:
        if self.rule is None:
            super().encode(points)
        elif (inside := self._gapped(points).points) is not None:
            self.kernel.encode(inside)

    def sees(self, child: Kernel) -> tuple[Any, Any]:
        columns = tuple(str(c) if isinstance(c, slice) else c for c in self.columns)
        return ("on", columns, child.domain, self.missing), self._select

    def resolve(self, A: Items | Points, weights: np.ndarray | None = None) -> Self:
        if self.rule is None or not self.unresolved():
            return super().resolve(A, weights)
        table = self._table(self.domain.admit(A))
        absent = table.absent()
        rows = np.arange(len(table)) if absent is None else np.flatnonzero(~absent.any(axis=1))
        if len(rows) == 0:
            raise DomainError(
                f"every row of X lacks some of the columns of {self!r}, so that its heuristic has "
                "nothing to look at; give a number"
            )
        given = None if weights is None else weights[rows]
        return dataclasses.replace(self, kernel=self.kernel.resolve(table[rows], given))

    def _gapped(self, points: Any) -> Any:
        return points.view(*self.sees(self.kernel))

    def _table(self, points: Points) -> Table:
        table = COLUMNS.admit(points)
        assert isinstance(table, Table)
        return table.select(self.columns)

    def _select(self, points: Points) -> Points:
        table = self._table(points)
        if self.rule is not None:
            return self.rule.encode(table)
        complete(table, self.kernel.domain)
        return self.kernel.domain.admit(table)

    def _entries(self, x: Any) -> dict[Any, Any]:
        """Return what one row, a dict or Series by name or a sequence, has in each column."""
        names = list(x.keys()) if hasattr(x, "keys") else list(range(len(x)))
        values = [x[name] for name in names]
        places = [
            place
            for column in self.columns
            for place in np.atleast_1d(
                names.index(column)
                if isinstance(column, str) or (hasattr(x, "keys") and column in names)
                else np.arange(len(names))[column]
            )
        ]
        unique = len(set(places)) == len(places)
        return {names[p] if unique else i: values[p] for i, p in enumerate(places)}

    def _seen(self, row: dict[Any, Any], named: bool) -> Any:
        """Return what the kernel's own `pair` takes: numbers, a thing, or a row of things."""
        values = list(row.values())
        if isinstance(self.kernel.domain, VectorDomain):
            return np.array([float(value) for value in values])
        as_it_comes = isinstance(self.kernel.domain, Anything | Columns)
        if as_it_comes and named:
            return row
        if len(values) == 1 and not as_it_comes:
            return values[0]
        things = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            things[i] = value
        return things

    # ---- validity ---------------------------------------------------------------------------

    def prove(self) -> Proof:
        inner = self.kernel.proof()
        if self.rule is not None and not self.rule.keeps_validity(self.kernel):
            return refute(self, self.rule.objection, self._candidates(inner), (inner,))
        reason = PART if self.rule is None else self.rule.reason
        if inner.verdict == "proved":
            return proved(self, reason, inner)
        candidates = () if inner.witness is None else self._lifted(inner.witness.points)
        return refute(self, reason, candidates, (inner,))

    def _candidates(self, inner: Proof) -> Iterator[Any]:
        """Yield rows of which some are alike to others that are unlike each other."""
        if inner.witness is not None:
            yield from self._lifted(inner.witness.points)
        if self.unresolved():
            return
        units = [
            float(number)
            for path, value in self.kernel.get_params().items()
            if path.endswith("bandwidth")
            for number in np.ravel(value)
        ]
        rng, nan = np.random.default_rng(0), np.nan
        shape = 12, WITNESS_COLUMNS
        several = np.where(rng.random(shape) < 0.4, nan, rng.random(shape))
        sets = (
            [[nan], [0.0], [1.0]],
            [[nan], [-1.0], [1.0]],
            [[1.0, nan], [1.0, 1.0], [1.0, 0.0]],
            several,
        )
        for unit in dict.fromkeys([*units, 1.0]):
            for scale in WITNESS_SCALES:
                for rows in sets:
                    yield from self._lifted(unit * scale * np.array(rows))

    def _lifted(self, points: Any) -> Iterator[Any]:
        """Yield tables that have the given points in the columns of this kernel."""
        numbers = isinstance(self.kernel.domain, VectorDomain)
        values = np.asarray(points) if numbers else np.empty((len(points), 1), dtype=object)
        if not numbers:
            values[:, 0] = list(points)
        if all(isinstance(column, str) for column in self.columns):
            import pandas as pd

            rows = _fitted(values, len(self.columns))
            names = dict.fromkeys(self.columns)
            yield pd.DataFrame(dict(zip(names, rows.T, strict=False)))
        elif not any(isinstance(column, str) for column in self.columns):
            least = 1 + max((abs(c) for c in self.columns if not isinstance(c, slice)), default=0)
            # No table is made to show it if the kernel looks so far to the right.
            if least > 10_000:
                return  # a witness would be a table that nobody can look at
            for width in (max(WITNESS_COLUMNS, least), max(values.shape[1], least)):
                places = self._places(width)
                table = np.zeros((len(values), width), dtype=values.dtype)
                table[:, places] = _fitted(values, len(places))
                yield table

    def _places(self, width: int) -> np.ndarray:
        """Return the numbers of the columns in a table of that width, without names."""
        return np.concatenate([np.atleast_1d(np.arange(width)[c]) for c in self.columns])


def _fitted(values: np.ndarray, width: int) -> np.ndarray:
    """Return rows with as many columns as there are places for them."""
    return np.pad(values, ((0, 0), (0, max(width - values.shape[1], 0))))[:, :width]


def _is_missing(value: object) -> bool:
    """Tell whether one entry is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.generic) and bool(value != value)


OPERATIONS["on"] = On
