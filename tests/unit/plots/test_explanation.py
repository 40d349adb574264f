"""Letters, nodes and atoms in the colors of what they contributed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelRidge
from mercer.domains import Graph
from mercer.errors import DomainError
from mercer.kernels import Gaussian, Molecule, Spectrum, WeisfeilerLehman
from mercer.plots import plot_atoms, plot_letters, plot_nodes
from mercer.plots.explanation import layout
from mercer.plots.palette import shades


def decision():
    machine = KernelRidge(Spectrum(2), 1.0).fit(["ab", "bc", "abc"], [1.0, -1.0, 0.2])
    return mercer.explain(machine, ["xabc"])[0]


def test_letters_of_a_decision():
    why = decision()
    ax = plot_letters(why)
    assert [text.get_text() for text in ax.texts[:4]] == list("xabc")
    faces = [patch.get_facecolor() for patch in ax.patches]
    values = why.units()["contribution"].to_numpy()
    expected = [shades()(0.5 + 0.5 * v / np.abs(values).max()) for v in values]
    assert np.allclose(faces, expected)


def test_long_sequences_take_several_lines():
    ax = plot_letters("a" * 25, np.zeros(25), per_line=10)
    assert {round(text.get_position()[1]) for text in ax.texts} == {0, -1, -2}
    assert [text.get_text() for text in ax.texts[25:]] == ["1", "11", "21"]


def test_text_is_drawn_as_it_is():
    ax = plot_letters(["$x", "^", "\\frac"], [1.0, 2.0, 3.0])
    ax.figure.canvas.draw()
    assert ax.texts[0].get_text() == "$x"


def test_what_no_font_can_print_is_drawn_as_something_else():
    ax = plot_letters("a\n\ud800", [1.0, 0.0, -1.0])
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts[:3]] == ["a", " ", "\ufffd"]


def test_nodes():
    graph = Graph([(0, 1), (1, 2)], labels="CNO", nodes=3)
    ax = plot_nodes(graph, [1.0, -2.0, 0.0])
    assert [text.get_text() for text in ax.texts] == ["C", "N", "O"]
    assert np.allclose(ax.collections[0].get_array(), [1.0, -2.0, 0.0])
    assert ax.collections[0].get_clim() == (-2.0, 2.0)
    assert len(ax.lines) == 2
    empty = plot_nodes(Graph([], nodes=0), [])
    assert len(empty.texts) == 0


def test_atoms():
    ax = plot_atoms("CC#N", [0.5, 0.0, -1.0])
    assert [text.get_text() for text in ax.texts] == ["C", "C", "N"]
    assert len(ax.lines) == 1 + 3  # one stroke, and three for the triple bond


def test_places_are_as_far_apart_as_paths_are_long():
    path = layout(Graph([(i, i + 1) for i in range(5)]))
    assert np.allclose(np.hypot(*(path[5] - path[0])), 5.0, atol=0.05)
    ring = layout(Graph([(i, (i + 1) % 6) for i in range(6)]))
    radii = np.hypot(*(ring - ring.mean(axis=0)).T)
    assert radii.std() < 0.05 * radii.mean()
    parts = layout(Graph([(0, 1), (2, 3)], nodes=5))
    D = np.hypot(*(parts[:, None] - parts[None]).transpose(2, 0, 1))
    assert D[np.triu_indices(5, 1)].min() > 0.9


def test_refusals():
    with pytest.raises(DomainError, match="needs a contribution"):
        plot_letters("abc")
    with pytest.raises(DomainError, match="3 parts, but 2"):
        plot_letters(["a", "b", "c"], [1.0, 2.0])
    with pytest.raises(DomainError, match="3 parts, but 2"):
        plot_letters("abc", [1.0, 2.0])
    with pytest.raises(DomainError, match="2 contributions do not belong"):
        plot_nodes(Graph([(0, 1), (1, 2)]), [1.0, 2.0])
    with pytest.raises(DomainError, match="3 atoms, but 2"):
        plot_atoms("CCO", [1.0, 2.0])
    machine = KernelRidge(Gaussian(1.0)).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(DomainError, match="no parts to color"):
        plot_letters(mercer.explain(machine, [[0.5]])[0])


def test_words_do_not_stand_on_each_other():
    words = ["the", "extraordinary", "cat"]
    ax = plot_letters(words, [1.0, -1.0, 0.0], per_line=20)
    boxes = [(p.get_x(), p.get_x() + p.get_width(), p.get_y()) for p in ax.patches]
    assert [right - left for left, right, _ in boxes] == [3.0, 13.0, 3.0]
    assert boxes[1][0] >= boxes[0][1]
    assert boxes[2][2] < boxes[1][2]  # what does not fit goes into the next line


def molecules(kernel, X, new):
    machine = KernelRidge(kernel, 0.1).fit(X, [1.0, 0.5, 0.0])
    return mercer.explain(machine, new)[0]


def test_a_molecule_of_a_graph_kernel_or_of_a_table_can_be_drawn():
    smiles = ["CCO", "CCN", "CCC"]
    for plot in (plot_atoms, plot_nodes):
        ax = plot(molecules(WeisfeilerLehman(1), smiles, ["CO"]))
        assert [text.get_text() for text in ax.texts] == ["C", "O"]
    table = pd.DataFrame({"what": smiles, "x": [1.0, 2.0, 3.0]})
    kernel = Molecule(1, 64).on("what") + Gaussian(1.0).on("x")
    ax = plot_atoms(molecules(kernel, table, table[:1]))
    assert [text.get_text() for text in ax.texts] == ["C", "C", "O"]


def test_an_empty_sequence_is_drawn_empty():
    machine = KernelRidge(Spectrum(2), 1.0).fit(["ab", "bc"], [1.0, -1.0])
    ax = plot_letters(mercer.explain(machine, [""])[0])
    assert len(ax.patches) == 0
