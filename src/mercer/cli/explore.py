"""``mercer explore``: a model as a page in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exits import say, sentence_of
from mercer.cli.fit import Task
from mercer.cli.options import Types, types_of
from mercer.cli.terminal import require_writable

if TYPE_CHECKING:
    from mercer.explorer.subject import Subject

__all__ = ["explore"]


def explore(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL_OR_TABLE",
            show_default=False,
            help="A model that `mercer fit` or `mercer.save` wrote, or a table; for example "
            "iris-mercer/model.mercer or iris.csv.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of a table that is predicted; for example --target species.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Other rows to look at with a model; for example --rows new.csv.",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR",
            help="The kernel for a table; for example --kernel \"Gaussian('median')\".",
        ),
    ] = None,
    types: Types = None,
    kind: Task = None,
    textbook: Annotated[
        bool,
        typer.Option(
            "--textbook", help="Open the textbooks' experiments; for example --textbook."
        ),
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one page that needs neither Python nor network; for example "
            "--export page.html.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(help="The first port to try, 0 for any; for example --port 9000."),
    ] = 8601,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", help="Only say the address; for example --no-browser."),
    ] = False,
) -> None:
    """See and touch a model in the browser, until Ctrl-C."""
    from mercer.errors import DomainError

    if (source is None) is not textbook:
        raise DomainError(
            "say what to explore: a model, a table with --target, or --textbook alone"
        )

    def open_one() -> Subject:
        from mercer.explorer.opened import open_subject

        task = None if kind is None else kind.value
        known = types_of(types)
        return open_subject(
            Path(source or ""), target, rows=rows, types=known, kernel=kernel, task=task
        )

    if export is not None:
        if source is None:
            raise DomainError("--export is for models and tables; the textbooks need Python")
        _export(open_one(), export)
        return
    from mercer.explorer.html_page import render
    from mercer.explorer.local_server import serve_explorer

    name, data, answer = _page(source, open_one)

    def ready(address: str) -> None:
        say(f"{name} is at {address} (Ctrl-C ends it)")
        if not no_browser:
            with suppress(webbrowser.Error, OSError):
                webbrowser.open(address)

    serve_explorer(lambda base: render(name, data | {"base": base}), answer, port, ready)


def _page(source: Path | None, open_one: Callable[[], Subject]) -> tuple[str, dict[str, Any], Any]:
    """Return the name of what is shown, what its page begins with, and what answers it.

    What is wrong with a file is said in the terminal, and on the page too.
    """
    from mercer.explorer.textbook_session import textbook_answer, textbook_data

    if source is None:
        return "The textbooks", textbook_data(), textbook_answer
    try:
        from mercer.explorer.session import Session

        session = Session(open_one())
        return source.name, {"opening": session.opening}, session.answer
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        say(sentence)
        return source.name, {"trouble": f"{source.name}: {sentence}"}, textbook_answer


def _export(subject: Subject, place: Path) -> None:
    from mercer.explorer.exported import export_page
    from mercer.files import replacing

    content = export_page(subject).encode()
    with replacing(require_writable(place)) as file:
        file.write(content)
    typer.echo(f"{place}: {len(content) / 1e6:.1f} MB, opens in any browser without network")
