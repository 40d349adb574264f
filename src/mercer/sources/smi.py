"""Files of SMILES: a molecule in each line, and what else is said about it after a space."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mercer.sources.delimited import Delimited
from mercer.sources.layout import SPACE, Layout, Words

__all__ = ["Smi"]

SMILES = "smiles"


class Smi(Delimited):
    """A file of SMILES. Its first row has names only if the first of them speaks of SMILES.

    Lines are split at spaces if that gives the same number of parts everywhere; else what follows
    the first space is one entry.
    """

    def _layout(
        self,
        sample: str,
        whole: bool,
        known: Collection[str],
        target: str | None,
        header: bool | None,
    ) -> Layout:
        lines = [line for line in sample.splitlines() if line.strip()]
        tabs = "\t" in lines[0]
        parts = [line.split("\t" if tabs else None) for line in lines]
        header = SMILES in parts[0][0].lower() or (bool(known) and set(known) <= set(parts[0]))
        # The last line of a sample may be cut.
        same = len({len(row) for row in (parts if whole else parts[:-1])}) == 1
        self.width = len(parts[0]) if same or tabs else min(2, max(map(len, parts)))
        return Layout("\t" if tabs else SPACE, False, header)

    def _names(self, first: list[str]) -> list[str]:
        names = super()._names(first)
        if not self.split.header:
            self.notes[-1] = (
                "the file has no row of names, so its columns are called 'smiles', 'column 2' "
                "and so on"
            )
            names[0] = SMILES
        self.kinds = {names[0]: "smiles"}
        return names

    def _reader(self, file: Any) -> Any:
        delimiter = None if self.split.delimiter == SPACE else self.split.delimiter
        return Words(file, delimiter, 2 if self.width == 2 else None)
