"""``mercer figures`` and ``mercer bench``: what has a name and can be run, all of it or some.

The figures of the textbooks, from live computations; how fast this installation is, beside
scikit-learn.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["bench", "figures"]


class FigureFormat(StrEnum):
    """The kinds of files that figures are written to."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


def _figure_names(start: str) -> list[str]:
    from mercer.plots.figures import FIGURES

    return [name for name in FIGURES if name.startswith(start)]


def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Figures to draw, for example tutorial-3; all of them if none is named.",
            autocompletion=_figure_names,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder to write to, made if missing; for example --out pictures."
        ),
    ] = Path("figures"),
    format: Annotated[
        FigureFormat, typer.Option(help="Kind of the files; for example --format svg.")
    ] = FigureFormat.png,
    show_list: Annotated[
        bool,
        typer.Option(
            "--list", help="Name the figures, and draw nothing; for example mercer figures --list."
        ),
    ] = False,
) -> None:
    """Draw the figures of the textbooks, computed live.

    Each has a caption that says what to see.
    """
    from mercer.errors import DomainError
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


def _benchmark_names(start: str) -> list[str]:
    from mercer.bench import TASKS

    return [name for name in TASKS if name.startswith(start)]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Benchmarks to run, for example gram svm; all of them if none is named.",
            autocompletion=_benchmark_names,
        ),
    ] = None,
    show_list: Annotated[
        bool,
        typer.Option(
            "--list", help="Name the benchmarks, and run nothing; for example mercer bench --list."
        ),
    ] = False,
) -> None:
    """Measure speed beside scikit-learn; under a minute."""
    from mercer.bench import TASKS, find
    from mercer.bench.measure import describe

    chosen = [find(name) for name in dict.fromkeys(names or TASKS)]
    if show_list:
        for task in chosen:
            typer.echo(f"{task.name:<10} {task.about}")
        return
    typer.echo(describe())
    for task in chosen:
        typer.echo(f"\n{task.name}: {task.about}\n")
        typer.echo(task.run())
