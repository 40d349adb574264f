"""Folders of graphs."""

import pytest

from mercer.errors import DomainError
from mercer.sources import chunks, read, recipe


@pytest.fixture
def folder(tmp_path):
    def write(name="SET", **files):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        content = {
            "A": "1, 2\n2, 1\n3, 4\n4, 5\n6, 7\n",
            "graph_indicator": "1\n1\n2\n2\n2\n3\n3\n",
            "graph_labels": "1\n-1\n1\n",
        } | files
        for what, text in content.items():
            if text is not None:
                (place / f"{name}_{what}.txt").write_text(text)
        return place

    return write


def test_graphs_with_labels(folder):
    sheet = read(folder())
    assert [len(graph.edges) for graph in sheet.X["graph"]] == [1, 2, 1]
    assert sheet.y.tolist() == ["1", "-1", "1"]
    assert sheet.used[0].kind == "graph"
    assert sheet.target.name == "label"
    assert sheet.lines.tolist() == [1, 2, 3]
    assert sheet.name == "SET"


def test_numbers_and_loops(folder):
    place = folder(A="1, 1\n3, 4\n", graph_labels=None, graph_attributes="0.5\n1.5\n2.5\n")
    sheet = read(place)
    assert sheet.y.tolist() == [0.5, 1.5, 2.5]
    assert sheet.notes == ("1 edges from a node to itself were left out",)


def test_graphs_without_labels_can_be_predicted(folder):
    how = recipe(read(folder()))
    (sheet,) = chunks(folder("NEW", graph_labels=None), how)
    assert len(sheet) == 3
    assert sheet.y is None


def test_what_is_no_folder_of_graphs(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DomainError, match="must hold one set of graphs, a file NAME_A"):
        read(tmp_path / "empty")
    with pytest.raises(DomainError, match="2 labels for each graph; one is expected"):
        read(folder(graph_labels="1,2\n1,2\n2,2\n"))
