"""Folders of graphs, complete, sparse and broken."""

import gzip

import numpy as np
import pytest

from mercer.datasets import read_tu
from mercer.domains import GRAPHS, Graph
from mercer.errors import DomainError
from mercer.kernels import WeisfeilerLehman

FILES = {
    "A": "1, 2\n2, 1\n2,3\n3, 2\n5, 4\n4, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n4\n",
    "graph_labels": "1\n-1\n1\n-1\n",
    "node_labels": "6\n6\n8\n6\n7\n7\n",
    "edge_labels": "0\n0\n1\n1\n0\n0\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n5.5, 6\n",
}


@pytest.fixture
def write(tmp_path):
    """Write the files of a set, some of them changed, missing (None) or packed."""

    def files(packed=(), **changes):
        for what, text in {**FILES, **changes}.items():
            path = tmp_path / f"SET_{what}.txt"
            if what in packed:
                (tmp_path / (path.name + ".gz")).write_bytes(gzip.compress(text.encode()))
            elif text is not None:
                path.write_text(text)
        return tmp_path

    return files


@pytest.mark.parametrize("packed", [(), ("node_attributes",), tuple(FILES)])
def test_everything_is_read(write, packed):
    data = read_tu(write(packed))
    assert data.X.tolist() == [
        Graph([(0, 1), (1, 2)], [6, 6, 8], [0, 1], [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]]),
        Graph([(0, 1)], [6, 7], [0], [[3.5, 4.0], [4.5, 5.0]]),
        Graph.made(0, np.empty((0, 2), np.int64), (), (), np.empty((0, 2))),
        Graph.made(1, np.empty((0, 2), np.int64), (7,), (), np.array([[5.5, 6.0]])),
    ]
    assert data.y.tolist() == [1, -1, 1, -1]
    assert data.names == ("-1", "1")
    assert data.extra == {"name": "SET", "loops": 0}
    assert GRAPHS.admit(data.X).kind == (True, True)
    assert WeisfeilerLehman(1)(data.X).shape == (4, 4)


def test_graphs_without_labels_or_edges(write):
    nothing = {"node_labels": None, "edge_labels": None, "node_attributes": None}
    data = read_tu(write(A="", **nothing))
    assert [g.nodes for g in data.X] == [3, 2, 0, 1]
    assert all(g.labels is None and len(g.edges) == 0 for g in data.X)


def test_edges_may_have_one_direction(write):
    both, one = read_tu(write()).X, None
    folder = write(A="2,1\n2,3\n5,4\n", edge_labels="0\n1\n0\n")
    one = read_tu(folder).X
    assert one.tolist() == both.tolist()


def test_nodes_of_a_graph_need_not_stand_together(write):
    data = read_tu(write(
        graph_indicator="2\n1\n2\n1\n", A="1,3\n4,2\n", node_labels="1\n2\n3\n4\n",
        edge_labels="8\n9\n", graph_labels="0\n1\n", node_attributes=None,
    ))  # fmt: skip
    assert data.X.tolist() == [Graph([(0, 1)], [2, 4], [9]), Graph([(0, 1)], [1, 3], [8])]


def test_loops_are_left_out_and_counted(write):
    data = read_tu(write(A="1,2\n3,3\n2,1\n", edge_labels="5\n6\n5\n"))
    assert len(data.X[0].edges) == 1 and data.extra["loops"] == 1


def test_several_labels_of_a_node_are_one(write):
    data = read_tu(write(node_labels="6, 1\n6, 2\n8, 1\n6, 1\n7, 1\n7, 1\n"))
    assert data.X[0].labels == ((6, 1), (6, 2), (8, 1))


def test_numbers_may_be_learned_instead_of_labels(write):
    folder = write(graph_labels=None, graph_attributes="0.5\n1.5\n2.5\n3.5\n")
    assert read_tu(folder).y.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert read_tu(folder).names == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"A": "1, 2\n2, x\n"}, r"SET_A.txt: line 2 is not a row of numbers: '2, x'"),
        ({"A": "1, 2\n2, 1\n3\n"}, r"SET_A.txt: line 3 has 1 numbers, lines before have 2"),
        ({"A": "1\n2\n"}, r"SET_A.txt: line 1 has 1 numbers, expected 2"),
        ({"A": "1, 2\n2, 9\n"}, r"SET_A.txt: line 2: nodes are numbered from 1 to 6"),
        ({"A": "1, 2\n0, 1\n"}, r"SET_A.txt: line 2: nodes are numbered"),
        ({"A": "1, 2\n3, 4\n"}, r"SET_A.txt: line 2: an edge joins nodes of different graphs"),
        (
            {"graph_indicator": "0\n1\n"},
            "indicator.txt: line 1: graphs are numbered",
        ),
        ({"graph_labels": "1\n"}, "has 4 graphs, but labels for 1"),
        ({"graph_labels": None}, "SET_graph_attributes.txt cannot be read"),
        ({"graph_indicator": None}, "SET_graph_indicator.txt cannot be read"),
        ({"node_labels": "1\n2\n"}, "SET_node_labels.txt has 2 lines, expected 6"),
        ({"edge_labels": "1\n2\n"}, "SET_edge_labels.txt has 2 lines, expected 6"),
        ({"edge_labels": "0\n7\n1\n1\n0\n0\n"}, "lines 1 and 2 label one edge differently"),
        ({"A": "1, 2\n2, 1.5\n"}, r"SET_A.txt: line 2: not a whole number"),
        ({"A": "1, 2\nnan, 1\n"}, r"SET_A.txt: line 2: not a whole number"),
        ({"graph_indicator": "1\n1.5\n"}, r"indicator.txt: line 2: not a whole number"),
        ({"node_labels": "1\nnan\n1\n1\n1\n1\n"}, r"labels.txt: line 2: not a finite"),
        ({"node_attributes": "1\n2\nnan\n4\n5\n6\n"}, "attributes.txt: line 3: not a finite"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_by_file_and_line(write, changes, words):
    with pytest.raises(DomainError, match=words):
        read_tu(write(**changes))


def test_folders_that_hold_no_set_or_two(write, tmp_path):
    with pytest.raises(DomainError, match="is not a folder"):
        read_tu(tmp_path / "missing")
    with pytest.raises(DomainError, match="found 0"):
        read_tu(tmp_path)
    (write() / "OTHER_A.txt").write_text("1,2\n")
    with pytest.raises(DomainError, match="found 2"):
        read_tu(tmp_path)


def test_a_broken_archive_is_refused(write):
    folder = write(A=None)
    (folder / "SET_A.txt.gz").write_bytes(b"not packed")
    with pytest.raises(DomainError, match=r"SET_A.txt.gz: line 1 .* numbers: 'not packed'"):
        read_tu(folder)


def test_so_is_one_with_damage_inside(write):
    folder = write(A=None)
    packed = bytearray(gzip.compress(b"1,2\n" * 1000))
    packed[12:20] = b"\xff" * 8
    (folder / "SET_A.txt.gz").write_bytes(packed)
    with pytest.raises(DomainError, match=r"SET_A.txt.gz cannot be read"):
        read_tu(folder)
