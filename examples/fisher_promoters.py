"""Tell promoters from other DNA: the Fisher kernel of a hidden Markov model beside string kernels.

A promoter is where the copying of a gene begins. A hidden Markov model whose states are passed in
order learns what such stretches look like, from all sequences and without their labels. The
Fisher kernel compares two sequences by how they would have to change the model (Jaakkola &
Haussler, 1999). String kernels compare the pieces that both have.

The sequences are 106 of E. coli if `MERCER_DATA` has them, otherwise made up. Accuracies are from
nested cross-validation, and the model is fitted again in every training fold, so that nothing is
judged by what it has seen. With ``--out FILE`` they are drawn, beside a map of the sequences.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, KernelPCA
from mercer.errors import SelectionWarning
from mercer.kernels import Fisher, HiddenMarkov, Kernel, Spectrum, WeightedDegree, normalize
from mercer.models import HiddenMarkovModel, model
from mercer.selection import NestedScores, nested_cv


@model
class Passage(HiddenMarkovModel):
    """A hidden Markov model whose states are passed one after the other, from first to last.

    The algorithm of Baum and Welch leaves at zero what begins as zero, so only the beginning is
    new.
    """

    def begin(self, points, weights, rng):
        ordinary = super().begin(points, weights, rng)
        n = self.states
        leave = n / max(float(np.mean(points.lengths)), 1.25 * n)
        step = (1 - leave) * np.eye(n) + leave * np.eye(n, k=1)
        step[-1, -1] = 1.0
        return ordinary.set_params(start=np.eye(n)[0], transition=step)


MODEL = Passage(10, smoothing=0.1, tolerance=0.01, iterations=500)
FISHER = normalize(Fisher(MODEL, ridge=1.0, fit_model=True))
KERNELS: dict[str, tuple[Kernel, dict]] = {
    "Fisher": (FISHER, {"kernel__kernel__ridge": [0.1, 1.0, 10.0, 100.0]}),
    "one hidden path": (HiddenMarkov(MODEL, fit_model=True), {}),
    "pieces of 3 letters": (normalize(Spectrum(3)), {}),
    "pieces at the same place": (normalize(WeightedDegree(5)), {}),
    "Fisher and pieces of 3": (FISHER + normalize(Spectrum(3)), {}),
}
C = [0.03, 0.3, 3.0, 30.0]


def main(out: Path | None) -> None:
    sequences, labels, name = dna()
    print(f"{name}: {len(sequences)} sequences, half of them promoters\n")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    # With so few sequences a choice at the border of a grid means nothing.
    warnings.simplefilter("ignore", SelectionWarning)
    found = {}
    for title, (kernel, grid) in KERNELS.items():
        machine = SVC(kernel)
        found[title] = nested_cv(
            machine, sequences, labels, {"C": C, **grid}, outer=folds, inner=4
        )
        print(f"{title:26}{found[title].mean:6.1%} ± {found[title].standard_error:.1%} right")
    if out is not None:
        draw(found, sequences, labels).savefig(out, dpi=144)
        print(f"\nWrote {out.name}")


def dna() -> tuple[list[str], np.ndarray, str]:
    """Return sequences, whether they are promoters, and what the set is called."""
    path = Path(os.environ.get("MERCER_DATA", "")) / "promoters" / "promoters.data"
    if "MERCER_DATA" in os.environ and path.exists():
        rows = [line.split(",") for line in path.read_text().splitlines() if line.strip()]
        labels = np.where([row[0] == "+" for row in rows], "promoter", "other")
        return [row[2].strip() for row in rows], labels, "E. coli"
    return *made_up(), "made up (set MERCER_DATA for sequences of E. coli)"


def made_up(count: int = 53, length: int = 57, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Make DNA; that of promoters has more A and T, and two boxes at about the right places."""
    rng = np.random.default_rng(seed)
    sequences = rng.choice(list("acgt"), size=(2 * count, length))
    for sequence in sequences[:count]:
        sequence[:] = rng.choice(list("acgt"), size=length, p=[0.3, 0.2, 0.2, 0.3])
        for box, place in (("ttgaca", 14), ("tataat", 37)):
            at = place + rng.integers(-3, 4)
            right = rng.random(len(box)) < 0.8
            sequence[at : at + len(box)][right] = np.array(list(box))[right]
    return ["".join(sequence) for sequence in sequences], np.repeat(["promoter", "other"], count)


def draw(found: dict[str, NestedScores], sequences: list[str], labels: np.ndarray):
    """Draw the accuracies, and the sequences as the Fisher kernel sees them."""
    import matplotlib.pyplot as plt

    from mercer.plots import plot_points, style

    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
        names = list(found)[::-1]
        means = [found[name].mean for name in names]
        errors = [found[name].standard_error for name in names]
        left.errorbar(means, names, xerr=errors, fmt="o")
        left.axvline(0.5, color="0.8")
        left.set_xlabel("right, of sequences that are new (± standard error)")
        places = KernelPCA(FISHER, n_components=2).fit_transform(sequences)
        plot_points(places, labels, ax=right)
        right.set_title("two principal components of the Fisher kernel")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None)
    main(parser.parse_args().out)
