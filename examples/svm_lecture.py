"""The SVM lecture, from the margin idea to the soft margin, in numbers.

Of all hyperplanes that separate two classes a perceptron finds some; a support vector machine
finds the one with the widest margin. Formulas are those of the lecture *Machine Learning:
perceptrons and support vector machines*; `mercer figures svm-hard-margin svm-soft-margin` draws
them.
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import LPSVC, SVC, Perceptron
from mercer.datasets import two_gaussians, xor
from mercer.kernels import Polynomial
from mercer.plots.figures import find

SPREAD = np.array([[0.4, 0.12], [0.12, 0.4]])


def main() -> None:
    X, z = two_gaussians(24, [[-1.15, 0.95], [1.15, -0.95]], [SPREAD, SPREAD], seed=62)
    margin_idea(X, z)
    hard_margin(X, z)
    soft_margin(*two_gaussians(200, [[-0.7, 0.6], [0.7, -0.6]], [SPREAD, SPREAD], seed=0))
    kernels(*xor())


def margin_idea(X: np.ndarray, z: np.ndarray) -> None:
    """Perceptrons separate the classes, too, but any hyperplane that does will do."""
    margins = []
    for order in range(20):
        walker = Perceptron("linear", shuffle=True, random_state=order).fit(X, z)
        distances = z * walker.decision_function(X) / np.linalg.norm(walker.coef_)
        margins.append(distances.min())
    best = SVC("linear", C=np.inf).fit(X, z).margin_
    print("The margin: the distance from the hyperplane to the nearest item")
    print(f"  20 perceptrons: from {min(margins):.3f} to {max(margins):.3f}")
    print(f"  the widest:     {best:.3f}\n")


def hard_margin(X: np.ndarray, z: np.ndarray) -> None:
    """The dual problem, the Kuhn-Tucker conditions, and what follows from them."""
    machine = SVC("linear", C=np.inf).fit(X, z)
    alpha = np.zeros(len(X))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    w = (alpha * z) @ X
    w0 = -(np.min((X @ w)[z == 1]) + np.max((X @ w)[z == -1])) / 2
    g = X @ w + w0
    dual = alpha.sum() - (alpha * z) @ (X @ X.T) @ (alpha * z) / 2
    print(f"The maximal margin, from {np.sum(alpha > 0)} of {len(X)} items")
    print(f"  w = Σ αᵢzᵢyᵢ = {w.round(3)}, w₀ = {w0:.3f} = {machine.intercept_[0]:.3f}")
    print(f"  Σ αᵢzᵢ = {abs(alpha @ z):.1e}, all zᵢg(yᵢ) ≥ {np.min(z * g):.6f}")
    print(f"  complementarity: αᵢ(zᵢg(yᵢ) − 1) ≤ {np.abs(alpha * (z * g - 1)).max():.1e}")
    print(f"  wᵀw = {w @ w:.3f} = Σ αᵢ = {alpha.sum():.3f}, m = 1/‖w‖ = {machine.margin_:.3f}")
    print(f"  ½wᵀw = {w @ w / 2:.6f} = W(α) = {dual:.6f}\n")


def soft_margin(X: np.ndarray, z: np.ndarray) -> None:
    """Slack has a price C; only items at this bound can have any."""
    print("The soft margin, where no line separates the classes")
    print("      C   margin   support   α = C   with slack   items wrong   gap")
    for C in (0.01, 0.1, 1.0, 10.0, 100.0):
        machine = SVC("linear", C=C, tol=1e-6).fit(X, z)
        alpha = np.zeros(len(X))
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        slack = np.maximum(0, 1 - z * machine.decision_function(X))
        late, bound = slack > 1e-4, alpha > C * (1 - 1e-9)
        assert np.all(bound[late])  # ξᵢ(αᵢ − C) = 0
        wrong = np.mean(machine.predict(X) != z)
        print(
            f"{C:7g} {machine.margin_:8.3f} {len(machine.support_):9} {bound.sum():7} "
            f"{late.sum():12} {wrong:13.1%} {machine.solution_.relative_gap:5.0e}"
        )
    few = LPSVC("linear", C=1.0).fit(X, z)
    wrong = np.mean(few.predict(X) != z)
    print(f"  the linear program: {len(few.support_)} support vectors, {wrong:.1%} wrong\n")


def kernels(X: np.ndarray, y: np.ndarray) -> None:
    """Training vectors need only be separable after mapping: XOR, by products of two inputs."""
    machine = SVC(Polynomial(2, offset=1.0), C=np.inf).fit(X, y)
    print("XOR has no linear margin, but one among products of its inputs, (xᵀz + 1)²")
    print(f"  {np.sum(machine.predict(X) == y)} of {len(X)} right, m = {machine.margin_:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("svm-soft-margin").draw().savefig(out, dpi=144)
