"""Section 2.5 of the tutorial: a perceptron in infinitely many dimensions can learn everything.

Also what is not worth learning: here the labels are thrown by a coin.
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import KernelRidge, Perceptron
from mercer.kernels import Gaussian
from mercer.plots.figures import find
from mercer.rkhs import section


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.choice([-1, 1], 40)
    k = Gaussian(0.5)

    K = k(X)
    w = np.linalg.solve(K, y)
    print(f"(24) K has rank {np.linalg.matrix_rank(K)} of {len(K)}, so w = K⁻¹y exists")
    machine = KernelRidge(k, penalty=0.0).fit(X, y)
    f = machine.function_
    same = np.allclose(w, f.coefficients)
    print(f"     the machine without a penalty has the same weights: {same}")
    print(f"     f(xⱼ) = yⱼ up to {np.abs(f(X) - y).max():.1e}: all {len(y)} coin throws learned")

    x = X[3]
    print(f"(22) ⟨f, Φ(x)⟩ = {f.inner(section(k, x)):.6f} = f(x) = {f(x[None])[0]:.6f}\n")

    corrected = Perceptron(k).fit(X, y)
    wrong = np.sum(corrected.predict(X) != y)
    print(f"The perceptron's rule: {corrected.n_updates_} corrections, then {wrong} items wrong")
    new, coins = rng.normal(size=(5000, 2)), rng.choice([-1, 1], 5000)
    print(f"{np.mean(np.sign(f(new)) != coins):.0%} of new coin throws are predicted wrongly\n")

    print("The rank is full in theory, but in practice the condition number of K grows:")
    for bandwidth in (0.25, 0.5, 1.0, 2.0):
        print(f"  bandwidth {bandwidth}: {np.linalg.cond(Gaussian(bandwidth)(X)):.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-7").draw().savefig(out, dpi=144)
