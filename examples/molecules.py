"""Which molecules dissolve in water, or reach the brain? Fragments, graphs, and both together.

Without other data it asks which of 60 common substances dissolve in water, as textbooks of
chemistry know. If `MERCER_DATA` has them, it takes 600 of 2039 molecules that do or do not pass
from blood to brain (BBBP of MoleculeNet). A molecule is a SMILES string, read by RDKit (extra
``molecules``). Kernels are judged by nested cross-validation. With ``--out FILE`` a molecule is
drawn, each atom colored by what it added to the decision.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, explain
from mercer.datasets import read_smiles
from mercer.errors import SelectionWarning
from mercer.kernels import Molecule, WeisfeilerLehman, normalize
from mercer.selection import nested_cv

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
KERNELS = {
    "fragments": [Molecule(radius) for radius in (1, 2)],
    "graphs of atoms and bonds": [normalize(WeisfeilerLehman(depth)) for depth in (2, 3, 4)],
    "both, added": [Molecule(1) + normalize(WeisfeilerLehman(depth)) for depth in (2, 3)],
}
SOLUBLE = """
CO CCO CCCO CC(C)O CC(C)(C)O OCCO CC(O)CO OCC(O)CO CC(C)=O CC=O C=O OC=O CC(=O)O CCC(=O)O
CC(O)C(=O)O OC(=O)C(=O)O NC(N)=O CC(N)=O CN(C)C=O CC#N CN CCN CN(C)C NCCO NCCN C1CCNCC1 C1COCCO1
C1CCOC1 c1ccncc1 CS(C)=O
"""
INSOLUBLE = """
CCCCC CCCCCC CCCCCCCC CC(C)CC(C)(C)C C1CCCCC1 CC1CCCCC1 C=CCCCC c1ccccc1 Cc1ccccc1 CCc1ccccc1
Cc1ccc(C)cc1 C=Cc1ccccc1 c1ccc2ccccc2c1 c1ccc(cc1)c1ccccc1 Clc1ccccc1 Brc1ccccc1 Clc1ccc(Cl)cc1
ClC(Cl)(Cl)Cl CCCCCl CCCCCBr CCCCCCCCO CCCCCCCCCCO CCCCCCCCCC(=O)O CCCCCCCCC=O CCCCCC(=O)OCC
CCCCOCCCC COc1ccccc1 CCOC(=O)c1ccccc1 c1ccc(cc1)Oc1ccccc1 CN(C)c1ccccc1
"""


def main(out: Path | None) -> None:
    X, y, question = data()
    print(f"{question} {len(X)} molecules, {np.mean(y == 'yes'):.0%} yes")
    print("\nRight on molecules that had no part in the choice (mean ± standard error)")
    for name, kernels in KERNELS.items():
        grid = {"kernel": kernels, "C": [1.0, 10.0, 100.0]}
        with warnings.catch_warnings():  # the deepest graphs, or the largest C, may be best
            warnings.simplefilter("ignore", SelectionWarning)
            found = nested_cv(SVC(), X, y, grid, FOLDS, inner=5)
        print(f"  {name:26} {found.mean:.3f} ± {found.standard_error:.3f}")

    new = {"aspirin": "CC(=O)Oc1ccccc1C(=O)O", "vitamin C": "OCC(O)C1OC(=O)C(O)=C1O"}
    machine = SVC(Molecule(1), C=10.0).fit(X, y)
    for name, why in zip(new, explain(machine, list(new.values()), label="yes"), strict=True):
        print(f"\n{name}: score {why.score:+.2f} for yes, pulled most by")
        for row in why.exemplars(3).itertuples():
            print(f"  {row.exemplar}, similarity {row.similarity:.2f}: {row.contribution:+.2f}")
        atoms = why.units().groupby("unit")["contribution"].sum()
        print("  by element:", ", ".join(f"{a} {v:+.2f}" for a, v in atoms.items()))
    if out is not None:
        from mercer.plots import plot_atoms

        plot_atoms(why).figure.savefig(out, dpi=144)
        print(f"\nWrote {out.name}")


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """Return SMILES, answers, and the question."""
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "molecules" / "BBBP.csv"
    if path.exists():
        found = read_smiles(path, target="p_np", invalid="drop")
        some = np.random.default_rng(0).permutation(len(found))[:600]
        answers = np.where(found.y[some] == 1, "yes", "no")
        return found.X[some], answers, "Does it pass from blood to brain?"
    yes, no = SOLUBLE.split(), INSOLUBLE.split()
    X = np.array([*yes, *no], dtype=object)
    return X, np.repeat(["yes", "no"], (len(yes), len(no))), "Does it dissolve in water?"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
