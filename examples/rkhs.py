"""Functions as vectors: lengths, angles and projections in a space that a kernel makes.

Every function here is a weighted sum of similarities, f(x) = Σ wᵢ k(x, xᵢ), and so is every
machine after its fit. Equations are those of Jäkel, Schölkopf & Wichmann (2007).
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.rkhs import Function, hsic, mean_embedding, mmd, section


def main(out: Path | None) -> None:
    sections()
    projections()
    machines()
    samples()
    if out is not None:
        draw(out)


def sections() -> None:
    """A thing becomes the function k(·, x), and similarity becomes an angle."""
    k = Gaussian(1.0)
    f, g = section(k, [0.0]), section(k, [1.0])
    print("Two things as functions")
    print(f"  lengths {f.norm():.3f} and {g.norm():.3f}")
    print(
        f"  cosine of their angle {np.cos(f.angle(g)):.3f}, similarity {k.pair([0.0], [1.0]):.3f}"
    )
    h = 2 * f - g
    print(f"  h = 2f − g: h(1) = {h([[1.0]])[0]:.3f} = ⟨h, k(·, 1)⟩ = {h.inner(g):.3f}  (17)\n")


def projections() -> None:
    """The f∥ + f⊥ of the representer theorem: what data can know of a function."""
    f = Function(Gaussian(1.0), [[0.0], [1.0], [2.5]], [1.0, -1.0, 2.0])
    data = [[0.5], [2.0]]
    seen = f.project(data)
    rest = f - seen
    print("A function, seen from two points")
    print(f"  |f|² = {f.norm() ** 2:.3f} = {seen.norm() ** 2:.3f} + {rest.norm() ** 2:.3f}")
    print(f"  at the points: f = {f(data).round(3)}, its projection = {seen(data).round(3)}")
    print(f"  the rest is zero there: {np.abs(rest(data)).max() < 1e-12}\n")


def machines() -> None:
    """What a machine has learned is such a function; a larger penalty makes it shorter."""
    X = np.linspace(0.0, 6.0, 40)[:, None]
    print("Ridge regression on a sine")
    for penalty in (0.01, 1.0, 100.0):
        f = KernelRidge(Gaussian(1.0), penalty=penalty).fit(X, np.sin(X[:, 0])).function_
        print(f"  penalty {penalty:6}: length {f.norm():.3f}")
    print()


def samples() -> None:
    """A whole sample becomes one function, its mean embedding, and has distances to others."""
    rng = np.random.default_rng(1)
    k = Gaussian(1.0)
    narrow, again = rng.normal(0.0, 1.0, (2, 100, 1))
    wide = rng.normal(0.0, 2.0, (100, 1))
    print("Samples as functions: are they from the same distribution?")
    for name, other in (("same spread", again), ("twice the spread", wide)):
        apart = mean_embedding(k, narrow).distance(mean_embedding(k, other))
        p = mmd(k, narrow, other, permutations=999).pvalue
        print(f"  {name}: distance of the mean embeddings {apart:.3f}, p = {p:.3f}")

    turn = rng.uniform(0.0, 2 * np.pi, 100)
    x, y = np.cos(turn)[:, None], np.sin(turn)[:, None]
    p = hsic(Gaussian(0.3), Gaussian(0.3), x, y, permutations=999).pvalue
    correlation = np.corrcoef(x[:, 0], y[:, 0])[0, 1]
    print(f"  x and y on a circle: correlation {correlation:.2f}, p = {p:.3f} for independence")


def draw(out: Path) -> None:
    """Draw a function with its projection, machines of three lengths, and two samples."""
    figure, axes = plt.subplots(1, 3, figsize=(9.0, 2.9), layout="constrained")
    f = Function(Gaussian(1.0), [[0.0], [1.0], [2.5]], [1.0, -1.0, 2.0])
    data = np.array([[0.5], [2.0]])
    x = np.linspace(-3.0, 6.0, 200)[:, None]
    axes[0].plot(x, f(x), label="f")
    axes[0].plot(x, f.project(data)(x), "--", label="what two points know of it")
    axes[0].plot(data, f(data), "ko")
    X = np.linspace(0.0, 6.0, 40)[:, None]
    for penalty in (0.01, 1.0, 100.0):
        f = KernelRidge(Gaussian(1.0), penalty=penalty).fit(X, np.sin(X[:, 0])).function_
        axes[1].plot(x, f(x), label=f"penalty {penalty:g}, length {f.norm():.2f}")
    axes[1].plot(X, np.sin(X), "k.", markersize=3)
    rng = np.random.default_rng(1)
    for spread in (1.0, 2.0):
        sample = rng.normal(0.0, spread, (100, 1))
        mean = mean_embedding(Gaussian(1.0), sample)
        lines = axes[2].plot(2 * x - 3, mean(2 * x - 3), label=f"spread {spread:g}")
        axes[2].plot(sample, np.full(100, -0.04 * spread), "|", color=lines[0].get_color())
    titles = ("a projection", "ridge regression", "samples as functions")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=10)
        ax.legend(fontsize=7, frameon=False)
    figure.savefig(out, dpi=144)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
