"""Section 2.4 of the tutorial: a prototype in the kernel's space is an exemplar model.

The mean of the functions k(·, a) is a single point of that space, yet it remembers every exemplar:
evaluated at x it is the mean similarity of x to all of them (21).
"""

import argparse
from pathlib import Path

import numpy as np

from mercer import ExemplarClassifier, PrototypeClassifier
from mercer.datasets import two_gaussians
from mercer.kernels import Gaussian
from mercer.plots.figures import find
from mercer.rkhs import mean_embedding


def main() -> None:
    k = Gaussian(0.6)
    problem = two_gaussians(80, seed=1)
    X, y = problem
    new, truth = two_gaussians(5000, seed=0)

    prototype = PrototypeClassifier(k, threshold=0.0).fit(X, y)
    exemplar = ExemplarClassifier(k).fit(X, y)
    same = np.mean(prototype.predict(new) == exemplar.predict(new))
    print(f"(21) prototype in the kernel's space = exemplar model: {same:.0%} the same answers")

    A, B = (mean_embedding(k, X[y == label]) for label in (-1, 1))
    same = np.mean(np.where(B(new) > A(new), 1, -1) == exemplar.predict(new))
    print(f"     and so answer the mean embeddings: {same:.0%}")
    print(f"     distance of the two prototypes {A.distance(B):.3f}\n")

    # Normalized, either side is a kernel density estimate, so there are probabilities.
    x = [[0.3, 0.0]]
    probability = exemplar.predict_proba(x)[0, 1]
    odds = problem.extra["bound"](x)[0]
    print(f"P(cross | x) = {probability:.3f} by the exemplars, {1 / (1 + np.exp(-odds)):.3f} true")
    print(f"{np.mean(exemplar.predict(new) != truth):.1%} of new items wrong, ", end="")
    print(f"best possible {problem.extra['bayes_error']:.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("gcm").draw().savefig(out, dpi=144)
