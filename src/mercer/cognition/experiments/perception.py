"""Experiments with stimuli of two dimensions: selective attention, seen in answers.

Designs are facts, and printed counts are too.
"""

from __future__ import annotations

import numpy as np

from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.experiment import Experiment
from mercer.errors import DomainError, suggestion

__all__ = ["circles", "condensation_human", "filtration_condensation"]

# Coordinates of 16 semicircles of four sizes (second) with a radial line at four angles (first),
# by multidimensional scaling of their confusions; which were learned in which category (0 for
# neither); and how often categories 1 and 2 were answered (Nosofsky, 1989, tables 2 and 3).
CIRCLES = (
    (.312, -.241), (.918, -.264), (1.405, -.187), (2.062, -.227),
    (.228, .640), (.844, .662), (1.324, .687), (1.885, .623),
    (.374, 1.555), (.916, 1.501), (1.473, 1.544), (2.128, 1.520),
    (.135, 2.352), (.889, 2.412), (1.451, 2.493), (2.061, 2.382),
)  # fmt: skip
LEARNED = {
    "size": (0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 2, 2, 0, 2, 0, 0),
    "angle": (0, 1, 2, 0, 0, 1, 2, 0, 1, 0, 0, 2, 0, 0, 2, 0),
}
ANSWERED = {
    "size": ((72, 2), (255, 4), (72, 2), (73, 1), (234, 35), (66, 8), (208, 39), (226, 39),
             (23, 51), (18, 56), (55, 170), (58, 179), (2, 72), (8, 229), (3, 71), (3, 71)),
    "angle": ((79, 3), (155, 116), (48, 258), (2, 80), (81, 1), (190, 97), (60, 202), (2, 80),
              (262, 25), (47, 35), (11, 71), (4, 259), (76, 6), (47, 35), (24, 227), (2, 80)),
}  # fmt: skip
SOURCE_CIRCLES = "Nosofsky (1989), Perception & Psychophysics 45, 279–290"

# Eight rectangles with a line inside, in an octagon: four heights, four places of the line.
OCTAGON = ((2, 1), (3, 1), (1, 2), (4, 2), (1, 3), (4, 3), (2, 4), (3, 4))
# How often category A was answered in 320 trials of 40 people who learned one of the condensation
# problems (as tabulated by Lee & Wagenmakers, 2014, chapter 17).
SAID_A, OF = (245, 218, 255, 126, 182, 71, 102, 65), 320
SOURCE_OCTAGON = "Kruschke (1993), Connection Science 5, 3–36"


def circles(kind: str = "size") -> Experiment:
    """Return how people sorted semicircles with a radial line (Nosofsky, 1989).

    Coordinates are angle and size, from multidimensional scaling. Some of the 16 stimuli were
    learned in two categories, which size alone, or angle alone, can tell apart. All were asked
    about afterwards.

    Parameters
    ----------
    kind : {"size", "angle"}

    Returns
    -------
    Experiment
        With the learned stimuli as exemplars, and counts of answers to all sixteen.

    Examples
    --------
    >>> seen = circles("size")
    >>> seen.exemplars.shape, seen.stimuli.shape, seen.responses[1].tolist()
    ((7, 2), (16, 2), [255, 4])
    """
    if kind not in LEARNED:
        raise DomainError(f"kind cannot be {kind!r}{suggestion(str(kind), LEARNED)}")
    X, told = np.array(CIRCLES), np.array(LEARNED[kind])
    names = tuple(str(i + 1) for i in range(len(X)))
    return Experiment(
        X[told > 0], told[told > 0], X, np.array(ANSWERED[kind]), names=names,
        source=SOURCE_CIRCLES, dimensions=("angle", "size"),
    )  # fmt: skip


def filtration_condensation(kind: str = "filtration", blocks: int = 8) -> Design:
    """Return eight stimuli that one dimension, or only both together, can tell apart.

    Gottwald & Garner (1975), as learned by the people of Kruschke (1993): in filtration one of two
    dimensions can be ignored, which is easy for whoever attends selectively; condensation needs
    both. A network that learns without attention finds both equally hard.

    Parameters
    ----------
    kind : {"filtration", "condensation"}
    blocks : int
        Of eight trials.

    Returns
    -------
    Design
        Eight stimuli of two dimensions.

    Examples
    --------
    >>> "".join(filtration_condensation("filtration").categories)
    'ABABABAB'
    >>> "".join(filtration_condensation("condensation").categories)
    'AAABABBB'
    """
    kinds = ("filtration", "condensation")
    if kind not in kinds:
        raise DomainError(f"kind cannot be {kind!r}{suggestion(str(kind), kinds)}")
    X = np.array(OCTAGON, dtype=np.float64)
    rule = X[:, 0] <= 2 if kind == "filtration" else X.sum(axis=1) <= 5
    if blocks < 1:
        raise DomainError(f"blocks must be a whole number from 1 on, found {blocks!r}")
    return Design(X, np.where(rule, "A", "B"), ((1,),) * blocks, SOURCE_OCTAGON)


def condensation_human() -> Experiment:
    """Return how often 40 people called each of the eight stimuli A while learning condensation.

    320 answers to each stimulus, of all blocks together.

    Returns
    -------
    Experiment
        Counts of A and B for each of the eight stimuli.

    Examples
    --------
    >>> condensation_human().responses[:, 0].tolist()
    [245, 218, 255, 126, 182, 71, 102, 65]
    """
    learned = filtration_condensation("condensation")
    A = np.array(SAID_A)
    return Experiment(
        learned.stimuli, learned.categories, learned.stimuli, np.column_stack([A, OF - A]),
        source=f"{SOURCE_OCTAGON}; counts as in Lee & Wagenmakers (2014), chapter 17",
    )  # fmt: skip
