"""Sections 1.2 to 1.4 of the tutorial: prototypes, and which inner product they are near in.

A prototype classifier is a perceptron whose weight vector is the difference of two means. When
dimensions are correlated, another inner product says what "near" and "orthogonal" mean (fig. 2).
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import PrototypeClassifier
from mercer.datasets import correlated_classes
from mercer.kernels import QuadraticForm
from mercer.plots.figures import find


def main() -> None:
    X, y = correlated_classes(seed=2)
    prototypes(X, y)
    K = inner_products(X, y)
    rotate_and_scale(K, X, y)


def prototypes(X: np.ndarray, y: np.ndarray) -> None:
    """The nearest mean, and the same as an inner product with a threshold."""
    machine = PrototypeClassifier("linear").fit(X, y)
    a, b = X[y == 1].mean(axis=0), X[y == -1].mean(axis=0)
    theta = (a @ a - b @ b) / 2
    nearest = np.sum((X - b) ** 2, axis=1) > np.sum((X - a) ** 2, axis=1)
    print("(5) closer to the mean of A ⇔ ⟨a − b, x⟩ > θ")
    print(f"  θ = {theta:.3f}, of the machine {machine.threshold_:.3f}")
    print(f"  the same answers: {np.array_equal(nearest, machine.predict(X) == 1)}")
    print(f"  {np.mean(machine.predict(X) != y):.0%} of the items wrong\n")


def inner_products(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The inverse covariance as the matrix of the inner product (7)."""
    machine = PrototypeClassifier("linear", metric="covariance").fit(X, y)
    K = np.asarray(machine.kernel_.matrix)
    print("(7) the inner product wᵀKv with K the inverse of the covariance within the classes")
    print(f"  eigenvalues of K: {np.linalg.eigvalsh(K).round(2)}")
    print(f"  {np.mean(machine.predict(X) != y):.0%} of the items wrong")
    print("(8) a matrix with a negative eigenvalue makes no inner product:")
    print(f"  {QuadraticForm([[1.0, 2.0], [2.0, 1.0]]).proof().verdict}\n")
    return K


def rotate_and_scale(K: np.ndarray, X: np.ndarray, y: np.ndarray) -> None:
    """In other coordinates the new inner product is the standard one."""
    values, vectors = np.linalg.eigh(K)
    Z = X @ vectors * np.sqrt(values)
    machine = PrototypeClassifier("linear").fit(Z, y)
    print("K = UᵀΛU: rotate by U, scale by √Λ, and use the standard inner product")
    print(f"  ⟨x, z⟩_K = {X[0] @ K @ X[1]:.4f} = {Z[0] @ Z[1]:.4f}")
    print(f"  {np.mean(machine.predict(Z) != y):.0%} of the items wrong")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("tutorial-2").draw().savefig(out, dpi=144)
