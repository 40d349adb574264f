"""More data than memory: a file that is read in passes, and what the approximation costs.

    python examples/scale.py            # 30,000 rows, a few seconds
    python examples/scale.py 5000000    # five million rows, 800 MB on disk, some minutes

The file is never read into memory. The plan says what will be done before anything is done, and
the machine says afterwards how far its answer is from the exact one.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, Plan, Stream
from mercer.kernels import Gaussian
from mercer.plans import Nystrom

WIDTH = 20


def truth(X: np.ndarray) -> np.ndarray:
    """Return what is to be learned."""
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2


def write(path: Path, rows: int, rng: np.random.Generator) -> np.memmap:
    """Write random rows to a file, some at a time, and return it as a mapped array."""
    data = np.memmap(path, np.float64, "w+", shape=(rows, WIDTH))
    for start in range(0, rows, 100_000):
        some = slice(start, min(start + 100_000, rows))
        data[some] = rng.standard_normal((some.stop - some.start, WIDTH))
    data.flush()
    return np.memmap(path, np.float64, "r", shape=(rows, WIDTH))


def main(rows: int, out: Path | None) -> None:
    """Learn from a file with more and more centers."""
    rng = np.random.default_rng(0)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        X = write(Path(folder) / "rows.bin", rows, rng)
        y = np.concatenate([truth(X[i : i + 100_000]) for i in range(0, rows, 100_000)])
        y += 0.1 * rng.standard_normal(rows)
        new = rng.standard_normal((5000, WIDTH))
        for centers in (50, 200, 600):
            follow = Plan(approximate=Nystrom(centers))
            machine = KernelRidge(Gaussian(6.0), 1e-6 * rows, intercept=True, follow=follow)
            machine.fit(Stream.rows(X, y))
            error = np.sqrt(np.mean((machine.predict(new) - truth(new)) ** 2))
            told = machine.solution_.approximation
            found.append((centers, error, told.error, truth(new), machine.predict(new)))
            print(
                f"{centers:4} centers: error {error:.3f}; from the exact answer about "
                f"{100 * told.error:.0f} % of its spread; {machine.plan_.bytes / 1e6:.0f} MB"
            )
        print(machine.plan_.explain())
    if out is not None:
        draw(found, out)


def draw(found: list, out: Path) -> None:
    """Draw the error by the number of centers, and answers of the smallest and largest sketch."""
    centers, errors, told, _, _ = zip(*found, strict=True)
    figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.0), layout="constrained")
    axes[0].semilogx(centers, errors, "o-", label="error on new rows")
    axes[0].semilogx(
        centers, told, "s--", label="told: share of the spread\nfrom the exact answer"
    )
    axes[0].set(xlabel="centers", xticks=centers, xticklabels=centers, ylim=(0.0, None))
    axes[0].minorticks_off()
    axes[0].legend(fontsize=7, frameon=False)
    for ax, (count, _, _, true, said) in zip(axes[1:], (found[0], found[-1]), strict=True):
        ax.hexbin(true, said, gridsize=40, cmap="Blues", bins="log")
        ax.axline((0.0, 0.0), slope=1.0, color="black", linewidth=0.8)
        ax.set(title=f"{count} centers", xlabel="true", ylabel="predicted")
    figure.savefig(out, dpi=144)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=int, nargs="?", default=30_000)
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(**vars(parser.parse_args()))
