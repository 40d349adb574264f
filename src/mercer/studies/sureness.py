"""Sureness: whether held-out probabilities can be taken at their word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.studies.results import Study

__all__ = ["Sureness", "poor_probabilities", "sureness", "sureness_of"]

BINS = 10
MIN_IN_BIN = 15
POOR = 0.05  # mean gap between sureness and truth, below which nobody is misled
DRAWS = 200  # of truths, as they would be if the probabilities were right
FALSE_ALARM = 0.01


@dataclass(frozen=True)
class Sureness:
    """How sure the answers were, and how often they were right.

    Attributes
    ----------
    sure, right : float
        Means.
    gap : float
        The mean distance of both, over rows of similar sureness (the expected calibration error).
    poor : bool
        Whether it is large, and larger than chance makes it with right probabilities.
    """

    sure: float
    right: float
    gap: float
    poor: bool


def sureness(sure: np.ndarray, right: np.ndarray, seed: int = 0) -> Sureness:
    """Return how sureness and truth agree.

    Examples
    --------
    >>> sure = np.full(200, 0.51)
    >>> sureness(sure, np.arange(200) > 1).poor, sureness(sure, np.arange(200) % 2 > 0).poor
    (True, False)
    """
    bins = int(np.clip(len(sure) // MIN_IN_BIN, 1, BINS))
    order = np.argsort(sure, kind="stable")
    parts = np.array_split(order, bins)
    gap = _gap(sure, right.astype(float), parts)
    rng = np.random.default_rng([seed, len(sure)])
    usual = [_gap(sure, (rng.random(len(sure)) < sure).astype(float), parts) for _ in range(DRAWS)]
    poor = gap >= POOR and gap > float(np.quantile(usual, 1 - FALSE_ALARM))
    return Sureness(float(sure.mean()), float(right.mean()), gap, bool(poor))


def _gap(sure: np.ndarray, right: np.ndarray, parts: list[np.ndarray]) -> float:
    gaps = [len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts]
    return float(sum(gaps) / len(sure))


def sureness_of(study: Study) -> Sureness | None:
    """Return that of a study's held-out rows; None where there are no probabilities."""
    P = study.held_out.probabilities
    if P is None or study.classes is None or not np.isfinite(P).all():
        return None
    return sureness(P.max(axis=1), study.classes[P.argmax(axis=1)] == study.truth, study.seed)


def poor_probabilities(found: Sureness) -> str:
    """Say that probabilities are poorly calibrated."""
    return (
        f"The probabilities are poorly calibrated: on held-out rows the answers were "
        f"{found.sure:.0%} sure and {found.right:.0%} right (mean gap {found.gap:.0%} over rows "
        "of similar sureness). Read them as an order, not as odds."
    )
