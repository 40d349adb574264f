"""``mercer figures``: the figures of the textbooks, from live computations."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mercer.errors import DomainError

__all__ = ["figures"]

FOLDER = Path("figures")


class Format(StrEnum):
    """The kinds of files that figures are written to."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Figures to draw; all of them if none is named."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to; made if missing.")] = FOLDER,
    format: Annotated[Format, typer.Option(help="Kind of the files.")] = Format.png,
    show_list: Annotated[
        bool, typer.Option("--list", help="Name the figures, and draw nothing.")
    ] = False,
) -> None:
    """Draw the figures of the textbooks, computed live, with captions that say what to see."""
    from mercer.plots.figures import FIGURES, find

    try:
        chosen = [find(name) for name in dict.fromkeys(names or FIGURES)]
    except DomainError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error
    if show_list:
        width = max(len(picture.name) for picture in chosen)
        for picture in chosen:
            typer.echo(f"{picture.name:<{width}}  {picture.source}: {picture.caption}")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        for picture in chosen:
            if picture.possible or names:
                typer.echo(picture.save(out, format.value))
            else:
                typer.echo(f"{picture.name} is left out: it needs {picture.needs}", err=True)
    except ImportError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error
    except OSError as error:
        raise typer.BadParameter(f"cannot write there: {error}", param_hint="--out") from error
