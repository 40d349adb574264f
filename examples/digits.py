"""Learn to read handwritten digits, and say how many new ones will be read wrongly.

``make demo`` does the same with one command, `mercer fit`; here it is written out. The error is
estimated by nested cross-validation: each outer fold is held out while bandwidth and penalty are
chosen by an inner cross-validation on the others. So no image has any influence on the machine
that is judged by it.
"""

import argparse
from pathlib import Path
from textwrap import indent

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mercer import KernelRidgeClassifier
from mercer.kernels import Gaussian, check
from mercer.plots import plot_confusion

# The p-th power of a Gaussian is a Gaussian whose bandwidth is smaller by √p. The training images
# of each fold set the scale, and the grid moves around it. Of equally good choices the first is
# taken, so the smoothest come first.
MACHINE = KernelRidgeClassifier(kernel=Gaussian("scale") ** 2)
GRID = {"kernel__exponent": [1, 2, 4], "penalty": [0.1, 0.01, 0.001]}


def main(out: Path | None) -> None:
    X, y = load_digits(return_X_y=True)
    kernel = MACHINE.kernel.resolve(X)
    say(f"{len(X)} images of handwritten digits, {X.shape[1]} pixels each")
    say("The kernel, and why it is valid (equations of Bishop, 2006)", kernel.proof())
    say("The kernel on these images", check(kernel, X))
    say("The plan of a fit to all images", MACHINE.plan(X, targets=10).explain())

    say("Nested cross-validation")
    predicted = predict_held_out(X, y)
    say("Confusions among the held-out images", confusions(y, predicted))

    machine = choose(X, y)
    solution = machine.solution_
    certificate = f"{solution.solver}: {solution.status}, residual {solution.certificate:.1e}"
    say("The machine for later use, fitted to all images", f"{chosen(machine)}\n{certificate}")
    if out is not None:
        draw(X, y, predicted, out)


def draw(X: np.ndarray, y: np.ndarray, predicted: np.ndarray, out: Path) -> None:
    """Draw the confusions, and beside them images that were misread when they were held out."""
    figure = plt.figure(figsize=(8.5, 3.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.2, 1.0])
    plot_confusion(y, predicted, left.subplots())
    right.suptitle("misread: what it is → what was said", fontsize=9)
    wrong = np.flatnonzero(predicted != y)
    for ax, i in zip(right.subplots(3, 4).flat, wrong, strict=False):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{y[i]} → {predicted[i]}", fontsize=8)
    for ax in right.axes:
        ax.axis("off")
    figure.savefig(out, dpi=144)


def predict_held_out(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predict each image by a machine that was chosen and fitted without it."""
    predicted, errors, baseline = np.empty_like(y), [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        machine = choose(X[train], y[train])
        predicted[test] = machine.predict(X[test])
        errors.append(np.mean(predicted[test] != y[test]))
        baseline.append(np.mean(np.bincount(y[train]).argmax() != y[test]))
        print(f"  {errors[-1]:.1%} of {len(test)} held-out images wrong with {chosen(machine)}")
    spread = np.std(errors, ddof=1) / np.sqrt(len(errors))
    print(f"  error on new images: {np.mean(errors):.1%}, standard error {spread:.1%}")
    print(f"  error of the majority class: {np.mean(baseline):.1%}")
    return predicted


def choose(X: np.ndarray, y: np.ndarray) -> KernelRidgeClassifier:
    """Choose bandwidth and penalty by cross-validation, then fit."""
    inner = StratifiedKFold(3, shuffle=True, random_state=1)
    return GridSearchCV(MACHINE, GRID, cv=inner).fit(X, y).best_estimator_


def chosen(machine: KernelRidgeClassifier) -> str:
    """Say what was chosen, the bandwidth as a number."""
    power = machine.kernel_
    sigma = power.kernel.bandwidth / np.sqrt(power.exponent)
    return f"bandwidth {sigma:.1f}, penalty {machine.penalty:g}"


def confusions(y: np.ndarray, predicted: np.ndarray) -> str:
    """List the mistakes, the most frequent first."""
    wrong = predicted != y
    mistakes = np.column_stack([y[wrong], predicted[wrong]])
    pairs, counts = np.unique(mistakes, axis=0, return_counts=True)
    lines = [
        f"{counts[i]} × {pairs[i, 0]} read as {pairs[i, 1]}"
        for i in np.argsort(-counts, kind="stable")
    ]
    return "\n".join([*lines[:5], "..."] if len(lines) > 5 else lines)


def say(title: str, text: object = "") -> None:
    """Print a heading, and below it the text."""
    print(f"\n{title}", *([indent(str(text), "  ")] if text else []), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
