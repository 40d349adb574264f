"""Your own similarity of your own things: is a word German or Italian?

One Python function of two objects is all that is needed; the objects may be anything. Nobody has
proved that the function is a valid kernel, and mercer says so. It can be checked on data, vouched
for, or written in a way that proves it.
"""

import argparse
from collections import Counter
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.model_selection import LeaveOneOut, cross_val_score

from mercer import KernelPCA, KernelRidgeClassifier
from mercer.kernels import Kernel, assume_psd, check, from_function, normalize

GERMAN = """
apfel baum brot buch feld fenster feuer fisch fluss freund garten haus herbst himmel hund katze
kind kirche kopf licht luft mensch milch nacht pferd regen schiff schnee schrank schule schwester
sommer sonne stadt stein straße stuhl tisch vater vogel wald wasser weg wind winter wolke zeit
zimmer
"""
ITALIAN = """
acqua albero amico anno autunno bambino bocca braccio cane carta casa cavallo chiesa cielo città
cuore donna estate finestra fiore fiume formaggio fratello fuoco gatto giardino giorno inverno
latte libro luce luna mano mare montagna notte occhio pane pesce pietra pioggia sedia sole sorella
strada tavolo vento volpe
"""


def shared_pairs(a: str, b: str) -> float:
    """Count the pairs of neighboring letters that two words share; | marks where a word ends."""
    return float((pairs(a) & pairs(b)).total())


def pairs(word: str) -> Counter:
    """Count each pair of neighboring letters."""
    framed = f"|{word}|"
    return Counter(pairwise(framed))


def main(out: Path | None) -> None:
    german, italian = GERMAN.split(), ITALIAN.split()
    words = german + italian
    labels = ["German"] * len(german) + ["Italian"] * len(italian)

    own = from_function(shared_pairs)
    print(own.proof(), end="\n\n")
    print(check(own, words), end="\n\n")

    # Σ min(m, n) over all pairs is an inner product, so we may vouch for it. Long words share more
    # pairs with everything; normalize takes that out.
    kernel = normalize(assume_psd(own))
    print(kernel.proof(), end="\n\n")

    machine = KernelRidgeClassifier(kernel, penalty=0.3)
    right = cross_val_score(machine, words, labels, cv=LeaveOneOut())
    print(f"{right.mean():.0%} of {len(words)} words right when each is left out in turn")
    machine.fit(words, labels)
    for word in ("schloss", "finestrino", "zucker", "zucchero"):
        print(f"{word}: {machine.predict([word])[0]}")
    if out is not None:
        draw(kernel, words, labels, out)


def draw(kernel: Kernel, words: list[str], labels: list[str], out: Path) -> None:
    """Draw the words where the two directions of largest variance among similarities put them."""
    places = KernelPCA(kernel, n_components=2).fit_transform(words)
    colors = {"German": "#0072B2", "Italian": "#D55E00"}
    figure, ax = plt.subplots(figsize=(7.0, 5.0), layout="constrained")
    for word, label, (x, y) in zip(words, labels, places, strict=True):
        ax.text(x, y, word, color=colors[label], fontsize=7, ha="center", va="center")
    low, high = places.min(axis=0), places.max(axis=0)
    edge = 0.06 * (high - low)
    ax.set(xlim=(low[0] - edge[0], high[0] + edge[0]), ylim=(low[1] - edge[1], high[1] + edge[1]))
    ax.set(
        xticks=[], yticks=[], title="German (blue) and Italian words by shared pairs of letters"
    )
    figure.savefig(out, dpi=144)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
