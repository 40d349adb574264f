"""Kernels for the columns of a table."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.kernels import Gaussian, Kernel, Linear, Spectrum, parse
from mercer.sources import Column
from mercer.studies.proposals import placed, propose

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
def test_every_proposal_works_on_the_rows_that_it_is_for(names):
    X = TABLE[list(names)]
    found = propose(X, columns(*names))
    assert found
    for proposal in found:
        kernel = proposal.resolved(X)
        K = np.asarray(kernel(X))
        assert np.linalg.eigvalsh(K).min() > -1e-9 * len(X)
        assert proposal.unbounded or (K.min() > -1e-12 and K.max() < len(names) + 1e-9)
        assert kernel.proof().verdict == "proved"
        if proposal.scales:
            wide, narrow = (proposal.scaled(kernel, factor) for factor in (2.0, 0.5))
            assert wide.bandwidth == pytest.approx(4 * narrow.bandwidth, rel=1e-2)
        else:
            assert proposal.scaled(kernel, 2.0) == kernel


@pytest.mark.parametrize("names", [("height",), ("dna",), ("kind", "note"), tuple(KINDS)])
def test_proposals_can_be_written_and_read(names):
    X = TABLE[list(names)]
    for proposal in propose(X, columns(*names)):
        again = parse(repr(proposal.kernel))
        assert isinstance(again, Kernel) and again == proposal.kernel


def test_gaps_are_a_category_of_their_own():
    X = TABLE[["dna", "kind"]].copy()
    X.loc[2, "dna"] = X.loc[3, "kind"] = None
    for proposal in propose(X, columns("dna", "kind")):
        K = proposal.resolved(X)(X)
        assert np.isfinite(K).all()


def test_columns_that_the_reading_did_not_make_are_numbers():
    X = TABLE[["height", "kind"]].assign(**{"height is missing": 0.0})
    kernel = propose(X, columns("height", "kind"))[0].kernel
    assert "height is missing" in repr(kernel)


def test_rows_of_an_array_are_numbers():
    found = propose(np.ones((3, 2)), ())
    assert [type(proposal.kernel) for proposal in found] == [Linear, Gaussian]


def test_sequences_of_one_length_are_compared_place_by_place():
    X = TABLE[["dna"]]
    assert "WeightedDegree" in repr(propose(X, columns("dna"))[0].kernel)
    longer = X.assign(dna=X["dna"] + pd.Series(["", "A"] * 3))
    assert "WeightedDegree" not in repr([p.kernel for p in propose(longer, columns("dna"))])


def test_a_kernel_is_placed_on_the_columns_that_it_means():
    some = columns(*KINDS)
    assert placed(Gaussian(1.0), TABLE, some) == Gaussian(1.0).on("height", "seen")
    numbers = TABLE[["height", "seen"]]
    assert placed(Gaussian(1.0), numbers, some) == Gaussian(1.0)
    assert placed(Spectrum(2), TABLE[["dna"]], some) == Spectrum(2).on("dna")
    named = Spectrum(2).on("dna") + Linear().on("height")
    assert placed(named, TABLE, some) == named
    with pytest.raises(DomainError, match=r"\.on\('height'\)"):
        placed(Spectrum(2), TABLE, some)


@pytest.mark.parametrize("name", ["kind", "note", "dna", "smiles"])
def test_rows_that_come_later_may_have_gaps(name):
    X = TABLE[[name]]
    new = X.copy()
    new.loc[[1, 3], name] = None
    for proposal in propose(X, columns(name)):
        kernel = proposal.resolved(X)
        assert np.isfinite(kernel(new, X)).all()
        assert np.allclose(kernel(new, X)[[0, 2, 4]], kernel(X)[[0, 2, 4]])


def test_a_column_that_is_set_aside_may_be_called_as_gaps_are():
    told = pd.DataFrame(
        {"height": [0.5, 1.0], "height is missing": [0.0, 1.0], "kind": ["a", "b"]}
    )
    aside = Column("height is missing", "constant", "")
    found = propose(told, [*columns("height", "kind"), aside])
    assert "Linear().on('height', 'height is missing')" in repr(found[0].kernel)
