"""From a file or a DataFrame to a sheet, and from a sheet to the recipe that reads others so."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.codes import Recoded, admit_codes
from mercer.sources.column_kinds import (
    COUNTS,
    admit_types,
    column_of_kind,
    infer_column,
    infer_decimal,
)
from mercer.sources.entries import (
    NO_RDKIT,
    Problems,
    bad_rows,
    complement,
    describe_bad_rows,
    note_left_out,
    note_sample,
    rdkit_is_there,
    read_values,
    to_frame,
)
from mercer.sources.formats import open_source
from mercer.sources.libsvm import describe_sparse
from mercer.sources.roles import RowRoles, admit_roles, read_roles
from mercer.sources.sheet import Column, Sheet
from mercer.sources.source import CHUNK_ROWS, Frame, Piece, Source, gather, is_copy, suggest_name
from mercer.sources.target_kind import (
    admit_task,
    check_target,
    find_target,
    infer_target,
    read_target,
)

__all__ = ["chunks", "read", "read_frame", "recipe"]

RECIPE_VERSION = 1


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    types: Mapping[str, str] | None = None,
    *,
    skip_bad: bool = False,
    limit: int | None = None,
    seed: int = 0,
    task: str | None = None,
    roles: Mapping[str, str | None] | None = None,
    missing: Sequence[str] | str | None = None,
    drop_duplicates: bool = False,
) -> Sheet:
    """Read a table, say what each column was taken for, and turn its entries into values.

    Tables of text (separated by commas, semicolons, tabs or bars), Excel, JSON lines, SQLite,
    ARFF, Parquet, Arrow, LIBSVM, FASTA, SMILES and folders of graphs are read; text may be packed
    by gzip or bzip2. ``book.xlsx::sheet`` and ``file.db::table`` name one of several tables, - is
    the standard input. What is missing is empty or one of NA, N/A, n/a, #N/A, <NA>, NaN, nan, NAN,
    null, NULL, None, ? and -, unless a column with - has + too.

    Parameters
    ----------
    path : path
    target : str, optional
        The column to be learned. LIBSVM, FASTA and folders of graphs have one of their own, which
        is called "label".
    types : mapping of str to str, optional
        What some columns are, one of `KINDS` for each, or "ignore".
    skip_bad : bool
        Whether rows that cannot be read are left out; otherwise they are an error.
    limit : int, optional
        The most rows to keep: a random sample, each row with the same chance. Memory then does
        not grow with the file.
    seed : int
        Of the sample.
    task : {"classify", "regress"}, optional
        What the target holds; guessed without it.
    roles : mapping of str to str, optional
        Columns that say which rows belong together ("groups"), which come first ("time") and how
        much each counts ("weights"). They are not learned from.
    missing : str or sequence of str, optional
        Entries that stand for nothing, such as ``"-999"``; ``"age=-1"`` is about one column.
    drop_duplicates : bool
        Whether rows that repeat another in all that is read are left out.

    Returns
    -------
    Sheet

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "fruit.csv"
    ...     _ = file.write_text("weight;color;kind\\n1,5;red;pear\\n1,2;red;pear\\n2;blue;plum\\n")
    ...     sheet = read(file, "kind")
    >>> [(column.name, column.kind) for column in sheet.columns]
    [('weight', 'numeric'), ('color', 'categorical')]
    >>> sheet.X["weight"].tolist(), sheet.y.tolist()
    ([1.5, 1.2, 2.0], ['pear', 'pear', 'plum'])
    """
    _check_limit(limit)
    source = open_source(path, target)
    how = _Reading(skip_bad, limit, seed, task, roles, missing, drop_duplicates)
    return _read(source, target, types, how)


def read_frame(
    frame: object,
    target: str | None = None,
    types: Mapping[str, str] | None = None,
    *,
    skip_bad: bool = False,
    limit: int | None = None,
    seed: int = 0,
    task: str | None = None,
    roles: Mapping[str, str | None] | None = None,
    missing: Sequence[str] | str | None = None,
    drop_duplicates: bool = False,
) -> Sheet:
    """Read a DataFrame as `read` reads a file; what its types say is believed.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or Arrow
    target, types, skip_bad, limit, seed
        As in `read`.
    task, roles, missing, drop_duplicates
        As in `read`.

    Returns
    -------
    Sheet

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    >>> read_frame(frame, "kind").used[0].kind
    'numeric'
    """
    _check_limit(limit)
    how = _Reading(skip_bad, limit, seed, task, roles, missing, drop_duplicates)
    return _read(Frame(frame), target, types, how)


@dataclass(frozen=True)
class _Reading:
    """How a table is read, beside its target and what its columns are taken for."""

    skip_bad: bool = False
    limit: int | None = None
    seed: int = 0
    task: str | None = None
    roles: Mapping[str, str | None] | None = None
    missing: Sequence[str] | str | None = None
    drop_duplicates: bool = False


def _check_limit(limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise DomainError(f"limit must be a whole number from 1 on, found {limit!r}")


def _read(
    source: Source, target: str | None, types: Mapping[str, str] | None, how: _Reading
) -> Sheet:
    target = find_target(target, source.target, source.columns, source.name)
    said = admit_types(types, source.columns)
    task = admit_task(how.task, said.get(target) if target else None)
    roles = admit_roles(how.roles, source.columns, target, source.name)
    codes = admit_codes(how.missing, source.columns)
    source = Recoded(source, codes) if codes else source
    piece = gather(source, how.limit, how.seed)
    _check_rows(source, piece, how.skip_bad)
    decimal = infer_decimal(list(piece.columns.values()), source.layout.get("delimiter"))
    goal, y, missing, notes = _target(source, piece, target, task, decimal)
    facts, listed, absent = read_roles(piece, roles, decimal)
    missing |= absent
    aside = {name for role, name in roles.items() if not (role == "time" and name in said)}
    columns, more = _columns(source, piece, said, decimal, goal, missing, aside)
    used = [column for column in columns if column.used]
    values, problems = read_values(piece, used)
    problems |= missing
    bad = bad_rows(piece, problems, source.unit)
    if bad and not how.skip_bad:
        raise DomainError(describe_bad_rows(bad, source.name, piece.total))
    keep = complement(len(piece), problems)
    if not len(keep):
        raise DomainError(f"all {piece.total:,} rows of {source.name} are bad: {bad[0]}")
    if y is not None and goal is not None:
        if how.drop_duplicates:
            keep, notes = _without_copies(values, y, facts, keep, notes)
        y = np.array(y[keep].tolist()) if goal.kind == "categorical" else y[keep]
        notes += check_target(y, goal, source.name)
    if any(c.kind == "smiles" for c in columns) and not rdkit_is_there():
        more.append(NO_RDKIT)
    return Sheet(
        to_frame(values, keep),
        y,
        (*columns, *(column for column in listed if column.name in aside)),
        goal,
        piece.lines[keep],
        piece.rows[keep],
        piece.total,
        bad,
        (
            *source.notes,
            *note_sample(piece, how.limit, how.seed),
            *note_left_out(bad, piece.total),
            *notes,
            *more,
        ),
        source.name,
        source.layout,
        source.path,
        facts.take(keep) if roles else None,
        codes,
    )


def _without_copies(
    values: Mapping[str, Any], y: np.ndarray, facts: RowRoles, keep: np.ndarray, notes: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Return the rows that repeat no earlier one in anything that is read, and what to say."""
    import pandas as pd

    table = to_frame(values, keep)
    if not hasattr(table, "columns"):
        raise DomainError("rows can be told to be copies only in a table with columns")
    known = {f"x{j}": table.iloc[:, j] for j in range(table.shape[1])} | {"y": y[keep]}
    for role in ("groups", "time", "weights"):
        if (column := getattr(facts, role)) is not None:
            known[role] = column[keep]
    try:
        copied = pd.DataFrame(known).duplicated().to_numpy()
    except TypeError as error:
        raise DomainError("graphs and other things are not compared for copies") from error
    if not copied.any():
        return keep, [*notes, "no row repeats another"]
    many = "1 row repeats" if copied.sum() == 1 else f"{copied.sum():,} rows repeat"
    return keep[~copied], [*notes, f"{many} an earlier one in all columns and were left out"]


def _check_rows(source: Source, piece: Piece, skip_bad: bool) -> None:
    """Refuse a table without rows, and rows that are bad by their form."""
    if not piece.total:
        raise DomainError(f"{source.name} has names of columns, but no rows")
    if piece.bad and not skip_bad:
        raise DomainError(describe_bad_rows(piece.bad, source.name, piece.total))
    if not len(piece):
        raise DomainError(f"all {piece.total:,} rows of {source.name} are bad: {piece.bad[0]}")


def _target(
    source: Source, piece: Piece, target: str | None, task: str | None, decimal: str | None
) -> tuple[Column | None, np.ndarray | None, Problems, list[str]]:
    """Return the target's column, its values, rows that have none, and notes."""
    if target is None:
        return None, None, {}, []
    raw = piece.columns[target]
    goal, notes = infer_target(target, raw, task, decimal)
    y, missing = read_target(raw, goal)
    if len(missing) == len(piece):
        raise DomainError(
            f"the target {target!r} of {source.name} is missing in all {len(piece):,} rows"
        )
    return goal, y, missing, notes


def _columns(
    source: Source,
    piece: Piece,
    said: Mapping[str, str],
    decimal: str | None,
    goal: Column | None,
    missing: Problems,
    aside: Collection[str] = (),
) -> tuple[list[Column], list[str]]:
    """Return what the columns are taken for that are neither the target nor `aside`."""
    columns, notes = [], []
    keep = complement(len(piece), missing)
    target = goal.name if goal else None
    for name in source.columns:
        if name != target and name not in aside:
            column, more = _describe_column(
                source, piece, name, keep, said.get(name), decimal, target
            )
            columns.append(column)
            notes += more
    return _require_used(columns, source.name, len(piece.rows[keep])), notes


def _describe_column(
    source: Source,
    piece: Piece,
    name: str,
    keep: np.ndarray,
    said: str | None,
    decimal: str | None,
    target: str | None,
) -> tuple[Column, list[str]]:
    """Return what a column is taken for, by the user, by the format or by its entries."""
    raw = piece.columns[name][keep]
    if not isinstance(raw, np.ndarray):
        column = describe_sparse(name, raw)
        return (replace(column, kind=said, why="you said so") if said else column), []
    if said is not None:
        return column_of_kind(name, said, raw, decimal, "you said so"), []
    if target is not None and is_copy(name, target):
        return Column(name, "identifier", "is called as the target is, and could give it away"), []
    column, notes = infer_column(name, raw, piece.rows[keep], decimal, name == source.columns[0])
    kind = source.kinds.get(name)
    empty = column.kind in ("constant", "missing")
    # Categories of a DataFrame that all differ name the rows whatever their type is.
    if kind is None or empty or (kind == "categorical" and not column.used):
        return column, notes
    return column_of_kind(name, kind, raw, decimal, "the file says so"), []


def _require_used(columns: list[Column], name: str, rows: int) -> list[Column]:
    """Return columns of which at least one is used: one that counts rows may be all there is."""
    if any(column.used for column in columns):
        return columns
    for place, column in enumerate(columns):
        if column.why == COUNTS:
            columns[place] = replace(column, kind="numeric", why="the only numbers there are")
            return columns
    if rows == 1 and columns:
        raise DomainError(f"{name} has only 1 row, from which nothing can be learned")
    found = "; ".join(f"{column.name!r} is {column.kind} ({column.why})" for column in columns[:5])
    what = found or "there is no other column than the target"
    raise DomainError(f"{name} has nothing to learn from: {what}; --types / types says otherwise")


def recipe(sheet: Sheet) -> dict[str, Any]:
    """Return how a sheet was read, in plain values, for reading other files with `chunks`.

    Parameters
    ----------
    sheet : Sheet

    Returns
    -------
    dict
        What JSON can hold.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> sheet = read_frame(pd.DataFrame({"size": [1.5, 2.0], "kind": ["a", "b"]}), "kind")
    >>> recipe(sheet)["columns"]
    [{'name': 'size', 'kind': 'numeric', 'style': {}}]
    """
    target = sheet.target
    codes = {"missing": {name: list(some) for name, some in sheet.codes.items()}}
    return {
        "version": RECIPE_VERSION,
        **(codes if sheet.codes else {}),
        "layout": dict(sheet.layout),
        "columns": [_step(column) for column in sheet.used],
        "target": None if target is None else _step(target),
    }


def chunks(
    path: Any, recipe: Mapping[str, Any], size: int = CHUNK_ROWS, *, skip_bad: bool = False
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
    if recipe.get("version") != RECIPE_VERSION:
        raise DomainError(f"the recipe has version {recipe.get('version')}, not {RECIPE_VERSION}")
    wanted = [Column(why="as before", **step) for step in recipe["columns"]]
    goal = recipe["target"] and Column(why="as before", **recipe["target"])
    source = open_source(path, goal.name if goal else None, recipe)
    if recipe.get("missing"):
        source = Recoded(source, recipe["missing"])
    for column in wanted:
        if column.name not in source.columns:
            hint = suggest_name(column.name, source.columns)
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
    values, problems = read_values(piece, wanted)
    y = None if goal is None else read_target(piece.columns[goal.name], goal)[0]
    bad = bad_rows(piece, problems, source.unit)
    if bad and not skip_bad:
        raise DomainError(describe_bad_rows(bad, source.name))
    keep = complement(len(piece), problems)
    return Sheet(
        to_frame(values, keep),
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
