"""Doubts: how many answers are doubtful, and why, in a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercer.cli.terminal import plain

if TYPE_CHECKING:
    import numpy as np

    from mercer.studies.guard import Mark, Marks

__all__ = ["Doubts"]

MAX_NAMED_ROWS = 5  # that a sentence names
MAX_COLUMNS = 5  # that have a sentence of their own


class Doubts:
    """The reasons for which answers are doubtful, counted over the pieces of a table."""

    def __init__(self) -> None:
        self.rows = 0
        self.counts: dict[tuple[str, str | None], int] = {}
        self.first: dict[tuple[str, str | None], list[tuple[int, Mark]]] = {}
        self.empty: set[str] | None = None

    def add(self, marks: Marks, rows: np.ndarray) -> None:
        """Count what is doubtful about some rows, which have these numbers in the file."""
        self.rows += marks.count
        if marks.count:
            there = set(marks.empty)
            self.empty = there if self.empty is None else self.empty & there
        for mark in marks.marks:
            key = mark.kind, mark.column
            self.counts[key] = self.counts.get(key, 0) + 1
            named = self.first.setdefault(key, [])
            if len(named) < MAX_NAMED_ROWS:
                named.append((int(rows[mark.place]), mark))

    def sentences(self) -> list[str]:
        """Return what to say: far rows first, then columns, the most frequent first."""
        found = []
        for name in sorted(self.empty or ()):
            found.append(f"the column {plain(name)!r} is empty in all {self.rows} rows")
        order = sorted(self.counts, key=lambda key: (key[1] is not None, -self.counts[key]))
        columns = [key for key in order if key[1] is not None]
        for key in order:
            if key in columns[MAX_COLUMNS:]:
                continue
            found.append(self._sentence(*key))
        if len(columns) > MAX_COLUMNS:
            found.append(f"and {len(columns) - MAX_COLUMNS} more columns have such entries")
        return found

    def _sentence(self, kind: str, column: str | None) -> str:
        from mercer.report.words import plural

        count, named = self.counts[kind, column], self.first[kind, column]
        more = ", …" if count > len(named) else ""
        places = ", ".join(str(row) for row, _ in named)
        where = f"({'row' if count == 1 else 'rows'} {places}{more})"
        rows = plural(count, "row")
        if kind == "far":
            verb = "is" if count == 1 else "are"
            return f"{rows} of {self.rows} {verb} far from all that was learned from {where}"
        if kind == "target":
            rows = plural(count, "prediction")
            return f"{rows} beyond all known targets {where}: {self._one(named)}"
        what = "categories never seen" if kind == "new" else "values never reached"
        return f"{rows} with {what} in {plain(column)!r} {where}: {self._one(named)}"

    def _one(self, named: list[tuple[int, Mark]]) -> str:
        return plain(named[0][1].text, 120)
