"""Everything that an explanation lists adds up to the score that it explains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    LPSVC,
    SVC,
    SVR,
    ExemplarClassifier,
    KernelDiscriminant,
    KernelNeighbors,
    KernelRidge,
    KernelRidgeClassifier,
    Perceptron,
)
from mercer.errors import DomainError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Jaccard,
    Linear,
    Mismatch,
    Molecule,
    RandomWalk,
    ShortestPath,
    Spectrum,
    SubsetTree,
    Text,
    WeisfeilerLehman,
    kernel,
    normalize,
)
from mercer.selection import GridSearchCV

rng = np.random.default_rng(3)
STRINGS = ["".join(rng.choice(list("acgt"), rng.integers(0, 20))) for _ in range(40)]
NEW = ["gattaca", "", "ac", "xxacgtxx", "ttttt"]
TWO = np.array(["yes" if s.count("a") > s.count("c") else "no" for s in STRINGS])
THREE = np.array([str(min(len(s) // 7, 2)) for s in STRINGS])
NUMBERS = np.array([float(s.count("ta")) for s in STRINGS])

KERNELS = [
    Spectrum(2),
    normalize(Spectrum(2)),
    0.5 * Spectrum(1) + normalize(Spectrum(3)),
    Spectrum(2) ** 2,
]


def parts_add_up(why) -> None:
    total = why.offsets + sum(part.totals for part in why.parts)
    assert np.allclose(total, why.scores, atol=1e-10)
    assert np.allclose(why.offsets + why.contributions.sum(axis=1), why.scores)
    for part in why.parts:
        if part.features is not None:
            assert np.allclose(part.features.sum(axis=1), part.totals, atol=1e-10)
        if part.places is not None:
            for i, places in enumerate(part.places):
                assert len(places) == len(part.units[i])
                assert np.isclose(places.sum(), part.totals[i], atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "machine",
    [
        KernelRidgeClassifier(penalty=0.1, intercept=True),
        SVC(C=1.0),
        LPSVC(),
        Perceptron(averaged=True),
        KernelDiscriminant(penalty=0.1),
    ],
    ids=lambda m: type(m).__name__,
)
def test_two_classes(machine, kernel):
    machine = machine.set_params(kernel=kernel).fit(STRINGS, TWO)
    why = mercer.explain(machine, NEW)
    parts_add_up(why)
    assert why.toward == machine.predict(NEW).tolist()
    scores = machine.decision_function(NEW)
    if scores.ndim == 1:
        signs = np.where(machine.predict(NEW) == machine.classes_[1], 1.0, -1.0)
        assert np.allclose(why.scores, signs * scores)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_scores_of_each_of_many_classes(kernel):
    machine = KernelRidgeClassifier(kernel, 0.1, intercept=True).fit(STRINGS, THREE)
    table = machine.decision_function(NEW)
    for column, label in enumerate(machine.classes_):
        why = mercer.explain(machine, NEW, label=label)
        parts_add_up(why)
        assert np.allclose(why.scores, table[:, column])


def test_a_class_speaks_by_its_pairs():
    machine = SVC(Spectrum(1), decision_function_shape="ovo").fit(STRINGS, THREE)
    pairs = machine.decision_function(NEW)  # 0 against 1, 0 against 2, 1 against 2
    why = mercer.explain(machine, NEW, label="1")
    parts_add_up(why)
    assert np.allclose(why.scores, (pairs[:, 2] - pairs[:, 0]) / 2)


@pytest.mark.parametrize("machine", [KernelRidge(penalty=0.1), SVR(C=1.0)])
def test_numbers(machine):
    machine = machine.set_params(kernel=normalize(Spectrum(2))).fit(STRINGS, NUMBERS)
    why = mercer.explain(machine, NEW)
    parts_add_up(why)
    assert np.allclose(why.scores, machine.predict(NEW))
    assert why.toward == [None] * len(NEW)


def test_several_numbers():
    Y = np.column_stack([NUMBERS, NUMBERS**2])
    machine = KernelRidge(Spectrum(1), 0.1).fit(STRINGS, Y)
    assert np.allclose(mercer.explain(machine, NEW, output=1).scores, machine.predict(NEW)[:, 1])
    with pytest.raises(DomainError, match="2 outputs"):
        mercer.explain(machine, NEW, output=2)


def test_a_letter_has_its_share_of_each_substring_around_it():
    machine = KernelRidge(Spectrum(2), 1.0).fit(["ab", "bc"], [1.0, -1.0])
    v = {"ab": machine.dual_coef_[0], "bc": machine.dual_coef_[1]}
    units = mercer.explain(machine, ["abc"])[0].units()["contribution"].to_numpy()
    assert np.allclose(units, [v["ab"] / 2, (v["ab"] + v["bc"]) / 2, v["bc"] / 2])


def test_exemplars_are_named_by_their_row():
    machine = SVC(Spectrum(2), C=0.1).fit(STRINGS, TWO)
    pulls = mercer.explain(machine, NEW)[0].exemplars()
    assert [STRINGS[row] for row in pulls["row"]] == pulls["exemplar"].tolist()
    assert np.isclose(pulls["share"].sum(), 1.0)
    assert (np.diff(pulls["share"]) <= 1e-15).all()
    K = Spectrum(2)([NEW[0]], pulls["exemplar"].tolist())[0]
    assert np.allclose(pulls["similarity"], K)


def table(n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "height": rng.normal(size=n),
            "weight": rng.normal(size=n),
            "sequence": [STRINGS[i % len(STRINGS)] for i in range(n)],
            "species": [("cat", "dog")[i % 2] for i in range(n)],
        }
    )


def test_columns_of_a_table():
    X = table(30)
    y = X["height"].to_numpy() + X["sequence"].str.count("a").to_numpy()
    kernel = (
        Linear().on("height", "weight")
        + Spectrum(1).on("sequence") * Categorical().on("species")
        + Gaussian(1.0).on("weight")
    )
    machine = KernelRidge(kernel, 0.1).fit(X, y)
    why = mercer.explain(machine, X[:4])
    parts_add_up(why)
    assert np.allclose(why.scores, machine.predict(X[:4]))
    columns = why[0].columns()
    assert columns["columns"].tolist() == [("height", "weight"), ("sequence",), ("weight",)]
    features = why[0].features()
    assert {"height", "weight"} <= set(features["feature"])
    assert "a" in set(features["feature"]) or "a" not in X["sequence"][0]


def test_pipelines_and_searches():
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -2.0, 0.0]
    line = make_pipeline(StandardScaler(), KernelRidge("linear", 0.1)).fit(X, y)
    assert np.allclose(mercer.explain(line, X[:3]).scores, line.predict(X[:3]))
    found = GridSearchCV(KernelRidge(Linear()), {"penalty": [0.1, 1.0]}).fit(X, y)
    why = mercer.explain(found, X[:3])
    assert np.allclose(why.scores, found.predict(X[:3]))
    assert why[0].features()["feature"].tolist()[0] in ("0", "1", "2")


def test_summary_in_words():
    machine = KernelRidgeClassifier(Spectrum(2), 0.1).fit(STRINGS, TWO)
    text = str(mercer.explain(machine, NEW)[0])
    assert text.startswith("score ") and "features:" in text and "exemplars:" in text


def test_what_cannot_be_explained():
    with pytest.raises(DomainError, match="does not decide by a sum"):
        mercer.explain(KernelNeighbors(Spectrum(2)).fit(STRINGS, TWO), NEW)

    class Vote(KernelRidgeClassifier):
        has_terms = False

    with pytest.raises(DomainError, match="Vote does not decide by a sum"):
        mercer.explain(Vote(Spectrum(2)).fit(STRINGS, TWO), NEW)
    machine = SVC(Spectrum(2)).fit(STRINGS, TWO)
    with pytest.raises(DomainError, match="no class 'maybe'"):
        mercer.explain(machine, NEW, label="maybe")


def test_exemplar_model():
    machine = ExemplarClassifier(normalize(Spectrum(2))).fit(STRINGS, TWO)
    parts_add_up(mercer.explain(machine, NEW[:1]))


MOLECULES = ["CCO", "CCN", "c1ccccc1O", "c1ccccc1", "CC(=O)O", "CCCC", "CCOC", "NCCO"]
POLAR = [1.0, 0.8, 0.7, 0.0, 1.5, 0.0, 0.4, 1.9]


@pytest.mark.parametrize(
    "kernel",
    [
        Molecule(1, 512),
        WeisfeilerLehman(2),
        normalize(WeisfeilerLehman(1)) + 0.5 * normalize(ShortestPath()),
        WeisfeilerLehman(1, ShortestPath()),
        WeisfeilerLehman(1, Categorical()),
        normalize(RandomWalk(0.05)),
    ],
    ids=repr,
)
def test_molecules_and_graphs(kernel):
    machine = KernelRidge(kernel, 0.1).fit(MOLECULES, POLAR)
    new = ["CC(N)CO", "C", "c1ccncc1"]
    why = mercer.explain(machine, new)
    parts_add_up(why)
    assert np.allclose(why.scores, machine.predict(new))


@pytest.mark.parametrize("kernel", [Molecule(1, 512), WeisfeilerLehman(1)], ids=repr)
def test_atoms_have_their_share(kernel):
    machine = KernelRidge(kernel, 0.1).fit(MOLECULES, POLAR)
    units = mercer.explain(machine, ["CCCO"])[0].units()
    assert units["unit"].tolist() == ["C", "C", "C", "O"]
    assert units["contribution"].argmax() == 3  # what makes it polar is the oxygen


def test_elements_of_sets():
    sets = [{1, 2}, {2, 3}, set(), {4}, {1, 4}]
    machine = KernelRidge(Jaccard(), 0.1).fit(sets, [1.0, 0.0, 5.0, 2.0, 3.0])
    why = mercer.explain(machine, [{1, 9}, set()])
    assert np.allclose(why.scores, machine.predict([{1, 9}, set()]))
    assert why[0].features()["feature"].tolist() == [1]
    assert np.isclose(why.parts[0].features[[0]].sum(), why.parts[0].totals[0])
    assert why[1].features().empty


@pytest.mark.parametrize("kernel", [SubsetTree(0.5), normalize(SubsetTree(0.4))], ids=repr)
def test_rules_of_trees(kernel):
    trees = [
        "(S (NP she) (VP sleeps))", "(S (NP he) (VP sees (NP her)))", "(NP (D the) (N cat))",
        "(S (NP (D the) (N cat)) (VP sleeps))", "(A b)",
    ]  # fmt: skip
    machine = KernelRidge(kernel, 0.1).fit(trees, [1.0, 2.0, 0.0, 1.5, -1.0])
    new = ["(S (NP (D the) (N dog)) (VP sleeps))", "(X y)", "leafless"]
    new[2] = ("alone",)
    why = mercer.explain(machine, new)
    parts_add_up(why)
    assert np.allclose(why.scores, machine.predict(new))
    assert set(why[0].features()["feature"]) == {"S → NP VP", "NP → D N", "D → the", "VP → sleeps"}
    assert why[0].units()["unit"].tolist()[:4] == ["S", "NP", "D", "the"]
    assert why[0].units()["contribution"][3] == 0.0  # a leaf begins no fragment


def test_mismatches_over_a_large_alphabet_are_explained_by_gapped_words():
    k = Mismatch(4, 2)
    texts = ["".join(map(chr, rng.integers(0x4E00, 0x4E00 + 3000, 25))) for _ in range(20)]
    machine = KernelRidgeClassifier(k, penalty=1.0).fit(texts, np.arange(20) % 2)
    why = mercer.explain(machine, [texts[0], texts[1][:9] + "?" + texts[2], ""])
    parts_add_up(why)
    assert np.allclose([place.sum() for place in why.parts[0].places], why.parts[0].totals)
    assert len(why[0].features()) > 0


@kernel
class Gapped(Mismatch):
    """Lists no neighbors, as if its alphabet were large."""

    listed = False


def test_gapped_words_give_each_letter_what_neighbors_give_it():
    listed, found = (
        mercer.explain(KernelRidgeClassifier(k, penalty=1.0).fit(STRINGS, TWO), NEW).parts[0]
        for k in (Mismatch(3, 1, "acgt"), Gapped(3, 1, "acgt"))
    )
    assert found.totals == pytest.approx(listed.totals)
    assert np.concatenate(found.places) == pytest.approx(np.concatenate(listed.places))


def test_a_decision_has_a_number():
    why = mercer.explain(KernelRidge(Spectrum(2), 0.1).fit(STRINGS, NUMBERS), NEW)
    assert why[-1].thing == NEW[-1] and len(list(why)) == len(NEW)
    with pytest.raises(IndexError):
        why[len(NEW)]
    with pytest.raises(TypeError):
        why[:1]


def test_learned_words_do_not_fill_the_table():
    texts = ["the cat sat", "a dog ran far", "the dog sat"]
    machine = KernelRidge(Text(), 0.1).fit(texts, [1.0, 0.0, 0.5])
    why = mercer.explain(machine, texts)[0]
    assert len(repr(machine.kernel_)) > 100
    assert why.columns()["kernel"].str.len().max() <= 80
