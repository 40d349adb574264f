"""What if: the answer along one column, and the smallest change of one entry that turns it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.explorer.entries import NUMBERS, plain_entry
from mercer.explorer.reasons import similarities
from mercer.explorer.similarity_map import SimilarityMap
from mercer.explorer.subject import RowAnswers, Subject

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["effect", "grid_of", "nearest_other", "smallest_changes"]

GRID = 41  # entries of a column along which the answer is drawn
MAX_LINES = 8  # classes that are drawn
MAX_ASKED = 600  # changed rows that are asked about at once
MIN_TRIED = 6  # entries of each column
REFINED = 6  # columns whose change is made as small as it can be
ROUNDS, STEPS = 3, 9  # of refinement, so that what is left is 1/10³ of the first step
LEVEL_CHANGE = 2**0.5  # another level of a category, in standard deviations, as `Encode` has it
MAX_LETTERS = 600  # changes of single letters or words


def effect(subject: Subject, row: pd.DataFrame, column: str) -> dict[str, Any]:
    """Return what is answered when one column has other entries, and all else stays.

    The dictionary has the entries (`values`), a line of answers for each class (or one, of
    numbers), and the band that holds the truth with the chance `mercer.explorer.subject.LEVEL`.
    """
    kind = subject.rows.kinds[column]
    values = grid_of(subject, row, column)
    answers = subject.ask(subject.rows.repeated(row, column, values))
    lines, unit = answer_lines(subject, answers)
    here = plain_entry(row[column].iloc[0], "numeric" if kind in NUMBERS else kind)
    band = None if answers.intervals is None else answers.intervals.tolist()
    return {"column": column, "kind": kind, "values": values, "lines": lines, "unit": unit,
            "band": band, "here": here}  # fmt: skip


def grid_of(subject: Subject, row: pd.DataFrame, column: str) -> list[Any]:
    """Return entries of a column, from the smallest to the largest, with that of the row."""
    table = subject.rows
    if table.kinds[column] in NUMBERS:
        low, high, _ = table.spans.get(column, (0.0, 1.0, 1.0))
        here = float(row[column].iloc[0])
        if np.isfinite(here):
            low, high = min(low, here), max(high, here)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return np.linspace(low, high, GRID).tolist()
    entry = row[column].iloc[0]
    levels = list(table.levels.get(column, []))
    if isinstance(entry, str) and entry not in levels:
        levels.append(entry)
    return levels


def answer_lines(subject: Subject, answers: RowAnswers) -> tuple[list[dict[str, Any]], str]:
    """Return answers as lines: one for each class, or of numbers one."""
    if subject.classes is None:
        numbers = np.asarray(answers.prediction, dtype=np.float64).reshape(
            len(answers.prediction), -1
        )
        return [{"code": 0, "name": subject.target, "values": numbers[:, 0].tolist()}], "number"
    table = answers.chances
    if table is None:  # the label alone
        codes = np.searchsorted(np.asarray(subject.classes), answers.prediction)
        table = np.eye(len(subject.classes))[codes]
    order = np.argsort(-table.max(axis=0), kind="stable")[:MAX_LINES]
    lines = [
        {"code": int(c), "name": str(subject.classes[c]), "values": table[:, c].tolist()}
        for c in np.sort(order)
    ]
    return lines, "label" if answers.chances is None else "probability"


@dataclass(frozen=True, eq=False)
class _Trial:
    """One entry in the place of another."""

    column: str
    entry: Any
    size: float  # in standard deviations of the column
    told: str = ""


def smallest_changes(
    subject: Subject, shown: SimilarityMap, row: pd.DataFrame, most: int = 5
) -> dict[str, Any]:
    """Return the smallest changes of single entries that lead to another answer.

    Found by search: entries of each column are tried, from the smallest change on, and numbers
    are then brought as near to the row's own as they can be. Another answer is another label, or
    a number that differs by a standard deviation of the predictions for all rows.
    """
    own = subject.ask(row)
    trials = list(_trials(subject, row))
    found: list[tuple[_Trial, Any]] = []
    asked = 0
    if trials:
        answers = _ask_about(subject, row, trials)
        turned = _turned(subject, own, answers)
        asked = len(trials)
        best: dict[str, tuple[_Trial, Any]] = {}
        for trial, other, is_other in zip(trials, answers.prediction, turned, strict=True):
            old = best.get(trial.column)
            if is_other and (old is None or trial.size < old[0].size):
                best[trial.column] = (trial, other)
        found = sorted(best.values(), key=lambda one: one[0].size)
        found = _refined(subject, row, own, found[:REFINED]) + found[REFINED:]
        found.sort(key=lambda one: one[0].size)
    kinds = subject.rows.kinds
    return {
        "asked": asked,
        "changes": [
            {
                "column": trial.column, "kind": kinds[trial.column],
                "from": plain_entry(row[trial.column].iloc[0], kinds[trial.column]),
                "to": plain_entry(trial.entry, kinds[trial.column]), "size": _finite(trial.size),
                "told": trial.told, "answer": _plain_answer(answer),
            }
            for trial, answer in found[:most]
        ],
        "nearest": nearest_other(subject, shown, row, own),
    }  # fmt: skip


def _finite(size: float) -> float | None:
    return size if np.isfinite(size) else None


def _plain_answer(answer: Any) -> Any:
    return float(answer) if isinstance(answer, float | np.floating) else str(answer)


def _turned(subject: Subject, own: RowAnswers, answers: RowAnswers) -> np.ndarray:
    """Tell which answers are other ones."""
    if subject.classes is not None:
        return np.asarray(answers.prediction != own.prediction[0])
    spread = float(np.std(np.asarray(subject.answers.prediction, dtype=np.float64))) or 1.0
    apart = np.asarray(answers.prediction, dtype=np.float64) - float(own.prediction[0])
    return np.abs(apart) >= spread


def _ask_about(subject: Subject, row: pd.DataFrame, trials: list[_Trial]) -> RowAnswers:
    """Return the answers to a row with each of some entries exchanged."""
    table = subject.rows
    many = row.iloc[np.zeros(len(trials), dtype=int)].reset_index(drop=True)
    places: dict[str, list[int]] = {}
    for i, trial in enumerate(trials):
        places.setdefault(trial.column, []).append(i)
    for name, some in places.items():
        column = many[name].to_numpy(
            dtype=np.float64 if table.kinds[name] in NUMBERS else object, copy=True
        )
        column[some] = [trials[i].entry for i in some]
        many[name] = column
    return subject.ask(many)


def _trials(subject: Subject, row: pd.DataFrame) -> Iterator[_Trial]:
    """Yield entries to try in each column."""
    table = subject.rows
    names = table.typed
    most = max(MIN_TRIED, MAX_ASKED // max(len(names), 1))
    for name in names[: MAX_ASKED // MIN_TRIED]:
        kind, own = table.kinds[name], row[name].iloc[0]
        if kind in NUMBERS and name in table.spans:
            low, high, spread = table.spans[name]
            for value in np.linspace(low, high, min(most, GRID)).tolist():
                size = abs(value - own) / spread if np.isfinite(own) else np.inf
                if size != 0:
                    yield _Trial(name, value, size)
        elif kind == "categorical":
            for level in table.levels.get(name, [])[:most]:
                if level != own:
                    yield _Trial(name, level, LEVEL_CHANGE)
        elif kind in ("sequence", "text") and isinstance(own, str):
            yield from (
                _of_letters(subject, name, own) if kind == "sequence" else _of_words(name, own)
            )


def _of_letters(subject: Subject, name: str, own: str) -> Iterator[_Trial]:
    """Yield a sequence with one letter exchanged, at places that are spread evenly."""
    seen = sorted(set("".join(map(str, subject.rows.frame[name].head(200).dropna()))))
    places = np.unique(
        np.linspace(0, len(own) - 1, min(len(own), MAX_LETTERS // max(len(seen), 1) + 1))
        .round().astype(int)
    )  # fmt: skip
    for i in places.tolist():
        for letter in seen:
            if letter != own[i]:
                changed = own[:i] + letter + own[i + 1 :]
                yield _Trial(name, changed, 1.0, f"letter {i + 1}: {own[i]} → {letter}")


def _of_words(name: str, own: str) -> Iterator[_Trial]:
    """Yield a text without one of its words."""
    words = own.split()
    for i in range(min(len(words), MAX_LETTERS) if len(words) > 1 else 0):
        yield _Trial(name, " ".join(words[:i] + words[i + 1 :]), 1.0, f"without “{words[i][:40]}”")


def _refined(
    subject: Subject, row: pd.DataFrame, own: RowAnswers, found: list[tuple[_Trial, Any]]
) -> list[tuple[_Trial, Any]]:
    """Bring changed numbers as near to the row's own as they can be, all at once."""
    table = subject.rows
    at = [i for i, (trial, _) in enumerate(found) if table.kinds[trial.column] in NUMBERS
          and np.isfinite(trial.size)]  # fmt: skip
    found = list(found)
    # Between `near`, where the answer is still the row's own, and the entry that turns it.
    near = {i: float(row[found[i][0].column].iloc[0]) for i in at}
    for _ in range(ROUNDS if at else 0):
        trials: list[_Trial] = []
        for i in at:
            trial = found[i][0]
            _, _, spread = table.spans[trial.column]
            start = float(row[trial.column].iloc[0])
            for value in np.linspace(near[i], float(trial.entry), STEPS + 2)[1:-1].tolist():
                trials.append(_Trial(trial.column, value, abs(value - start) / spread))
        answers = _ask_about(subject, row, trials)
        turned = _turned(subject, own, answers).reshape(len(at), STEPS)
        for k, i in enumerate(at):
            some = trials[k * STEPS : (k + 1) * STEPS]
            first = int(turned[k].argmax()) if turned[k].any() else STEPS
            if first > 0:
                near[i] = float(some[first - 1].entry)
            if first < STEPS:
                found[i] = some[first], answers.prediction[k * STEPS + first]
    return found


def nearest_other(
    subject: Subject, shown: SimilarityMap, row: pd.DataFrame, own: RowAnswers
) -> dict[str, Any] | None:
    """Return the row of the map that is most alike and has another answer; None without one."""
    there = np.flatnonzero(_turned(subject, own, subject.answers))
    if not len(there):
        return None
    K = similarities(subject, shown, row)[0]
    best = int(there[K[there].argmax()])
    return {
        "place": best, "row": int(subject.numbers[best]), "similarity": float(K[best]),
        "answer": _plain_answer(subject.answers.prediction[best]),
    }  # fmt: skip
