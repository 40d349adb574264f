"""Source: the text of a Triton kernel for one program.

Each instance of the kernel has a block of rows on one side and walks over blocks of rows on the
other. For each pair of blocks it computes the metrics in registers, runs the program's lines, and
adds up the similarities times the coefficients. Sums inside a block are in single precision, those
over the blocks in double. With ``products="double"`` everything is in double precision, metrics
are sums over the columns, and parameters are read from memory, because Triton rounds numbers that
are arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mercer.gram.device.expression import PairProgram
from mercer.gram.device.prepared_rows import ROW_PIECE, Products, whole

__all__ = ["SourceShape", "Way", "text"]

# From products of matrices, the same with pairs that are close computed again, or differences.
Way = Literal["product", "mended", "difference"]
LARGEST_PIECE = 128


@dataclass(frozen=True)
class SourceShape:
    """What decides about the text.

    Attributes
    ----------
    program : Program
        Its values do not matter.
    ways : tuple of str
        How each metric is computed.
    widths : tuple of int
        Length of the rows of each metric's table, or number of dimensions.
    products : str
    targets : int
        Number of columns of coefficients.
    """

    program: PairProgram
    ways: tuple[Way, ...]
    widths: tuple[int, ...]
    products: Products
    targets: int

    @property
    def by_product(self) -> bool:
        """Whether coefficients are multiplied by a product of matrices."""
        return self.targets > 8

    @property
    def apart(self) -> bool:
        """Whether each pair of places has a sum of its own, which is added up in the end.

        Without products of matrices the entries of a row are spread over many threads, so that
        adding them up takes long.
        """
        return set(self.ways) == {"difference"} and not self.by_product

    @property
    def real(self) -> str:
        """Triton's name of the precision of similarities."""
        return "tl.float64" if self.products == "double" else "tl.float32"

    def arguments(self) -> list[str]:
        names = ["out", "V", "UA", "UB", "m", "n", "span"]
        for i, (metric, way) in enumerate(zip(self.program.metrics, self.ways, strict=True)):
            if way != "difference":
                names += [f"A{i}", f"B{i}"]
                if metric.kind == "squared":
                    names += [f"SA{i}", f"SB{i}"]
            if way != "product":
                names += [f"X{i}", f"Z{i}"]
            if way == "mended":
                names += [f"near{i}", f"D{i}"]
        for i in range(len(self.program.lengths)):
            names += [f"LR{i}", f"LC{i}"]
        if self.products == "double":
            return [*names, "P"]
        return names + [f"p{i}" for i in range(len(self.program.values))]


def text(form: SourceShape) -> str:
    """Return the source of the kernel."""
    before: list[str] = []
    inside: list[str] = []
    if form.products == "double":
        before += [f"p{i} = tl.load(P + {i})" for i in range(len(form.program.values))]
    for i in range(len(form.program.metrics)):
        head, body = _metric(form, i)
        before += head
        inside += body
    for i in range(len(form.program.lengths)):
        before.append(f"r{i} = tl.load(LR{i} + first + i_)")
        inside.append(f"c{i} = tl.load(LC{i} + j + j_)")
    inside += form.program.lines
    head, body, after = _sums(form)
    lines = [
        "@triton.jit",
        f"def fused({', '.join(form.arguments())}, BM: tl.constexpr, BN: tl.constexpr):",
        "    first = tl.program_id(0).to(tl.int64) * BM",
        "    start = tl.program_id(1).to(tl.int64) * span",
        "    stop = tl.minimum(start + span, m)",
        "    i_ = tl.arange(0, BM)",
        "    j_ = tl.arange(0, BN)",
        *(f"    {line}" for line in before + head),
        "    for j in tl.range(start, stop, BN):",
        *(f"        {line}" for line in inside + body),
        *(f"    {line}" for line in after),
    ]
    return "\n".join(lines) + "\n"


def _metric(form: SourceShape, i: int) -> tuple[list[str], list[str]]:
    """Return what computes one metric: lines before the loop and lines in it."""
    metric, way, K = form.program.metrics[i], form.ways[i], form.widths[i]
    if way == "difference":
        term = {"cityblock": "tl.abs(u)", "squared": "u * u", "dot": "u"}[metric.kind]
        pair = "*" if metric.kind == "dot" else "-"
        start = f"m{i} = tl.zeros([BM, BN], {form.real})"
        return [], [start, *_differences(i, K, f"m{i}", term, pair)]
    before, inside = _dots(form, i, K)
    if metric.kind == "dot":
        before.append(f"q{i} = tl.load(UA + {i}) * tl.load(UB + {i})")
        return before, [*inside, f"m{i} = g{i} * q{i}"]
    before.append(f"q{i} = -2.0 * tl.load(UA + {i}) * tl.load(UB + {i})")
    before.append(f"sa{i} = tl.load(SA{i} + first + i_)")
    inside.append(f"sb{i} = tl.load(SB{i} + j + j_)")
    sum_ = f"sa{i}[:, None] + sb{i}[None, :] + q{i} * g{i}"
    inside.append(f"m{i} = tl.maximum({sum_}, 0.0)")
    if way == "mended":
        inside += [
            f"if tl.min(m{i}) < near{i}:",
            f"    d{i} = tl.zeros([BM, BN], tl.float32)",
            *(f"    {line}" for line in _differences(i, f"D{i}", f"d{i}", "u * u")),
            f"    m{i} = tl.where(m{i} < near{i}, d{i}, m{i})",
        ]
    return before, inside


def _differences(i: int, d: int | str, total: str, term: str, pair: str = "-") -> list[str]:
    return [
        f"for k in range({d}):",
        f"    x = tl.load(X{i} + k * n + first + i_)",
        f"    z = tl.load(Z{i} + k * m + j + j_)",
        f"    u = x[:, None] {pair} z[None, :]",
        f"    {total} += {term}",
    ]


def _dots(form: SourceShape, i: int, K: int) -> tuple[list[str], list[str]]:
    """Return what computes products of rows, in pieces whose lengths are powers of two."""
    ways = {"split": "", "half": ""}
    mode = ways.get(form.products, f', input_precision="{form.products}"')
    if K > whole(form.products):
        offsets = f"j_[:, None] * {K} + tl.arange(0, {ROW_PIECE})[None, :]"
        return [
            f"oa{i} = i_[:, None] * {K} + tl.arange(0, {ROW_PIECE})[None, :]",
            f"ob{i} = {offsets}",
        ], [
            f"g{i} = tl.zeros([BM, BN], tl.float32)",
            f"for k in tl.range(0, {K}, {ROW_PIECE}):",
            f"    a = tl.load(A{i} + first * {K} + k + oa{i})",
            f"    b = tl.load(B{i} + j * {K} + k + ob{i})",
            f"    g{i} = tl.dot(a, tl.trans(b), g{i}{mode})",
        ]
    before, inside, start = [], [], 0
    for size in pieces(K):
        name, span = f"{i}_{start}", f"({start} + tl.arange(0, {size}))[None, :]"
        before.append(f"a{name} = tl.load(A{i} + first * {K} + (i_[:, None] * {K} + {span}))")
        before.append(f"o{name} = j_[:, None] * {K} + {span}")
        inside.append(f"b{name} = tl.load(B{i} + j * {K} + o{name})")
        more = f", g{i}" if start else ""
        inside.append(f"g{i} = tl.dot(a{name}, tl.trans(b{name}){more}{mode})")
        start += size
    return before, inside


def pieces(K: int) -> list[int]:
    """Cut a length into powers of two."""
    found = [LARGEST_PIECE] * (K // LARGEST_PIECE)
    rest, size = K % LARGEST_PIECE, LARGEST_PIECE // 2
    while rest:
        if rest >= size:
            found.append(size)
            rest -= size
        size //= 2
    return found


def _sums(form: SourceShape) -> tuple[list[str], list[str], list[str]]:
    """Return what adds up similarities times coefficients: before, in and after the loop."""
    e, t = form.program.result, form.targets
    place = f"out + tl.program_id(1).to(tl.int64) * n * {t}"
    if form.by_product:
        columns = f"tl.arange(0, {t})[None, :]"
        way = "tf32" if form.products in ("half", "tf32") else "tf32x3"
        way = "ieee" if form.products == "ieee" else way
        return (
            [f"acc = tl.zeros([BM, {t}], tl.float64)"],
            [
                f"v = tl.load(V + j * {t} + (j_[:, None] * {t} + {columns}))",
                f'acc += tl.dot({e}, v, input_precision="{way}").to(tl.float64)',
            ],
            [f"tl.store({place} + (first + i_)[:, None] * {t} + {columns}, acc)"],
        )
    numbers = range(t)
    if form.apart:
        return (
            [f"acc{r} = tl.zeros([BM, BN], {form.real})" for r in numbers],
            [f"acc{r} += {e} * tl.load(V + {r} * m + j + j_)[None, :]" for r in numbers],
            [
                f"tl.store({place} + {r} * n + first + i_, tl.sum(acc{r}.to(tl.float64), axis=1))"
                for r in numbers
            ],
        )
    return (
        [f"acc{r} = tl.zeros([BM], tl.float64)" for r in numbers],
        [
            line
            for r in numbers
            for line in (
                f"v{r} = tl.load(V + {r} * m + j + j_)",
                f"acc{r} += tl.sum({e} * v{r}[None, :], axis=1).to(tl.float64)",
            )
        ],
        [f"tl.store({place} + {r} * n + first + i_, acc{r})" for r in numbers],
    )
