"""Sixty digits judge what claims to be solved."""

from __future__ import annotations

import warnings

import numpy as np
from mpmath import exp, lu_solve, matrix, mp, mpf, sqrt

from mercer import (
    SVC,
    SVR,
    GaussianProcess,
    KernelLogistic,
    KernelPCA,
    KernelQuantile,
    KernelRidge,
    NuSVC,
    OneClassSVM,
)
from mercer.errors import MercerError
from mercer.kernels import parse
from tests.fuzz.programs import complaint_about, programs

DIGITS = 60
UNIT = float(np.finfo(float).eps)
MACHINES = {
    "ridge": KernelRidge, "process": GaussianProcess, "logistic": KernelLogistic,
    "svc": SVC, "svr": SVR, "components": KernelPCA,
    "classes": SVC, "nu": NuSVC, "one class": OneClassSVM, "quantile": KernelQuantile,
}  # fmt: skip
UNLABELED = ("components", "one class")


def value(kernel, x, z):
    """Return k(x, z) in sixty digits, by the textbook's formula."""
    name = type(kernel).__name__
    if name == "Sum":
        return value(kernel.left, x, z) + value(kernel.right, x, z)
    if name == "Product":
        return value(kernel.left, x, z) * value(kernel.right, x, z)
    if name == "Scale":
        return mpf(kernel.factor) * value(kernel.kernel, x, z)
    if name == "Constant":
        return mpf(kernel.value)
    dot = sum(a * b for a, b in zip(x, z, strict=True))
    if name == "Linear":
        return dot
    if name == "Polynomial":
        return (mpf(kernel.scale) * dot + mpf(kernel.offset)) ** kernel.degree
    apart = [a - b for a, b in zip(x, z, strict=True)]
    if name == "Gaussian":
        return exp(-sum(a * a for a in apart) / (2 * mpf(kernel.bandwidth) ** 2))
    if name == "Laplacian":
        return exp(-sum(abs(a) for a in apart) / mpf(kernel.bandwidth))
    raise NotImplementedError(name)


def gram(kernel, X):
    rows = [[mpf(float(entry)) for entry in row] for row in X]
    return [[value(kernel, x, z) for z in rows] for x in rows]


def complaint(case):
    """Return what is wrong with the answer to a case, or None.

    A case is a dict: machine, its parameters, the kernel as text, X, y, and weights if there are.
    """
    kernel = parse(case["kernel"])
    X, y = np.array(case["X"], dtype=float), np.array(case["y"])
    machine = MACHINES[case["machine"]](kernel, **case["parameters"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = {"sample_weight": case["weights"]} if case.get("weights") else {}
        try:
            with programs() as caught:
                machine.fit(X, *(() if case["machine"] in UNLABELED else (y,)), **given)
        except MercerError:
            return None  # whoever refuses claims nothing
    with mp.workdps(DIGITS):
        for points, program, found in caught:
            words = complaint_about(gram(kernel, points.array), program, found)
            if words is not None:
                return words
        name, K = case["machine"], gram(kernel, X)
        if name not in JUDGES | SYSTEM_JUDGES or machine.solution_.status != "solved":
            return None
        if name in JUDGES and not given and not getattr(machine, "intercept", False):
            return JUDGES[name](machine, K, X, y)
        weights = np.array(case.get("weights") or np.ones(len(y)))
        return SYSTEM_JUDGES[name](machine, K, y, weights)


def of_ridge(machine, K, X, y):
    """|f − f*| ≤ |residual| on the items, and nobody answers otherwise than the function.

    By features the residual is g = Φᵀy − (ΦᵀΦ + λI)w, and |f − f*| = |Φ(ΦᵀΦ + λI)⁻¹g| ≤ |g|/2√λ.
    """
    n, penalty = len(y), mpf(machine.penalty)
    M = matrix(n, n)
    for i in range(n):
        for j in range(n):
            M[i, j] = K[i][j] + (penalty if i == j else 0)
    a = lu_solve(M, matrix([mpf(float(v)) for v in y]))
    exact = np.array([float(sum(K[i][j] * a[j] for j in range(n))) for i in range(n)])
    predicted, size = machine.predict(X), float(np.abs(y).max())
    heights = np.array([float(sqrt(abs(K[i][i]))) for i in range(n)])
    terms = float(np.abs(machine.dual_coef_) @ heights) * float(heights.max())
    if machine.coef_ is not None:  # the function is made of features, not of these terms
        terms = float(np.linalg.norm(machine.coef_)) * float(heights.max())
        exact_y = [mpf(float(v)) for v in y]
        square = sum(exact_y[i] * K[i][j] * exact_y[j] for i in range(n) for j in range(n))
        right = float(sqrt(abs(square) / penalty)) / 2
        terms += (machine.solution_.certificate / UNIT + 1) * right / 64
    allowed = n * machine.solution_.certificate * size + 1e-14 * size + 64 * UNIT * terms
    off = float(np.abs(predicted - exact).max())
    if off > allowed:
        return f"predictions are off by {off:.3g}, of which {allowed:.3g} is said"
    if not np.array_equal(machine.function_(X), predicted):
        return "the function says something else than predict"
    if machine.coef_ is not None:
        norm = float(np.linalg.norm(machine.coef_))
        if abs(machine.function_.norm() - norm) > 1e-12 * norm:
            return "the norm of the function is not that of its weights"
    return None


def of_system(machine, K, y, weights):
    """The relative residual of (K + λW⁻¹)a + b = y is as small as is said, 1ᵀa = 0 with a b."""
    if machine.coef_ is not None:  # the system of the features is another one
        return None
    n, penalty = len(y), mpf(machine.penalty)
    a, b = [mpf(float(v)) for v in machine.dual_coef_], mpf(float(np.ravel(machine.intercept_)[0]))
    heights = [float(sqrt(abs(K[i][i]))) for i in range(n)]
    rest, size = [], float(np.linalg.norm(np.sqrt(weights) * y))
    for i in np.flatnonzero(weights > 0):
        w = mpf(float(weights[i]))
        inner = sum(K[i][j] * a[j] for j in range(n))
        rest.append(sqrt(w) * (mpf(float(y[i])) - b - inner) - penalty * a[i] / sqrt(w))
    left = float(sqrt(sum(r * r for r in rest)))
    terms = float(np.abs(machine.dual_coef_) @ heights) * max(heights) + float(np.abs(y).max())
    terms += abs(float(b)) + float(penalty) * float(np.abs(machine.dual_coef_).max())
    said = machine.solution_.certificate * size
    said += 64 * n * UNIT * terms * float(np.sqrt(weights.max()))
    if left > said:
        return f"a residual of {left:.3g}, of which {said:.3g} is said"
    if machine.intercept and abs(float(sum(a))) > 64 * n * UNIT * float(np.abs(y).max() + size):
        heaviest = float(np.abs(machine.dual_coef_).max())
        if abs(float(sum(a))) > 1e-9 * heaviest:
            return f"coefficients add up to {float(sum(a)):.3g} instead of 0"
    return None


def of_logistic(machine, K, y, weights):
    """The gradient of Σ w·loss + λ/2|f|², as a function and a number, is as small as is said."""
    if machine.coef_ is not None or len(machine.classes_) != 2:
        return None
    n, penalty = len(y), mpf(machine.penalty)
    a, b = [mpf(0)] * n, mpf(float(np.ravel(machine.intercept_)[0]))
    for i, value in zip(np.flatnonzero(weights > 0), machine.dual_coef_, strict=True):
        a[i] = mpf(float(value))
    D, total = [], mpf(0)
    for i in range(n):
        w, t = mpf(float(weights[i])), mpf(int(y[i] == machine.classes_[1]))
        score = sum(K[i][j] * a[j] for j in range(n)) + b
        slope = w * (1 / (1 + exp(-score)) - t)
        D.append(slope + penalty * a[i])
        total += slope
    square = sum(D[i] * K[i][j] * D[j] for i in range(n) for j in range(n))
    if machine.intercept:
        square += total * total
    heights = np.array([float(sqrt(abs(K[i][i]))) for i in range(n)])
    size = float(np.abs([float(v) for v in a]) @ heights)
    noise = 64 * n * UNIT * float(weights.max()) * (1 + heights.max()) ** 2 * (1 + size)
    noise += 64 * n * UNIT * float(penalty) * size
    # DᵀKD is rounded by a unit of its terms, of which a square root is taken.
    noise += float(np.sqrt(n * UNIT)) * float(np.abs([float(d) for d in D]) @ heights)
    left, said = float(sqrt(abs(square))), machine.solution_.certificate + noise
    if left > said:
        return f"a gradient of {left:.3g}, of which {said:.3g} is said"
    return None


def of_margin(machine, K, order, target, lower, upper):
    """The violation and the gap hold for slopes in sixty digits."""
    found = machine.solution_
    beta = [mpf(float(b)) for b in found.coefficients]
    n, m = len(order), len(beta)
    item = [order[k % n] for k in range(m)]
    F = [
        mpf(float(target[k])) - sum(beta[j] * K[item[k]][item[j]] for j in range(m))
        for k in range(m)
    ]
    top = max((F[k] for k in range(m) if beta[k] < upper[k]), default=-mpf("inf"))
    bottom = min((F[k] for k in range(m) if beta[k] > lower[k]), default=mpf("inf"))
    violation = float(top - bottom)
    said = found.violation + 2 * found.uncertainty
    if violation > said * (1 + 1e-9):
        return f"a violation of {violation:.3g}, of which {said:.3g} is said"
    offset = mpf(float(found.offsets[0]))
    gap = float(
        sum(
            max(F[k] - offset, mpf(0)) * (mpf(float(upper[k])) - beta[k])
            + max(offset - F[k], mpf(0)) * (beta[k] - mpf(float(lower[k])))
            for k in range(m)
        )
    )
    if gap > found.gap * (1 + 1e-9) + 1e-300:
        return f"a gap of {gap:.3g}, of which {found.gap:.3g} is said"
    square = float(sum(beta[i] * (mpf(float(target[i])) - F[i]) for i in range(m)))
    size = float(np.abs(found.coefficients).sum()) ** 2 * max(
        float(abs(K[i][i])) for i in range(n)
    )
    terms = float(np.abs(found.coefficients) @ np.abs(target))  # |w|² is βᵀ(t − F)
    if abs(square - found.square) > 1e-11 * size + 64 * UNIT * terms:
        return f"|w|² is {square:.6g}, said to be {found.square:.6g}"
    return None


def of_svc(machine, K, X, y):
    order = np.argsort(y, kind="stable")
    z = np.where(y[order] == machine.classes_[1], 1.0, -1.0)
    lower, upper = np.where(z < 0, -machine.C, 0.0), np.where(z > 0, machine.C, 0.0)
    return of_margin(machine, K, order, z, lower, upper)


def of_svr(machine, K, X, y):
    n, zero = len(y), np.zeros(len(y))
    box = np.full(n, float(machine.C))
    target = np.concatenate([y - machine.epsilon, y + machine.epsilon])
    lower, upper = np.concatenate([zero, -box]), np.concatenate([box, zero])
    return of_margin(machine, K, np.arange(n), target, lower, upper)


def of_components(machine, K, X, y):
    """Residuals of eigenpairs of the centered matrix, in sixty digits."""
    n = len(X)
    means = [sum(row) / n for row in K]
    mean = sum(means) / n
    H = [[K[i][j] - means[i] - means[j] + mean for j in range(n)] for i in range(n)]
    largest = max(float(abs(K[i][j])) for i in range(n) for j in range(n))
    for k, own in enumerate(machine.eigenvalues_):
        v = [mpf(float(entry)) for entry in machine.eigenvectors_[:, k]]
        rest = [sum(H[i][j] * v[j] for j in range(n)) - mpf(float(own)) * v[i] for i in range(n)]
        length = float(sqrt(sum(r * r for r in rest)))
        said = machine.solution_.residuals[k] + 64 * n * UNIT * largest
        if length > said:
            return f"component {k} has a residual of {length:.3g}, of which {said:.3g} is said"
    return None


JUDGES = {
    "ridge": of_ridge, "process": of_ridge, "svc": of_svc, "svr": of_svr,
    "components": of_components,
}  # fmt: skip
SYSTEM_JUDGES = {"ridge": of_system, "process": of_system, "logistic": of_logistic}
