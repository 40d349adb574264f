"""Classic experiments beside the six types and the 5-4 structure.

Designs are facts, and printed means are too; answers of single subjects are not redistributed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.experiment import Experiment
from mercer.errors import DomainError, suggestion

__all__ = [
    "dot_patterns",
    "dot_patterns_asked",
    "information_integration",
    "inverse_base_rate",
    "inverse_base_rate_human",
    "probabilistic_diagnosis",
]

# How probably a dot stays in its cell, or moves to the rings of cells around it, at each level of
# distortion in bits per dot (Posner, Goldsmith & Welton, 1967). The rings end at these distances.
DISTORTIONS = {
    1: (.88, .10, .015, .004, .001), 3: (.59, .20, .16, .03, .02), 4: (.36, .48, .06, .05, .05),
    5: (.20, .30, .40, .05, .05), 6: (0, .40, .32, .15, .13), 7.7: (0, .24, .16, .30, .30),
}  # fmt: skip
RINGS = (0, 1, 2, 5, 10)
GRID, DOTS = 30, 9
CATEGORIES = "ABCDEFGHIJ"
SOURCE_DOTS = "after Posner & Keele (1968), Journal of Experimental Psychology 77, 353–363"

# Four symptoms, and how probable each is with the rare and the common disease (Gluck & Bower,
# 1988).
RARE, COMMON, BASE_RATE = (.6, .4, .3, .2), (.2, .3, .4, .6), .25  # fmt: skip

# Shares of the answers C, R, Co and Ro (Kruschke, 1996, table 2).
INVERSE_BASE_RATE = {
    "I": (.746, .174, .049, .031), "PC": (.933, .031, .031, .004), "PR": (.040, .911, .018, .031),
    "PC+PR": (.353, .612, .022, .013), "I+PC+PR": (.580, .402, .013, .004),
    "I+PCo": (.406, .080, .469, .045), "I+PRo": (.219, .085, .031, .665),
    "PC+PRo": (.353, .027, .058, .563), "I+PC+PRo": (.719, .036, .036, .210),
}  # fmt: skip


def inverse_base_rate(blocks: int = 15) -> Design:
    """Return the training of the inverse base-rate effect (Kruschke, 1996, experiment 1).

    Twice the same problem: symptoms I and PC come with the common disease C, three times as often
    as I and PR with the rare disease R. Six cues: I1, PC1, PR1, I2, PC2, PR2.

    Parameters
    ----------
    blocks : int
        Of eight trials, six with a common disease and two with a rare one.

    Returns
    -------
    Design
        Stimuli of six cues, 1 where a symptom is there.

    Examples
    --------
    >>> problem = inverse_base_rate()
    >>> problem.blocks, problem.categories.tolist()
    (15, ['C1', 'C1', 'C1', 'R1', 'C2', 'C2', 'C2', 'R2'])
    """
    common, rare = [1, 1, 0], [1, 0, 1]
    none = [0, 0, 0]
    one = [[*common, *none]] * 3 + [[*rare, *none]]
    two = [[*none, *common]] * 3 + [[*none, *rare]]
    names = ["C1"] * 3 + ["R1"] + ["C2"] * 3 + ["R2"]
    source = "Kruschke (1996), Journal of Experimental Psychology: LMC 22, 3–26, experiment 1"
    if blocks < 1:
        raise DomainError(f"blocks must be a whole number from 1 on, found {blocks!r}")
    return Design([*one, *two], names, ((1,),) * blocks, source)


def inverse_base_rate_human() -> pd.DataFrame:
    """Return how 56 people answered after that training: shares of C, R, and of the other problem.

    Rows are combinations of symptoms, Co and Ro the diseases of the other problem, and PCo its PC
    (Kruschke, 1996, table 2).

    Returns
    -------
    DataFrame
        A row for each combination of symptoms that was shown, a column for each answer.

    Examples
    --------
    >>> inverse_base_rate_human().loc["PC+PR", ["C", "R"]].tolist()  # the rare one is preferred
    [0.353, 0.612]
    """
    return pd.DataFrame.from_dict(
        INVERSE_BASE_RATE, orient="index", columns=["C", "R", "Co", "Ro"]
    )


def dot_patterns(
    level: float = 6, sizes: Sequence[int] = (4, 4, 4), blocks: int = 4, seed: int = 0
) -> Design:
    """Return categories of dot patterns around prototypes (Posner & Keele, 1968; Homa, 1976).

    Each prototype is nine dots, at random in the middle of a grid of 30 × 30. Its members have
    every dot moved: the more, the higher the level of distortion (bits per dot). Homa and
    colleagues let categories have different sizes. A stimulus is the 18 coordinates of its dots.

    Parameters
    ----------
    level : {1, 3, 4, 5, 6, 7.7}
    sizes : sequence of int
        Members of each category.
    blocks : int
    seed : int

    Returns
    -------
    Design
        Stimuli of 18 coordinates, with their categories and blocks.

    Examples
    --------
    >>> dot_patterns(sizes=(3, 6, 9))
    Design(18 stimuli of 18 dimensions, 4 blocks)
    """
    rows, names, _ = _dot_patterns(level, sizes, np.random.default_rng(seed))
    return Design(rows, names, ((1,),) * blocks, SOURCE_DOTS)


def dot_patterns_asked(
    level: float = 6,
    sizes: Sequence[int] = (4, 4, 4),
    new: Sequence[float] = (5, 7.7),
    each: int = 2,
    seed: int = 0,
) -> Experiment:
    """Return what is asked after the training of `dot_patterns` with the same level and sizes.

    Old patterns; the prototypes, which nobody has seen, and which people know nearly as well
    (Posner & Keele, 1968); and new ones. Answers are None: a template for `simulate_people` and
    for your own.

    Parameters
    ----------
    level, sizes, seed
        Of the training.
    new : sequence of float
        Levels of distortion of new patterns.
    each : int
        New patterns of each level and category.

    Returns
    -------
    Experiment
        With the patterns of the training as exemplars, and without answers.

    Examples
    --------
    >>> asked = dot_patterns_asked()
    >>> len(asked.exemplars), len(asked.stimuli)
    (12, 27)
    >>> asked.names[0], asked.names[12], asked.names[-1]
    ('A old', 'A prototype', 'C new 7.7')
    """
    for one in new:
        _known_level(one)
    rng = np.random.default_rng(seed)
    rows, names, prototypes = _dot_patterns(level, sizes, rng)
    letters = CATEGORIES[: len(prototypes)]
    stimuli = [*rows, *(one.ravel() for one in prototypes)]
    titles = [*(f"{name} old" for name in names), *(f"{name} prototype" for name in letters)]
    for one in new:
        for name, prototype in zip(letters, prototypes, strict=True):
            stimuli += [_distorted(prototype, one, rng) for _ in range(each)]
            titles += [f"{name} new {one:g}"] * each
    shown = np.array(stimuli, dtype=float)
    return Experiment(rows, np.array(names), shown, None, names=tuple(titles), source=SOURCE_DOTS)


def _known_level(level: float) -> None:
    if level not in DISTORTIONS:
        raise DomainError(f"there is no level {level!r}; they are {list(DISTORTIONS)}")


def _dot_patterns(
    level: float, sizes: Sequence[int], rng: np.random.Generator
) -> tuple[np.ndarray, list[str], list[np.ndarray]]:
    """Return patterns with their categories, and the prototypes."""
    _known_level(level)
    if not 2 <= len(sizes) <= len(CATEGORIES) or min(sizes) < 1:
        raise DomainError(
            f"sizes must be 2 to {len(CATEGORIES)} whole numbers from 1 on, found {tuple(sizes)}"
        )
    rows, names, prototypes = [], [], []
    for name, size in zip(CATEGORIES, sizes, strict=False):
        prototypes.append(rng.integers(GRID // 6, GRID - GRID // 6, (DOTS, 2)))
        rows += [_distorted(prototypes[-1], level, rng) for _ in range(size)]
        names += [name] * size
    return np.array(rows, dtype=float), names, prototypes


def _distorted(prototype: np.ndarray, level: float, rng: np.random.Generator) -> np.ndarray:
    return np.array([_moved(dot, level, rng) for dot in prototype]).ravel()


def _moved(dot: np.ndarray, level: float, rng: np.random.Generator) -> np.ndarray:
    ring = int(rng.choice(len(RINGS), p=DISTORTIONS[level]))
    if ring == 0:
        return dot
    inner, outer = RINGS[ring - 1], RINGS[ring]
    while True:
        step = rng.integers(-outer, outer + 1, 2)
        if np.abs(step).max() > inner:
            return np.asarray(dot + step)


def probabilistic_diagnosis(trials: int = 250, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return patients with four symptoms and their disease (Gluck & Bower, 1988, experiment 1).

    The rare disease has a base rate of ¼. Given the first symptom alone, both are equally
    probable; people who learned from such patients think the rare one more probable.

    Parameters
    ----------
    trials : int
        Patients, at least 2.
    seed : int

    Returns
    -------
    (ndarray of shape (trials, 4), ndarray of shape (trials,))
        Symptoms, 1 where there are, and "rare" or "common"; never a patient without any.

    Examples
    --------
    >>> X, y = probabilistic_diagnosis(1000)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 4), ['common', 'rare'])
    """
    if trials < 2:
        raise DomainError(f"trials must be a whole number from 2 on, found {trials!r}")
    rng = np.random.default_rng(seed)
    rows: list[np.ndarray] = []
    names: list[str] = []
    while len(rows) < trials:
        rare = rng.random() < BASE_RATE
        symptoms = rng.random(4) < (RARE if rare else COMMON)
        if symptoms.any():
            rows.append(symptoms.astype(float))
            names.append("rare" if rare else "common")
    return np.array(rows), np.array(names)


def information_integration(
    kind: str = "rule", size: int = 40, distance: float = 2.0, spread: float = 1.0, seed: int = 0
) -> Design:
    """Return two elongated Gaussian categories that one dimension, or only both, can tell apart.

    With "rule" the best bound is a criterion on the first dimension, as words can say it; with
    "integration" the same stimuli are turned by 45°, so that both dimensions must be combined
    (Ashby, Alfonso-Reese, Turken & Waldron, 1998). Garner's filtration and condensation differ in
    the same way. Experiments used many sizes of these; here they are parameters.

    Parameters
    ----------
    kind : {"rule", "integration"}
    size : int
        Members of each category.
    distance : float
        Between the means.
    spread : float
        Standard deviation across the bound; along it, it is three times as large.
    seed : int

    Returns
    -------
    Design
        Stimuli of two dimensions, all of them in one block.

    Examples
    --------
    >>> information_integration("integration")
    Design(80 stimuli of 2 dimensions, 1 blocks)
    """
    kinds = ("rule", "integration")
    if kind not in kinds:
        raise DomainError(f"kind cannot be {kind!r}{suggestion(str(kind), kinds)}")
    rng = np.random.default_rng(seed)
    across = np.repeat([-distance / 2, distance / 2], size) + spread * rng.normal(size=2 * size)
    along = 3 * spread * rng.normal(size=2 * size)
    X = np.column_stack([across, along])
    if kind == "integration":
        X = X @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    return Design(X, np.repeat(["A", "B"], size), source="after Ashby et al. (1998)")
