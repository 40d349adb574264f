"""Machines that learn approximately, for the registry.

With all items for centers, and with random features, a weight is as good as a repetition; centers
that are chosen among the items change when items are repeated.
"""

from __future__ import annotations

import numpy as np

from mercer import (
    SVC,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    Nystrom,
    Plan,
    Random,
)
from tests.laws.entries import MachineEntry

__all__ = ["sketched"]

ALL, SOME = Plan(approximate=Nystrom(1000)), Plan(approximate=Random(40))


def sketched(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> list[MachineEntry]:
    """Return entries for rows `X` with targets `y`."""
    Y, two = np.column_stack([y, 100.0 * y**2]), np.where(y > 0, 1, -1)
    three = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    silent, k = frozenset({"certificate", "routes"}), "gaussian"
    unweighted = silent | {"repetition", "removal"}
    return [
        MachineEntry("ridge on all centers", KernelRidge(k, follow=ALL), X, y, new, silent),
        MachineEntry("ridge on random features", KernelRidge(k, 0.1, intercept=True, follow=SOME),
                     X, Y, new, silent),
        MachineEntry("classes on all centers", KernelRidgeClassifier(k, class_weight="balanced",
                     intercept=True, follow=ALL), X, three, new, silent),
        MachineEntry("logistic regression on all centers", KernelLogistic(k, tol=1e-11,
                     follow=ALL), X, two, new, silent),
        MachineEntry("multinomial regression on random features", KernelLogistic(k, tol=1e-11,
                     class_weight="balanced", follow=SOME), X, three, new, silent),
        MachineEntry("squared slacks on random features", SVC(k, follow=SOME), X, two, new,
                     silent),
        MachineEntry("squared slacks that vote", SVC(k, follow=ALL), X, three, new,
                     silent | {"function"}),
        MachineEntry("components on all centers", KernelPCA(k, 2, follow=ALL), X, three, new,
                     unweighted),
        MachineEntry("components on random features", KernelPCA(k, 3, follow=SOME), X, three, new,
                     unweighted),
    ]  # fmt: skip
