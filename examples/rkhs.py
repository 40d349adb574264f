"""Functions as vectors: lengths, angles and projections in a space that a kernel makes.

Every function here is a weighted sum of similarities, f(x) = Σ wᵢ k(x, xᵢ), and so is every
machine after its fit. Equations are those of Jäkel, Schölkopf & Wichmann (2007).
"""

import numpy as np

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.rkhs import Function, hsic, mean_embedding, mmd, section


def main() -> None:
    sections()
    projections()
    machines()
    samples()


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


if __name__ == "__main__":
    main()
