"""Effects of words, positions and atoms: against machines whose effects are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from mercer import SVC, KernelRidge
from mercer.errors import DomainError, ValidityError
from mercer.explanations import part_effects, part_interaction
from mercer.kernels import Text, WeightedDegree

TEXTS = ["good film", "bad film", "good bad day", "a day", "good, BAD film", "film a"] * 3
SITES = ["ACGT", "ACGA", "TCGA", "TGGA", "AGGT", "TCGT"] * 2
MOLECULES = ["CCO", "CC(=O)O", "c1ccccc1O", "CCN", "c1ccccc1", "CCCC"]


class Known(BaseEstimator):
    """A machine that answers by a formula."""

    def __init__(self, formula):
        self.formula = formula
        self.known_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.array([self.formula(item) for item in X], dtype=float)


def has(text, word):
    return word in text.lower().replace(",", " ").split()


def sum_of_words(text):
    return 2 * has(text, "good") - 3 * has(text, "bad") + 10


@pytest.mark.parametrize("kind", ["local", "partial"])
def test_words_of_a_sum_have_their_weights_and_no_spread(kind):
    found = {e.part: e for e in part_effects(Known(sum_of_words), TEXTS, "words", kind=kind)}
    for word, weight in {"good": 2, "bad": -3, "film": 0, "day": 0, "a": 0}.items():
        one = found[word]
        np.testing.assert_allclose([one.effect, one.low, one.high], weight, atol=1e-12)
    assert found["bad"].rows == (9 if kind == "local" else 18)


def test_the_strongest_come_first():
    order = [one.part for one in part_effects(Known(sum_of_words), TEXTS, "words")]
    assert order[:2] == ["bad", "good"]


def test_bands_hold_the_truth_where_effects_differ():
    def formula(text):
        return has(text, "good") * (4 if has(text, "film") else 1)

    local = {e.part: e for e in part_effects(Known(formula), TEXTS, "words")}["good"]
    np.testing.assert_allclose(local.effect, 3.0)  # two of three have the film
    off = np.array([4, 1, 4] * 3)
    np.testing.assert_allclose(local.high - local.effect, 2 * off.std(ddof=1) / 3)
    partial = {e.part: e for e in part_effects(Known(formula), TEXTS, "words", kind="partial")}
    assert (partial["good"].low, partial["good"].high) == (1.0, 4.0)


def test_positions_of_a_sum_have_their_weights_against_what_is_usual():
    def formula(site):
        return 5.0 * (site[0] == "A") - 2.0 * (site[3] == "T")

    found = {(e.part, e.level): e for e in part_effects(Known(formula), SITES, "positions")}
    assert {part for part, _ in found} == {0, 1, 3}  # the third letter is the same in all
    np.testing.assert_allclose(found[0, "A"].effect, 5)
    np.testing.assert_allclose(found[0, "T"].effect, -5)
    np.testing.assert_allclose(found[3, "T"].effect, -2)
    np.testing.assert_allclose(found[1, "C"].effect, 0)
    whole = part_effects(Known(formula), SITES, "positions", kind="partial")
    usual = {(e.part, e.level): e.effect for e in whole}
    np.testing.assert_allclose(usual[0, "A"], 5 * (1 - 0.5))  # minus the mean of the position


def test_two_parts_act_together_by_the_share_of_their_product():
    def product(text):
        return 8.0 * has(text, "good") * has(text, "bad")

    assert part_interaction(Known(sum_of_words), TEXTS, "words", "good", "bad") < 1e-20
    # ab over two fair coins: variances 1/16 of each alone and of both.
    found = part_interaction(Known(product), TEXTS, "words", "good", "bad")
    np.testing.assert_allclose(found, 1 / 3)
    opposite = Known(lambda text: 1.0 * (has(text, "good") != has(text, "bad")))
    np.testing.assert_allclose(part_interaction(opposite, TEXTS, "words", "good", "bad"), 1.0)
    letters = Known(lambda site: 1.0 * ((site[0] == "A") == (site[3] == "T")))
    np.testing.assert_allclose(part_interaction(letters, SITES, "positions", 0, 3), 1.0)


def test_atoms_are_masked_where_they_are():
    pytest.importorskip("rdkit")
    oxygens = Known(lambda smiles: smiles.upper().count("O"))
    found = {e.part: e for e in part_effects(oxygens, MOLECULES, "atoms")}
    assert found["OH"].effect == 1.0 and found["OH"].rows == 3
    assert found["cH"].effect == 0.0 and "CH3" in found
    both = Known(lambda s: 1.0 * ("O" in s) * (s.count("c") > 1))
    assert part_interaction(both, MOLECULES, "atoms", "OH", "cH") == pytest.approx(1 / 3)
    with pytest.raises(DomainError, match="no molecule has an atom 'Zn'"):
        part_interaction(oxygens, MOLECULES, "atoms", "Zn", "OH")


def test_machines_of_similarities_are_asked_in_tables_too():
    marks = np.array([sum_of_words(text) for text in TEXTS])
    machine = KernelRidge(Text(), 0.001, intercept=True).fit(TEXTS, marks)
    found = {e.part: e.effect for e in part_effects(machine, TEXTS, "words")}
    assert found["good"] > 0.5 and found["bad"] < -0.5
    table = pd.DataFrame({"text": TEXTS, "x": 0.0})
    again = KernelRidge(Text().on("text"), 0.001, intercept=True).fit(table, marks)
    other = part_effects(again, table, "words", column="text")
    np.testing.assert_allclose({e.part: e.effect for e in other}["good"], found["good"])
    labels = np.where(marks > 10, "yes", "no")
    margin = SVC(WeightedDegree(2)).fit(SITES, np.array(["x", "y"] * 6))
    assert part_effects(margin, SITES, "positions", label="x")
    assert part_effects(SVC(Text()).fit(TEXTS, labels), TEXTS, "words")[0].part in ("good", "bad")


def test_what_cannot_be_asked_is_refused():
    machine = Known(len)
    with pytest.raises(DomainError, match="these have 4 to 5 letters"):
        part_effects(machine, ["ACGT", "ACGTA"], "positions")
    with pytest.raises(ValidityError, match=r"parts cannot be 'word'.*'words'"):
        part_effects(machine, TEXTS, "word")
    with pytest.raises(ValidityError, match="kind cannot be"):
        part_effects(machine, TEXTS, "words", kind="accumulated")
    with pytest.raises(DomainError, match=r"found 3\.0 at item 1"):
        part_effects(machine, ["a", 3.0], "words")
    with pytest.raises(DomainError, match="found nothing"):
        part_effects(machine, [], "words")
    with pytest.raises(DomainError, match="column must be that of the words"):
        part_effects(machine, pd.DataFrame({"text": TEXTS}), "words")
    with pytest.raises(DomainError, match="the word 'worse' is in none"):
        part_interaction(machine, TEXTS, "words", "worse", "good")
    with pytest.raises(DomainError, match="no position 9"):
        part_interaction(machine, SITES, "positions", 9, 0)
    with pytest.raises(ValidityError, match="twice"):
        part_interaction(machine, TEXTS, "words", "good", "good")
