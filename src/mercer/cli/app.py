"""The command and its parts. Each part loads the library only when it is called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mercer.cli.catalog import bench, figures
from mercer.cli.exits import INTERRUPTED, TERMINATED, exits, handle_signals, restore_interrupt
from mercer.cli.explore import explore
from mercer.cli.fit import fit
from mercer.cli.in_use import drift, export, info, serve
from mercer.cli.kernel import check, gram
from mercer.cli.model import explain, predict
from mercer.cli.terminal import LINE

__all__ = ["app", "main"]


class Commands(TyperGroup):
    """The parts, in the order in which a new user meets them."""

    def invoke(self, ctx: Any) -> Any:
        """Run a part; whatever is wrong becomes one sentence and an exit status."""
        with exits():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember what was typed, which a model keeps, and read it."""
        LINE.set(("mercer", *args))
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, those that set up the shell hidden: the help has a line on them."""
        found: list[Any] = super().get_params(ctx)
        for option in found:
            if option.name in ("install_completion", "show_completion"):
                option.hidden = True
        return found


# Plain text, not rich's boxes: messages stay in one piece, for people who search for them.
app = typer.Typer(
    name="mercer",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _part(function: Callable[..., None], example: str, **settings: Any) -> None:
    """Add a command whose help ends with an example of the whole line."""
    app.command(epilog=f"\b\nExample:\n  {example}", **settings)(function)


_part(fit, "mercer fit iris.csv --target species")
_part(predict, "mercer predict iris-mercer/model.mercer new.csv --out predictions.csv")
_part(explain, "mercer explain iris-mercer/model.mercer new.csv --row 3")
_part(explore, "mercer explore iris-mercer/model.mercer")
_part(serve, "mercer serve iris-mercer/model.mercer --port 8000")
_part(export, "mercer export iris-mercer/model.mercer --onnx --out iris.onnx")
_part(drift, "mercer drift iris-mercer/model.mercer new.csv")
_part(info, "mercer info iris-mercer/model.mercer")
_part(check, "mercer check \"Gaussian('median')\" iris.csv --target species")
_part(gram, "mercer gram \"Gaussian('median')\" iris.csv --target species --out K.npy")
_part(bench, "mercer bench gram ridge")
_part(figures, "mercer figures book-6-1 --format svg")


def _version(asked: bool) -> None:
    if asked:
        import mercer

        typer.echo(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback(
    epilog="\b\n"
    "Begin: mercer fit               Then: mercer fit YOUR.csv --target COLUMN\n"
    "More:  mercer fit --help        Completion: mercer --install-completion"
)
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
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # not a file, or closed
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with suppress(ValueError):  # not the main thread
        handle_signals()
    try:
        app(prog_name="mercer")
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            restore_interrupt()
        raise
