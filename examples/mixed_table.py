"""A table with numbers, categories and molecules or sequences in its columns, and with gaps.

If `MERCER_DATA` has them, the rows are 500 of 1128 substances whose solubility in water was
measured (ESOL): a SMILES string and five numbers. Otherwise they are made-up enzymes: a sequence,
a species, temperature and acidity, and an activity that depends on all of them. One number in ten
is then lost. Each column has its own kernel, and what a gap means is said for each. Kernels and
penalties are judged by nested cross-validation.
"""

import argparse
import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_predict

from mercer import KernelRidge, explain
from mercer.errors import SelectionWarning
from mercer.kernels import Categorical, Gaussian, Kernel, Molecule, Spectrum, normalize
from mercer.plots import plot_agreement
from mercer.selection import GridSearchCV, nested_cv

FOLDS = KFold(5, shuffle=True, random_state=0)
PENALTIES = [0.03, 0.1, 0.3, 1.0]


def main(out: Path | None) -> None:
    table, target, numbers, others = data()
    lost = table[numbers].isna().to_numpy()
    print(f"{len(table)} rows; {lost.mean():.0%} of {len(numbers)} columns of numbers are missing")
    print(table.head(3).to_string(index=False, max_colwidth=24))

    # Numbers are compared column by column, so that a gap in one leaves the others as they are.
    own, ignored = (sum_of(numbers, choice) for choice in ("own category", "ignore dimension"))
    print("\nR² on rows that had no part in the choice (mean ± standard error)")
    print(f"  numbers; a gap is like a gap  {judged(table, target, own)}")
    print(f"  the other columns             {judged(table, target, others)}")
    print(f"  both, added                   {judged(table, target, own + others)}")
    clipped = judged(table, target, ignored + others, indefinite="clip")
    print(f"  both; a gap is ignored        {clipped}")
    one = Gaussian(1.0).on(numbers[0], missing="ignore dimension")
    print(f"\nWhy the last one needs a repair, indefinite='clip':\n{one.proof()}")

    machine = KernelRidge(own + others, intercept=True)
    search = GridSearchCV(machine, {"penalty": PENALTIES}, cv=FOLDS).fit(table[1:], target[1:])
    why = explain(search, table[:1])[0]
    print(f"\nThe first row: {target.iloc[0]:.2f}, predicted {why.score:.2f}, which is")
    print(f"  {why.explanation.offsets[0]:+.2f}  for any row")
    for part in why.columns().itertuples():
        print(f"  {part.contribution:+.2f}  from {', '.join(part.columns)}")
    if out is not None:
        draw(search, table[1:], target[1:], out)


def draw(search: GridSearchCV, table: pd.DataFrame, target: pd.Series, out: Path) -> None:
    """Draw held-out predictions against the truth, and what each column adds to forty rows."""
    held_out = cross_val_predict(search.best_estimator_, table, target, cv=FOLDS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
    plot_agreement(target, held_out, left)
    some = explain(search, table[:40])
    parts = [one.columns() for one in some]
    shares = np.array([part["contribution"] for part in parts])
    names = [", ".join(columns) for columns in parts[0]["columns"]]
    right.axvline(0.0, color="gray", linewidth=0.8)
    for row, share in enumerate(shares.T):
        right.plot(share, np.full(len(share), row), "o", alpha=0.4, markersize=4)
    right.set(yticks=range(len(names)), yticklabels=names, xlabel="added to the prediction")
    right.invert_yaxis()
    figure.savefig(out, dpi=144)


def judged(table: pd.DataFrame, target: pd.Series, kernel: Kernel, **settings: str) -> str:
    """Return R² by nested cross-validation, the penalty being chosen inside."""
    machine = KernelRidge(kernel, intercept=True, **settings)
    with warnings.catch_warnings():  # the best penalty may be at the border
        warnings.simplefilter("ignore", SelectionWarning)
        found = nested_cv(machine, table, target, {"penalty": PENALTIES}, FOLDS, inner=3)
    return f"{found.mean:.3f} ± {found.standard_error:.3f}"


def sum_of(numbers: list[str], missing: str) -> Kernel:
    """Return one Gaussian for each column of numbers, added."""
    parts = [Gaussian("median").on(name, missing=missing) for name in numbers]
    return sum(parts[1:], parts[0])


def data() -> tuple[pd.DataFrame, pd.Series, list[str], Kernel]:
    """Return rows, target, the names of columns of numbers, and a kernel of all others."""
    rng = np.random.default_rng(0)
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "molecules"
    if path.exists():
        table = pd.read_csv(path / "ESOL_delaney-processed.csv")
        table = table.sample(500, random_state=0).reset_index(drop=True)
        target = table.pop("measured log solubility in mols per litre")
        numbers = [
            "Molecular Weight", "Number of H-Bond Donors", "Number of Rings",
            "Number of Rotatable Bonds", "Polar Surface Area",
        ]  # fmt: skip
        table = table[["smiles", *numbers]].assign(smiles=table["smiles"].str.strip())
        others: Kernel = Molecule(radius=1).on("smiles")
    else:
        table, target = enzymes(rng)
        numbers = ["temperature", "pH"]
        others = normalize(Spectrum(2)).on("sequence") * Categorical().on("species")
    table[numbers] = (
        table[numbers].astype(float).mask(rng.random((len(table), len(numbers))) < 0.1)
    )
    return table, target, numbers, others


def enzymes(rng: np.random.Generator, count: int = 240) -> tuple[pd.DataFrame, pd.Series]:
    """Return made-up enzymes; a motif helps one species and hurts the other."""
    sequences = ["".join(rng.choice(list("ADEGKLS"), rng.integers(20, 40))) for _ in range(count)]
    table = pd.DataFrame(
        {
            "sequence": sequences,
            "species": rng.choice(["yeast", "mouse"], count),
            "temperature": rng.normal(30, 8, count).round(1),
            "pH": rng.normal(7, 1, count).round(2),
        }
    )
    motif = table["sequence"].str.count("KL") / table["sequence"].str.len() * 30
    activity = motif * np.where(table["species"] == "yeast", 1.0, -1.0)
    activity += (
        2 * np.exp(-(((table["temperature"] - 37) / 8) ** 2)) - 0.5 * (table["pH"] - 7) ** 2
    )
    return table, activity + rng.normal(0, 0.3, count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
