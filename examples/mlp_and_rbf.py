"""Two kinds of hidden layers on the same data: tanh units that are trained, bumps that are set.

The hidden units of a multilayer perceptron are learned, on an error function with local minima, so
each random start ends elsewhere. The cells of a radial basis function network sit on the data;
only the output weights are learned, and they have one best value. The lecture *Cognitive
Algorithms: Kernel Methods* goes from the first to the second in this way.
"""

import time

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier

from mercer import RBFNetworkClassifier
from mercer.kernels import Gaussian

HIDDEN = 12
STARTS = 8


def main() -> None:
    X, y = make_moons(200, noise=0.2, random_state=0)
    new = make_moons(5000, noise=0.2, random_state=1)
    print(f"{HIDDEN} hidden units, {STARTS} random starts; errors on 5000 new items")
    print("                                best  median   worst   seconds")
    for name, make in (
        ("MLP, tanh units", multilayer),
        ("RBF, centers by k-means", clustered),
        ("RBF, random centers", drawn),
        ("RBF, chosen one by one (OLS)", chosen),
        ("RBF, a cell on each item", exemplars),
    ):
        compare(name, make, X, y, *new)


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
    main()
