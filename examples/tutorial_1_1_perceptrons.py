"""Section 1.1 of the tutorial: perceptrons.

A perceptron compares an inner product with a threshold. Equations are those of Jäkel, Schölkopf &
Wichmann (2007), here as in all examples named after its sections.
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import Perceptron
from mercer.datasets import two_gaussians
from mercer.kernels import Linear
from mercer.plots.figures import find
from mercer.rkhs import section


def main() -> None:
    geometry()
    learning()


def geometry() -> None:
    """Length, distance and angle all come from the inner product."""
    v, w = np.array([3.0, 4.0]), np.array([4.0, 0.0])
    f, g = section(Linear(), v), section(Linear(), w)
    print("Two vectors, and the same as functions x ↦ ⟨x, v⟩ of the linear kernel")
    print(f"  (1) ⟨v, w⟩ = {v @ w:.3f} = {f.inner(g):.3f}")
    print(f"  (2) ‖v‖ = {np.linalg.norm(v):.3f} = {f.norm():.3f}")
    print(f"  (3) d(v, w) = {np.linalg.norm(v - w):.3f} = {f.distance(g):.3f}")
    print(f"  (4) angle {np.degrees(f.angle(g)):.1f}°\n")


def learning() -> None:
    """Each error moves the weight vector, until there are none (fig. 1)."""
    spread = 0.2 * np.eye(2)
    X, y = two_gaussians(40, [[0.0, 0.0], [2.0, 1.5]], [spread, spread], seed=0)
    machine = Perceptron("linear").fit(X, y)
    w, theta = machine.coef_, -machine.intercept_
    print("A perceptron that has learned to separate two classes")
    print(f"  w = {w.round(2)}, θ = {theta:.2f} after {machine.n_updates_} corrections")
    print(f"  ⟨w, x⟩ > θ for {np.sum(X[y == 1] @ w > theta)} of {np.sum(y == 1)} crosses")
    print(f"  ⟨w, x⟩ > θ for {np.sum(X[y == -1] @ w > theta)} of {np.sum(y == -1)} circles")
    # Any solution bounds the number of corrections; one with a wide margin bounds it well.
    wide = Perceptron("linear", margin=100.0).fit(X, y)
    k0 = machine.bound(np.append(wide.intercept_, wide.coef_))
    print(f"  the convergence theorem allows at most {k0:.0f} corrections")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-1").draw().savefig(out, dpi=144)
