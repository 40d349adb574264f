"""Trials: tables with a row for each answer, as programs for experiments write them.

A row that cannot be read is refused with its line in the file (the heads are line 1) and whose it
is. Nothing is left out unless it was asked to be, and then it is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer.domains import is_frame
from mercer.errors import DomainError, ValidityError, suggestion

__all__ = ["SPECIAL", "TrialColumns", "TrialSequence", "read_trials", "sequences_of"]

NO_ANSWER = ("", "None", "none", "null", "NA", "NaN", "nan", "undefined")  # of several programs
MISSING = ("error", "skip")
SHORT_TIME, LONG_TIME = 0.05, 60.0  # seconds, between which a typical response time lies
SPECIAL = ("subject", "category", "answer", "time", "asked", "line")  # columns of trials


@dataclass(frozen=True)
class TrialColumns:
    """Which column is what."""

    stimulus: tuple[str, ...]
    answer: str
    subject: str
    category: str | None
    time: str | None


@dataclass(frozen=True)
class TrialSequence:
    """The trials of one person, in their order.

    Attributes
    ----------
    subject : object
    stimuli : ndarray of shape (trials, dimensions)
    categories, answers : ndarray of shape (trials,)
        None where no category was told, or no answer given.
    times : ndarray of shape (trials,)
        NaN where there is none.
    """

    subject: Any
    stimuli: np.ndarray
    categories: np.ndarray
    answers: np.ndarray
    times: np.ndarray

    def answered(self) -> np.ndarray:
        """Return which trials have an answer."""
        return np.array([answer is not None for answer in self.answers])

    def control(self) -> np.ndarray:
        """Return what each trial does, for learners: 0 where a category was told, 2 elsewhere."""
        return np.array([2 if category is None else 0 for category in self.categories])

    def feedback(self) -> np.ndarray:
        """Return the categories, with any known one where none was told."""
        told = [category for category in self.categories if category is not None]
        if not told:
            raise DomainError(
                f"subject {self.subject!r} was never told a category, so that there is nothing to "
                "learn"
            )
        return np.array([told[0] if c is None else c for c in self.categories])


def sequences_of(trials: pd.DataFrame, dimensions: tuple[str, ...]) -> list[TrialSequence]:
    """Return the trials of each person."""
    found = []
    for subject in dict.fromkeys(trials["subject"]):
        one = trials[trials["subject"] == subject]
        found.append(
            TrialSequence(
                subject,
                one[list(dimensions)].to_numpy(dtype=np.float64),
                _or_none(one["category"]),
                _or_none(one["answer"]),
                pd.to_numeric(one["time"], errors="coerce").to_numpy(dtype=np.float64),
            )
        )
    return found


def _or_none(column: pd.Series) -> np.ndarray:
    found = np.empty(len(column), dtype=object)
    found[:] = [None if pd.isna(value) else value for value in column]
    return found


def read_trials(
    path: Any,
    columns: TrialColumns,
    where: Mapping[str, Any] | None = None,
    asked: Mapping[str, Any] | None = None,
    answers: Mapping[Any, Any] | None = None,
    milliseconds: bool = False,
    missing: str = "error",
) -> tuple[pd.DataFrame, list[str]]:
    """Return trials with the columns subject, dimensions, category, answer, time, asked, line.

    Examples
    --------
    >>> table = pd.DataFrame({"subject": ["s1"], "size": ["large"], "answer": ["A"]})
    >>> read_trials(table, TrialColumns(("size",), "answer", "subject", None, None))
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: line 2 (subject 's1'): size is 'large', which is not a number
    """
    if missing not in MISSING:
        raise ValidityError(f"missing cannot be {missing!r}{suggestion(str(missing), MISSING)}")
    raw = path.reset_index(drop=True) if is_frame(path) else _read_file(path)
    _check_names(columns.stimulus)
    needed = [*columns.stimulus, columns.answer, columns.subject]
    needed += [name for name in (columns.category, columns.time) if name is not None]
    for name in [*needed, *(where or {}), *(asked or {})]:
        if name not in raw.columns:
            raise DomainError(
                f"there is no column {name!r}{suggestion(str(name), map(str, raw.columns))}"
            )
    lines = pd.Series(np.arange(len(raw)) + 2, index=raw.index)  # the heads are line 1
    raw = raw[_chosen(raw, where) & ~_empty(raw)]
    if len(raw) == 0:
        raise DomainError("no row is a trial; look at the values that where= asks for")
    table = pd.DataFrame({"subject": raw[columns.subject], "line": lines[raw.index]})
    _refuse(table, _blank(table["subject"]), "the subject is missing")
    for name in columns.stimulus:
        table[name] = _numbers(raw, table, name)
    table["category"] = _names(raw[columns.category]) if columns.category else None
    table["answer"] = _names(raw[columns.answer])
    if answers is not None:
        table["answer"] = _meanings(table, answers)
    table["asked"] = _chosen(raw, asked).to_numpy()
    table["time"] = _times(raw, table, columns.time, milliseconds)
    table, notes = _without_missing(table, missing)
    return table, notes + _odd_times(table["time"])


def _read_file(path: Any) -> pd.DataFrame:
    """Return the rows of a file as texts; empty lines are rows, so that lines have numbers."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise DomainError(
            f"the file cannot be read as a table with commas between its columns: {error}"
        ) from error


def _check_names(names: tuple[str, ...]) -> None:
    """Refuse dimensions that trials could not tell from each other, or from something else."""
    if not names:
        raise DomainError("stimulus names no columns; a stimulus has at least one dimension")
    for name in names:
        if name in SPECIAL or names.count(name) > 1:
            why = "is there twice" if name not in SPECIAL else "is what trials call something else"
            raise DomainError(f"a dimension cannot be called {name!r}, which {why}; rename it")


def _empty(raw: pd.DataFrame) -> np.ndarray:
    """Return which rows have nothing in any column."""
    return np.asarray((raw.isna() | (raw.astype(str) == "")).all(axis=1), dtype=bool)


def _odd_times(times: pd.Series) -> list[str]:
    """Return what is strange about response times that could be in another unit."""
    known = pd.to_numeric(times).dropna()
    middle = float(known.median()) if len(known) else 1.0
    if SHORT_TIME <= middle <= LONG_TIME:
        return []
    return [
        f"half of the response times are above {middle:g} seconds; are they in milliseconds? "
        "(milliseconds=...)"
    ]


def _chosen(raw: pd.DataFrame, where: Mapping[str, Any] | None) -> pd.Series:
    """Return which rows have the wanted values, compared as text."""
    rows = pd.Series(True, index=raw.index)
    for name, wanted in (where or {}).items():
        values = wanted if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
        rows &= raw[name].astype(str).isin([str(value) for value in values])
    return rows


def _blank(column: pd.Series) -> np.ndarray:
    return np.asarray(column.isna() | column.astype(str).str.strip().isin(NO_ANSWER))


def _names(column: pd.Series) -> pd.Series:
    """Return names without blanks around them, None where there is none."""
    blank = _blank(column)
    texts = column.map(lambda value: value.strip() if isinstance(value, str) else value)
    return texts.astype(object).where(~blank, None)


def _numbers(raw: pd.DataFrame, table: pd.DataFrame, name: str) -> np.ndarray:
    values = pd.to_numeric(raw[name], errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(values)
    if wrong.any():
        found = raw[name].iloc[int(np.argmax(wrong))]
        _refuse(table, wrong, f"{name} is {found!r}, which is not a number")
    return values


def _meanings(table: pd.DataFrame, answers: Mapping[Any, Any]) -> pd.Series:
    known = {str(key): value for key, value in answers.items()}
    given = table["answer"]
    wrong = np.array([not pd.isna(value) and str(value) not in known for value in given])
    if wrong.any():
        found = given.iloc[int(np.argmax(wrong))]
        _refuse(table, wrong, f"the answer {found!r} is none of {', '.join(map(repr, known))}")
    found = [None if pd.isna(value) else known[str(value)] for value in given]
    return pd.Series(found, index=given.index, dtype=object)


def _times(
    raw: pd.DataFrame, table: pd.DataFrame, name: str | None, milliseconds: bool
) -> np.ndarray | None:
    if name is None:
        return None
    blank = _blank(raw[name])
    values = pd.to_numeric(raw[name], errors="coerce").to_numpy(dtype=np.float64)
    answered = table["answer"].notna().to_numpy()
    _refuse(table, blank & answered, "there is an answer, but no response time")
    wrong = ~blank & ~np.isfinite(values)
    if wrong.any():
        found = raw[name].iloc[int(np.argmax(wrong))]
        _refuse(table, wrong, f"the response time {found!r} is not a number")
    early = ~blank & (values <= 0)
    if early.any():
        found = values[int(np.argmax(early))]
        _refuse(
            table, early, f"the response time is {found:g}; nobody answers before the question"
        )
    return values / 1000 if milliseconds else values


def _without_missing(table: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, list[str]]:
    unanswered = table["answer"].isna().to_numpy()
    gaps = unanswered & table["asked"].to_numpy()
    notes: list[str] = []
    if (unanswered & ~gaps).any():
        notes.append(
            f"{int((unanswered & ~gaps).sum())} trials that were not asked for have no answer; "
            "they teach, and nothing is compared with them"
        )
    if gaps.any() and missing == "error":
        advice = '(missing="skip" leaves such trials out, and counts them)'
        _refuse(table, gaps, f"the answer is missing {advice}")
    if gaps.any():
        whose = table.loc[gaps, "subject"].value_counts(sort=False)
        listed = ", ".join(f"{name!r} {count}" for name, count in whose.items())
        notes.append(
            f"{int(gaps.sum())} trials without an answer were left out (subject: {listed})"
        )
        table = table[~gaps]
    return table.reset_index(drop=True), notes


def _refuse(table: pd.DataFrame, wrong: np.ndarray, what: str) -> None:
    """Complain about the first wrong row, and say how many there are."""
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    subject = table["subject"].iloc[first]
    more = f"; and {int(wrong.sum()) - 1} more such rows" if wrong.sum() > 1 else ""
    raise DomainError(f"line {table['line'].iloc[first]} (subject {subject!r}): {what}{more}")
