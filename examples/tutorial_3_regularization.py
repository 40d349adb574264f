"""Section 3 of the tutorial: between learning by heart and similarity alone.

The penalty λ of w = (K + λI)⁻¹y leads from the weights (24), which overfit, to equal weights (21),
which only count similarity. Cross-validation chooses a place between them; for these two clouds
similarity alone is not bad at all.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from mercer import ExemplarClassifier, KernelRidge
from mercer.datasets import two_gaussians
from mercer.kernels import Gaussian
from mercer.plots.figures import find
from mercer.rkhs import Function

KERNEL = Gaussian(0.6)


def main() -> None:
    problem = two_gaussians(80, seed=1)
    path(problem.X, problem.y)
    print(f"        best possible {problem.extra['bayes_error']:>9.1%}\n")
    choose(problem.X, problem.y)
    extremes(problem.X, problem.y)
    representer(problem.X, problem.y)


def path(X: np.ndarray, y: np.ndarray) -> None:
    """Follow the penalty: the function gets shorter, and knows the items less by heart."""
    new, truth = two_gaussians(20_000, seed=0)
    print("     λ   length   items wrong   new items wrong")
    for penalty in (0.0, 0.01, 0.1, 1.0, 10.0, 1000.0):
        machine = KernelRidge(KERNEL, penalty=penalty).fit(X, y)
        here = np.mean(np.sign(machine.predict(X)) != y)
        there = np.mean(np.sign(machine.predict(new)) != truth)
        print(f"{penalty:6g} {machine.function_.norm():8.2f} {here:13.0%} {there:17.1%}")


def choose(X: np.ndarray, y: np.ndarray) -> None:
    """Choose the penalty by ten-fold cross-validation (fig. 8)."""
    folds = KFold(10, shuffle=True, random_state=0)
    search = GridSearchCV(KernelRidge(KERNEL), {"penalty": np.logspace(-3, 2, 21)}, cv=folds)
    print(f"chosen by cross-validation: λ = {search.fit(X, y).best_params_['penalty']:.2g}\n")


def extremes(X: np.ndarray, y: np.ndarray) -> None:
    """No penalty is (24), a very large one answers like the exemplar model (21)."""
    none = KernelRidge(KERNEL, penalty=0.0).fit(X, y)
    much = KernelRidge(KERNEL, penalty=1e6).fit(X, y)
    exemplars = ExemplarClassifier(KERNEL).fit(X, y)
    new, _ = two_gaussians(2000, seed=0)
    same = np.mean(np.sign(much.predict(new)) == exemplars.predict(new))
    heart = np.allclose(none.dual_coef_, np.linalg.solve(KERNEL(X), y))
    print(f"λ = 0: w = K⁻¹y (24): {heart}")
    print(f"λ → ∞: the answers of the exemplar model (21): {same:.1%}\n")


def representer(X: np.ndarray, y: np.ndarray) -> None:
    """What is orthogonal to the exemplars costs length and changes nothing on them."""
    f = KernelRidge(KERNEL, penalty=1.0).fit(X, y).function_
    elsewhere = Function(KERNEL, [[9.0, 9.0], [0.3, 0.2]], [1.0, 1.0])
    g = f + (elsewhere - elsewhere.project(X))
    print("The representer theorem: add a part that is orthogonal to the exemplars")
    print(f"  on the exemplars it changes {np.abs(f(X) - g(X)).max():.1e}")
    print(f"  but the length grows from {f.norm():.3f} to {g.norm():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a picture")
    out = parser.parse_args().out
    main()
    if out is not None:
        find("ridge-path").draw().savefig(out, dpi=144)
