"""Read digits by the Fisher vectors of a mixture: one description for any linear machine.

An image is taken as a bag of small patches, and a mixture of Gaussians models the patches of all
images. The Fisher vector of an image says how the mixture would have to change to make its
patches more probable (Perronnin & Dance, 2007). It has a feature for each parameter of the model,
so a linear machine on these features needs no Gram matrix, however many images there are.

Below is a model of one's own: bags of patches. It says how probable an image is, what its score
is, and how to learn, all by the mixture that it is made of. The errors are from nested
cross-validation; the mixture is fitted again in every training fold. With ``--out FILE`` the
patches that the mixture has learned are drawn.
"""

import argparse
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from mercer import KernelRidgeClassifier
from mercer.domains import VECTORS
from mercer.kernels import Fisher, Gaussian, Kernel, Linear, normalize
from mercer.models import GaussianMixtureModel, Model, model
from mercer.selection import nested_cv

SIDE, PATCH = 8, 4  # pixels
SOME = 3000  # patches to fit the mixture to


@model
class Bag(Model):
    """Images as bags of patches, which come independently from a mixture."""

    mixture: Any
    domain: ClassVar = VECTORS

    @property
    def fitted(self) -> bool:
        return self.mixture.fitted

    def log_densities(self, points):
        rows, of = patches(points.array)
        return of(self.mixture.log_density(rows)).sum(axis=1)

    def scores(self, points):
        rows, of = patches(points.array)
        return of(self.mixture.score(rows)).sum(axis=1)

    @property
    def parameter_names(self) -> list[str]:
        return self.mixture.parameter_names

    def learn(self, points, weights, seed):
        rows, _ = patches(points.array)
        some = np.random.default_rng(seed).choice(len(rows), min(SOME, len(rows)), replace=False)
        return Bag(self.mixture.fit(rows[some], seed=seed))


def patches(images: np.ndarray):
    """Return all patches, with their places, and a function that sorts answers by image."""
    pictures = images.reshape(-1, SIDE, SIDE) / 16
    found = np.lib.stride_tricks.sliding_window_view(pictures, (PATCH, PATCH), axis=(1, 2))
    n, high, wide = found.shape[:3]
    places = np.stack(np.meshgrid(np.arange(high), np.arange(wide), indexing="ij"), axis=2)
    places = np.broadcast_to(places.reshape(-1, 2) / (high - 1), (n, high * wide, 2))
    rows = np.concatenate([found.reshape(n, high * wide, -1), places], axis=2)
    return rows.reshape(n * high * wide, -1), lambda answers: answers.reshape(n, high * wide, -1)


MIXTURE = GaussianMixtureModel(18, "diag", floor=0.02, tolerance=0.01)
# A diagonal information: there are more than 600 parameters. The ridge is in its units.
FISHER = Fisher(Bag(MIXTURE), "diagonal", ridge=0.1, fit_model=True)
KERNELS: dict[str, Kernel] = {
    "pixels, linear": normalize(Linear()),
    "Fisher vectors, linear": normalize(FISHER),
    "pixels, Gaussian": Gaussian("median") ** 4,
}
GRID = {"penalty": 10.0 ** np.arange(-5, 3)}


def main(out: Path | None) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:700], y[:700]
    print(f"{len(X)} images of digits; errors on held-out images")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, kernel in KERNELS.items():
        machine = KernelRidgeClassifier(kernel, intercept=True)
        found = nested_cv(machine, X, y, GRID, outer=folds, inner=3)
        print(f"  {name:24}{1 - found.mean:6.1%} ± {found.standard_error:.1%}")
    fitted = FISHER.resolve(X)
    print(f"A Fisher vector has {fitted.features(X[:1]).shape[1]} entries.")
    if out is not None:
        draw(fitted.model.mixture).savefig(out, dpi=144)
        print(f"Wrote {out.name}")


def draw(mixture: GaussianMixtureModel):
    """Draw the mean patch of each component, the most frequent first."""
    import matplotlib.pyplot as plt

    from mercer.plots import style

    with style():
        figure, axes = plt.subplots(3, 6, figsize=(5.0, 3.2), layout="constrained")
        for ax, k in zip(axes.flat, np.argsort(-mixture.weights), strict=False):
            ax.imshow(mixture.means[k, :-2].reshape(PATCH, PATCH), cmap="gray_r", vmin=0, vmax=1)
            ax.set_title(f"{mixture.weights[k]:.1%}")
            ax.set_axis_off()
        figure.suptitle(
            "patches that the mixture has learned, and how frequent they are", fontsize=9
        )
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None)
    main(parser.parse_args().out)
