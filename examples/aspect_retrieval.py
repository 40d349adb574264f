"""Find documents about the same subject, though they use other words: the aspect model.

An aspect model explains the words of a document by a few topics (Hofmann, 1999). Its Fisher
kernel compares two documents by the topics that they have in common and by the words that both
use, each in the sense of its topic (Hofmann, 2000; the application that Bishop's chapter names).
Beside it stands the usual cosine of weighted word counts (tf-idf).

The documents are newswire of R8 if `MERCER_DATA` has it, otherwise made up. Each held-out document
asks for the documents of its own class: by its nearest neighbors, in nested cross-validation, and
by a ranking of all others. Words are counted, and models fitted, in every training fold anew. With
``--out FILE`` precision and recall of the rankings are drawn.
"""

import argparse
import gzip
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from mercer import KernelNeighbors
from mercer.errors import SelectionWarning
from mercer.kernels import Fisher, Kernel, Linear, normalize
from mercer.models import AspectModel
from mercer.selection import nested_cv

EACH = 45  # documents of a class
COUNTS = CountVectorizer(max_features=600, stop_words="english", min_df=2)
# The natural parameters of word probabilities need no information matrix: (6.36). The strength
# says how much topics count beside single words.
FISHER = normalize(Fisher(AspectModel(8, strength=50.0), "identity", fit_model=True))
NEIGHBORS = {"machine__n_neighbors": [1, 5, 15]}
METHODS: dict[str, tuple[list, Kernel, dict]] = {
    "Fisher kernel of the aspect model": (
        [("count", COUNTS)],
        FISHER,
        {"machine__kernel__kernel__model__topics": [6, 12], **NEIGHBORS},
    ),
    "cosine of tf-idf": (
        [("count", COUNTS), ("weigh", TfidfTransformer())],
        normalize(Linear()),
        NEIGHBORS,
    ),
}
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def main(out: Path | None) -> None:
    documents, labels, name = texts()
    print(f"{name}: {len(documents)} documents of {len(set(labels))} classes\n")
    # The number of neighbors hardly matters, so it may well be the smallest or the largest.
    warnings.simplefilter("ignore", SelectionWarning)
    print("Class of the nearest documents, by nested cross-validation")
    for title, (steps, kernel, grid) in METHODS.items():
        machine = Pipeline([*steps, ("machine", KernelNeighbors(kernel))])
        found = nested_cv(machine, documents, labels, grid, outer=FOLDS, inner=3)
        print(f"  {title:36}{found.mean:6.1%} ± {found.standard_error:.1%} right")
    print("\nMean average precision of the rankings of all documents")
    curves = {}
    for title, (steps, kernel, _) in METHODS.items():
        precision, curves[title] = ranked(Pipeline(steps), kernel, documents, labels)
        print(f"  {title:36}{precision:.3f}")
    if out is not None:
        draw(curves).savefig(out, dpi=144)
        print(f"\nWrote {out.name}")


def ranked(counter: Pipeline, kernel: Kernel, documents: np.ndarray, labels: np.ndarray):
    """Let held-out documents rank the others; return mean average precision and the curve."""
    recalls, precisions, averages = np.linspace(0.05, 1.0, 20), [], []
    for train, test in FOLDS.split(documents, labels):
        known, new = counter.fit_transform(documents[train]), counter.transform(documents[test])
        K = kernel.resolve(known)(new, known)
        for row, label in zip(K, labels[test], strict=True):
            relevant = (labels[train] == label)[np.argsort(-row, kind="stable")]
            found = np.cumsum(relevant)
            precision = found / np.arange(1, len(found) + 1)
            averages.append(np.mean(precision[relevant]))
            precisions.append(np.interp(recalls, found / found[-1], precision))
    return np.mean(averages), (recalls, np.mean(precisions, axis=0))


def texts() -> tuple[np.ndarray, np.ndarray, str]:
    """Return documents, their classes, and what the set is called."""
    path = Path(os.environ.get("MERCER_DATA", "")) / "text" / "r8" / "train.txt.gz"
    if "MERCER_DATA" in os.environ and path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        documents = np.array([row[1] for row in rows], dtype=object)
        labels = np.array([row[0] for row in rows])
        rng = np.random.default_rng(0)
        some = [rng.permutation(np.flatnonzero(labels == c))[:EACH] for c in np.unique(labels)]
        chosen = np.concatenate(some)
        return documents[chosen], labels[chosen], "R8"
    return *made_up(), "made up (set MERCER_DATA for newswire)"


def made_up(classes: int = 6, words: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make documents: a class is a mixture of topics, a topic a distribution of words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.1), size=classes)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    vocabulary = np.array(["".join(rng.choice(syllables, size=3)) for _ in range(words)])
    documents, labels = [], []
    for label in range(classes):
        for _ in range(EACH):
            mixture = 0.4 * np.eye(classes)[label] + 0.6 * rng.dirichlet(np.ones(classes))
            count = rng.integers(15, 60)
            documents.append(" ".join(rng.choice(vocabulary, size=count, p=mixture @ topics)))
            labels.append(f"class {label}")
    return np.array(documents, dtype=object), np.array(labels)


def draw(curves: dict):
    """Draw precision at each recall."""
    import matplotlib.pyplot as plt

    from mercer.plots import style

    with style():
        figure, ax = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
        for title, (recall, precision) in curves.items():
            ax.plot(recall, precision, label=title)
        ax.set(xlabel="share of the related documents that was found", ylim=(0, 1))
        ax.set_ylabel("share of related ones among the found")
        ax.legend()
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None)
    main(parser.parse_args().out)
