"""Which texts are spam, or what is a function about? Words, pairs of words, runs of letters.

The texts are 2000 of 5574 short messages, spam or not (UCI repository), if `MERCER_DATA` has them.
Otherwise they are real too: the first sentences of the documentation of functions in four parts
of SciPy, which is installed anyway; the machine is to say which part a function belongs to.
Weights of words are learned in each training fold, and kernels and C chosen by nested
cross-validation.
"""

import argparse
import importlib
import inspect
import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, explain
from mercer.errors import SelectionWarning
from mercer.kernels import Text
from mercer.plots import plot_letters
from mercer.selection import nested_cv

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
KERNELS = {
    "words": [Text(), Text(sublinear=True)],
    "words and pairs of words": [Text(ngrams=(1, 2)), Text(ngrams=(1, 2), sublinear=True)],
    "runs of 3 to 4 letters": [Text("char_wb", ngrams=(3, 4))],
}
PARTS = ("linalg", "ndimage", "signal", "special")


def main(out: Path | None) -> None:
    texts, y, name = data()
    labels, counts = np.unique(y, return_counts=True)
    print(f"{len(texts)} texts, {name}")
    print("  " + ", ".join(f"{n} {label}" for label, n in zip(labels, counts, strict=True)))
    print("\nRight on texts that had no part in the choice (mean ± standard error)")
    for kind, kernels in KERNELS.items():
        with warnings.catch_warnings():  # the best C may be the largest
            warnings.simplefilter("ignore", SelectionWarning)
            grid = {"kernel": kernels, "C": [1.0, 10.0]}
            found = nested_cv(SVC(), texts, y, grid, FOLDS, inner=3)
        print(f"  {kind:26} {found.mean:.3f} ± {found.standard_error:.3f}")

    new, old = next(FOLDS.split(texts, y))[::-1]
    machine = SVC(Text(), C=10.0).fit(texts[old], y[old])
    wrong = new[machine.predict(texts[new]) != y[new]]
    print(f"\nTwo of {len(wrong)} mistakes of a machine of words, and the words that counted most")
    for i in wrong[:2]:
        why = explain(machine, texts[[i]])[0]
        words = why.features(4).itertuples()
        print(f"  {texts[i][:90]!r}\n    is {y[i]}, taken for {why.toward}:", end=" ")
        print(", ".join(f"{word.feature} {word.contribution:+.2f}" for word in words))
    if out is not None:
        right = new[machine.predict(texts[new]) == y[new]]
        draw(machine, texts[[*right[:2], *wrong[:2]]], out)


def draw(machine: SVC, some: np.ndarray, out: Path) -> None:
    """Draw texts with each word on its color: warm for what the machine says, cold against."""
    figure, axes = plt.subplots(4, 1, figsize=(8.5, 4.2), layout="constrained")
    for k, (ax, why) in enumerate(zip(axes, explain(machine, some), strict=True)):
        plot_letters(why, ax=ax, per_line=90)
        ax.set_title(f"taken for {why.toward}, " + ("wrongly" if k > 1 else "rightly"), fontsize=8)
    figure.savefig(out, dpi=144)


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """Return texts, what they are, and where they come from."""
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "text" / "sms_spam"
    if path.exists():
        lines = (path / "SMSSpamCollection").read_text(encoding="utf-8").split("\n")
        rows = [line.split("\t", 1) for line in lines if line][:2000]
        name = "short messages"
    else:
        rows = [(part, text) for part in PARTS for text in documentation(f"scipy.{part}")]
        name = "from SciPy (set MERCER_DATA for short messages)"
    return np.array([row[1] for row in rows], dtype=object), np.array([r[0] for r in rows]), name


def documentation(module: str) -> list[str]:
    """Return the first paragraph about each function of a module, after its signature."""
    part = importlib.import_module(module)
    found = []
    for name in part.__all__:
        text = inspect.getdoc(getattr(part, name)) or ""
        paragraphs = [p for p in text.split("\n\n") if not p.startswith(name)]
        if paragraphs and callable(getattr(part, name)):
            found.append(" ".join(paragraphs[0].split()))
    return sorted(set(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
