"""Centers: where the basis functions of a network sit."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning as NotDistinct
from sklearn.utils import check_random_state

from mercer.domains import Points, Vectors, to_numpy
from mercer.engine.tiles import fill
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.forks import with_openmp
from mercer.kernels import Kernel
from mercer.kernels.base import same_width
from mercer.solvers.forward_selection import forward_selection
from mercer.values import Seed, whole

__all__ = ["choose", "how_many", "means_of"]

RULES = ("all", "random", "kmeans", "ols")


def how_many(machine: BaseEstimator, kernel: Kernel, items: int) -> int:
    """Return the number of centers that a network would have."""
    if not isinstance(machine.centers, str):
        return len(kernel.domain.admit(machine.centers, "centers"))
    if machine.centers not in RULES:
        raise ValidityError(
            f"centers cannot be {machine.centers!r}{suggestion(machine.centers, RULES)}"
        )
    if machine.centers == "all":
        return items
    if machine.n_centers is None:
        return math.isqrt(items - 1) + 1
    count = whole(machine, "n_centers", machine.n_centers)
    if count > items:
        raise DomainError(
            f"n_centers is {count}, but there are only {items} items (n_samples={items}); use "
            f"{items} or fewer"
        )
    return count


def choose(
    machine: BaseEstimator, kernel: Kernel, points: Points, target: np.ndarray, count: int
) -> tuple[Points, np.ndarray | None]:
    """Return the centers and, where they are training items, which of them."""
    rule = machine.centers
    if not isinstance(rule, str):
        given = kernel.admit(rule, "centers")
        same_width(points, given)
        return given, None
    if rule == "kmeans":
        return means_of(kernel, points, count, machine.random_state), None
    places = np.arange(len(points))
    if rule == "random":
        rng = check_random_state(machine.random_state)
        places = np.sort(rng.choice(len(points), count, replace=False))
    elif rule == "ols":
        candidates = to_numpy(fill(kernel, points, dtype=np.float64))
        places, _ = forward_selection(candidates, target, count)
        if not len(places):
            raise DomainError("no basis function explains anything of y; is y zero everywhere?")
    return points[places], places


def means_of(
    kernel: Kernel, points: Points, count: int, random_state: Seed, quick: bool = False
) -> Points:
    """Return the means of clusters of vectors, or quickly of what is nearly that."""
    if not isinstance(points, Vectors):
        raise DomainError(
            'centers="kmeans" takes means, which only vectors have; use "random" or "ols", which '
            "take items, or give the centers"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotDistinct)
        try:
            tries, steps = (1, 10) if quick else (4, 300)
            means = KMeans(count, n_init=tries, max_iter=steps, random_state=random_state)
            found = with_openmp(lambda: means.fit(_numbers(points)))
        except NotDistinct as error:
            raise DomainError(
                f"there are fewer different items than the {count} centers; use fewer centers"
            ) from error
    return kernel.admit(np.asarray(found.cluster_centers_, dtype=np.float64), "centers")


def _numbers(points: Vectors) -> Any:
    return points.array if points.is_sparse else to_numpy(points.array)
