"""Designs: what is shown to a learner, in which blocks, and in which random order."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.stimuli import admit_categories, admit_stimuli
from mercer.errors import DomainError, suggestion

__all__ = ["Design", "five_four", "medin_schaffer", "shj", "shj_human"]

# Members of category A, stimuli numbered 1–8 as 000, 001, …, 111 (Shepard, Hovland & Jenkins,
# 1961).
SIX_TYPES = {
    "I": (1, 2, 3, 4),
    "II": (1, 2, 7, 8),
    "III": (1, 2, 3, 6),
    "IV": (1, 2, 3, 5),
    "V": (1, 2, 3, 8),
    "VI": (1, 4, 6, 7),
}

# Proportion of errors in 16 blocks of 16 trials, 40 people for each type (Nosofsky, Gluck,
# Palmeri, McKinley & Glauthier, 1994, Memory & Cognition 22, 352–369).
HUMAN_ERRORS = (
    (.211, .025, .003, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (.378, .156, .083, .056, .031, .027, .028, .016, .016, .008, 0, .002, .005, .003, .002, 0),
    (.459, .286, .223, .145, .081, .078, .063, .033, .023, .016, .019, .009, .008, .013, .009,
     .013),
    (.422, .295, .222, .172, .148, .109, .089, .063, .025, .031, .019, .025, .005, 0, 0, 0),
    (.472, .331, .23, .139, .106, .081, .067, .078, .048, .045, .05, .036, .031, .027, .016,
     .014),
    (.498, .341, .284, .245, .217, .192, .192, .177, .172, .128, .139, .117, .103, .098, .106,
     .106),
)  # fmt: skip

FIVE_FOUR = {"A": ("1110", "1010", "1011", "1101", "0111"), "B": ("1100", "0110", "0001", "0000")}
TRANSFER = ("1001", "1000", "1111", "0010", "0101", "0011", "0100")
OBSERVED = (
    .78, .88, .81, .88, .81, .16, .16, .12, .03, .59, .31, .94, .34, .50, .62, .16,
)  # fmt: skip
SOURCE_5_4 = "Medin & Schaffer (1978), Psychological Review 85, 207–238, experiment 2"


@dataclass(frozen=True, eq=False)
class Design:
    """Stimuli with their categories, and how trials are drawn from them.

    Parameters
    ----------
    stimuli : array of shape (n, dimensions)
    categories : sequence of shape (n,)
        The right answer to each stimulus.
    schedule : sequence of sequences of int
        The blocks. A block is a sequence of shuffles; a shuffle of m shows every stimulus m times,
        all in one random order. ``((1, 1), (2,))`` has two blocks in which every stimulus occurs
        twice, in the first of them once in each half.
    source : str
        Where the design comes from.

    Examples
    --------
    >>> design = Design([[0.0], [1.0]], ["a", "b"], schedule=((1, 1), (2,)))
    >>> design.lengths
    array([4, 4])
    >>> design.trials(np.random.default_rng(0))  # numbers of stimuli
    array([0, 1, 0, 1, 1, 0, 0, 1])
    """

    stimuli: Any
    categories: Any
    schedule: Any = ((1,),)
    source: str = ""

    def __post_init__(self) -> None:
        rows = np.ascontiguousarray(admit_stimuli(self.stimuli, "stimuli"))
        codes, classes = admit_categories(self.categories, len(rows))
        object.__setattr__(self, "stimuli", rows)
        object.__setattr__(self, "categories", classes[codes])
        object.__setattr__(self, "schedule", _schedule(self.schedule))

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.schedule)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of trials in each block."""
        return len(self.stimuli) * np.array([sum(block) for block in self.schedule])

    def trials(self, rng: np.random.Generator) -> np.ndarray:
        """Draw the trials of one subject: the number of the stimulus shown in each."""
        order, parts = self._shuffled
        order = order.copy()
        for part in parts:
            rng.shuffle(order[part])
        return order

    @cached_property
    def _shuffled(self) -> tuple[np.ndarray, list[slice]]:
        """All trials before they are shuffled, and what is shuffled together."""
        n, parts, start = len(self.stimuli), [], 0
        for times in (times for block in self.schedule for times in block):
            parts.append(slice(start, start + n * times))
            start += n * times
        return np.arange(start) % n, parts

    def orders(self, subjects: int, seed: int) -> np.ndarray:
        """Draw the trials of several subjects, a row for each.

        Every subject has random numbers of its own, so the first ten are the same people whether
        ten or a thousand are drawn, and two designs of one shape get the same orders.

        Examples
        --------
        >>> few, many = shj("II").orders(10, seed=1), shj("VI").orders(1000, seed=1)
        >>> bool((few == many[:10]).all())
        True
        """
        if not isinstance(seed, numbers.Integral) or seed < 0:
            raise DomainError(f"seed must be a whole number, not negative; found {seed!r}")
        children = np.random.SeedSequence(int(seed)).spawn(_count(subjects, "subjects"))
        return np.stack([self.trials(np.random.default_rng(child)) for child in children])

    def __repr__(self) -> str:
        n, d = self.stimuli.shape
        return f"Design({n} stimuli of {d} dimensions, {self.blocks} blocks)"


def shj(kind: int | str, blocks: int = 16) -> Design:
    """Return one of the six types of Shepard, Hovland & Jenkins (1961), as learned in 1994.

    Eight stimuli with three binary dimensions, four in each category, in blocks of sixteen trials
    (Nosofsky, Gluck, Palmeri, McKinley & Glauthier, 1994): every stimulus twice, in the first
    block once in each half.

    The experiment also drew at random which physical dimension plays which part. That is left
    out: to ALCOVE, which starts with equal attention, and to the configural-cue model all
    assignments are the same.

    Parameters
    ----------
    kind : {1, 2, 3, 4, 5, 6} or {"I", "II", "III", "IV", "V", "VI"}
    blocks : int

    Returns
    -------
    Design
        Eight stimuli of three binary dimensions.

    Examples
    --------
    >>> "".join(shj("II").categories)
    'AABBBBAA'
    >>> shj(6, blocks=4)
    Design(8 stimuli of 3 dimensions, 4 blocks)
    """
    name = _type(kind)
    count = _count(blocks, "blocks")
    stimuli = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=np.float64)
    categories = np.where(np.isin(np.arange(1, 9), SIX_TYPES[name]), "A", "B")
    schedule = ((1, 1), *[(2,)] * (count - 1))
    return Design(stimuli, categories, schedule, f"Shepard, Hovland & Jenkins (1961), type {name}")


def shj_human() -> np.ndarray:
    """Return people's errors on the six types: a row for each type, a column for each block.

    Proportions over 40 people and 16 trials (Nosofsky, Gluck, Palmeri, McKinley & Glauthier, 1994,
    Memory & Cognition 22, 352–369).

    Returns
    -------
    ndarray of shape (6, 16)

    Examples
    --------
    >>> shj_human().mean(axis=1).round(4)
    array([0.0149, 0.0507, 0.0924, 0.1016, 0.1107, 0.1947])
    """
    return np.array(HUMAN_ERRORS, dtype=np.float64)


def five_four(blocks: int = 16) -> Design:
    """Return the 5-4 structure of Medin & Schaffer (1978): nine stimuli, five in category A.

    Every block shows each stimulus once. 1110 is nearer to the mean of category A than 1010, but
    1010 has nearer neighbors in it.

    Parameters
    ----------
    blocks : int
        Each shows all nine stimuli.

    Returns
    -------
    Design
        Nine stimuli of four binary dimensions.

    Examples
    --------
    >>> five_four()
    Design(9 stimuli of 4 dimensions, 16 blocks)
    """
    names, categories = _training()
    schedule = ((1,),) * _count(blocks, "blocks")
    return Design(_binary(names), categories, schedule, SOURCE_5_4)


def medin_schaffer(counts: bool = False) -> Experiment:
    """Return what people answered to the 5-4 structure after learning it.

    Medin & Schaffer (1978), experiment 2: the nine training stimuli, then seven new ones. The
    printed proportions are 32nds, rounded; with ``counts=True`` the responses are the answers out
    of 32.

    Parameters
    ----------
    counts : bool
        Whether responses are counts out of 32, not proportions.

    Returns
    -------
    Experiment
        With nine exemplars, and answers to them and to seven new stimuli.

    Examples
    --------
    >>> shown = medin_schaffer()
    >>> shown.names[:2], shown.responses[:2, 0]
    (('1110', '1010'), array([0.78, 0.88]))
    >>> medin_schaffer(counts=True).responses[:2]
    array([[25,  7],
           [28,  4]])
    """
    names, categories = _training()
    shown = (*names, *TRANSFER)
    p = np.array(OBSERVED)
    responses = np.column_stack([p, 1 - p])
    if counts:
        a = np.rint(32 * p).astype(np.int64)
        responses = np.column_stack([a, 32 - a])
    return Experiment(
        _binary(names), categories, _binary(shown), responses, names=shown, source=SOURCE_5_4
    )


def _training() -> tuple[tuple[str, ...], np.ndarray]:
    names = tuple(name for members in FIVE_FOUR.values() for name in members)
    categories = np.repeat(list(FIVE_FOUR), [len(members) for members in FIVE_FOUR.values()])
    return names, categories


def _binary(names: tuple[str, ...]) -> np.ndarray:
    return np.array([[float(digit) for digit in name] for name in names])


def _type(kind: Any) -> str:
    """Return the Roman name of a type."""
    names = list(SIX_TYPES)
    whole = isinstance(kind, numbers.Integral) and not isinstance(kind, bool)
    if whole and int(kind) in range(1, 7):
        return names[int(kind) - 1]
    if isinstance(kind, str) and kind.upper() in SIX_TYPES:
        return kind.upper()
    hint = suggestion(kind.upper(), names) if isinstance(kind, str) else "; they are 1 to 6"
    raise DomainError(f"there is no type {kind!r}{hint}")


def _count(value: ArrayLike, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise DomainError(f"{name} must be a whole number from 1 on, found {value!r}")
    return int(value)


def _schedule(schedule: Any) -> tuple[tuple[int, ...], ...]:
    try:
        blocks = tuple(tuple(block) for block in schedule)
    except TypeError as error:
        raise DomainError(
            f"schedule must be a sequence of blocks such as ((1, 1), (2,)), found {schedule!r}"
        ) from error
    if not blocks:
        raise DomainError("the schedule has no blocks, so there are no trials")
    for row, block in enumerate(blocks):
        if not block:
            raise DomainError(f"block {row} of the schedule has no trials")
        for times in block:
            _count(times, f"a shuffle of block {row}")
    return tuple(tuple(int(times) for times in block) for block in blocks)
