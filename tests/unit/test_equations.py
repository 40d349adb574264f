"""Numbers of equations lead from docstrings to the pages of the theory, to the tests, and back."""

import re

import pytest

from tests.unit.test_site import ROOT, SITE, loaded, loaded_extension

THEORY = ROOT / "docs" / "theory"
BOOKS = ROOT / "tests" / "books"
NUMBERS = {
    "bishop": [f"6.{k}" for k in range(1, 38)],
    "tutorial": [str(k) for k in range(1, 26)],
}


def targets_of(text):
    page = (THEORY / f"{text}.md").read_text(encoding="utf-8")
    return loaded(SITE / "citations.py").with_targets(page, text)


@pytest.mark.parametrize("text", NUMBERS)
def test_each_equation_has_one_place_on_its_page(text):
    found = re.findall(rf"^\(equation-{text}-([\d-]+)\)=$", targets_of(text), re.MULTILINE)
    assert sorted(found) == sorted(number.replace(".", "-") for number in NUMBERS[text])


def test_what_docstrings_cite_is_on_the_pages():
    cited = loaded(SITE / "citations.py").citations()
    assert all(number in NUMBERS[text] for text, number in cited)
    assert "mercer.kernels.Gaussian" in cited["bishop", "6.23"]
    assert "mercer.ExemplarClassifier" in cited["tutorial", "21"]
    pages = {text: targets_of(text).splitlines() for text in NUMBERS}
    for (text, number), names in cited.items():
        row = next(line for line in reversed(pages[text]) if line.startswith(f"| ({number}) |"))
        assert all(name in row for name in names)


def test_each_equation_of_the_tutorial_has_a_test_of_its_number():
    text = (BOOKS / "test_tutorial.py").read_text(encoding="utf-8")
    assert {number for number in NUMBERS["tutorial"] if f"def test_{number}_" not in text} == set()


def test_each_equation_of_bishop_is_named_in_the_tests_that_hold_the_chapter():
    files = [*BOOKS.glob("test_bishop_*.py"), BOOKS / "test_sets.py"]
    text = " ".join(file.read_text(encoding="utf-8") for file in files)
    known = set(re.findall(r"6[._](\d+)", text))
    for first, last in re.findall(r"6[._](\d+)(?: to |-|–|_to_)\(?6[._](\d+)", text):
        known |= {str(k) for k in range(int(first), int(last) + 1)}
    assert [n for n in NUMBERS["bishop"] if n.removeprefix("6.") not in known] == []


def test_numbers_become_links_but_not_in_code_and_not_those_of_other_texts():
    linked = loaded(SITE / "extensions" / "equations.py").linked
    assert linked("valid (6.17).", ("bishop",)) == "valid :ref:`(6.17) <equation-bishop-6-17>`."
    assert linked("of (21), and `f (6.1)`", ("bishop",)) == "of (21), and `f (6.1)`"
    assert linked("as (21)", ("tutorial",)) == "as :ref:`(21) <equation-tutorial-21>`"
    assert linked("RBF networks (6.38)", ("bishop",)) == "RBF networks (6.38)"


def test_docstrings_get_their_links_in_prose_alone():
    plain = loaded_extension("docstrings").plain
    lines = ["Return a sum (6.17).", "", ">>> print('(6.17)')", "(6.17)"]
    assert plain(lines)[0] == "Return a sum :ref:`(6.17) <equation-bishop-6-17>`."
    assert plain(lines)[2:] == lines[2:]
