"""Missing entries of a table: what a kernel on some columns makes of them.

Each rule says how rows are encoded and what a kernel then sees of two rows, of which one or both
lack something. The kernels themselves know nothing about gaps. See `On` for what the rules mean.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import CategoryDomain, Domain, Table, VectorDomain, to_numpy
from mercer.engine.block import Block
from mercer.kernels.algebra.arithmetic import Product, Sum
from mercer.kernels.algebra.elementwise import Unary
from mercer.kernels.base import Kernel, in_library_of
from mercer.kernels.features import FeatureMap, beside, crossed
from mercer.kernels.tables.incomplete import (
    IncompleteRows,
    Unforeseen,
    all_whole,
    common,
    fill_gaps,
    indicators,
    inside,
    overlaps,
    part,
    same_gaps,
    where_whole,
)
from mercer.kernels.vectors.dot import Constant, Linear, Polynomial, Sigmoid
from mercer.kernels.vectors.histogram import Intersection

__all__ = ["CHOICES", "Apart", "Filled", "MissingRule", "Overlapping", "rule_for"]

CHOICES = ("error", "own category", "ignore dimension")


@dataclass(frozen=True)
class MissingRule:
    """What is done about gaps: encodes rows, and evaluates a kernel on what it has encoded."""

    choice: str
    domain: Domain

    def encode(self, table: Table) -> IncompleteRows:
        """Return the rows with their gaps filled in some way."""
        raise NotImplementedError

    def evaluate(self, kernel: Kernel, block: Block) -> Any:
        """Return the Gram matrix of a block of gapped rows."""
        raise NotImplementedError

    def diagonal(self, kernel: Kernel, rows: IncompleteRows) -> Any:
        """Return the similarity of each row to itself."""
        raise NotImplementedError

    def slopes(self, kernel: Kernel, block: Block, G: np.ndarray) -> dict[str, Any]:
        """Return the slopes of a kernel on a block of gapped rows."""
        raise NotImplementedError

    def features(self, kernel: Kernel, rows: IncompleteRows) -> FeatureMap | None:
        """Return the features of gapped rows, if there are finitely many."""
        raise NotImplementedError

    def keeps_validity(self, kernel: Kernel) -> bool:
        """Tell whether the kernel is valid with gaps whenever it is valid without."""
        return True

    @property
    def reason(self) -> str:
        """Why it is."""
        raise NotImplementedError

    @property
    def objection(self) -> str:
        """Why it need not be."""
        raise NotImplementedError


class Filled(MissingRule):
    """Rows are alike only if they lack the same columns: [same gaps]·k of the filled rows."""

    reason = "it is a product (6.18) of the equality of gaps and, of filled rows (6.19),"

    def encode(self, table: Table) -> IncompleteRows:
        return fill_gaps(table, self.domain)

    def evaluate(self, kernel: Kernel, block: Block) -> Any:
        K = kernel.evaluate(inside(block))
        same = same_gaps(block)
        return K if same is None else K * in_library_of(same, block.left.points)

    def diagonal(self, kernel: Kernel, rows: IncompleteRows) -> Any:
        return kernel.evaluate_diagonal(rows.points)

    def slopes(self, kernel: Kernel, block: Block, G: np.ndarray) -> dict[str, Any]:
        same = same_gaps(block)
        return kernel.slopes(inside(block), G if same is None else G * same)

    def features(self, kernel: Kernel, rows: IncompleteRows) -> FeatureMap | None:
        inner = kernel.map_features(rows.points)
        if inner is None or rows.absent is None:
            # Rows that lack something are unlike all of these.
            return inner and FeatureMap(inner.count, lambda new: where_whole(new, inner))
        known = np.unique(rows.absent, axis=0)

        def transform(new: IncompleteRows) -> Any:
            return crossed(indicators(new, known), inner.transform(new.points))

        return FeatureMap(len(known) * inner.count, transform)


class Overlapping(MissingRule):
    """Two rows are compared on the columns that both have, with zeros in the others."""

    reason = "a zero adds nothing to a dot product, so that it is a kernel of filled rows (6.19),"
    objection = (
        "it compares two rows on the columns that both have, so that one that lacks some may be "
        "like two that are unlike each other (fill the gaps in, or use missing='own category'), "
        "which is no rule that keeps the validity of"
    )

    def keeps_validity(self, kernel: Kernel) -> bool:
        return zero_is_nothing(kernel)

    def encode(self, table: Table) -> IncompleteRows:
        return fill_gaps(table, self.domain)

    def evaluate(self, kernel: Kernel, block: Block) -> Any:
        if zero_is_nothing(kernel) or all_whole(block):
            return kernel.evaluate(inside(block))
        try:
            K = kernel.evaluate(common(block))
        except Unforeseen:
            K = np.empty(block.shape)
            for rows, columns, some in overlaps(block):
                K[np.ix_(rows, columns)] = to_numpy(kernel.evaluate(some))
        return in_library_of(K, block.left.points)

    def diagonal(self, kernel: Kernel, rows: IncompleteRows) -> Any:
        return kernel.evaluate_diagonal(rows.points)

    def slopes(self, kernel: Kernel, block: Block, G: np.ndarray) -> dict[str, Any]:
        if zero_is_nothing(kernel) or all_whole(block):
            return kernel.slopes(inside(block), G)
        with suppress(Unforeseen):
            return kernel.slopes(common(block), G)
        total: dict[str, Any] = {}
        for rows, columns, some in overlaps(block):
            for name, slope in kernel.slopes(some, G[np.ix_(rows, columns)]).items():
                total[name] = total.get(name, 0.0) + slope
        return total

    def features(self, kernel: Kernel, rows: IncompleteRows) -> FeatureMap | None:
        if not zero_is_nothing(kernel):
            return None
        inner = kernel.map_features(rows.points)
        return inner and FeatureMap(inner.count, lambda new: inner.transform(new.points))


class Apart(MissingRule):
    """Rows that lack something are kept apart from the others.

    By "own category" they are 1 to rows that lack the same, by "ignore dimension" they are 0 to
    everything, themselves included. The kernel sees only whole rows.
    """

    @property
    def reason(self) -> str:
        if self.choice == "own category":
            return "it is a direct sum (6.17) of the equality of gaps and, of whole rows,"
        return "it is f(x)·k·f(z) (6.14), with f = 0 where something is missing, of"

    def encode(self, table: Table) -> IncompleteRows:
        absent = table.absent()
        if absent is None:
            return IncompleteRows(self.domain.admit(table), None, len(table))
        whole = np.flatnonzero(~absent.any(axis=1))
        if len(whole) == 0:
            return IncompleteRows(None, absent, len(table))
        # Another row's things stand in the gaps, so that items keep their numbers in messages.
        example = table.take(whole[:1]).frame
        values = [_entry(example, j) for j in range(table.width)]
        return IncompleteRows(self.domain.admit(table.filled(absent, values)), absent, len(table))

    def evaluate(self, kernel: Kernel, block: Block) -> Any:
        if all_whole(block):
            return kernel.evaluate(inside(block))
        K = np.zeros(block.shape)
        rows, columns = block.left.whole, block.right.whole
        if len(rows) and len(columns):
            K[np.ix_(rows, columns)] = to_numpy(kernel.evaluate(part(block, rows, columns)))
        same = same_gaps(block)
        if same is not None and self.choice == "own category":
            same[np.ix_(rows, columns)] = 0.0
            K += same
        return K

    def diagonal(self, kernel: Kernel, rows: IncompleteRows) -> Any:
        if rows.absent is None:
            return kernel.evaluate_diagonal(rows.points)
        values = np.full(len(rows), float(self.choice == "own category"))
        if len(rows.whole):
            values[rows.whole] = to_numpy(kernel.evaluate_diagonal(rows.points[rows.whole]))
        return values

    def slopes(self, kernel: Kernel, block: Block, G: np.ndarray) -> dict[str, Any]:
        rows, columns = block.left.whole, block.right.whole
        if block.left.points is None or block.right.points is None:
            return {}
        if len(rows) == 0 or len(columns) == 0:  # names with zeros, as for other blocks
            rows = columns = np.zeros(1, np.int64)
            return kernel.slopes(part(block, rows, columns), np.zeros((1, 1)))
        return kernel.slopes(part(block, rows, columns), G[np.ix_(rows, columns)])

    def features(self, kernel: Kernel, rows: IncompleteRows) -> FeatureMap | None:
        inner = None if rows.points is None else kernel.map_features(rows.points)
        if inner is None:
            return None
        gaps = np.zeros((0, 0), bool)
        if rows.absent is not None and self.choice == "own category":
            gaps = np.unique(np.delete(rows.absent, rows.whole, axis=0), axis=0)

        def transform(new: IncompleteRows) -> Any:
            of_whole = where_whole(new, inner)
            return beside(of_whole, indicators(new, gaps)) if len(gaps) else of_whole

        return FeatureMap(inner.count + len(gaps), transform)


def rule_for(choice: str, domain: Domain) -> MissingRule | None:
    """Return the rule of a choice for a kernel on this domain, or None for plain admission."""
    if choice == "error":
        return None
    if isinstance(domain, VectorDomain):
        return Filled(choice, domain) if choice == "own category" else Overlapping(choice, domain)
    if isinstance(domain, CategoryDomain) and choice == "own category":
        return Filled(choice, domain)
    return Apart(choice, domain)


def zero_is_nothing(kernel: Kernel) -> bool:
    """Tell whether a zero in one row is to this kernel as if both rows had it.

    So it is with dot products and what is computed of them: xᵢzᵢ is 0 if either is.
    """
    if isinstance(kernel, Sum | Product | Unary):
        return all(map(zero_is_nothing, kernel.children()))
    return isinstance(kernel, Linear | Polynomial | Sigmoid | Intersection | Constant)


def _entry(frame: Any, column: int) -> Any:
    """Return what the only row of a table has in a column."""
    return frame.iloc[0, column] if hasattr(frame, "iloc") else frame[0, column]
