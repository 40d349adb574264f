"""``mercer check`` and ``mercer gram``: what a kernel is worth on a table, and its matrix.

Is it valid, and is it healthy on these data? And the similarities of all pairs of rows, as a file.
"""

from __future__ import annotations

from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from mercer.cli.options import Data, Expression, SkipBad, Target, Types, types_of
from mercer.cli.terminal import heading, paragraph, plain, require_writable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["check", "gram"]

MAX_CHECKED = 3000  # rows, whose eigenvalues take seconds
VERDICTS = {
    "proved": "This is a valid kernel: proved for all data.",
    "refuted": "This is not a valid kernel: there are points that refute it.",
    "unknown": "Whether this is a valid kernel is not known.",
}


def check(
    expression: Expression,
    data: Data,
    target: Target = None,
    types: Types = None,
    skip_bad: SkipBad = False,
) -> None:
    """Say whether a kernel is valid, and healthy on these data."""
    from mercer.kernels import check as examine
    from mercer.kernels import parse
    from mercer.sources import read
    from mercer.studies import on_columns

    kernel = parse(expression)
    sheet = read(data, target, types_of(types), skip_bad=skip_bad, limit=MAX_CHECKED)
    kernel = on_columns(kernel, sheet.X, sheet.columns).resolve(sheet.X)
    proof = kernel.proof()
    found = examine(kernel, sheet.X)
    for note in sheet.notes:
        paragraph(note)
    typer.echo(VERDICTS[proof.verdict])
    heading("Proof")
    typer.echo(str(proof))
    heading("On these data")
    typer.echo(str(found))


def gram(
    expression: Expression,
    data: Data,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The file to write, for example --out K.npy.")
    ],
    target: Target = None,
    types: Types = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write the matrix of similarities of all rows."""
    from mercer.files import replacing
    from mercer.kernels import parse
    from mercer.memory import afford, available, format_bytes
    from mercer.sources import read
    from mercer.studies import on_columns

    require_writable(out)
    kernel = parse(expression)
    free = available()
    # A file of many rows is refused without all of them being kept.
    most = None if free is None else isqrt(free // 8) + 1
    sheet = read(data, target, types_of(types), skip_bad=skip_bad, limit=most)
    n = len(sheet) if len(sheet) != most else sheet.total - len(sheet.bad)
    advice = "use fewer rows, or `mercer fit`, which does not need all of it"
    afford(8 * n**2, f"the Gram matrix of {n} rows", advice)
    for note in sheet.notes:
        paragraph(note)
    kernel = on_columns(kernel, sheet.X, sheet.columns).resolve(sheet.X)
    K = kernel(sheet.X)
    with replacing(out) as file:
        _save(K, file)
    typer.echo(f"{plain(kernel, 2000)}")
    typer.echo(f"{out}: {n} x {n} similarities, {format_bytes(8 * n**2)}")


def _save(K: ArrayLike, file: BinaryIO) -> None:
    """Write an array as NumPy does, but notice it if the disk is full."""
    import numpy as np
    from numpy.lib import format

    K = np.ascontiguousarray(K)
    format.write_array_header_1_0(file, format.header_data_from_array_1_0(K))
    file.write(K.data)
