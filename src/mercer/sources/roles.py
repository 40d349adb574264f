"""Roles: columns that say what a row is worth and which rows belong together, not what it is like.

`groups` names what a row comes from (a person, a batch), `time` when it came about, `weights` how
much it counts. Such columns are not learned from, and every row has an entry of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.column_kinds import column_of_kind, infer_quantity
from mercer.sources.entries import Problems, convert, count, texts
from mercer.sources.sheet import Column
from mercer.sources.source import Piece, suggest_name

__all__ = ["ROLES", "RowRoles", "admit_roles", "read_roles"]

ROLES = ("groups", "time", "weights")
WHY = {
    "groups": "rows with the same entry belong together",
    "time": "it says which rows come first",
    "weights": "it says how much each row counts",
}


@dataclass(frozen=True, eq=False)
class RowRoles:
    """What columns with a role say about each row.

    Attributes
    ----------
    groups : ndarray of str or None
    time : ndarray of float or None
        Numbers, or days since 1970.
    weights : ndarray of float or None
    names : dict of str to str
        The column of each role that there is.
    dated : bool
        Whether times are days since 1970.

    Examples
    --------
    >>> roles = RowRoles(groups=np.array(["ann", "bob"]), names={"groups": "person"})
    >>> roles.groups.tolist(), roles.time, roles.names
    (['ann', 'bob'], None, {'groups': 'person'})
    """

    groups: np.ndarray | None = None
    time: np.ndarray | None = None
    weights: np.ndarray | None = None
    names: Mapping[str, str] | None = None
    dated: bool = False

    def take(self, rows: np.ndarray) -> RowRoles:
        """Return what is said about some rows."""
        groups, time, weights = (
            None if one is None else one[rows] for one in (self.groups, self.time, self.weights)
        )
        return RowRoles(groups, time, weights, self.names, self.dated)

    def name(self, role: str) -> str:
        """Return the column of a role."""
        return (self.names or {}).get(role, role)


def admit_roles(
    roles: Mapping[str, str | None] | None, columns: Collection[str], target: str | None, name: str
) -> dict[str, str]:
    """Return the columns that have a role; refuse what is not there, or has two.

    Examples
    --------
    >>> admit_roles({"groups": "person", "time": None}, ["person", "size"], "size", "the file")
    {'groups': 'person'}
    """
    found = {role: column for role, column in (roles or {}).items() if column is not None}
    for role, column in found.items():
        if column not in columns:
            hint = suggest_name(column, columns)
            raise DomainError(f"--{role} / {role}: {name} has no column {column!r}{hint}")
        if column == target:
            raise DomainError(f"--{role} / {role}: {column!r} is the target already")
        twice = [other for other in found if other != role and found[other] == column]
        if twice and "weights" in (role, *twice):
            raise DomainError(f"the column {column!r} cannot be both {role} and {twice[0]}")
    return found


def read_roles(
    piece: Piece, roles: Mapping[str, str], decimal: str | None
) -> tuple[RowRoles, list[Column], Problems]:
    """Return what columns with a role say, how to list them, and rows without an entry."""
    found: dict[str, Any] = {}
    columns: list[Column] = []
    problems: Problems = {}
    dated = False
    for role, name in roles.items():
        raw = piece.columns[name]
        if role == "groups":
            entries = texts(raw)
            gaps = [place for place, entry in enumerate(entries) if entry is None]
            found[role] = np.array([entry or "" for entry in entries], dtype=object)
            problems |= dict.fromkeys(gaps, f"the group {name!r} is missing")
        else:
            kind = _quantity(role, name, raw, decimal)
            dated = dated or (role == "time" and kind == "date")
            column = column_of_kind(name, kind, raw, decimal, "")
            values, wrong = convert(raw, column)
            gaps = np.flatnonzero(np.isnan(values)).tolist()
            problems |= dict.fromkeys(gaps, f"the {_word(role)} {name!r} is missing") | wrong
            if role == "weights":
                low = np.flatnonzero(values < 0).tolist()
                problems |= dict.fromkeys(low, f"the weight {name!r} is negative")
            found[role] = values
        columns.append(Column(name, role, WHY[role], distinct=len(count(name, raw).counts)))
    return RowRoles(**found, names=dict(roles), dated=dated), columns, problems


def _quantity(role: str, name: str, raw: np.ndarray, decimal: str | None) -> str:
    """Return whether a column of times or weights holds numbers or dates; refuse others."""
    kind = infer_quantity(name, raw, decimal)[0]
    if kind is None or (role == "weights" and kind == "date"):
        entries = count(name, raw)
        example = f" such as {entries.examples[0]!r}" if entries.examples else ""
        wanted = "dates or numbers" if role == "time" else "numbers from 0 on"
        raise DomainError(
            f"--{role} / {role}: the column {name!r} must hold {wanted}, found entries{example}"
        )
    return kind


def _word(role: str) -> str:
    return {"time": "time", "weights": "weight"}[role]
