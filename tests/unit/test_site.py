"""The site: what is laid out for Sphinx, and what its small extensions write."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import mercer.cognition
import mercer.kernels
import mercer.plans
import mercer.rkhs
import mercer.selection
from mercer.plots.figures import find

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
PAGES = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")])


def loaded(path):
    """Return a module of the site's own, which is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # its neighbors
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def test_a_flowchart_puts_what_is_pointed_to_below():
    flowchart = loaded_extension("flowchart")
    layers = flowchart.layers_of([("a", "b"), ("b", "c"), ("a", "c")])
    assert layers == {"a": 2, "b": 1, "c": 0}
    places, _, _ = flowchart.places_of(layers)
    assert places["a"][1] < places["b"][1] < places["c"][1]  # pixels count downwards


def test_words_in_a_flowchart_are_escaped_and_foreign_lines_draw_nothing():
    drawn = loaded_extension("flowchart").drawn("flowchart BT\n  a --> b\n  <script> --> c\n")
    assert drawn.count("<path") == 1 and "<script" not in drawn


def test_boxes_of_consumers_are_dashed():
    drawn = loaded_extension("flowchart").drawn("  a --> b\n  class a consumer\n")
    assert drawn.count('class="dashed"') == 1


def loaded_extension(name):
    """Return an extension of Sphinx, where docutils and Sphinx are installed."""
    pytest.importorskip("sphinx")
    return loaded(SITE / "extensions" / f"{name}.py")


def test_formulas_in_docstrings_are_no_markup():
    plain = loaded_extension("docstrings").plain
    lines = ["The |x − z| of `a|b` and support_.", "", ">>> print('*')", "*", "", "f*g"]
    expected = [
        "The \\|x − z\\| of `a|b` and support\\_.", "", ">>> print('*')", "*", "", "f\\*g",
    ]  # fmt: skip
    assert plain(lines) == expected


def test_names_of_parameters_are_left_to_the_reader_of_sections():
    lines = ["Fit.", "", "Parameters", "----------", "X_ : array", "    Its |rows|."]
    found = loaded_extension("docstrings").plain(lines)
    assert found[4:] == ["X_ : array", "    Its \\|rows\\|."]


def test_learned_attributes_keep_their_underscore():
    lines = ["Attributes", "----------", "a_, b_ : array", "    Some."]
    assert loaded_extension("docstrings").plain(lines)[2] == "a\\_, b\\_ : array"


def test_formulas_become_mathml_with_their_latex_as_a_name():
    pytest.importorskip("latex2mathml")
    found = loaded_extension("mathml").as_mathml(r"a < \frac{b}{c}", "block")
    assert found.startswith("<math aria-label=") and "<mfrac>" in found and "a &lt; " in found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_figures_that_pages_ask_for_exist(page):
    for name in re.findall(r"<!-- figure: ([\w-]+) -->", page.read_text(encoding="utf-8")):
        assert find(name).caption


def test_pages_that_no_list_names_come_at_the_end_of_the_guide(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "index.md").write_text("```{toctree}\ndocs/guide\n```\n")
    (tmp_path / "docs" / "guide.md").write_text("```{toctree}\n:caption: C\n\nkernels\n```\n")
    for name in ("kernels", "new"):
        (tmp_path / "docs" / f"{name}.md").write_text("# A page\n")
    loaded(SITE / "stage.py").list_other_pages(tmp_path)
    guide = (tmp_path / "docs" / "guide.md").read_text(encoding="utf-8")
    assert guide.count("kernels") == 1 and guide.count("new") == 1


def test_names_of_mercer_beside_those_of_other_libraries_exist():
    homes = (mercer, mercer.kernels, mercer.selection, mercer.rkhs, mercer.plans, mercer.cognition)
    known = {name for home in homes for name in home.__all__} | {"mercer", "True"}
    text = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    unknown = []
    for row in re.findall(r"^\| `?[^|]*\| ([^|]*) \|", text, re.MULTILINE):
        for code in re.findall(r"`([^`]*)`", row):
            unknown += [n for n in re.findall(r"\b[A-Z]\w+", code) if n not in known]
    assert set(unknown) <= {"A", "B", "C", "LearnedMetric"}


def test_the_reference_has_every_public_name_once():
    names = loaded(SITE / "api.py").public_names()
    assert {"KernelRidge", "SVC"} <= set(names["mercer"]) and len(names["mercer.kernels"]) > 50
    assert "SVC" not in names["mercer.machines"]
