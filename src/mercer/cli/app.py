"""The command and its parts. Each part loads the library only when it is called."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer.cli.figures import figures

__all__ = ["app", "main"]

# Plain text, not rich's boxes: messages stay in one piece, for people who search for them.
app = typer.Typer(
    name="mercer",
    help="Learn categories, functions and structure from similarity.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(figures)


def _version(asked: bool) -> None:
    if asked:
        import mercer

        typer.echo(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Learn categories, functions and structure from similarity."""


def main() -> None:
    """Run the command."""
    app(prog_name="mercer")
