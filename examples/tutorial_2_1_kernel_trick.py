"""Section 2.1 of the tutorial: the kernel trick.

Inner products of all products of d pixels, without computing one of them.
"""

import argparse
from itertools import product
from math import comb, prod
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

from mercer import PrototypeClassifier
from mercer.kernels import Linear, Polynomial
from mercer.plots.figures import find


def main() -> None:
    monomials()
    prototypes()


def monomials() -> None:
    """All ordered monomials of degree d have the inner product ⟨x, y⟩ᵈ."""
    rng = np.random.default_rng(0)
    x, y, d = rng.normal(size=4), rng.normal(size=4), 3
    slow = sum(
        prod(x[i] for i in index) * prod(y[i] for i in index)
        for index in product(range(len(x)), repeat=d)
    )
    print(f"{len(x) ** d} ordered monomials: ⟨Φ(x), Φ(y)⟩ = {slow:.6f}")
    print(f"the kernel:             ⟨x, y⟩³ = {Polynomial(d).pair(x, y):.6f}")
    print(f"of a picture with 16 × 16 pixels and degree 10 there are {256**10:.0e}")
    print(f"({comb(256 + 9, 10):.0e} if their order does not count)\n")


def prototypes() -> None:
    """A prototype classifier in the space of monomials, by (11)."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    small, labels = X[:200], y[:200]
    hidden = PrototypeClassifier(Polynomial(2)).fit(small, labels)
    shown = PrototypeClassifier(Linear()).fit(Polynomial(2).features(small), labels)
    same = np.mean(hidden.predict(X) == shown.predict(Polynomial(2).features(X)))
    print("Prototypes of handwritten digits, in the space of all products of two pixels")
    print(f"  by the kernel and by explicit products: {same:.0%} the same answers")
    for kernel in (Linear(), Polynomial(2), Polynomial(3), Polynomial(10)):
        score = cross_val_score(PrototypeClassifier(kernel), X, y, cv=5).mean()
        print(f"  {1 - score:.1%} of held-out digits wrong with {kernel}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("svm-regions").draw().savefig(out, dpi=144)
