"""Experiments: what was learned, what was asked, and what people answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer.cognition.experiments.responses import admit_responses, pooled_responses
from mercer.cognition.experiments.trials import (
    SPECIAL,
    TrialColumns,
    TrialSequence,
    read_trials,
    sequences_of,
)
from mercer.errors import DomainError

__all__ = ["Experiment", "remarks"]


@dataclass(frozen=True)
class Experiment:
    """A categorization experiment: exemplars that were learned, stimuli that were asked about.

    Attributes
    ----------
    exemplars : ndarray of shape (n, dimensions)
    categories : ndarray of shape (n,)
        The category of each exemplar.
    stimuli : ndarray of shape (m, dimensions)
    responses : ndarray of shape (m, categories) or (subjects, m, categories)
        How often each category was answered, the categories in sorted order; or proportions.
    strengths : ndarray of shape (n,), optional
        How well each exemplar is remembered, for example how often it was shown.
    names : sequence of str, optional
        Of the stimuli.
    source : str
        Where the numbers come from.
    trials : DataFrame, optional
        A row for each trial of each person in their order, with the columns subject, the
        dimensions, category (what was told), answer and time.
    dimensions : tuple of str
        Names of the dimensions, if they have any.
    notes : tuple of str
        What a reader of the answers should know: people who always answered the same, rows that
        were left out because they were asked to be.

    Examples
    --------
    >>> shown = Experiment([[0.0], [1.0]], ["a", "b"], [[0.2]], [[9, 1]])
    >>> shown.proportions
    array([[0.9, 0.1]])
    """

    exemplars: Any
    categories: Any
    stimuli: Any
    responses: Any
    strengths: Any = None
    names: Any = None
    source: str = ""
    trials: Any = None
    dimensions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def from_csv(
        cls,
        path: Any,
        stimulus: Sequence[str],
        answer: str = "answer",
        subject: str = "subject",
        category: str | None = None,
        time: str | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        asked: Mapping[str, Any] | None = None,
        answers: Mapping[Any, Any] | None = None,
        milliseconds: bool = False,
        missing: str = "error",
        exemplars: Any = None,
        categories: Any = None,
        source: str = "",
    ) -> Experiment:
        """Read a table with a row for each trial, as PsychoPy and jsPsych write it.

        Parameters
        ----------
        path : path, file or DataFrame
        stimulus : sequence of str
            The columns of the dimensions, which hold numbers.
        answer, subject : str
            Their columns (PsychoPy: such as "key_resp.keys" and "participant").
        category : str, optional
            The column of the right answer, in trials that told it. It says what was learned.
        time : str, optional
            The column of response times.
        where : mapping, optional
            Which rows are trials: values, or lists of values, of some columns, for example
            ``{"trial_type": "html-keyboard-response"}``.
        asked : mapping, optional
            Likewise, which trials count as answers to `stimuli`; by default all. Trials of
            learning stay in `trials`.
        answers : mapping, optional
            What the recorded answers mean: ``{"f": "A", "j": "B"}``.
        milliseconds : bool
            Whether times are in milliseconds (jsPsych) and not in seconds (PsychoPy).
        missing : {"error", "skip"}
            What happens to trials without an answer. "skip" leaves them out, and says in `notes`
            how many and whose.
        exemplars, categories : array and sequence, optional
            What was learned, if no column tells it.
        source : str

        Examples
        --------
        >>> import io
        >>> rows = ["participant,size,told,key,rt", "1,0.0,A,f,0.61", "1,1.0,B,j,0.52"]
        >>> file = io.StringIO("\\n".join([*rows, "2,0.0,A,f,0.40"]))
        >>> read = Experiment.from_csv(
        ...     file, ["size"], "key", "participant", "told", "rt", answers={"f": "A", "j": "B"}
        ... )
        >>> read.responses.shape, read.categories.tolist(), len(read.trials)
        ((2, 2, 2), ['A', 'B'], 3)
        """
        columns = TrialColumns(tuple(stimulus), answer, subject, category, time)
        table, notes = read_trials(path, columns, where, asked, answers, milliseconds, missing)
        return cls.from_trials(table, exemplars, categories, source, notes=notes)

    @classmethod
    def from_trials(
        cls,
        trials: pd.DataFrame,
        exemplars: Any = None,
        categories: Any = None,
        source: str = "",
        *,
        notes: Iterable[str] = (),
    ) -> Experiment:
        """Make an experiment of trials with the columns subject, category, answer and time.

        Every other column is a dimension, but for `asked`, which says whether a trial counts as
        an answer to `stimuli` (by default all that have one do; how many have none is noted). A
        category that is None was not told.

        Examples
        --------
        >>> rows = [("s1", 0.0, "A", "A"), ("s1", 1.0, "B", "A"), ("s2", 1.0, "B", "B")]
        >>> table = pd.DataFrame(rows, columns=["subject", "size", "category", "answer"])
        >>> Experiment.from_trials(table).responses[:, 1].tolist()  # to the stimulus of size 1
        [[1, 0], [0, 1]]
        """
        table = trials.copy()
        for name in ("category", "answer", "time"):
            if name not in table:
                table[name] = None
        _refuse_times(table)
        notes = list(notes)
        if "asked" not in table:
            table["asked"] = table["answer"].notna()
            silent = int((~table["asked"]).sum())
            if 0 < silent < len(table):
                notes.append(f"{silent} trials have no answer; nothing is compared with them")
        dimensions = tuple(name for name in table.columns if name not in SPECIAL)
        if exemplars is None:
            exemplars, categories = _learned(table, dimensions)
        exemplars = np.asarray(exemplars, dtype=np.float64)
        classes = _classes(categories)
        for name in ("category", "answer"):
            table[name] = _in_terms_of(classes, table[name])
        asked = table[table["asked"].astype(bool)]
        stimuli, counts, names = _count(asked, dimensions, classes)
        found = [*notes, *_contradictions(exemplars, categories), *remarks(counts, names, classes)]
        return cls(
            exemplars, np.asarray(categories), stimuli, counts, source=source, trials=table,
            dimensions=dimensions, notes=tuple(found),
        )  # fmt: skip

    @property
    def subjects(self) -> list[Any]:
        """Names of the people, in the order of `responses`."""
        if self.trials is None:
            return list(range(len(self.responses))) if np.ndim(self.responses) == 3 else []
        return list(dict.fromkeys(self.trials["subject"]))

    def sequences(self) -> list[TrialSequence]:
        """Return the trials of each person in their order, for learners."""
        if self.trials is None:
            raise DomainError("the experiment has no trials; make it with Experiment.from_csv")
        return sequences_of(self.trials, self.dimensions)

    @property
    def proportions(self) -> np.ndarray:
        """Share of each category in the answers to each stimulus, over all subjects."""
        classes = np.unique(np.asarray(self.categories))
        many = admit_responses(self.responses, len(self.stimuli), classes, loss="sse")
        return pooled_responses(many).shares


def _learned(table: pd.DataFrame, dimensions: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct stimuli whose category was told, in the order of their first trial."""
    told = table[table["category"].notna()]
    if len(told) == 0:
        raise DomainError(
            "no trial tells a category, so nobody knows what was learned; name its column with "
            "category=, or give exemplars and categories"
        )
    pairs = told[[*dimensions, "category"]].drop_duplicates()
    return pairs[list(dimensions)].to_numpy(dtype=np.float64), pairs["category"].to_numpy()


def _count(
    table: pd.DataFrame, dimensions: tuple[str, ...], classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return the distinct stimuli, sorted, counts (subjects, stimuli, categories), and names."""
    rows = table[list(dimensions)].to_numpy(dtype=np.float64)
    stimuli, where = np.unique(rows, axis=0, return_inverse=True)
    who, names = pd.factorize(table["subject"])
    answers = table["answer"].to_numpy()
    known = np.array([answer in set(classes.tolist()) for answer in answers], dtype=bool)
    if not known.all():
        at = int(np.flatnonzero(~known)[0])
        line = f"line {table['line'].iloc[at]}" if "line" in table else f"row {table.index[at]}"
        raise DomainError(
            f"{line}: the answer {answers[at]!r} is none of the categories {classes.tolist()}; "
            "say what answers mean with answers={...}"
        )
    place = {name: k for k, name in enumerate(classes.tolist())}
    codes = np.array([place[answer] for answer in answers], dtype=np.int64)
    counts = np.zeros((len(names), len(stimuli), len(classes)), dtype=np.int64)
    np.add.at(counts, (who, where.ravel(), codes), 1)
    return stimuli, counts, names.tolist()


def _classes(categories: Any) -> np.ndarray:
    """Return the categories in sorted order."""
    try:
        classes = np.unique(np.asarray(categories))
    except TypeError as error:
        raise DomainError(
            "some categories are numbers, others texts; write all of them in one way"
        ) from error
    if len(classes) < 2:
        raise DomainError(
            f"there is only the category {classes.tolist()[0]!r}; people need at least two to "
            "tell apart"
        )
    return classes


def _in_terms_of(classes: np.ndarray, names: pd.Series) -> pd.Series:
    """Return names as the classes are written, if they are some: 1, "1" and 1.0 are the same."""
    known = {_text(name): name for name in classes.tolist()}
    found = [None if pd.isna(name) else known.get(_text(name), name) for name in names]
    return pd.Series(found, index=names.index, dtype=object)


def _text(name: Any) -> str:
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _contradictions(exemplars: np.ndarray, categories: Any) -> list[str]:
    """Return what was told of stimuli that belong to several categories."""
    shown, counts = np.unique(exemplars, axis=0, return_counts=True)
    twice = shown[counts > 1]
    if len(twice) == 0:
        return []
    names = np.asarray(categories)[(exemplars == twice[0]).all(axis=1)].tolist()
    if len(set(names)) == 1:
        return []
    return [
        f"{len(twice)} stimuli were told to belong to several categories, such as "
        f"{twice[0].tolist()} to {' and '.join(map(repr, sorted(set(names), key=str)))}"
    ]


def _refuse_times(table: pd.DataFrame) -> None:
    """Complain about the first response time that nobody can have taken."""
    times = pd.to_numeric(table["time"], errors="coerce").to_numpy(dtype=np.float64)
    wrong = table["time"].notna().to_numpy() & ~(np.isfinite(times) & (times > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DomainError(
            f"row {row} (subject {table['subject'].iloc[row]!r}): the response time is "
            f"{table['time'].iloc[row]!r}; it must be a positive number of seconds"
        )


def remarks(counts: np.ndarray, names: Sequence[Any], classes: np.ndarray) -> list[str]:
    """Return what a reader of counts (subjects, stimuli, categories) should know.

    Examples
    --------
    >>> remarks(np.array([[[3, 0], [2, 0]]]), ["s1"], np.array(["A", "B"]))[0]
    "subject 's1' answered 'A' in all 5 trials"
    """
    found = []
    for name, one in zip(names, counts.sum(axis=1), strict=True):
        if np.sum(one > 0) == 1:
            only = classes.tolist()[int(np.argmax(one))]
            found.append(f"subject {name!r} answered {only!r} in all {one.sum():g} trials")
    every = np.flatnonzero((counts.sum(axis=0) > 0).sum(axis=1) == 1)
    if len(every):
        found.append(
            f"everyone gave the same answer to {len(every)} of {counts.shape[1]} stimuli: their "
            "proportions are exactly 0 or 1"
        )
    return found
