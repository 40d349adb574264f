"""``mercer bench``: how fast this installation is, beside scikit-learn."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["bench"]


def _names(start: str) -> list[str]:
    from mercer.bench import TASKS

    return [name for name in TASKS if name.startswith(start)]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Benchmarks to run, for example gram svm; all of them if none is named.",
            autocompletion=_names,
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
