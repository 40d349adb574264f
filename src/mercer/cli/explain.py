"""``mercer explain``: why a model decides about one row as it does."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mercer.cli.options import Data, Model
from mercer.cli.pages import heading, paragraph, plain, table

__all__ = ["explain"]


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
    from mercer.explanations import explain as ask
    from mercer.studies import open_model

    known = open_model(model)
    sheet = known.row(data, row)
    item = known.items(sheet)
    line = f" (line {sheet.lines[0]})" if sheet.layout.get("format") == "delimited" else ""
    typer.echo(f"Row {row}{line}: {_prediction(known, item)}")
    if hasattr(sheet.X, "columns"):
        longest = 24 if len(sheet.X.columns) > 1 else 200
        paragraph(", ".join(f"{name} {plain(sheet.X[name].iloc[0], longest)}" for name in sheet.X))
    why = ask(known.machine, item)[0]
    offset = float(why.explanation.offsets[why.item])
    about = "" if why.toward is None else f" toward {plain(why.toward)}"
    typer.echo(f"Score {why.score:.4g}{about}, of which {offset:.4g} for any row.")
    parts = why.columns()
    if len(parts) > 1:
        heading("What the parts of the kernel contributed")
        _told(parts, "kernel")
    features = why.features(count)
    if len(features):
        heading("What spoke for (+) and against (-)")
        _told(features, "feature")
    _told_exemplars(why.exemplars(count), known)


def _prediction(known: Any, item: Any) -> str:
    found = plain(known.machine.predict(item)[0])
    if known.classes is None or not hasattr(known.machine, "predict_proba"):
        return f"predicted {found}"
    chances = known.machine.predict_proba(item)[0]
    likely = chances.argsort()[::-1][:3]
    told = ", ".join(f"{plain(known.classes[i])} {chances[i]:.1%}" for i in likely)
    return f"predicted {found} ({told})"


def _told(frame: Any, what: str) -> None:
    """Print what each part or feature contributed, and the columns that it looks at."""
    lines = [
        (thing, ", ".join(map(str, columns)) if columns else "all", f"{value:+.4g}")
        for thing, columns, value in zip(
            frame[what], frame["columns"], frame["contribution"], strict=True
        )
    ]
    typer.echo(table((what, "of", "contribution"), lines, words=(0, 1)))


def _told_exemplars(pulls: Any, known: Any) -> None:
    heading("Known rows that pulled most, for (+) and against (-)")
    lines = []
    for place, _, similarity, value, share in pulls.itertuples(index=False):
        row, label = known.learned(place) or ("unknown", "")
        lines.append((row, label, f"{similarity:.3g}", f"{value:+.4g}", f"{share:.1%}"))
    typer.echo(table(("row", "target", "similarity", "contribution", "share"), lines, (1,)))
