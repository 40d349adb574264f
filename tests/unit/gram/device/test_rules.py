"""A kernel and its program are the same function of two rows."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from mercer.domains import Vectors
from mercer.engine.block import scaled
from mercer.gram.device.expression import Unfused
from mercer.gram.device.numeric_rows import explain_products, number_columns, program_of
from mercer.gram.device.prepared_rows import _seen, lengths_of
from mercer.gram.device.rules import RULES, fuse
from mercer.kernels import (
    Chi2,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    Shepard,
    Sigmoid,
    Tanimoto,
    assume_psd,
    exp,
    gaussian_over,
    normalize,
    polynomial,
)
from tests.laws.registry import KERNELS

torch = pytest.importorskip("torch")

TL = SimpleNamespace(
    exp2=torch.exp2, log2=torch.log2, sqrt=torch.sqrt, where=torch.where,
    maximum=lambda a, b: torch.clamp(a, min=b), minimum=lambda a, b: torch.clamp(a, max=b),
)  # fmt: skip


def run(program, X, Z):
    """Run a program in double precision, with metrics straight from their definitions."""
    names = {"tl": TL} | {f"p{i}": value for i, value in enumerate(program.values)}
    for i, metric in enumerate(program.metrics):
        A, B = _seen(metric, X, "first"), _seen(metric, Z, "second")
        A, B = (scaled(Vectors(side), metric.scales) for side in (A, B))
        if metric.kind == "dot":
            value = A @ B.T
        else:
            order = 1.0 if metric.kind == "cityblock" else 2.0
            value = (A[:, None, :] - B[None, :, :]).abs().pow(order).sum(dim=2)
        names[f"m{i}"] = value
    for i, length in enumerate(program.lengths):
        for name, rows in (("r", X), ("c", Z)):
            some = rows if length.columns is None else rows[:, list(length.columns)]
            names[f"{name}{i}"] = lengths_of(length.kernel, some, length.inverse)
    exec("\n".join(program.lines), names)
    return names[program.result]


def numeric(entry):
    array = getattr(entry.case.items, "dtype", np.dtype(object))
    return {"rows", "sparse"} & set(entry.traits.split()) and array.kind == "f"


ROWS = [entry for entry in KERNELS if numeric(entry)]
# No functions of a dot product or a distance; some orders of the last two are none either.
UNFUSED = {
    "ArcCosine", "Brownian", "Categorical", "Chi2", "Density", "Fisher", "Intersection",
    "LatentGaussian", "Mixture", "Rescale", "Matern", "Shepard",
    "Exponential",
}  # fmt: skip


@pytest.mark.parametrize("entry", ROWS, ids=str)
def test_program_is_the_kernel(entry):
    k, X = entry.case.resolved, np.asarray(entry.case.items, dtype=np.float64)
    try:
        program = fuse(k, X.shape[1])
    except Unfused as reason:
        assert str(reason).split()[0] in UNFUSED  # nothing else may fall out of the rules
        return
    found = run(program, torch.tensor(X), torch.tensor(X)).numpy()
    expected, size = k(X), np.sqrt(np.abs(np.outer(k.diagonal(X), k.diagonal(X))))
    # The series for tanh has the digits of single precision.
    tolerance = 1e-7 if "Sigmoid" in entry.formula else 1e-8
    assert np.all(np.abs(found - expected) <= tolerance * np.maximum(size, np.abs(expected)))


def test_all_kinds_of_kernels_are_among_those():
    used = set()

    def look(kernel):
        used.add(type(kernel))
        for part in kernel.children():
            look(part)

    for entry in ROWS:
        look(entry.case.kernel)
    assert set(RULES) <= used


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(2.0), Gaussian((1.0, 2.0, 3.0)), Laplacian(2.0), Exponential(1.0),
        Matern(1.5, 2.0), Matern(2.5, 2.0), Linear(), Polynomial(3, 1.0), Sigmoid(0.5, 0.1),
        Cosine(), QuadraticForm(np.diag([1.0, 2.0, 3.0])), Shepard(1.0, 2.0, 1.0), Tanimoto(),
        Periodic(2.0, 1.0), Gaussian(1.0) + 2 * Linear() ** 2, exp(Cosine()),
        polynomial(Gaussian(1.0), [1.0, 2.0]), normalize(Polynomial(2, 1.0)), assume_psd(Linear()),
        gaussian_over(Polynomial(2), 3.0), Gaussian(1.0).on(0, 2) * Laplacian(1.0).on(1),
        (Linear() + Gaussian(1.0)).on(slice(1, 3)), Gaussian(1.0).on(1).on(0, 2),
        Gaussian(1.0) + 1,
    ],
    ids=str,
)  # fmt: skip
def test_fused(k):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    found = run(fuse(k, 3), torch.tensor(X), torch.tensor(Z)).numpy()
    tolerance = 1e-7 if isinstance(k, Sigmoid) else 1e-10  # a series for single precision
    assert np.allclose(found, k(X, Z), rtol=tolerance, atol=1e-12)


def test_another_bandwidth_is_the_same_structure():
    one, two = fuse(Gaussian(1.0) + Laplacian(2.0), 5), fuse(Gaussian(2.0) + Laplacian(2.0), 5)
    assert one.lines == two.lines and one.values != two.values


def test_equal_metrics_are_computed_once():
    program = fuse(Gaussian(1.0) + Matern(1.5, 2.0) + Gaussian(3.0), 5)
    assert [metric.kind for metric in program.metrics] == ["squared"]
    assert program.steepness == (0.5,)  # that of the narrowest


def test_a_root_of_the_distance_is_infinitely_steep():
    assert fuse(Gaussian(1.0) + Exponential(1.0), 5).steepness == (math.inf,)


@pytest.mark.parametrize(
    ("k", "reason"),
    [
        (Chi2(1.0), "Chi2 is no function"),
        (Gaussian(1.0) + Chi2(1.0), "Chi2 is no function"),
        (Matern(0.8, 1.0), "Bessel"),
        (Shepard(1.0, 1.5, 1.0), "order 1.5"),
        (Constant(1.0), "no pair"),
        (Gaussian(1.0).on(0, missing="own category"), "missing"),
        (Gaussian(1.0).on(9), "no column 9"),
        (Gaussian(1.0).on("height"), "has a name"),
        (Shepard(1.0, 1.0, 1.0, (0.0, 0.0, 0.0)), "looks at nothing"),
    ],
    ids=str,
)
def test_reasons(k, reason):
    with pytest.raises(Unfused, match=reason):
        fuse(k, 3)
    assert reason in explain_products(k, 3, "cuda") and "blocks of Torch" in explain_products(
        k, 3, "cuda"
    )


def test_double_precision_is_fused_for_few_columns_only():
    few, why = program_of(Gaussian(1.0), 3, double=True)
    assert few is not None and why == ""
    many, why = program_of(Gaussian(1.0), 10_000, double=True)
    assert many is None and "double precision" in why
    assert why in explain_products(Gaussian(1.0), 10_000, "cuda", "double")


def test_lines_hold_nothing_of_the_user():
    k = Gaussian(1.2345).on(0) * Polynomial(3, 6.789) + exp(Cosine())
    text = "".join(fuse(k, 3).lines)
    assert "1.2345" not in text and "6.789" not in text
    assert set(text) <= set("emprc0123456789[]:, None*+-=(). <>tl.exp2log2sqrtwheremaximumminimum")


def test_parameters_fit_single_precision():
    program = fuse(Gaussian(1e-30), 3)
    assert np.isfinite(np.float32(program.values)).all()


def test_points_of_a_table_are_numbered():
    points = Vectors(np.ones((2, 2)), ("height", "weight"))
    k = (Gaussian(1.0).on("weight") + Linear()).on(1, 0) * Linear().on("height")
    assert number_columns(k, points) == (Gaussian(1.0).on(0) + Linear()).on(1, 0) * Linear().on(0)
