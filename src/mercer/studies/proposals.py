"""Proposals: kernels that suit the columns of a table.

Each kind of column has a similarity of its own, all of them about 1 for a row with itself. Where
there are several columns, the similarities are added up, and a Gaussian of the distance that they
span lets the columns interact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from mercer.domains import Columns, VectorDomain, is_frame
from mercer.errors import DomainError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Kernel,
    Linear,
    Molecule,
    Spectrum,
    Text,
    WeightedDegree,
    WeisfeilerLehman,
    gaussian_over,
    normalize,
)
from mercer.sources import Column

__all__ = ["Proposal", "placed", "propose"]

SCALES = (0.5, 1.0, 2.0)
WINDOW = 200  # letters up to which sequences of one length are taken as aligned
NUMBERS = ("numeric", "date")


@dataclass(frozen=True)
class Proposal:
    """A kernel to try.

    Attributes
    ----------
    kernel : Kernel
        Its heuristics are resolved on the rows that are learned from.
    scales : tuple of float
        Factors of its bandwidth that are tried first; empty if it has none to vary.
    unbounded : bool
        Whether similarities may be negative and grow without bound.
    """

    kernel: Kernel
    scales: tuple[float, ...] = ()
    unbounded: bool = False

    def resolved(self, X: Any) -> Kernel:
        """Return the kernel with its heuristics resolved."""
        return self.kernel.resolve(X)

    def scaled(self, kernel: Kernel, factor: float) -> Kernel:
        """Return a resolved kernel with another bandwidth."""
        if not self.scales:
            return kernel
        width = float(f"{factor * kernel.bandwidth:.4g}")  # type: ignore[attr-defined]
        return kernel.set_params(bandwidth=width)


def propose(X: Any, columns: Sequence[Column]) -> list[Proposal]:
    """Return kernels for standardized rows, the simplest first.

    Parameters
    ----------
    X : DataFrame or array
    columns : sequence of Column
        What the columns were taken for; a column of `X` that is not among them holds numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import Column
    >>> rows = pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]})
    >>> kinds = [Column("size", "numeric", ""), Column("kind", "categorical", "")]
    >>> for proposal in propose(rows, kinds):
    ...     print(proposal.kernel)
    Linear().on('size') + Categorical().on('kind', missing='own category')
    gaussian_over(Linear().on('size') + Categorical().on('kind', missing='own category'), 'median')
    """
    if not is_frame(X):
        return _numeric()
    kinds = {column.name: column for column in columns if column.used}
    numbers = [n for n in X.columns if n not in kinds or kinds[n].kind in NUMBERS]
    others = [kinds[n] for n in X.columns if n in kinds and kinds[n].kind not in NUMBERS]
    if not others:
        return _numeric()
    parts = [_parts(X, column) for column in others]
    if len(others) == 1 and not numbers:
        chosen = [Proposal(kernel) for kernel in parts[0]]
        if others[0].kind == "text":  # words are many, so that they need no interaction
            return chosen
        return [*chosen, Proposal(gaussian_over(parts[0][0], "median"), SCALES)]
    first = [kernels[0] for kernels in parts]
    if numbers:
        plain, share = Linear().on(*numbers), float(f"{1 / len(numbers):.3g}")
        first.insert(0, plain if len(numbers) == 1 else share * plain)
    total = reduce(add, first)
    return [
        Proposal(total, unbounded=bool(numbers)),
        Proposal(gaussian_over(total, "median"), SCALES),
    ]


def _numeric() -> list[Proposal]:
    return [Proposal(Linear(), unbounded=True), Proposal(Gaussian("median"), SCALES)]


def _parts(X: Any, column: Column) -> list[Kernel]:
    """Return kernels for one column, the default first."""
    entries = X[column.name]
    kernels: list[Kernel]
    match column.kind:
        case "categorical":
            kernels = [Categorical()]
        case "text":
            kernels = [Text(), Text(sublinear=True, ngrams=(1, 2))]
        case "sequence":
            kernels = [normalize(Spectrum(length)) for length in (3, 2, 4)]
            if _aligned(entries):
                kernels.insert(0, normalize(WeightedDegree(5)))
        case "smiles":
            kernels = [Molecule(), normalize(WeisfeilerLehman(2))]
        case "graph":
            kernels = [normalize(WeisfeilerLehman(depth)) for depth in (2, 1, 4)]
        case _:  # what the reading sets aside does not come here
            raise AssertionError(column.kind)
    # Also where none of these rows has a gap: one that is held out or comes later may have one.
    return [kernel.on(column.name, missing="own category") for kernel in kernels]


def _aligned(entries: Any) -> bool:
    """Tell whether all sequences have one length, as windows around a site do."""
    lengths = np.unique(entries.dropna().str.len())
    return len(lengths) == 1 and lengths[0] <= WINDOW


def placed(kernel: Kernel, X: Any, columns: Sequence[Column]) -> Kernel:
    """Return a user's kernel on the columns that it means.

    One that names its columns stays as it is. Another is meant for all columns of numbers, or for
    the only column there is.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import Column
    >>> from mercer.kernels import Spectrum
    >>> placed(Spectrum(3), pd.DataFrame({"s": ["ACGT"]}), [Column("s", "sequence", "")])
    Spectrum(length=3).on('s')
    """
    if not is_frame(X) or isinstance(kernel.domain, Columns):
        return kernel
    kinds = {column.name: column.kind for column in columns}
    numbers = [name for name in X.columns if kinds.get(name, "numeric") in NUMBERS]
    if isinstance(kernel.domain, VectorDomain) and numbers:
        return kernel if len(numbers) == X.shape[1] else kernel.on(*numbers)
    if X.shape[1] == 1:
        return kernel.on(X.columns[0])
    names = ", ".join(repr(str(name)) for name in X.columns[:8])
    raise DomainError(
        f"{kernel!r} does not say which column it looks at; write for example "
        f"{kernel!r}.on({str(X.columns[0])!r}); the columns are {names}"
        f"{', …' if X.shape[1] > 8 else ''}"
    )
