"""``mercer check``: is this a valid kernel, and is it healthy on these data?"""

from __future__ import annotations

import typer

from mercer.cli.options import Data, Expression, SkipBad, Target, Types, types_of
from mercer.cli.pages import heading, paragraph

__all__ = ["check"]

MOST = 3000  # rows whose eigenvalues take seconds


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
    sheet = read(data, target, types_of(types), skip_bad=skip_bad, limit=MOST)
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


VERDICTS = {
    "proved": "This is a valid kernel: proved for all data.",
    "refuted": "This is not a valid kernel: there are points that refute it.",
    "unknown": "Whether this is a valid kernel is not known.",
}
