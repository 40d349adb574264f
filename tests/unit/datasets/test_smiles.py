"""Tables of molecules, with rows that are none."""

import gzip

import numpy as np
import pytest

from mercer.datasets import read_smiles
from mercer.errors import DomainError

TABLE = """name,smiles,active,solubility
ethanol,CCO,1,0.5
"two
lines",c1ccccc1 ,0,1.5
broken,C1CC,1,2.5
unknown,C,,3.5
nothing,,1,4.5
methane,C,1,5.5
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_rows_that_are_no_molecules_are_dropped_and_reported_by_line(table):
    data = read_smiles(table, target="active", invalid="drop")
    assert data.X.tolist() == ["CCO", "c1ccccc1", "C"]
    assert data.y.tolist() == [1, 0, 1] and data.y.dtype == np.int64
    assert data.extra["dropped"] == {
        5: "RDKit cannot read the SMILES 'C1CC'",
        6: "column 'active' is empty",
        7: "there is no SMILES",
    }


def test_or_refused_by_line(table):
    with pytest.raises(DomainError, match=r"table.csv: line 5: RDKit cannot read.*invalid=.drop"):
        read_smiles(table)


def test_a_target_may_be_a_number_a_text_or_nothing(table):
    numbers = read_smiles(table, target="solubility", invalid="drop")
    assert numbers.y.tolist() == [0.5, 1.5, 3.5, 5.5]
    texts = read_smiles(table, target="name", invalid="drop")
    assert texts.y.tolist() == ["ethanol", "two\nlines", "unknown", "methane"]
    assert np.isnan(read_smiles(table, invalid="drop").y).all()


def test_a_packed_table(table):
    packed = table.with_name("table.csv.gz")
    packed.write_bytes(gzip.compress(TABLE.encode()))
    assert read_smiles(packed, invalid="drop").X.tolist() == ["CCO", "c1ccccc1", "C", "C"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"smiles": "Smiles"}, "no column 'Smiles'; did you mean 'smiles'"),
        ({"target": "activ"}, "no column 'activ'; did you mean 'active'"),
        ({"invalid": "ignore"}, "invalid cannot be 'ignore'"),
    ],
)
def test_names_that_are_not_there(table, options, words):
    with pytest.raises(DomainError, match=words):
        read_smiles(table, **options)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(DomainError, match="cannot be read as a CSV file"):
        read_smiles(tmp_path / "missing.csv")
    bad = tmp_path / "bad.csv.gz"
    bad.write_bytes(b"not packed")  # is a table of one column, whatever its name says
    with pytest.raises(DomainError, match="has no column 'smiles'; known are 'not packed'"):
        read_smiles(bad)
    packed = bytearray(gzip.compress(TABLE.encode() * 50))
    packed[12:20] = b"\xff" * 8
    bad.write_bytes(packed)
    with pytest.raises(DomainError, match="cannot be read as a CSV file"):
        read_smiles(bad)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("smiles,y\n", "has no molecules"),
        ("smiles,y\nCC,nan\n", "line 2: column 'y' is empty"),
    ],
)
def test_tables_without_anything(text, why, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DomainError, match=why):
        read_smiles(path, target="y")
