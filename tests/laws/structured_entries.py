"""Entries of the registry: kernels on series, on trees, and on tables with gaps."""

from __future__ import annotations

from tests.laws.entries import Entry

__all__ = ["GAPS", "SERIES_AND_TREES"]

SERIES_AND_TREES = [
    Entry("GlobalAlignment(1.5)", "series"),
    Entry("GlobalAlignment('median')", "series", "heuristic"),
    Entry("GlobalAlignment('median', triangular=3)", "channels", "heuristic"),
    Entry("GlobalAlignment(0.1)", "channels"),
    Entry("GlobalAlignment(0.8, normalized=False)", "channels"),
    Entry("GlobalAlignment(2.0, local='gaussian')", "series", "", "refuted"),
    Entry("GlobalAlignment(2.0, triangular=2, local='gaussian')", "series", "", "unknown"),
    Entry("normalize(GlobalAlignment(2.0, triangular=5, normalized=False))", "series"),
    Entry("SubsetTree(0.3)", "trees"),
    Entry("SubsetTree(0.05) + 1.0", "trees"),
    Entry("normalize(SubsetTree(0.2))", "trees"),
    Entry("gaussian_over(SubsetTree(0.2), 'median')", "trees", "heuristic"),
]

# Kernels on a table with gaps, with whatever a gap means in the place of the question mark. The
# second ones are not valid if rows are compared on the columns that both have.
PATCHY = [
    ("(Linear() + Polynomial(2, offset=1.0)).on('height', 'weight', 'legs', ?)", "features"),
    ("Categorical().on('species', ?)", "features"),
    ("Categorical().on('species', 'legs', ?)", "features"),
    ("GlobalAlignment('median').on('course', ?) * Categorical().on('word', ?)", "heuristic"),
    ("normalize(SubsetTree(0.2).on('parse', ?))", ""),
    ("pullback(Categorical(), length).on('word', 'legs', ?)", "features"),
    ("(Linear().on('legs') + Categorical().on('species')).on('legs', 'species', ?)", "features"),
]
PATCHY_DISTANCES = [
    ("Gaussian(9.0).on('height', 'weight', ?)", ""),
    ("Gaussian('median').on('height', 'legs', ?)", "heuristic"),
    ("Laplacian((9.0, 8.0)).on('weight', 'height', ?)", ""),
    ("Gaussian(9.0).on(slice(0, 3), ?)", ""),
    ("Chi2('median').on('height', 'weight', ?)", "heuristic"),
]


def patchy(choice: str, formulas: list[tuple[str, str]], verdict: str = "proved") -> list[Entry]:
    """Return the entries of some formulas with one choice about gaps."""
    return [
        Entry(formula.replace("?", f"missing={choice!r}"), "patchy table", traits, verdict)
        for formula, traits in formulas
    ]


GAPS = [
    *patchy("own category", PATCHY + PATCHY_DISTANCES),
    *patchy("ignore dimension", PATCHY),
    *patchy("ignore dimension", PATCHY_DISTANCES, "refuted"),
    Entry("Cosine().on('height', 'legs', missing='own category')", "patchy table", "features"),
    Entry("Cosine().on('height', 'legs', missing='ignore dimension')", "patchy table", "",
          "refuted"),
    Entry("QuadraticForm([[1.0, 0.9], [0.9, 1.0]]).on(0, 1, missing='ignore dimension')",
          "patchy table", "", "refuted"),
    Entry("Sigmoid(0.001, -1.0).on('height', missing='own category')", "patchy table", "",
          "refuted"),
    Entry("GlobalAlignment(1.0, local='gaussian').on('course', missing='ignore dimension')",
          "patchy table", "", "refuted"),
    Entry("Gaussian(9.0).on('height', missing='own category') + Categorical().on('species', "
          "missing='ignore dimension')", "patchy table"),
    Entry("Gaussian(9.0).on('height', missing='ignore dimension') + Categorical().on('species', "
          "missing='own category')", "patchy table", "", "unknown"),
]  # fmt: skip
