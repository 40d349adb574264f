"""Sixty digits judge every quadratic program that a machine has solved, whatever the machine.

The programs are caught where their certificates are made, so that classes, weights and copies of
the items are those of the machine; that they are the right ones, other tests say.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from mpmath import mpf

from mercer.machines import svm


@contextmanager
def programs():
    """Collect (points, program, answer) of all programs that are certified meanwhile."""
    real, found = svm.certified, []

    def certified(kernel, points, source, given, optima, tol):
        answers = real(kernel, points, source, given, optima, tol)
        found.extend((points, program, one) for program, one in zip(given, answers, strict=True))
        return answers

    svm.certified = certified
    try:
        yield found
    finally:
        svm.certified = real


def complaint_about(K, program, found):
    """Return what is wrong with an answer that claims to solve a program, or None.

    `K` is the Gram matrix of all items in sixty digits.
    """
    if found.status != "solved":
        return None
    problem, items, beta = program.problem, list(program.items), found.coefficients
    m, n = len(beta), len(items)
    if (beta < problem.lower).any() or (beta > problem.upper).any():
        return "coefficients are outside their box"
    b = [mpf(float(v)) for v in beta]
    values = [sum(b[j] * K[items[i]][items[j % n]] for j in range(m) if b[j]) for i in range(n)]
    F = [mpf(float(problem.target[k])) - values[k % n] for k in range(m)]
    violation = gap = mpf(0)
    boxed = np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all()
    for group, offset in zip(problem.groups, found.offsets, strict=True):
        some = range(group.start, group.stop)
        top = max((F[k] for k in some if beta[k] < problem.upper[k]), default=-mpf("inf"))
        bottom = min((F[k] for k in some if beta[k] > problem.lower[k]), default=mpf("inf"))
        violation = max(violation, top - bottom)
        if boxed:
            f = {k: F[k] - mpf(float(offset)) for k in some}
            room = {k: mpf(float(problem.upper[k])) - b[k] for k in some}
            kept = {k: b[k] - mpf(float(problem.lower[k])) for k in some}
            gap += sum(f[k] * room[k] if f[k] > 0 else -f[k] * kept[k] for k in some)
    said = found.violation + 2 * found.uncertainty
    if violation > said * (1 + 1e-9):
        return f"a violation of {float(violation):.3g}, of which {said:.3g} is said"
    if gap > found.gap * (1 + 1e-9) + 1e-300:
        return f"a gap of {float(gap):.3g}, of which {found.gap:.3g} is said"
    return None
