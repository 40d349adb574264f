"""Effects of words, positions and atoms on what any machine answers, and how two act together.

A local effect changes only what an item has: a word is taken out of the texts that have it, a
letter is exchanged where it stands, an atom is masked where it is; as accumulated effects of
numbers do, that asks about items that could nearly be. Partial dependence gives all items the same
part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, is_frame
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.explanations.column_effects import answers_of
from mercer.explanations.parts import KINDS_OF_PARTS, Part, part_of, parts_of

__all__ = ["PartEffect", "part_effects", "part_interaction"]

KINDS = ("local", "partial")
MAX_ROWS = 200  # that are asked about; of more, evenly spaced ones
SPREAD = (0.1, 0.9)  # quantiles of single items
TWO_ERRORS = 2.0  # standard errors on each side of a mean
NEGLIGIBLE = 1e-12  # share of the spread of answers below which parts do nothing together


@dataclass(frozen=True)
class PartEffect:
    """What a part does to the answers of a machine. Made by `part_effects`.

    Attributes
    ----------
    part : str or int
        The word, the position (from 0), or the kind of atom.
    level : str
        Of a position the letter; else "with" or "as it is".
    effect : float
        How much larger answers are with it: than without the word, than with the letters that are
        usual at this position, than with the atom masked.
    low, high : float
        Of local effects two standard errors on each side; of partial ones 80 % of the items.
    rows : int
        How many items were changed.

    Examples
    --------
    >>> found = PartEffect("good", "with", effect=0.8, low=0.6, high=1.0, rows=12)
    >>> found.part, found.effect
    ('good', 0.8)
    """

    part: Any
    level: str
    effect: float
    low: float
    high: float
    rows: int


def part_effects(
    machine: Any,
    X: Items,
    parts: str,
    *,
    column: Any = None,
    kind: str = "local",
    most: int = 20,
    label: object = None,
) -> list[PartEffect]:
    """Return what words, positions or atoms do to the answers, the strongest first.

    Parameters
    ----------
    machine : fitted machine or pipeline
    X : sequence of str, or DataFrame
        Texts, sequences, or SMILES.
    parts : {"words", "positions", "atoms"}
        Words are asked about one by one; positions need sequences of one length; atoms are told
        apart by element, ring, hydrogens and charge, and need RDKit.
    column : str, optional
        Of a DataFrame, the column with the things.
    kind : {"local", "partial"}
    most : int
        So many parts are looked at: the most frequent ones, and positions that vary most.
    label : optional
        The class whose probability, or score, is the answer; by default the last.

    Returns
    -------
    list of PartEffect

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Text
    >>> texts = ["good film", "bad film", "good book", "bad book", "the film", "the book"]
    >>> machine = KernelRidge(Text(), 0.01).fit(texts, [1.0, -1.0, 1.0, -1.0, 0.0, 0.0])
    >>> [one.part for one in part_effects(machine, texts, "words")[:2]]
    ['good', 'bad']
    """
    check_is_fitted(machine)
    if kind not in KINDS:
        raise ValidityError(f"kind cannot be {kind!r}{suggestion(str(kind), KINDS)}")
    table = _Things(machine, X, parts, column, label)
    found = []
    for part in parts_of(table.items, parts, most):
        found += _local(table, part) if kind == "local" else _partial(table, part)
    return sorted(found, key=lambda one: -abs(one.effect))


def part_interaction(
    machine: Any,
    X: Items,
    parts: str,
    one: Any,
    other: Any,
    *,
    column: Any = None,
    label: object = None,
) -> float:
    """Return how much two parts act together, from 0 (not at all) to 1.

    It is Friedman's H² on the table of the partial dependence on both: the share of its variance
    that is not the sum of what each does. Letters count by how frequent they are at their
    position; whether a word is there, or an atom known, counts alike.

    Parameters
    ----------
    machine, X, parts, column, label
        As in `part_effects`.
    one, other : str or int
        Two of the parts.

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Text
    >>> texts = ["not good", "good", "not bad", "bad", "film", "not film"] * 2
    >>> machine = KernelRidge(Text(ngrams=(1, 2)), 0.01).fit(texts, [-1.0, 1, 1, -1, 0, 0] * 2)
    >>> round(part_interaction(machine, texts, "words", "not", "good"), 1)
    0.6
    """
    check_is_fitted(machine)
    if one == other:
        raise ValidityError(f"a part acts together with another one, found {one!r} twice")
    table = _Things(machine, X, parts, column, label)
    first, second = (part_of(table.items, parts, name) for name in (one, other))
    some = [k for k in table.some() if None not in (
        first.level(table.items[k]), second.level(table.items[k]))]  # fmt: skip
    if not some:
        raise DomainError(f"no item has both {one!r} and {other!r}")
    shape = len(first.levels), len(second.levels)
    changed = [
        second.with_level(first.with_level(table.items[k], u), v)
        for u in range(shape[0]) for v in range(shape[1]) for k in some
    ]  # fmt: skip
    answers = table.ask(changed, some * (shape[0] * shape[1]))
    joint = answers.reshape(*shape, len(some)).mean(axis=2)
    p, q = (_weights(part, table.items) for part in (first, second))
    rows, columns = joint @ q, p @ joint
    mean = float(p @ rows)
    left = joint - rows[:, None] - columns[None, :] + mean
    whole = float(p @ (joint - mean) ** 2 @ q)
    if whole <= NEGLIGIBLE * max(float(np.var(answers)), np.finfo(float).tiny):
        return 0.0
    return float(p @ left**2 @ q) / whole


class _Things:
    """Texts, sequences or molecules, which can be exchanged, and what a machine answers."""

    def __init__(self, machine: Any, X: Any, parts: str, column: Any, label: object) -> None:
        if parts not in KINDS_OF_PARTS:
            raise ValidityError(
                f"parts cannot be {parts!r}{suggestion(str(parts), KINDS_OF_PARTS)}"
            )
        if is_frame(X):
            if column not in list(X.columns):
                hint = suggestion(str(column), map(str, X.columns))
                raise DomainError(f"column must be that of the {parts}, found {column!r}{hint}")
            X = X[X[column].notna()]
        entries = X[column].tolist() if is_frame(X) else list(X)
        wrong = next((k for k, one in enumerate(entries) if not isinstance(one, str)), None)
        if wrong is not None or not entries:
            what = "nothing" if not entries else f"{entries[wrong or 0]!r} at item {wrong}"
            raise DomainError(f"{parts} are parts of texts (str), found {what}")
        self.machine, self.X, self.column, self.label = machine, X, column, label
        self.items: list[str] = entries

    def some(self) -> list[int]:
        """Return the places of the items that are asked about."""
        count = len(self.items)
        places = np.linspace(0, count - 1, min(count, MAX_ROWS)).round().astype(int)
        return np.unique(places).tolist()

    def ask(self, changed: Sequence[str], places: Sequence[int]) -> np.ndarray:
        """Return what the machine says of changed items, all else being that of some rows."""
        if not is_frame(self.X):
            return answers_of(self.machine, list(changed), self.label)
        rows = self.X.iloc[list(places)].copy()
        rows[self.column] = np.array(list(changed), dtype=object)
        rows[self.column] = rows[self.column].astype(self.X[self.column].dtype)
        return answers_of(self.machine, rows, self.label)


def _weights(part: Part, items: Sequence[str]) -> np.ndarray:
    """Return how much each level counts."""
    count = len(part.levels)
    if count == 2 and part.levels[0] in ("without", "masked"):
        return np.full(2, 0.5)
    there = np.bincount([part.level(item) or 0 for item in items], minlength=count)
    return there / there.sum()


def _local(table: _Things, part: Part) -> list[PartEffect]:
    """Return what becomes of the answers where a part is as it is and is then taken away."""
    own = {k: part.level(table.items[k]) for k in table.some()}
    found = []
    weights = _weights(part, table.items)
    two = part.levels[0] in ("without", "masked")
    for level in [1] if two else range(len(part.levels)):
        places = [k for k, at in own.items() if at == level]
        if len(places) < 2:  # of one there is no standard error
            continue
        before = table.ask([table.items[k] for k in places], places)
        others = [other for other in range(len(part.levels)) if other != level]
        share = weights[others] / weights[others].sum()
        changed = [part.with_level(table.items[k], other) for other in others for k in places]
        after = share @ table.ask(changed, places * len(others)).reshape(len(others), -1)
        off = before - after
        band = TWO_ERRORS * float(np.std(off, ddof=1)) / np.sqrt(len(off))
        mean = float(off.mean())
        found.append(
            PartEffect(part.name, part.levels[level], mean, mean - band, mean + band, len(off))
        )
    return found


def _partial(table: _Things, part: Part) -> list[PartEffect]:
    """Return how much larger answers are where all items have a part."""
    places = [k for k in table.some() if part.level(table.items[k]) is not None]
    count = len(part.levels)
    if not places:
        return []
    changed = [part.with_level(table.items[k], level) for level in range(count) for k in places]
    answers = table.ask(changed, places * count).reshape(count, -1)
    two = part.levels[0] in ("without", "masked")
    usual = answers[0] if two else _weights(part, table.items) @ answers
    found = []
    for level in [1] if two else range(count):
        off = answers[level] - usual
        low, high = np.quantile(off, SPREAD)
        found.append(
            PartEffect(part.name, part.levels[level], float(off.mean()), float(low), float(high),
                       len(places))
        )  # fmt: skip
    return found
