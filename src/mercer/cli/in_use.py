"""``mercer serve``, ``export``, ``drift`` and ``info``: a model in use, after it was made."""

from __future__ import annotations

import dataclasses
import json
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exits import say
from mercer.cli.options import Data, Model, SkipBad
from mercer.cli.terminal import heading, paragraph, plain, require_writable, table

if TYPE_CHECKING:
    from mercer.studies.drift import Drift

__all__ = ["DRIFTED", "drift", "export", "info", "serve"]

DRIFTED = 3  # the exit status if a table has changed
MAX_COLUMNS = 10  # that are listed

MAX_NAMED = 12  # columns that are listed


def info(
    model: Model,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON; for example mercer info m.mercer --json."),
    ] = False,
) -> None:
    """Say where a model comes from: data, versions, seed, command line."""
    from mercer.report.provenance import facts_of

    facts = facts_of(model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
        return
    width = max(map(len, facts))
    for name, fact in facts.items():
        paragraph(_told(fact), mark=f"{name}:{' ' * (width - len(name) + 1)}")


def _told(fact: Any) -> str:
    """Return a fact in one line."""
    if isinstance(fact, dict):
        return ", ".join(f"{plain(name)} {_told(part)}" for name, part in fact.items())
    if isinstance(fact, list) and fact and fact[0] == "mercer":
        return shlex.join(fact)
    if isinstance(fact, list):
        more = f" and {len(fact) - MAX_NAMED} more" if len(fact) > MAX_NAMED else ""
        return ", ".join(map(_told, fact[:MAX_NAMED])) + more
    return "not kept" if fact is None else plain(fact, 1000)


def serve(
    model: Model,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen at; others than this computer's own only if you say so, "
            "for example --host 0.0.0.0."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The port, 0 for a free one; for example --port 8080.")
    ] = 8000,
    max_bytes: Annotated[
        int, typer.Option(help="The longest body that is read; for example --max-bytes 100000.")
    ] = 1_000_000,
    max_rows: Annotated[
        int, typer.Option(help="The most rows of one request; for example --max-rows 100.")
    ] = 1000,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds until a request is given up; for example --timeout 5."),
    ] = 10.0,
) -> None:
    """Answer other programs over HTTP, as JSON, until Ctrl-C."""
    from mercer.serving import Limits
    from mercer.serving.server import is_local, run
    from mercer.studies import open_model

    limits = Limits(max_bytes, max_rows, timeout)
    known = open_model(model)
    if not is_local(host):
        say(
            f"warning: everybody who reaches {host} can ask this model, without a password and "
            "without encryption"
        )

    def ready(address: str) -> None:
        say(f"{model.name} answers at {address} (what it takes: {address}/); Ctrl-C ends it")

    run(known, host, port, limits, ready)


def drift(
    model: Model,
    data: Data,
    level: Annotated[
        float,
        typer.Option(help="The chance of a false alarm; for example --level 0.001."),
    ] = 0.01,
    seed: Annotated[
        int, typer.Option(help="Of samples and permutations; for example --seed 1.")
    ] = 0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON; for example mercer drift m.mercer d.csv --json."),
    ] = False,
    skip_bad: SkipBad = False,
) -> None:
    """Say whether a table is like the one learned from; status 3 if not."""
    from mercer.studies import open_model
    from mercer.studies.drift import find_drift

    known = open_model(model)
    watch, study = known.require_watch(), known.notes.get("study") or {}
    found = find_drift(
        watch, known.sample(data, seed=seed, skip_bad=skip_bad), study.get("error"), level, seed
    )
    if as_json:
        facts = dataclasses.asdict(found) | {"found": found.found}
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _print_drift(found)
    if found.found:
        raise typer.Exit(DRIFTED)


def export(
    model: Model,
    onnx: Annotated[
        bool,
        typer.Option("--onnx", help="Write an ONNX graph; for example --onnx."),
    ] = False,
    python: Annotated[
        bool,
        typer.Option("--python", help="Write one Python file; for example --python."),
    ] = False,
    single: Annotated[
        bool,
        typer.Option(
            "--single",
            help="Let numbers go in and out of the graph in single precision; for example "
            "mercer export m.mercer --onnx --single.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The file to write, for example --out model.onnx; otherwise "
            "beside the model."
        ),
    ] = None,
) -> None:  # fmt: skip
    """Write a model as ONNX, or as one Python file without mercer."""
    from mercer.errors import DomainError
    from mercer.exports import python_file, write_model
    from mercer.files import replacing
    from mercer.studies import open_model

    if onnx is python or (single and python):
        raise DomainError("say what to write: --onnx (with --single, if you like) or --python")
    place = require_writable(out or model.with_suffix(".onnx" if onnx else ".py"))
    written = write_model(open_model(model))
    if onnx:
        from mercer.exports.onnx_graph import OPSET, onnx_graph

        precision: Any = "single" if single else "double"
        content = onnx_graph(written, precision).SerializeToString()
        told = f"ONNX, opset {OPSET}, numbers in {precision} precision, computed in double"
    else:
        content = python_file(written).encode()
        told = "Python with NumPy"
    with replacing(place) as file:
        file.write(content)
    typer.echo(f"{place}: {told}")
    paragraph(written.about)


def _print_drift(found: Drift) -> None:
    """Say what has changed, where, and what it means."""
    from mercer.report.words import plural

    verdict = "is not" if found.found else "may well be"
    paragraph(
        f"The table {verdict} like the one learned from: {plural(found.rows, 'row')} compared "
        f"with {found.known} known ones, chance of a false alarm {found.level:g}."
    )
    heading("All columns together")
    paragraph(
        f"Maximum mean discrepancy {found.discrepancy:.3g}, p = {found.pvalue:.3g} (permutations)."
    )
    if found.columns:
        heading("Each column (p corrected for their number)")
        rows = [
            (one.name, f"{one.discrepancy:.3g}", f"{one.pvalue:.3g}", one.before, one.now)
            for one in found.columns[:MAX_COLUMNS]
        ]
        header = ("column", "discrepancy", "p", "learned from", "now")
        typer.echo(table(header, rows, words=(0, 3, 4)))
    if found.least:
        heading(f"Rows least like anything known ({found.far} of {found.rows} are far from all)")
        typer.echo(table(("row", "why"), found.least, words=(1,), wrap=True))
    heading("What it means for the error")
    for sentence in _about_error(found):
        paragraph(sentence)


def _about_error(found: Drift) -> list[str]:
    """Return what is known of the error on such rows."""
    from mercer.report.words import error_text

    error, told = found.error, []
    if error.stated is not None:
        told.append(f"The study said {error_text(found.task, error.stated, math.nan)}.")
    if error.expected is not None:
        expected = error_text(found.task, error.expected, error.expected_se or 0.0)
        told.append(
            f"Held-out rows, weighted to be like these, had {expected}: that is to be expected if "
            "only the rows have changed, and not what follows from them."
        )
    else:
        told.append(
            "Too few held-out rows are like these to say what is to be expected: label some of "
            "them, or learn anew."
        )
    if error.measured is not None:
        measured = error_text(found.task, error.measured, error.measured_se or 0.0)
        told.append(f"The new rows have targets, and on them the error is {measured}.")
    return told
