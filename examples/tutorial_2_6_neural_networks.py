"""Section 2.6 of the tutorial: exemplars as a neural network.

Each cell is tuned to one exemplar and answers k(x, xᵢ); an output neuron adds the answers with
weights (fig. 6). The weights can be computed at once, by (24), or learned from one example after
the other, by correcting each error a little.
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.plots.figures import find
from mercer.rkhs import Function


def main() -> None:
    k = Gaussian(0.7)
    X, y = np.array([[0.8], [2.0], [3.1], [4.3], [5.4]]), np.array([1, 1, -1, 1, -1])
    f = KernelRidge(k, penalty=0.0).fit(X, y).function_
    x = [[2.7]]
    network(f, x)
    learn(k, X, y, f)


def network(f: Function, x: list[list[float]]) -> None:
    """Follow one stimulus through the network (23)."""
    answers = f.kernel(x, f.points)[0]
    centers = np.ravel(list(f.points.items()))
    print(f"stimulus {x[0][0]}, cells tuned to {centers}")
    print(f"  the cells answer    {answers.round(2)}")
    print(f"  times their weights {f.coefficients.round(2)}")
    print(f"  sum {answers @ f.coefficients:.4f} = f(x) = {f(x)[0]:.4f}\n")


def learn(k: Gaussian, X: np.ndarray, y: np.ndarray, f: Function, rate: float = 0.3) -> None:
    """Move the weights of all cells by rate · error · answer, example by example."""
    K, w = k(X), np.zeros(len(X))
    print("passes   largest error   distance to K⁻¹y")
    for step in range(1, 1001):
        for i in range(len(X)):
            w += rate * (y[i] - K[i] @ w) * K[i]
        if step in (1, 10, 100, 1000):
            away = Function(k, X, w).distance(f)
            print(f"{step:6} {np.abs(K @ w - y).max():15.1e} {away:18.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-6").draw().savefig(out, dpi=144)
