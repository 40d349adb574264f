"""Arguments and options that several commands share, and how what is typed is understood."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "DATA", "Data", "Expression", "Model", "SkipBad", "Target", "Types", "machines", "seconds",
    "stem_of", "types_of",
]  # fmt: skip

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")

DATA = (
    "A table (CSV, TSV, Excel, JSON lines, SQLite, ARFF, Parquet, Arrow), LIBSVM text, FASTA, or "
    "a folder of TU graphs; for example iris.csv, shop.db::sales or - for the standard input."
)

Data = Annotated[Path, typer.Argument(metavar="DATA", help=DATA)]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="The model that `mercer fit` wrote, for example iris-mercer/model.mercer.",
    ),
]
Expression = Annotated[
    str,
    typer.Argument(
        metavar="EXPR",
        help="A kernel, for example \"Gaussian('median').on('height') + Spectrum(3).on('dna')\".",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND,…",
        help="What columns are to be taken for, for example --types zip=categorical,notes=text. "
        "Kinds: numeric, date, categorical, text, sequence, smiles; ignore leaves a column out.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that is to be predicted, so that the kernel does not see it; for example "
        "--target species.",
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Leave out rows that cannot be read, and count them; for example "
        "mercer predict m.mercer new.csv --skip-bad.",
    ),
]


def types_of(given: list[str] | None) -> dict[str, str] | None:
    """Return columns and their kinds, as one types them: ``zip=categorical,notes=text``.

    A name may have commas and signs of equality in it; then what follows the last one is the kind.
    """
    from mercer.errors import DomainError
    from mercer.sources import KINDS

    found: dict[str, str] = {}
    for text in given or ():
        pairs = [piece.split("=") for piece in text.split(",")]
        if not all(len(pair) == 2 for pair in pairs):
            known = "|".join((*KINDS, "ignore"))
            pairs = [list(pair) for pair in re.findall(rf"(.+?)=\s*({known})\s*(?:,|$)", text)]
        if not pairs or not all(name.strip() and kind.strip() for name, kind in pairs):
            raise DomainError(
                f"--types {text!r} does not say which column is what; write for example "
                "--types zip=categorical,notes=text"
            )
        found.update({name.strip(): kind.strip() for name, kind in pairs})
    return found or None


def seconds(text: str) -> float:
    """Return a time as one types it: seconds, or with a unit."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([smh]?)\s*", text)
    if found is None or float(found[1]) == 0:
        from mercer.errors import DomainError

        raise DomainError(f"--budget must be a time such as 60s, 2m or 1h, found {text!r}")
    return float(found[1]) * UNITS[found[2]]


def machines(start: str) -> list[str]:
    """Return the machines whose names begin so, for completion by the shell."""
    from mercer.studies import family_names

    return [name for name in family_names() if name.startswith(start)]


def stem_of(path: Path) -> str:
    """Return the name of a file or folder without its endings."""
    if str(path) in ("-", "/dev/stdin"):
        return "stdin"
    name = path.resolve().name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    stem = name if path.is_dir() else Path(name).stem
    return stem or "data"
