"""Kernels written down: the similarities of rows to known points, as steps on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Points, Table, is_frame, to_numpy
from mercer.engine.transform import RowTransform
from mercer.exports.formula import ExportError, Term
from mercer.kernels import (
    Categorical,
    Cosine,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Shepard,
    Sigmoid,
)
from mercer.kernels.algebra import Power, Product, Scale, Sum
from mercer.kernels.algebra.elementwise import Exp, PolynomialOf
from mercer.kernels.algebra.normalization import AssumePSD, GaussianOver, Normalize
from mercer.kernels.tables import On
from mercer.kernels.vectors.dot import Constant

__all__ = ["SeenRows", "similarities"]


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Rows as a kernel sees them: numbers beside each other, or columns of numbers by name.

    Attributes
    ----------
    numbers : Term or None
        All columns, of rows of numbers.
    columns : mapping of name to Term
        Of a table.
    """

    numbers: Term | None = None
    columns: Mapping[Any, Term] | None = None


def similarities(kernel: Kernel, rows: SeenRows, known: Points) -> Term:
    """Return k(x, z) of each row x, one column for each known z."""
    rule = RULES.get(type(kernel))
    if rule is None:
        raise ExportError(
            f"the kernel {type(kernel).__name__} cannot be exported; these kernels of "
            f"numbers can: {', '.join(sorted(cls.__name__ for cls in RULES))}"
        )
    return rule(kernel, rows, known)


def _numbers(rows: SeenRows, known: Points) -> tuple[Term, np.ndarray]:
    """Return rows and known points as numbers."""
    if rows.numbers is None:
        if isinstance(known, Table) and rows.columns is not None and is_frame(known.frame):
            names = list(known.frame.columns)
            return _chosen(rows, known, names)
        raise ExportError("a kernel of numbers must say which columns it looks at, by k.on(...)")
    array: Any = getattr(known, "array", None)
    if array is None:
        raise ExportError(f"known points of type {type(known).__name__} cannot be exported")
    array = array.toarray() if sparse.issparse(array) else to_numpy(array)
    return rows.numbers, np.asarray(array, dtype=np.float64)


def _scaled(kernel: Any, rows: SeenRows, known: Points) -> tuple[Term, np.ndarray]:
    """Return both as plain distances see them, near zero so that few digits are lost."""
    X, Z = _numbers(rows, known)
    scales = kernel.scales
    center = Z.mean(axis=0)
    X, Z = X - center, Z - center
    if isinstance(scales, RowTransform):
        return X @ scales.matrix, Z @ scales.matrix
    if scales is None:
        return X, Z
    weights = np.array([1 / s if math.isfinite(s) else 0.0 for s in scales])
    return X * weights, Z * weights


def _squared(kernel: Kernel, rows: SeenRows, known: Points) -> Term:
    """Return |x − z|², by |x|² + |z|² − 2xᵀz."""
    X, Z = _scaled(kernel, rows, known)
    lengths = (X * X).sum()
    return (lengths + (Z**2).sum(axis=1) - X @ (2 * Z.T)).maximum(0.0)


def _powers(kernel: Kernel, rows: SeenRows, known: Points, order: float) -> Term:
    """Return Σ|xᵢ − zᵢ|^r, a dimension after the other."""
    X, Z = _scaled(kernel, rows, known)
    total = None
    for j in range(Z.shape[1]):
        apart = (X.column(j) - Z[:, j]).apply("absolute")
        term = apart if order == 1.0 else apart.power(order)
        total = term if total is None else total + term
    assert total is not None
    return total


def _gaussian(kernel: Gaussian, rows: SeenRows, known: Points) -> Term:
    return (_squared(kernel, rows, known) * (-0.5 * kernel.precision)).apply("exponential")


def _laplacian(kernel: Laplacian, rows: SeenRows, known: Points) -> Term:
    return (_powers(kernel, rows, known, 1.0) * (-1 / kernel.sigma)).apply("exponential")


def _decay(kernel: Any, rows: SeenRows, known: Points) -> Term:
    order, exponent = kernel.order, kernel.exponent
    if order == 2.0:
        S = _squared(kernel, rows, known)
    else:
        S = _powers(kernel, rows, known, order)
    share = exponent / order
    P = S if share == 1 else S.apply("root") if share == 0.5 else S.power(share)
    return (P * -kernel.rate).apply("exponential")


def _matern(kernel: Matern, rows: SeenRows, known: Points) -> Term:
    D = _squared(kernel, rows, known)
    if kernel.nu == math.inf:
        return (D * (-0.5 * kernel.precision)).apply("exponential")
    if kernel.nu not in (0.5, 1.5, 2.5):
        raise ExportError(f"Matern with nu = {kernel.nu:g} is a Bessel function; 1.5 can be")
    t = D.apply("root") * (math.sqrt(2 * kernel.nu) / kernel.sigma)
    falling = (t * -1.0).apply("exponential")
    if kernel.nu == 0.5:
        return falling
    if kernel.nu == 1.5:
        return (t + 1.0) * falling
    return (t + 1.0 + t * t * (1 / 3)) * falling


def _rational(kernel: RationalQuadratic, rows: SeenRows, known: Points) -> Term:
    base = _squared(kernel, rows, known) * (0.5 / kernel.alpha * kernel.precision) + 1.0
    return base.power(-kernel.alpha)


def _dots(rows: SeenRows, known: Points) -> Term:
    X, Z = _numbers(rows, known)
    return X @ Z.T


def _linear(kernel: Linear, rows: SeenRows, known: Points) -> Term:
    return _dots(rows, known)


def _polynomial(kernel: Polynomial, rows: SeenRows, known: Points) -> Term:
    return (_dots(rows, known) * kernel.scale + kernel.offset).power(kernel.degree)


def _sigmoid(kernel: Sigmoid, rows: SeenRows, known: Points) -> Term:
    return (_dots(rows, known) * kernel.slope + kernel.offset).apply("hyperbolic tangent")


def _constant(kernel: Constant, rows: SeenRows, known: Points) -> Term:
    first = rows.numbers or next(iter((rows.columns or {}).values()))
    zeros = (first.column(0).apply("missing")).apply("number") * 0.0
    return zeros + np.full(len(known), kernel.value)


def _cosine(kernel: Cosine, rows: SeenRows, known: Points) -> Term:
    X, Z = _numbers(rows, known)
    lengths = np.linalg.norm(Z, axis=1)
    if not lengths.all():
        raise ExportError("Cosine with a known row of zeros cannot be exported")
    return (X / (X * X).sum().apply("root").maximum(1e-300)) @ (Z / lengths[:, None]).T


def _on(kernel: On, rows: SeenRows, known: Points) -> Term:
    if kernel.missing != "error":
        raise ExportError(f"gaps that are compared ({kernel.missing!r}) cannot be exported")
    if type(kernel.kernel) is Categorical and _has_names(known):
        return _equalities(kernel, rows, known)
    if not isinstance(known, Table) or not is_frame(known.frame):
        seen, Z = _plain(rows, known)
        places = [int(j) for j in np.arange(Z.shape[1])[_flat(kernel.columns, Z.shape[1])]]
        part = seen.formula.concatenate([seen.column(j) for j in places])
        return similarities(kernel.kernel, SeenRows(part), kernel.kernel.admit(Z[:, places]))
    names = list(kernel.columns)
    if any(isinstance(name, slice) for name in names):
        raise ExportError("slices of columns of a table cannot be exported; name the columns")
    X, Z = _chosen(rows, known, names)
    return similarities(kernel.kernel, SeenRows(X), kernel.kernel.admit(Z))


def _has_names(known: Points) -> bool:
    return isinstance(known, Table) and is_frame(known.frame)


def _equalities(kernel: On, rows: SeenRows, known: Any) -> Term:
    """Return 1 where all entries of some columns are equal; a gap has no answer."""
    total = None
    for name in kernel.columns:
        given = (rows.columns or {}).get(name)
        if isinstance(name, slice) or given is None:
            raise ExportError(f"the kernel looks at {name!r}, which is no column of the table")
        entries = known.frame[name].to_numpy()
        if given.is_text:
            levels = {level: i for i, level in enumerate(dict.fromkeys(map(str, entries)))}
            codes = given.formula.add("codes", given, value=(levels, len(levels), len(levels) + 1))
            places = np.r_[np.arange(len(levels) + 1.0), np.nan][:, None]
            seen, Z = codes.rows_of(places), [float(levels[str(entry)]) for entry in entries]
        else:
            seen, Z = given, entries.astype(np.float64)
        equal = seen.equals(np.asarray(Z)).apply("number") + seen * 0.0
        total = equal if total is None else total * equal
    assert total is not None
    return total


def _plain(rows: SeenRows, known: Points) -> tuple[Term, np.ndarray]:
    """Return rows and known points that are an array of numbers, also where it is a table."""
    if not isinstance(known, Table):
        return _numbers(rows, known)
    if rows.numbers is None:
        raise ExportError("a table without names of columns cannot be exported")
    return rows.numbers, np.asarray(known.frame, dtype=np.float64)


def _flat(columns: Sequence[Any], width: int) -> list[int]:
    """Return indices and slices as indices."""
    found: list[int] = []
    for one in columns:
        found += list(range(*one.indices(width))) if isinstance(one, slice) else [int(one)]
    return found


def _chosen(rows: SeenRows, known: Table, names: Sequence[Any]) -> tuple[Term, np.ndarray]:
    columns = rows.columns or {}
    for name in names:
        if name not in columns or columns[name].is_text:
            raise ExportError(f"the kernel looks at {name!r}, which is no column of numbers")
    terms = [columns[name] for name in names]
    Z = known.frame[list(names)].to_numpy(dtype=np.float64)
    return terms[0].formula.concatenate(terms), Z


def _sum(kernel: Sum, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.left, rows, known) + similarities(kernel.right, rows, known)


def _product(kernel: Product, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.left, rows, known) * similarities(kernel.right, rows, known)


def _scale(kernel: Scale, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.kernel, rows, known) * kernel.factor


def _power(kernel: Power, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.kernel, rows, known).power(kernel.exponent)


def _exp(kernel: Exp, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.kernel, rows, known).apply("exponential")


def _polynomial_of(kernel: PolynomialOf, rows: SeenRows, known: Points) -> Term:
    inner = similarities(kernel.kernel, rows, known)
    *lower, last = kernel.coefficients
    result = inner * 0.0 + last
    for c in reversed(lower):  # Horner's rule
        result = result * inner + c
    return result


def _inside(kernel: AssumePSD, rows: SeenRows, known: Points) -> Term:
    return similarities(kernel.kernel, rows, known)


def _gaussian_over(kernel: GaussianOver, rows: SeenRows, known: Points) -> Term:
    if type(kernel.kernel) is not Linear:
        raise ExportError("gaussian_over of a kernel other than Linear cannot be exported")
    return _gaussian(Gaussian(kernel.bandwidth), rows, known)


def _normalize(kernel: Normalize, rows: SeenRows, known: Points) -> Term:
    if type(kernel.kernel) is not Linear:
        raise ExportError("normalize of a kernel other than Linear cannot be exported")
    return _cosine(Cosine(), rows, known)


RULES: dict[type, Callable[[Any, SeenRows, Points], Term]] = {
    AssumePSD: _inside,
    Constant: _constant,
    Cosine: _cosine,
    Exp: _exp,
    Exponential: _decay,
    Gaussian: _gaussian,
    GaussianOver: _gaussian_over,
    Laplacian: _laplacian,
    Linear: _linear,
    Matern: _matern,
    Normalize: _normalize,
    On: _on,
    Polynomial: _polynomial,
    PolynomialOf: _polynomial_of,
    Power: _power,
    Product: _product,
    RationalQuadratic: _rational,
    Scale: _scale,
    Shepard: _decay,
    Sigmoid: _sigmoid,
    Sum: _sum,
}
