"""Two kinds of hidden layers on the same data: tanh units that are trained, bumps that are set.

The hidden units of a multilayer perceptron are learned, on an error function with local minima, so
each random start ends elsewhere. The cells of a radial basis function network sit on the data;
only the output weights are learned, and they have one best value. The lecture *Cognitive
Algorithms: Kernel Methods* goes from the first to the second in this way.
"""

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier

from mercer import RBFNetworkClassifier
from mercer.kernels import Gaussian
from mercer.plots import plot_points

HIDDEN = 12
STARTS = 8


def main(out: Path | None) -> None:
    X, y = make_moons(200, noise=0.2, random_state=0)
    new = make_moons(5000, noise=0.2, random_state=1)
    print(f"{HIDDEN} hidden units, {STARTS} random starts; errors on 5000 new items")
    print("                                best  median   worst   seconds")
    kinds = {
        "MLP, tanh units": multilayer,
        "RBF, centers by k-means": clustered,
        "RBF, random centers": drawn,
        "RBF, chosen one by one (OLS)": chosen,
        "RBF, a cell on each item": exemplars,
    }
    for name, make in kinds.items():
        compare(name, make, X, y, *new)
    if out is not None:
        draw(kinds, X, y, out)


def draw(kinds, X, y, out: Path) -> None:
    """Draw the boundaries that some kinds of networks learn from three random starts."""
    x1, x2 = np.linspace(-1.6, 2.6, 120), np.linspace(-1.2, 1.7, 90)
    grid = np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2)
    figure, axes = plt.subplots(1, 4, figsize=(10.0, 2.4), layout="constrained")
    names = [name for name in kinds if "one by one" not in name]
    for ax, name in zip(axes, names, strict=True):
        plot_points(X, y, ax, size=6.0)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
        for seed, line in enumerate(("-", "--", ":")):
            said = kinds[name](seed).fit(X, y).predict(grid).reshape(len(x2), len(x1))
            ax.contour(x1, x2, said, [0.5], colors="black", linewidths=1.2, linestyles=line)
        ax.set(title=name, xticks=[], yticks=[])
        ax.title.set_size(9)
    figure.savefig(out, dpi=144)


def multilayer(seed: int) -> GridSearchCV:
    # L-BFGS suits so few items better than scikit-learn's default, stochastic gradient descent.
    # The penalty of the weights is chosen by cross-validation, on the training items alone.
    network = MLPClassifier(
        (HIDDEN,), activation="tanh", solver="lbfgs", max_iter=3000, random_state=seed
    )
    return GridSearchCV(network, {"alpha": [0.01, 0.1, 1.0]}, cv=5)


def clustered(seed: int) -> RBFNetworkClassifier:
    return network(centers="kmeans", n_centers=HIDDEN, random_state=seed)


def drawn(seed: int) -> RBFNetworkClassifier:
    return network(centers="random", n_centers=HIDDEN, random_state=seed)


def chosen(seed: int) -> RBFNetworkClassifier:
    return network(centers="ols", n_centers=HIDDEN)


def exemplars(seed: int) -> RBFNetworkClassifier:
    return network(centers="all")


def network(**centers: object) -> RBFNetworkClassifier:
    """Return an RBF network; a small penalty keeps the weights of near cells in check."""
    return RBFNetworkClassifier(Gaussian(0.5), penalty=0.01, **centers)


def compare(name, make, X, y, new, truth) -> None:
    """Train from several starts, and print the errors and the time of a training."""
    errors, seconds = [], []
    for seed in range(STARTS):
        start = time.perf_counter()
        machine = make(seed).fit(X, y)
        seconds.append(time.perf_counter() - start)
        errors.append(np.mean(machine.predict(new) != truth))
    low, middle, high = np.quantile(errors, [0, 0.5, 1])
    print(f"{name:30} {low:5.1%} {middle:7.1%} {high:7.1%} {np.median(seconds):9.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
