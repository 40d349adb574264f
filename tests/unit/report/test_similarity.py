"""The pictures of similarities and of the choice show what they are said to show."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.report import html, similarity
from tests.unit.report.examples import example
from tests.unit.report.reading import Page, page_of


@pytest.fixture
def drawn(monkeypatch):
    """The axes of all pictures, as they are drawn."""
    found = []

    def figure(ax, alt, caption):
        ax.figure.canvas.draw()
        found.append(ax)
        return similarity.Figure("", alt, caption, 1, 1)

    monkeypatch.setattr(similarity, "figure", figure)
    return found


@pytest.mark.parametrize("name", ["regression", "iris", "sequences"])
def test_the_shades_of_a_gram_matrix_reach_from_its_own_similarities_to_one(name, drawn):
    similarity.similarity(example(name))
    image = drawn[0].images[0]
    low, high = image.get_clim()
    values = np.asarray(image.get_array())
    assert high == 1.0
    assert -1.0 <= low <= np.quantile(values, 0.11)
    assert low == -1.0 or values.min() >= 0


@pytest.mark.parametrize(("name", "negative"), [("regression", False), ("iris", True)])
def test_the_caption_names_the_color_of_what_is_alike(name, negative, drawn, monkeypatch):
    K = np.full((12, 12), -0.3 if negative else 0.3) + np.eye(12)
    places = np.argsort(example(name).y, kind="stable")[::8][:12]
    monkeypatch.setattr(similarity, "sample", lambda study: (places, False))
    monkeypatch.setattr(similarity, "similarities", lambda study, places: K)
    caption = similarity.similarity(example(name)).gram.caption
    assert ("Brown" in caption) == negative and ("Dark" in caption) != negative


def test_directions_are_whole_numbers(drawn, monkeypatch):
    places = np.arange(0, 150, 60)
    monkeypatch.setattr(similarity, "sample", lambda study: (places, False))
    monkeypatch.setattr(similarity, "similarities", lambda study, places: np.diag([5.0, 3.0, 1.0]))
    similarity.similarity(example("iris"))
    shown = [text.get_text() for text in drawn[1].get_xticklabels()]
    assert len(shown) > 1 and all(text.isdigit() for text in shown)


VOCABULARY = tuple(f"word{k}" for k in range(1000))


@pytest.mark.slow
def test_a_vocabulary_does_not_fill_the_page():
    study = example("two classes")
    kernel = f"Text(ngrams=(1, 1), idf=Idf({VOCABULARY}, {tuple(range(1000))})).on('notes')"
    surface = replace(study.surface, rows=tuple(kernel for _ in study.surface.rows))
    page = Page(html(replace(study, kernel=kernel, surface=surface)))
    assert "idf=Idf(('word0', 'word1', 'word2', … and 997 more), (0, 1, 2, … and 997" in page.text
    assert "All of it is in metrics.json" in page.text
    assert "word999" not in page.text and len(page.text) < 20_000
    assert "All of it is in" not in Page(page_of("two classes")).text


@pytest.mark.slow
def test_paper_shows_what_a_screen_folds_or_scrolls():
    study = example("iris")
    long = " + ".join(f"Linear().on('column number {k}')" for k in range(20))
    page = Page(html(replace(study, kernel=long)))
    assert {"class": "whole"} in page.all("details")
    paper = page.styles[0].split("@media print")[1]
    assert (
        "details.whole::details-content" in paper and "pre code { white-space: pre-wrap" in paper
    )


def test_things_are_called_what_they_are():
    text = Page(page_of("graphs")).text
    assert "wrong on held-out graphs" in text and "held-out rows" not in text.split("Would")[0]
