"""Options of `mercer fit` about rows: which belong together, and what mistakes cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Cost", "DropDuplicates", "Groups", "Log", "Measure", "Missing", "Order", "Scale",
    "TargetScale", "Targets", "Test", "Time", "Weights", "costs_of", "target_scale_of",
]  # fmt: skip

Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says what a row comes from: rows with one entry are never on both "
        "sides of a split, and the error is that of new ones; for example --groups person.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says when a row came about: the past predicts the future; for "
        "example --time date.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says how much each row counts; for example --weights people.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODE",
        help="An entry that stands for nothing, in all columns or in one; for example "
        "--missing -999 --missing age=-1.",
    ),
]
DropDuplicates = Annotated[
    bool,
    typer.Option(
        "--drop-duplicates",
        help="Leave out rows that repeat another in all columns; for example "
        "mercer fit iris.csv --target species --drop-duplicates.",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="TRUTH:ANSWER=COST,…",
        help="What each mistake costs, or a file with a row for each true class and a column for "
        "each answer; for example --cost ill:well=10,well:ill=1.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS,…",
        help="All classes from the lowest to the highest; the error counts steps; for example "
        "--order low,mid,high.",
    ),
]
Measure = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What chooses and judges: error, balanced, auc or logloss for classes, rmse or mae "
        "for numbers; for example --measure balanced.",
    ),
]


Scale = Annotated[
    str | None,
    typer.Option(
        metavar="none",
        help="Compare columns of numbers as they are, because they have one unit already; for "
        "example --scale none.",
    ),
]
Log = Annotated[
    bool,
    typer.Option(
        "--log",
        help="Learn the logarithm of a positive target; answers and errors stay in its own unit; "
        "for example mercer fit homes.csv --target price --log.",
    ),
]
TargetScale = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The scale on which a target of numbers is learned: none, root, 'fourth root', log, "
        "or auto, by which inner folds choose; for example --target-scale none.",
    ),
]
Test = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table that was kept aside: the model in the end is judged by it, once; for "
        "example --test later.csv.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,…",
        help="The column to predict, for example --target species; of several, apart by commas, "
        "each gets a study and a model of its own.",
    ),
]


def costs_of(given: str | None) -> Any:
    """Return costs as one types them, or the table of a file that has them."""
    if given is None or "=" in given:
        return given
    from mercer.errors import DomainError

    path = Path(given)
    if not path.is_file():
        raise DomainError(
            f"--cost {given!r} is neither a table of costs, such as ill:well=10,well:ill=1, nor "
            "a file with one"
        )
    import pandas as pd

    try:
        return pd.read_csv(path, index_col=0, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise DomainError(f"--cost {given}: it cannot be read as a table: {error}") from error


def target_scale_of(log: bool, given: str | None) -> str | None:
    """Return the scale of the target that was asked for; --log is the short form of one."""
    if not log:
        return given
    if given not in (None, "log"):
        from mercer.errors import ValidityError

        raise ValidityError(f"--log and --target-scale {given!r} contradict each other; give one")
    return "log"
