"""``mercer info``: a model in use, after it was made: where it comes from."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any

import typer

from mercer.cli.options import Model
from mercer.cli.terminal import paragraph, plain

__all__ = ["info"]

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
