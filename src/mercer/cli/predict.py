"""``mercer predict``: what a model says about the rows of another table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from mercer.cli.endings import say
from mercer.cli.options import Data, Model, SkipBad
from mercer.cli.pages import harmless, plain, ready

if TYPE_CHECKING:
    from mercer.studies import Predictions, SavedModel

__all__ = ["predict"]

NAMED = 5  # bad rows


def predict(
    model: Model,
    data: Data,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Add the probability of each class; for example "
            "mercer predict m.mercer new.csv --proba.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file to write, for example --out predictions.csv; otherwise the terminal.",
        ),
    ] = None,
    skip_bad: SkipBad = False,
) -> None:  # fmt: skip
    """Predict the rows of a table, however long it is."""
    from mercer.report.output import as_csv
    from mercer.studies import open_model

    if out is not None:
        ready(out)
    known = open_model(model)
    told = Tally()
    with _opened(out) as file:
        for piece in known.predict(data, probabilities=proba, skip_bad=skip_bad):
            if not told.rows:
                file.write(as_csv(_table(piece, known.classes).iloc[:0]))
            file.write(as_csv(_table(piece, known.classes), header=False))
            told.add(piece)
    told.tell(known, out)


@contextmanager
def _opened(out: Path | None) -> Iterator[BinaryIO | Screen]:
    """Open the file, which appears when it is complete, or the terminal."""
    if out is None:
        sys.stdout.flush()
        yield Screen(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from mercer.files import replacing

    with replacing(out) as file:
        yield file


class Screen:
    """A terminal: it shows what stands in labels, and obeys none of it.

    A file or a pipe gets every character as it is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, lines: bytes) -> None:
        """Write whole lines of UTF-8."""
        shown = (harmless(line) for line in lines.decode().split("\n"))
        self.stream.write("\n".join(shown).encode())


def _table(piece: Predictions, classes: Any) -> Any:
    import pandas as pd

    found = {"row": piece.sheet.rows, "prediction": piece.prediction}
    if piece.probabilities is not None:
        for label, column in zip(classes.tolist(), piece.probabilities.T, strict=True):
            found[f"probability of {label}"] = column
    return pd.DataFrame(found)


class Tally:
    """What to say when all rows are predicted: how many, how good, and which were left out."""

    def __init__(self) -> None:
        self.rows = self.judged = self.bad = 0
        self.loss = 0.0
        self.first: list[Any] = []  # bad rows that are named

    def add(self, piece: Predictions) -> None:
        """Count a piece."""
        losses = piece.losses
        self.rows += len(piece.sheet)
        self.judged += len(losses)
        self.loss += float(losses.sum())
        self.bad += len(piece.sheet.bad)
        self.first += piece.sheet.bad[: NAMED - len(self.first)]

    def tell(self, known: SavedModel, out: Path | None) -> None:
        """Say it on stderr, where it is not mistaken for predictions."""
        from mercer.report.words import amount, percent, plural

        if self.bad:
            more = f"; and {self.bad - NAMED} more" if self.bad > NAMED else ""
            first = "; ".join(plain(row, 120) for row in self.first)
            say(f"{plural(self.bad, 'row')} could not be read and left out: {first}{more}")
        if self.judged:
            wrong = known.classes is not None
            mean = self.loss / self.judged
            error = f"{percent(mean)} wrong" if wrong else f"off by {amount(mean**0.5)}"
            say(f"the file has the target of {plural(self.judged, 'row')}: {error}")
        if out is not None:
            say(f"{plural(self.rows, 'prediction')} written to {out}")
