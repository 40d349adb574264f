"""``mercer predict`` and ``mercer explain``: what a model says about rows of a table, and why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from mercer.cli.doubts import Doubts
from mercer.cli.exits import say, say_encoding, say_formulas
from mercer.cli.options import Data, Model, SkipBad
from mercer.cli.terminal import harmless, heading, paragraph, plain, require_writable, table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from mercer.sources import Sheet
    from mercer.studies import Predictions, SavedModel

__all__ = ["explain", "predict"]

MAX_NAMED = 5  # rows that could not be read
MIN_COLUMNS, MAX_REASONS = 2, 10  # columns from which shares say something, and that are listed
LONGEST_ENTRY = 24  # characters of an entry beside its share
SEPARATOR = " | "  # between the labels of a set


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
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="Add an interval that holds the true number so often; for example "
            "--interval 0.9.",
        ),
    ] = None,
    sets: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="Add the labels among which the true one is so often; for example --sets 0.9.",
        ),
    ] = None,
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
        require_writable(out)
    known = open_model(model)
    tally = Tally()
    with _opened(out) as file:
        for piece in known.predict(
            data, probabilities=proba, skip_bad=skip_bad, interval=interval, sets=sets
        ):
            if not tally.rows:
                file.write(as_csv(_table(piece, known.classes).iloc[:0]))
            file.write(as_csv(_table(piece, known.classes), header=False))
            if not tally.rows:
                say_encoding(piece.sheet)
            tally.add(piece)
    tally.report(known, out)
    if interval is not None or sets is not None:
        _say_promise(known, tally, interval if interval is not None else sets)
    if proba:
        _warn_of_probabilities(known)
    say_formulas(known.classes)


def _warn_of_probabilities(known: SavedModel) -> None:
    """Say on stderr if held-out probabilities were not what came true."""
    found = (known.notes.get("study") or {}).get("probabilities")
    if isinstance(found, dict) and found.get("poor"):
        say(
            f"the probabilities are poorly calibrated: on held-out rows the answers were "
            f"{found['sure']:.0%} sure and {found['right']:.0%} right; read them as an order, not "
            "as odds"
        )


def _say_promise(known: SavedModel, tally: Tally, level: float | None) -> None:
    """Say on stderr what was promised, and how often it was kept where that is known."""
    from mercer.report.words import percent, plural
    from mercer.studies.promises import guarantee_of

    assert level is not None
    say(guarantee_of(known.machine, known.notes, level))
    if tally.judged:
        share = percent(tally.inside / tally.judged)
        say(f"of {plural(tally.judged, 'row')} with a target, {share} have it inside")


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


def _table(piece: Predictions, classes: np.ndarray | None) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    found: dict[str, Any] = {"row": piece.sheet.rows, "prediction": piece.prediction}
    if piece.intervals is not None:
        found["low"], found["high"] = piece.intervals.T
    if piece.sets is not None and classes is not None:
        names = np.array([str(label) for label in classes.tolist()], dtype=object)
        found["set"] = [SEPARATOR.join(names[row]) for row in piece.sets]
    if piece.probabilities is not None and classes is not None:
        for label, column in zip(classes.tolist(), piece.probabilities.T, strict=True):
            found[f"probability of {label}"] = column
    if piece.marks is not None:
        found["careful"] = piece.marks.texts
    return pd.DataFrame(found)


class Tally:
    """What to say when all rows are predicted: how many, how good, and which were left out."""

    def __init__(self) -> None:
        self.rows = self.judged = self.bad = self.inside = 0
        self.loss = 0.0
        self.first: list[Any] = []  # bad rows that are named
        self.doubts = Doubts()

    def add(self, piece: Predictions) -> None:
        """Count a piece."""
        losses = piece.losses
        self.rows += len(piece.sheet)
        self.judged += len(losses)
        self.inside += piece.inside
        self.loss += float(losses.sum())
        self.bad += len(piece.sheet.bad)
        self.first += piece.sheet.bad[: MAX_NAMED - len(self.first)]
        if piece.marks is not None:
            self.doubts.add(piece.marks, piece.sheet.rows)

    def report(self, known: SavedModel, out: Path | None) -> None:
        """Say it on stderr, where it is not mistaken for predictions."""
        from mercer.report.words import amount, percent, plural

        if self.bad:
            more = f"; and {self.bad - MAX_NAMED} more" if self.bad > MAX_NAMED else ""
            first = "; ".join(plain(row, 120) for row in self.first)
            say(f"{plural(self.bad, 'row')} could not be read and left out: {first}{more}")
        for sentence in self.doubts.sentences():
            say(f"careful: {sentence}")
        if self.judged:
            wrong = known.classes is not None
            mean = self.loss / self.judged
            error = f"{percent(mean)} wrong" if wrong else f"off by {amount(mean**0.5)}"
            say(f"the file has the target of {plural(self.judged, 'row')}: {error}")
        if out is not None:
            say(f"{plural(self.rows, 'prediction')} written to {out}")


def explain(
    model: Model,
    data: Data,
    row: Annotated[
        int,
        typer.Option(
            min=0, help="Which row, counted from 0 as in predictions.csv; for example --row 3."
        ),
    ] = 0,
    count: Annotated[
        int,
        typer.Option(
            min=1, help="How many features and exemplars are shown; for example --count 10."
        ),
    ] = 5,
) -> None:
    """Say why a row is predicted as it is."""
    from mercer.explanations import explain as explain_machine
    from mercer.explanations.terms import scale_inside
    from mercer.studies import open_model

    known = open_model(model)
    sheet = known.row(data, row)
    item = known.items(sheet)
    line = f" (line {sheet.lines[0]})" if sheet.layout.get("format") == "delimited" else ""
    typer.echo(f"Row {row}{line}: {_prediction(known, item)}")
    if hasattr(sheet.X, "columns"):
        longest = 24 if len(sheet.X.columns) > 1 else 200
        from mercer.studies.guard import entry_text

        kinds = {column.name: column.kind for column in sheet.columns}
        entries = {n: entry_text(sheet.X[n].iloc[0], kinds.get(n, "")) for n in sheet.X}
        paragraph(", ".join(f"{name} {plain(e, longest)}" for name, e in entries.items()))
    why = explain_machine(known.machine, item)[0]
    offset = float(why.explanation.offsets[why.item])
    about = "" if why.toward is None else f" toward {plain(why.toward)}"
    typer.echo(f"Score {why.score:.4g}{about}, of which {offset:.4g} for any row.")
    scale = scale_inside(known.machine)
    if scale != "none":
        unit = "the natural logarithm" if scale == "log" else f"the {scale}"
        paragraph(f"The score is on the scale on which the target was learned: {unit} of it.")
    _print_reasons(known, item, sheet)
    parts = why.columns()
    if len(parts) > 1:
        heading("What the parts of the kernel contributed")
        _print_contributions(parts, "kernel")
    features = why.features(count)
    if len(features):
        heading("What spoke for (+) and against (-)")
        _print_contributions(features, "feature")
    _print_exemplars(why.exemplars(count), known)


def _print_reasons(known: SavedModel, item: Any, sheet: Sheet) -> None:
    """Print what each column of the table contributed, exactly, where that can be had."""
    from mercer.errors import DomainError, ValidityError
    from mercer.explanations import shapley
    from mercer.studies.guard import entry_text

    if not hasattr(sheet.X, "columns") or len(sheet.X.columns) < MIN_COLUMNS:
        return
    try:
        why = shapley(known.machine, item)
    except (DomainError, ValidityError):  # a kernel that looks at all columns at once
        return
    table_of, kinds = why.table(0), {column.name: column.kind for column in sheet.columns}
    heading("What each column contributed, for (+) and against (-)")
    lines = []
    for name, share in table_of.head(MAX_REASONS).itertuples(index=False):
        entry = ""
        if name in sheet.X:
            entry = plain(entry_text(sheet.X[name].iloc[0], kinds.get(name, "")), LONGEST_ENTRY)
        lines.append((plain(name), entry, f"{share:+.4g}"))
    rest = table_of["share"].iloc[MAX_REASONS:]
    if len(rest):
        lines.append((f"{len(rest)} more", "", f"{rest.sum():+.4g}"))
    lines.append(("if nothing were known", "", f"{why.base[0]:.4g}"))
    lines.append(("score", "", f"{why.scores[0]:.4g}"))
    typer.echo(table(("column", "here", "contribution"), lines, words=(0, 1)))


def _prediction(known: SavedModel, item: Any) -> str:
    found = plain(known.machine.predict(item)[0])
    if known.classes is None or not hasattr(known.machine, "predict_proba"):
        return f"predicted {found}"
    chances = known.machine.predict_proba(item)[0]
    likely = chances.argsort()[::-1][:3]
    text = ", ".join(f"{plain(known.classes[i])} {chances[i]:.1%}" for i in likely)
    return f"predicted {found} ({text})"


def _print_contributions(frame: pd.DataFrame, what: str) -> None:
    """Print what each part or feature contributed, and the columns that it looks at."""
    lines = [
        (thing, ", ".join(map(str, columns)) if columns else "all", f"{value:+.4g}")
        for thing, columns, value in zip(
            frame[what], frame["columns"], frame["contribution"], strict=True
        )
    ]
    typer.echo(table((what, "of", "contribution"), lines, words=(0, 1)))


def _print_exemplars(pulls: pd.DataFrame, known: SavedModel) -> None:
    heading("Known rows that pulled most, for (+) and against (-)")
    lines = []
    for place, _, similarity, value, share in pulls.itertuples(index=False):
        row, label = known.learned(place) or ("unknown", "")
        lines.append((row, label, f"{similarity:.3g}", f"{value:+.4g}", f"{share:.1%}"))
    typer.echo(table(("row", "target", "similarity", "contribution", "share"), lines, (1,)))
