"""Recipes: how a table was read, so that others are read in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mercer.errors import DomainError
from mercer.sources import assembly
from mercer.sources.formats import open_source
from mercer.sources.names import near
from mercer.sources.pieces import SIZE, Piece, Source
from mercer.sources.sheet import Column, Sheet
from mercer.sources.targets import read_target

__all__ = ["chunks", "recipe"]

VERSION = 1


def recipe(sheet: Sheet) -> dict[str, Any]:
    """Return how a sheet was read, in plain values, for reading other files with `chunks`.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> sheet = read_frame(pd.DataFrame({"size": [1.5, 2.0], "kind": ["a", "b"]}), "kind")
    >>> recipe(sheet)["columns"]
    [{'name': 'size', 'kind': 'numeric', 'style': {}}]
    """
    target = sheet.target
    return {
        "version": VERSION,
        "layout": dict(sheet.layout),
        "columns": [_step(column) for column in sheet.used],
        "target": None if target is None else _step(target),
    }


def chunks(
    path: Any, recipe: Mapping[str, Any], size: int = SIZE, *, skip_bad: bool = False
) -> Iterator[Sheet]:
    """Read a file in the way in which another was read, a piece at a time.

    Columns are found by their names; others are ignored. A gap is no problem, an entry that
    cannot be read makes a row bad. The target need not be there.

    Parameters
    ----------
    path : path or DataFrame
    recipe : mapping
        Of the sheet that was learned from.
    size : int
        Rows in a piece.
    skip_bad : bool

    Yields
    ------
    Sheet
        With `y` None if the file has no such column; a target that is missing or cannot be read
        is None or NaN there. `total` and `bad` are those of the piece.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    >>> how = recipe(read_frame(frame, "kind"))
    >>> [len(sheet) for sheet in chunks(frame, how, size=2)]
    [2, 1]
    """
    if size < 1:
        raise DomainError(f"size must be at least 1, found {size!r}")
    if recipe.get("version") != VERSION:
        raise DomainError(f"the recipe has version {recipe.get('version')}, not {VERSION}")
    wanted = [Column(why="as before", **step) for step in recipe["columns"]]
    goal = recipe["target"] and Column(why="as before", **recipe["target"])
    source = open_source(path, goal.name if goal else None, recipe)
    for column in wanted:
        if column.name not in source.columns:
            hint = near(column.name, source.columns)
            raise DomainError(
                f"{source.name} has no column {column.name!r}, which the model uses{hint}"
            )
    if goal is not None and goal.name not in source.columns:
        goal = None
    names = {column.name for column in wanted} | ({goal.name} if goal else set())
    for piece in source.pieces(size, names):
        yield _chunk(source, piece, wanted, goal, skip_bad)


def _chunk(
    source: Source, piece: Piece, wanted: list[Column], goal: Column | None, skip_bad: bool
) -> Sheet:
    values, problems = assembly.values(piece, wanted)
    y = None if goal is None else read_target(piece.columns[goal.name], goal)[0]
    bad = assembly.bad(piece, problems, source.unit)
    if bad and not skip_bad:
        raise DomainError(assembly.complaint(bad, source.name))
    keep = assembly.without(len(piece), problems)
    return Sheet(
        assembly.frame(values, keep),
        None if y is None else y[keep],
        tuple(wanted),
        goal,
        piece.lines[keep],
        piece.rows[keep],
        piece.total,
        bad,
        tuple(source.notes),
        source.name,
        source.layout,
        source.path,
    )


def _step(column: Column) -> dict[str, Any]:
    return {"name": column.name, "kind": column.kind, "style": dict(column.style)}
