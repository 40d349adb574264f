"""Section 1.5 of the tutorial: problems that a line cannot solve, and a map that helps.

The classes of figs. 3 and 4; then two famous ones, XOR and connectivity, with the same remedy.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from mercer import Perceptron
from mercer.datasets import Dataset, circle, connectivity, xor
from mercer.errors import ConvergenceWarning
from mercer.kernels import Kernel, Linear, Polynomial
from mercer.plots.figures import find


def main() -> None:
    linearization()
    for name, problem in (("circle", circle()), ("xor", xor()), ("connectivity", connectivity())):
        print(f"{name}: wrong with a linear kernel {errors(Linear(), problem)}, ", end="")
        print(f"with a polynomial of degree 2 {errors(Polynomial(2, offset=1.0), problem)}")
    draw(connectivity())


def linearization() -> None:
    """Map the items to three dimensions, where a plane separates them."""
    X, y = circle()
    Z = Polynomial(2).features(X)
    by_hand = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    print(f"(9) Φ(x) = (x₁², √2x₁x₂, x₂²): {np.allclose(Z, by_hand)}")
    machine = Perceptron("linear").fit(Z, y)
    w = ", ".join(f"{value:.1f}" for value in machine.coef_)
    print(f"(10) a plane with w = ({w}), θ = {-machine.intercept_:.1f} separates ", end="")
    print(f"all items: {machine.converged_}\n")


def errors(kernel: Kernel, problem: Dataset) -> int:
    """Count the items that a perceptron cannot learn, after at most 200 passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it says that there is no solution
        machine = Perceptron(kernel, max_epochs=200).fit(*problem)
    return int(np.sum(machine.predict(problem.X) != problem.y))


def draw(problem: Dataset) -> None:
    """Show the four figures of Minsky and Papert, each as one column of text."""
    pictures = problem.X.reshape(4, *problem.extra["shape"])
    print()
    for row in np.swapaxes(pictures, 0, 1):
        print("   ".join("".join(".#"[int(pixel)] for pixel in line) for line in row))
    print("   ".join(f"{problem.names[int(label > 0)]:9}" for label in problem.y))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-4").draw().savefig(out, dpi=144)
