"""Families of machines, and kernels for the columns of a table."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, ValidityError
from mercer.kernels import Gaussian, Kernel, Linear, Spectrum, parse
from mercer.sources import Column
from mercer.studies.candidates import (
    CLASSIFIERS,
    REGRESSORS,
    candidate_kernels,
    families,
    family_names,
    on_columns,
)


@pytest.mark.parametrize("family", CLASSIFIERS, ids=lambda family: family.name)
def test_every_classifier_gives_probabilities(family):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(["a", "b"] * 20, dtype=object)
    value = family.values[0] if family.values else None
    plain = family.machine(Gaussian(1.0), value)
    machine = family.with_probabilities(family.machine(Gaussian(1.0), value), 40, 0)
    P = machine.fit(X, y).predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1)
    assert (machine.predict(X) == plain.fit(X, y).predict(X)).all()
    assert (machine.predict(X) == machine.classes_[P.argmax(axis=1)]).all()


@pytest.mark.parametrize("family", REGRESSORS, ids=lambda family: family.name)
def test_every_regressor_can_be_fitted(family):
    X = np.linspace(0, 3, 20)[:, None]
    y = np.sin(X[:, 0])
    family = family.for_targets(y)
    machine = family.machine(Gaussian(1.0), family.values[0] if family.values else None)
    assert np.isfinite(machine.fit(X, y).predict(X)).all()


def test_machines_are_found_by_short_and_long_names():
    assert families("classify", "svm", 2) == families("classify", "SVC", 2)
    assert families("regress", "svm", 0)[0][0].cls.__name__ == "SVR"


def test_the_strongest_comes_first_and_always_saying_the_same_last():
    names = [family.name for family in families("classify", None, 3)[0]]
    assert names == ["learned", "svm", "ridge", "exemplar", "prototype", "constant"]
    others = [family.name for family in families("regress", None, 0)[0]]
    assert others == [name for name in names if name != "prototype"]


def test_a_metric_is_learned_only_where_that_can_be():
    tried, _ = families("classify", None, 3, learned=False)
    assert "learned" not in [family.name for family in tried]
    with pytest.raises(ValidityError, match="numbers, categories and dates only"):
        families("classify", "LearnedMetric", 3, learned=False)


def test_duels_of_very_many_classes_are_fought_only_if_asked_for():
    tried, left = families("classify", None, 1000)
    assert "svm" not in [family.name for family in tried]
    assert left[0][0].name == "svm" and "499500 duels" in left[0][1]
    assert families("classify", "svm", 1000)[0][0].name == "svm"


def test_unknown_machines():
    with pytest.raises(ValidityError, match="did you mean 'ridge'"):
        families("classify", "rigde", 2)
    with pytest.raises(ValidityError, match="does not regress"):
        families("regress", "prototype", 0)
    assert set(family_names()) == set(family_names("classify")) | set(family_names("regress"))


def test_a_regressor_does_not_depend_on_the_unit_of_the_target():
    X = np.linspace(0, 3, 40)[:, None]
    y = np.sin(2 * X[:, 0])
    for family in REGRESSORS:
        found = []
        for unit in (1.0, 1e-5, 1e6):
            here = family.for_targets(unit * y)
            value = here.values[len(here.values) // 2] if here.values else None
            machine = here.machine(Gaussian(1.0), value).fit(X, unit * y)
            found.append(machine.predict(X) / unit)
        for other in found[1:]:
            assert other == pytest.approx(found[0], abs=0.01), family.name


KINDS = {
    "height": "numeric", "seen": "date", "kind": "categorical", "note": "text",
    "dna": "sequence", "smiles": "smiles",
}  # fmt: skip
TABLE = pd.DataFrame(
    {
        "height": [0.1, -0.4, 1.2, 0.5, -1.0, 0.2],
        "seen": [1.0, 0.5, -0.2, 0.0, -1.3, 0.3],
        "kind": ["a", "b", "a", "c", "c", "b"],
        "note": ["a small tree", "the tall tree", "no tree", "one more", "a bush", "the bush"],
        "dna": ["ACGTAC", "ACGTTT", "GGGTAC", "ACCTAC", "TTTTAC", "ACGTAA"],
        "smiles": ["CCO", "CCN", "CCC", "c1ccccc1", "CC=O", "CO"],
    }
)


def columns(*names):
    return [Column(name, KINDS[name], "") for name in names]


@pytest.mark.parametrize(
    "names",
    [
        ("height",), ("height", "seen"), ("kind",), ("note",), ("dna",), ("smiles",),
        ("height", "kind"), ("kind", "note"), tuple(KINDS),
    ],
)  # fmt: skip
def test_every_kernel_works_on_the_rows_that_it_is_for(names):
    X = TABLE[list(names)]
    found = candidate_kernels(X, columns(*names))
    assert found
    for candidate in found:
        kernel = candidate.resolve(X)
        K = np.asarray(kernel(X))
        assert np.linalg.eigvalsh(K).min() > -1e-9 * len(X)
        assert candidate.unbounded or (K.min() > -1e-12 and K.max() < len(names) + 1e-9)
        assert kernel.proof().verdict == "proved"
        if candidate.scales:
            wide, narrow = (candidate.scale(kernel, factor) for factor in (2.0, 0.5))
            assert wide.bandwidth == pytest.approx(4 * narrow.bandwidth, rel=1e-2)
        else:
            assert candidate.scale(kernel, 2.0) == kernel


@pytest.mark.parametrize("names", [("height",), ("dna",), ("kind", "note"), tuple(KINDS)])
def test_they_can_be_written_and_read(names):
    X = TABLE[list(names)]
    for candidate in candidate_kernels(X, columns(*names)):
        again = parse(repr(candidate.kernel))
        assert isinstance(again, Kernel) and again == candidate.kernel


def test_gaps_are_a_category_of_their_own():
    X = TABLE[["dna", "kind"]].copy()
    X.loc[2, "dna"] = X.loc[3, "kind"] = None
    for candidate in candidate_kernels(X, columns("dna", "kind")):
        K = candidate.resolve(X)(X)
        assert np.isfinite(K).all()


def test_columns_that_the_reading_did_not_make_are_numbers():
    X = TABLE[["height", "kind"]].assign(**{"height is missing": 0.0})
    kernel = candidate_kernels(X, columns("height", "kind"))[0].kernel
    assert "height is missing" in repr(kernel)


def test_rows_of_an_array_are_numbers():
    found = candidate_kernels(np.ones((3, 2)), ())
    assert [type(candidate.kernel) for candidate in found] == [Linear, Gaussian]


def test_sequences_of_one_length_are_compared_place_by_place():
    X = TABLE[["dna"]]
    assert "WeightedDegree" in repr(candidate_kernels(X, columns("dna"))[0].kernel)
    longer = X.assign(dna=X["dna"] + pd.Series(["", "A"] * 3))
    assert "WeightedDegree" not in repr(
        [p.kernel for p in candidate_kernels(longer, columns("dna"))]
    )


def test_a_kernel_is_placed_on_the_columns_that_it_means():
    some = columns(*KINDS)
    assert on_columns(Gaussian(1.0), TABLE, some) == Gaussian(1.0).on("height", "seen")
    numbers = TABLE[["height", "seen"]]
    assert on_columns(Gaussian(1.0), numbers, some) == Gaussian(1.0)
    assert on_columns(Spectrum(2), TABLE[["dna"]], some) == Spectrum(2).on("dna")
    named = Spectrum(2).on("dna") + Linear().on("height")
    assert on_columns(named, TABLE, some) == named
    with pytest.raises(DomainError, match=r"\.on\('height'\)"):
        on_columns(Spectrum(2), TABLE, some)


@pytest.mark.parametrize("name", ["kind", "note", "dna", "smiles"])
def test_rows_that_come_later_may_have_gaps(name):
    X = TABLE[[name]]
    new = X.copy()
    new.loc[[1, 3], name] = None
    for candidate in candidate_kernels(X, columns(name)):
        kernel = candidate.resolve(X)
        assert np.isfinite(kernel(new, X)).all()
        assert np.allclose(kernel(new, X)[[0, 2, 4]], kernel(X)[[0, 2, 4]])


def test_a_column_that_is_set_aside_may_be_called_as_gaps_are():
    told = pd.DataFrame(
        {"height": [0.5, 1.0], "height is missing": [0.0, 1.0], "kind": ["a", "b"]}
    )
    aside = Column("height is missing", "constant", "")
    found = candidate_kernels(told, [*columns("height", "kind"), aside])
    assert "Linear().on('height', 'height is missing')" in repr(found[0].kernel)


def test_of_many_rows_a_sample_gives_the_probabilities():
    svm = next(family for family in CLASSIFIERS if family.name == "svm")
    machine = svm.machine(Gaussian(1.0), 1.0)
    assert svm.with_probabilities(machine, 2500, 0).probability is True
    many = svm.with_probabilities(svm.machine(Gaussian(1.0), 1.0), 2501, 0)
    assert (type(many).__name__, many.sample, many.machine.probability) == (
        "Calibrated", 2500, False,
    )  # fmt: skip
