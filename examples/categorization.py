"""Which model of categorization do people follow? Classic data, fitted, compared and drawn.

People learned nine stimuli with four binary features and then categorized all sixteen (Medin &
Schaffer, 1978); others learned the six types of Shepard, Hovland & Jenkins (Nosofsky et al.,
1994). With ``--out FILE`` the predictions are drawn against the answers. If `MERCER_DATA` has the
similarities of colors of Ekman (1954), these are mapped too.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from mercer.cognition import (
    ALCOVE,
    GCM,
    ConfiguralCue,
    ExemplarRidge,
    PrototypeModel,
    check_similarity,
    compare,
    medin_schaffer,
    shj,
    shj_human,
    stimulus_map,
)

TYPES = ("I", "II", "III", "IV", "V", "VI")


def main(out: Path | None) -> None:
    print("Which model predicts answers to stimuli that it was not fitted to?")
    models = {
        "exemplars": GCM(),
        "prototypes": PrototypeModel(),
        "weighted exemplars": ExemplarRidge(starts=4),
    }
    found = compare(models, medin_schaffer(counts=True), cv="stimuli", folds=4)
    print(found)

    print("\nWhat people attended to, by the exemplar model")
    model = found.models["exemplars"]
    ends = model.intervals()["attention"]
    for k, (weight, (low, high)) in enumerate(zip(model.params_["attention"], ends, strict=True)):
        print(f"  feature {k + 1}: {weight:.2f}, between {low:.2f} and {high:.2f}")

    print("\nMean errors while learning six types of categories")
    learners = {
        "ALCOVE": ALCOVE(5.8219, 1.9539, association_rate=0.0754, attention_rate=0.9856),
        "configural cues": ConfiguralCue(rate=0.02, choice=4.0),
    }
    table = {"people": shj_human().mean(axis=1)}
    for name, learner in learners.items():
        table[name] = [learner.simulate(shj(kind), subjects=100).mean() for kind in TYPES]
    print(pd.DataFrame(table, index=TYPES).T.round(3).to_string())

    colors()
    if out is not None:
        draw(found, out)


def colors() -> None:
    """Map Ekman's colors, if they are there."""
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "cogsci" / "ekman.csv"
    if not path.exists():
        return
    print("\nSimilarities of colors, by wavelength")
    judged = pd.read_csv(path, index_col=0)
    judged.columns = judged.index = [f"{float(name):.0f} nm" for name in judged.columns]
    print(check_similarity(judged + np.eye(len(judged))))  # a color is like itself
    print(stimulus_map(judged, kind="similarities", metric=False))


def draw(found, out: Path) -> None:
    """Draw what was observed against what each model predicts."""
    import matplotlib.pyplot as plt

    from mercer.plots import plot_observed

    figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
    plot_observed(found, ax=ax)
    figure.savefig(out, dpi=144)
    print(f"\nWrote {out.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare models of categorization.")
    parser.add_argument("--out", type=Path, default=None)
    main(parser.parse_args().out)
