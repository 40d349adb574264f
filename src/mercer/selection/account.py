"""Accounts: how each machine did on each split, where the time went, and what was shared."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Account", "Outcome"]


@dataclass
class Outcome:
    """How one machine did on one split."""

    test: Any = None
    train: Any = None
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: str = ""

    def as_dict(self, count: int, train_scores: bool) -> dict[str, Any]:
        """Return it as scikit-learn writes it down."""
        found = {
            "test_scores": self.test,
            "n_test_samples": count,
            "fit_time": self.fit_time,
            "score_time": self.score_time,
        }
        return {**found, "train_scores": self.train} if train_scores else found


@dataclass
class Account:
    """Where the time went, and what was shared.

    Attributes
    ----------
    seconds : dict
        By kind of work.
    counts : dict
        How many machines and splits were served in which way.
    notes : list of str
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """Count the time that is spent inside."""
        start = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - start

    def __str__(self) -> str:
        lines = [f"{what}: {spent:.3f} s" for what, spent in self.seconds.items()]
        lines += [f"{what}: {count}" for what, count in self.counts.items()]
        return "\n".join([*lines, *dict.fromkeys(self.notes)])

    def add(self, other: Account) -> None:
        """Add what another account holds."""
        for what, spent in other.seconds.items():
            self.seconds[what] += spent
        for what, count in other.counts.items():
            self.counts[what] += count
        self.notes += other.notes
