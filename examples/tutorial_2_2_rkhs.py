"""Sections 2.2 and 2.3 of the tutorial: from a kernel to a space of functions, in three steps.

A vector space, an inner product on it, and a map Φ into it with ⟨Φ(x), Φ(y)⟩ = k(x, y).
"""

import argparse
from pathlib import Path

import numpy as np

from mercer.kernels import Gaussian, Linear, Sigmoid
from mercer.plots.figures import find
from mercer.rkhs import Function, section


def main() -> None:
    positive_definite()
    vector_space()
    inner_product()
    linearization()


def positive_definite() -> None:
    """What makes a similarity a kernel: wᵀKw ≥ 0 for all points and weights (13)."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    for kernel in (Gaussian(np.sqrt(0.5)), Sigmoid(1.0, -1.0)):
        smallest = np.linalg.eigvalsh(kernel(X))[0]
        print(f"(13) {kernel}: {kernel.proof().verdict}, smallest eigenvalue {smallest:.2g}")


def vector_space() -> None:
    """Step 1: functions f = Σwᵢk(·, xᵢ) can be added and multiplied (14)."""
    k = Gaussian(np.sqrt(0.5))  # (19): exp(−‖x − y‖²)
    f = Function(k, [[0.0], [1.0]], [1.0, -0.5])
    g = Function(k, [[2.0]], [3.0])
    h = 2 * f + g
    x = [[0.7]]
    print(f"(14) (2f + g)(0.7) = {h(x)[0]:.4f} = {2 * f(x)[0] + g(x)[0]:.4f}, {len(h)} terms")


def inner_product() -> None:
    """Step 2: ⟨f, g⟩ = Σwᵢvⱼk(xᵢ, yⱼ) does not depend on the expansion (15, 16)."""
    k = Linear()  # here expansions are not unique: k(·, 2x) = 2k(·, x)
    f, same = Function(k, [[2.0]], [1.0]), Function(k, [[1.0], [3.0]], [-1.0, 1.0])
    g = Function(k, [[0.5]], [4.0])
    print(f"(16) two expansions of one function: ⟨f, g⟩ = {f.inner(g):.2f} = {same.inner(g):.2f}")
    print(f"     and their distance is {f.distance(same):.1g}")


def linearization() -> None:
    """Step 3: Φ(x) = k(·, x) evaluates functions and reproduces the kernel (17, 18)."""
    k = Gaussian(np.sqrt(0.5))
    f = Function(k, [[0.0], [1.0]], [1.0, -0.5])
    x, y = section(k, [0.7]), section(k, [1.5])
    print(f"(17) ⟨k(·, x), f⟩ = {x.inner(f):.4f} = f(x) = {f([[0.7]])[0]:.4f}")
    print(f"(18) ⟨k(·, x), k(·, y)⟩ = {x.inner(y):.4f} = k(x, y) = {k.pair([0.7], [1.5]):.4f}")
    print(f"(20) lengths {x.norm():.3f} and {y.norm():.3f}; their angle grows with distance:")
    for distance in (0.0, 0.5, 1.0, 2.0, 4.0):
        angle = np.degrees(section(k, [0.0]).angle(section(k, [distance])))
        print(f"     {distance} apart: {angle:5.1f}°")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-5").draw().savefig(out, dpi=144)
