"""Files of SMILES."""

import pytest

from mercer.sources import chunks, read, recipe


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CCO 1\nc1ccccc1 0\nCC=O 1\n", ["smiles", "column 2"]),
        ("CCO\t1\nc1ccccc1\t0\nCC=O\t1\n", ["smiles", "column 2"]),
        ("SMILES active\nCCO 1\nc1ccccc1 0\nCC=O 1\n", ["SMILES", "active"]),
        ("CCO ethyl alcohol\nc1ccccc1 benzene\nCC=O an aldehyde\n", ["smiles", "column 2"]),
        ("CCO\nc1ccccc1\nCC=O\n", ["smiles"]),
    ],
)
def test_columns(write, text, names):
    sheet = read(write(text, "x.smi"))
    assert [column.name for column in sheet.columns] == names
    assert sheet.columns[0].kind == "smiles"
    assert sheet.X[names[0]].tolist() == ["CCO", "c1ccccc1", "CC=O"]


def test_a_title_may_have_spaces(write):
    text = "CCO ethyl alcohol\nc1ccccc1 benzene\nCC=O an aldehyde\n"
    sheet = read(write(text, "x.smi"), types={"column 2": "text"})
    assert sheet.X["column 2"].tolist() == ["ethyl alcohol", "benzene", "an aldehyde"]


def test_a_model_reads_other_files(write):
    how = recipe(read(write("CCO 1\nc1ccccc1 0\nCC=O 1\n", "x.smi"), "column 2"))
    (sheet,) = chunks(write("CCCC 1\nCN 0\n", "y.smi"), how)
    assert sheet.X["smiles"].tolist() == ["CCCC", "CN"]
    (sheet,) = chunks(write("smiles,column 2\nCCCC,1\n", "y.csv"), how)
    assert sheet.X["smiles"].tolist() == ["CCCC"]
