"""Choose parameters, say honestly how well they will do, and predict with error bars.

The data are 442 patients with diabetes: ten measurements, and how far the disease had progressed a
year later. Each step is a call or two, to be copied for data of your own. With ``--out FILE`` the
choice of the penalty is drawn too.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import GaussianProcess, KernelRidge
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV, RidgePath, nested_cv, search

FOLDS = KFold(5, shuffle=True, random_state=0)
# The scaler is inside: it, too, must not see the items that are held out.
PIPELINE = make_pipeline(StandardScaler(), KernelRidge(Gaussian(), intercept=True))
GRID = {
    "kernelridge__kernel__bandwidth": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
    "kernelridge__penalty": [0.1, 0.3, 1.0, 3.0, 10.0],
}


def main(out: Path | None) -> None:
    data = load_diabetes()
    X, y = data.data, data.target

    print("The best of a grid")
    chosen = GridSearchCV(PIPELINE, GRID, cv=FOLDS).fit(X, y)
    print(f"  {short(chosen.best_params_)}: R² {chosen.best_score_:.3f}")

    print("\nHow well such a choice does on new patients: nested cross-validation")
    honest = nested_cv(PIPELINE, X, y, GRID, outer=FOLDS, inner=5)
    print(f"  R² {honest.mean:.3f}, standard error {honest.standard_error:.3f}")
    print(f"  {honest.stability:.0%} of the folds chose {short(honest.most_chosen)}")

    print("\nWithout a grid: which measurements matter, by the evidence")
    train, test = train_test_split(np.arange(len(X)), test_size=100, random_state=0)
    scale = StandardScaler().fit(X[train])
    unit = y[train].std()  # progression in units of its spread
    process = GaussianProcess(1.0 * Gaussian(), intercept=True)
    found = search(process, scale.transform(X[train]), y[train] / unit, per_dimension=True)
    widths = np.array(found.parameters["kernel__kernel__bandwidth"])
    for name, width in sorted(zip(data.feature_names, widths, strict=True), key=lambda x: x[1]):
        print(f"  {name:4} {width:8.1f}" + ("" if width < 100 else "  does not matter"))

    print("\nError bars, checked on 100 patients that the search has not seen")
    new = scale.transform(X[test])
    mean, std = (unit * a for a in found.machine.predict(new, return_std=True, noise=True))
    inside = np.abs(y[test] - mean) <= 1.96 * std
    for k in range(3):
        print(f"  predicted {mean[k]:.0f} ± {1.96 * std[k]:.0f}, was {y[test][k]:.0f}")
    print(f"  {inside.mean():.0%} are within their 95% interval")

    if out is not None:
        draw(out, scale.transform(X[train]), y[train])


def short(parameters: dict) -> str:
    """Name parameters by their last word."""
    return ", ".join(f"{name.split('__')[-1]} {value:g}" for name, value in parameters.items())


def draw(out: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the leave-one-out error along the penalty."""
    import matplotlib.pyplot as plt

    from mercer.plots import plot_path

    path = RidgePath(KernelRidge(Gaussian(4.0), intercept=True)).fit(X, y)
    figure, ax = plt.subplots(figsize=(5.0, 3.5), layout="constrained")
    plot_path(path, ax=ax)
    figure.savefig(out, dpi=144)
    print(f"\nWrote {out.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Choose parameters for the diabetes data.")
    parser.add_argument("--out", type=Path, default=None)
    main(parser.parse_args().out)
