"""Rules: how each kernel is written down as arithmetic of metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mercer.engine.transform import Scales
from mercer.gram.device.expression import (
    LOG2E,
    Columns,
    Metric,
    PairProgram,
    ProgramWriter,
    Unfused,
)
from mercer.kernels import (
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    Sigmoid,
    Tanimoto,
)
from mercer.kernels.algebra import Power, Product, Scale, Sum
from mercer.kernels.algebra.elementwise import Exp, PolynomialOf
from mercer.kernels.algebra.normalization import AssumePSD, GaussianOver, Normalize
from mercer.kernels.tables import On
from mercer.kernels.vectors.decay import PowerDecay
from mercer.kernels.vectors.stationary import Stationary

__all__ = ["RULES", "SERIES_BELOW", "fuse"]

SERIES_BELOW = "< 0.09"  # squares of what a sigmoid's short series is good for in single precision

# ---- leaves ---------------------------------------------------------------------------------


def _squared(w: ProgramWriter, k: Stationary, columns: Columns, steep: float) -> str:
    scales, columns = _looked_at(w, k.scales, columns)
    return w.metric(Metric("squared", columns, scales), steep)


def _gaussian(w: ProgramWriter, k: Stationary, columns: Columns) -> str:
    return w.decay(_squared(w, k, columns, 0.5 * k.precision), 0.5 * k.precision)


def _exponential(w: ProgramWriter, k: Stationary, columns: Columns) -> str:
    root = w.line(f"tl.sqrt({_squared(w, k, columns, math.inf)})")
    return w.decay(root, 1 / k.sigma)


def _power_decay(w: ProgramWriter, k: PowerDecay, columns: Columns) -> str:
    if k.order not in (1.0, 2.0):
        name = type(k).__name__
        raise Unfused(f"{name} of order {k.order:g} is no function of a distance of order 1 or 2")
    exponent = k.exponent / k.order
    scales, columns = _looked_at(w, k.scales, columns)
    if k.order == 1.0:
        D = w.metric(Metric("cityblock", columns, scales))
    else:
        steep = k.rate if exponent >= 1 else math.inf
        D = w.metric(Metric("squared", columns, scales), steep)
    return w.decay(w.real_power(D, exponent), k.rate)


def _looked_at(w: ProgramWriter, scales: Scales, columns: Columns) -> tuple[Scales, Columns]:
    """Return scales without the columns that get no attention."""
    if not isinstance(scales, tuple) or all(map(math.isfinite, scales)):
        return scales, columns
    seen = tuple(i for i, scale in enumerate(scales) if math.isfinite(scale))
    if not seen:
        raise Unfused("a metric of zeros looks at nothing")
    return tuple(scales[i] for i in seen), w.inside(seen, columns)


def _laplacian(w: ProgramWriter, k: Laplacian, columns: Columns) -> str:
    scales, columns = _looked_at(w, k.scales, columns)
    return w.decay(w.metric(Metric("cityblock", columns, scales)), 1 / k.sigma)


def _matern(w: ProgramWriter, k: Matern, columns: Columns) -> str:
    if k.nu == math.inf:
        return _gaussian(w, k, columns)
    if k.nu not in (0.5, 1.5, 2.5):
        raise Unfused(f"Matern with nu = {k.nu:g} is a Bessel function")
    if k.nu == 0.5:
        return _exponential(w, k, columns)
    # (1 + t)e^(−t) and (1 + t + t²/3)e^(−t) begin with 1 − t²/2 and 1 − t²/6.
    steep = k.nu * k.precision * (1.0 if k.nu == 1.5 else 1 / 3)
    root = w.line(f"tl.sqrt({_squared(w, k, columns, steep)})")
    t = w.line(f"{root} * {w.number(math.sqrt(2 * k.nu) / k.sigma)}")
    falling = w.decay(t, 1.0)
    if k.nu == 1.5:
        return w.line(f"(1.0 + {t}) * {falling}")
    return w.line(f"(1.0 + {t} + {t} * {t} * {w.number(1 / 3)}) * {falling}")


def _rational(w: ProgramWriter, k: RationalQuadratic, columns: Columns) -> str:
    D = _squared(w, k, columns, 0.5 * k.precision)
    base = w.line(f"1.0 + {D} * {w.number(0.5 / k.alpha * k.precision)}")
    return w.line(f"tl.exp2(tl.log2({base}) * {w.number(-k.alpha)})")


def _periodic(w: ProgramWriter, k: Periodic, columns: Columns) -> str:
    return w.decay(w.metric(Metric("squared", columns, change=k), 0.5), 0.5)


def _linear(w: ProgramWriter, k: Linear, columns: Columns) -> str:
    return w.metric(Metric("dot", columns))


def _polynomial(w: ProgramWriter, k: Polynomial, columns: Columns) -> str:
    dot = w.metric(Metric("dot", columns))
    base = w.line(f"{dot} * {w.number(k.scale)} + {w.number(k.offset)}")
    return w.power(base, k.degree)


def _sigmoid(w: ProgramWriter, k: Sigmoid, columns: Columns) -> str:
    dot = w.metric(Metric("dot", columns))
    x = w.line(f"{dot} * {w.number(k.slope)} + {w.number(k.offset)}")
    x = w.line(f"tl.minimum(tl.maximum({x}, -20.0), 20.0)")
    far = w.line(f"1.0 - 2.0 / (tl.exp2({x} * {w.number(2 * LOG2E)}) + 1.0)")
    # Near zero the difference would cancel, and the Taylor series is exact.
    s = w.line(f"{x} * {x}")
    series = w.number(62 / 2835)
    for c in (-17 / 315, 2 / 15, -1 / 3, 1.0):
        series = w.line(f"{series} * {s} + {w.number(c)}")
    near = w.line(f"{x} * {series}")
    return w.line(f"tl.where({s} {SERIES_BELOW}, {near}, {far})")


def _constant(w: ProgramWriter, k: Constant, columns: Columns) -> str:
    return w.number(k.value)


def _changed_dot(w: ProgramWriter, k: Kernel, columns: Columns) -> str:
    return w.metric(Metric("dot", columns, change=k))


def _tanimoto(w: ProgramWriter, k: Tanimoto, columns: Columns) -> str:
    dot = w.metric(Metric("dot", columns))
    here, there = w.length(Linear(), columns, inverse=False)
    rest = w.line(f"{here} + {there} - {dot}")
    return w.line(f"tl.where({rest} > 0.0, {dot} / tl.where({rest} > 0.0, {rest}, 1.0), 1.0)")


# ---- compositions ---------------------------------------------------------------------------


def _sum(w: ProgramWriter, k: Sum, columns: Columns) -> str:
    return w.line(f"{w.write(k.left, columns)} + {w.write(k.right, columns)}")


def _product(w: ProgramWriter, k: Product, columns: Columns) -> str:
    return w.line(f"{w.write(k.left, columns)} * {w.write(k.right, columns)}")


def _scale(w: ProgramWriter, k: Scale, columns: Columns) -> str:
    return w.line(f"{w.write(k.kernel, columns)} * {w.number(k.factor)}")


def _power(w: ProgramWriter, k: Power, columns: Columns) -> str:
    return w.power(w.write(k.kernel, columns), k.exponent)


def _exp(w: ProgramWriter, k: Exp, columns: Columns) -> str:
    return w.decay(w.write(k.kernel, columns), -1.0)


def _polynomial_of(w: ProgramWriter, k: PolynomialOf, columns: Columns) -> str:
    inner = w.write(k.kernel, columns)
    *lower, result = (w.number(c) for c in k.coefficients)
    for c in reversed(lower):  # Horner's rule
        result = w.line(f"{result} * {inner} + {c}")
    return result


def _normalize(w: ProgramWriter, k: Normalize, columns: Columns) -> str:
    inner = w.write(k.kernel, columns)
    here, there = w.length(k.kernel, columns, inverse=True)
    return w.line(f"{inner} * {here} * {there}")


def _gaussian_over(w: ProgramWriter, k: GaussianOver, columns: Columns) -> str:
    if type(k.kernel) is Linear:  # whose distance is that of the rows
        return _gaussian(w, Gaussian(k.bandwidth), columns)
    inner = w.write(k.kernel, columns)
    here, there = w.length(k.kernel, columns, inverse=False)
    D = w.line(f"tl.maximum({here} + {there} - 2.0 * {inner}, 0.0)")
    return w.decay(D, 0.5 * min(1 / k.bandwidth / k.bandwidth, 1e300))


def _inner(w: ProgramWriter, k: AssumePSD, columns: Columns) -> str:
    return w.write(k.kernel, columns)


def _on(w: ProgramWriter, k: On, columns: Columns) -> str:
    if k.missing != "error":
        raise Unfused("missing entries are looked at column by column")
    inside = w.inside(k.columns, columns)
    if not inside:
        raise Unfused("no column is chosen")
    return w.write(k.kernel, None if inside == tuple(range(w.width)) else inside)


RULES: dict[type, Callable[[ProgramWriter, Any, Columns], str]] = {
    Gaussian: _gaussian,
    Exponential: _power_decay,
    Laplacian: _laplacian,
    Matern: _matern,
    RationalQuadratic: _rational,
    Periodic: _periodic,
    Shepard: _power_decay,
    Linear: _linear,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Constant: _constant,
    Cosine: _changed_dot,
    QuadraticForm: _changed_dot,
    Tanimoto: _tanimoto,
    Sum: _sum,
    Product: _product,
    Scale: _scale,
    Power: _power,
    Exp: _exp,
    PolynomialOf: _polynomial_of,
    Normalize: _normalize,
    GaussianOver: _gaussian_over,
    AssumePSD: _inner,
    On: _on,
}


def fuse(kernel: Kernel, width: int) -> PairProgram:
    """Return the program of a resolved kernel on rows of this width, or raise `Unfused`."""
    writer = ProgramWriter(width, RULES)
    return writer.program(writer.write(kernel, None))
