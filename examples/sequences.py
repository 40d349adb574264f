"""Which strands of DNA start a gene? Kernels on strings, compared, and what they look at.

The data are 106 strands of bacterial DNA, half of them promoters (UCI repository), if
`MERCER_DATA` has them; otherwise strands that are made up: random letters, of which half have two
boxes, as promoters do, near the right place and with some letters changed. Each kernel is judged
by nested cross-validation: its parameters and C are chosen without the strands that it is judged
by. With ``--out FILE`` a strand is drawn, each letter colored by what it added to the decision.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, explain
from mercer.errors import SelectionWarning
from mercer.kernels import Kernel, Mismatch, Spectrum, Subsequence, WeightedDegree, normalize
from mercer.selection import GridSearchCV, nested_cv

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
C = [1.0, 10.0, 100.0]
FAMILIES = {
    "common k-mers": [normalize(Spectrum(k)) for k in (2, 3, 4)],
    "k-mers with a wrong letter": [normalize(Mismatch(k, 1)) for k in (3, 4, 5)],
    "letters with gaps": [normalize(Subsequence(3, decay)) for decay in (0.3, 0.6)],
    "k-mers at the same place": [normalize(WeightedDegree(d)) for d in (2, 3, 4)],
    "... or up to two letters away": [normalize(WeightedDegree(d, shift=2)) for d in (2, 3, 4)],
}
BOXES = ((15, "TTGACA"), (38, "TATAAT"))


def main(out: Path | None) -> None:
    strands, y, name = data()
    print(f"{len(strands)} strands, {name}")
    print("\nRight on strands that had no part in the choice (mean ± standard error)")
    for family, kernels in FAMILIES.items():
        print(f"  {family:30} {judged(strands, y, kernels)}")
    everything = [kernel for kernels in FAMILIES.values() for kernel in kernels]
    print(f"  {'the best of all these':30} {judged(strands, y, everything)}")

    search = GridSearchCV(SVC(), {"kernel": everything, "C": C}, cv=FOLDS)
    machine = search.fit(strands[1:], y[1:]).best_estimator_
    print(f"\nFor later use: {machine.kernel}, C = {machine.C:g}")
    print("\nWhy does it decide about the first strand as it does?")
    why = explain(machine, strands[:1])[0]
    print(why)
    if out is not None:
        from mercer.plots import plot_letters

        plot_letters(why).figure.savefig(out, dpi=144)
        print(f"\nWrote {out.name}")


def judged(strands: np.ndarray, y: np.ndarray, kernels: list[Kernel]) -> str:
    """Return the accuracy by nested cross-validation, the kernel being chosen inside."""
    with warnings.catch_warnings():  # the best C may be the largest, with no errors left
        warnings.simplefilter("ignore", SelectionWarning)
        found = nested_cv(SVC(), strands, y, {"kernel": kernels, "C": C}, FOLDS, inner=5)
    return f"{found.mean:.3f} ± {found.standard_error:.3f}"


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """Return strands, what they are, and where they come from."""
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "promoters" / "promoters.data"
    if not path.exists():
        strands, y = made_up()
        return strands, y, "made up (set MERCER_DATA for real ones)"
    rows = [line.split(",") for line in path.read_text().splitlines() if line]
    names = np.array([{"+": "promoter", "-": "other"}[row[0]] for row in rows])
    return np.array([row[2].strip().upper() for row in rows], dtype=object), names, "promoters"


def made_up(count: int = 106, length: int = 57) -> tuple[np.ndarray, np.ndarray]:
    """Return strands of which half have both boxes, moved a little and with letters changed."""
    rng = np.random.default_rng(0)
    letters = rng.choice(list("ACGT"), (count, length))
    y = np.array(["promoter", "other"])[np.arange(count) % 2]
    for i in np.flatnonzero(y == "promoter"):
        for start, box in BOXES:
            kept = np.flatnonzero(rng.random(len(box)) < 0.8)
            letters[i, start + rng.integers(-1, 2) + kept] = np.array(list(box))[kept]
    return np.array(["".join(strand) for strand in letters], dtype=object), y


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
