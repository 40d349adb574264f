"""Entries of the registry: kernels on strings, texts, sets and bags."""

from __future__ import annotations

from tests.laws.entries import Entry

__all__ = ["SETS", "STRINGS"]

STRINGS = [
    Entry("Spectrum(1)", "strings", "features"),
    Entry("Spectrum(3)", "strings", "features"),
    Entry("Spectrum(2)", "DNA", "features"),
    Entry("Spectrum(40)", "strings", "features"),
    Entry("normalize(Spectrum(2)) + 0.5 * Spectrum(1) * Spectrum(3)", "strings", "features"),
    Entry("Spectrum(2) + Categorical()", "strings", "features"),
    Entry("Mismatch(2, 1, 'an')", "strings", "features"),
    Entry("Mismatch(3, 1)", "strings", "heuristic"),
    Entry("Mismatch(4, 2)", "strings", "heuristic"),
    Entry("Mismatch(3, 0)", "DNA", "heuristic features"),
    Entry("Mismatch(4, 3, 'ACG')", "DNA", "features"),
    Entry("Mismatch(6, 2, 'ACGT')", "DNA", "features"),
    Entry("normalize(Mismatch(5, 1, 'ACGTN'))", "DNA", "features"),
    Entry("Mismatch(3, 1, '')", "strings", "features"),
    Entry("Subsequence()", "strings"),
    Entry("Subsequence(1, 0.3)", "strings"),
    Entry("Subsequence(2, 1.0)", "DNA"),
    Entry("normalize(Subsequence(5, 0.8))", "DNA"),
    Entry("WeightedDegree()", "strings", "features"),
    Entry("WeightedDegree(1)", "strings", "features"),
    Entry("WeightedDegree(20)", "DNA", "features"),
    Entry("WeightedDegree(2, shift=1)", "strings", "features"),
    Entry("normalize(WeightedDegree(4, shift=5))", "DNA", "features"),
    Entry("Text()", "texts", "heuristic features"),
    Entry("Text(idf=None)", "texts", "features"),
    Entry("Text(idf=None, normalized=False, sublinear=True)", "texts", "features"),
    Entry("Text(idf={'cat': 2.0, 'dog': 1.5})", "texts", "features"),
    Entry("Text(idf=Idf(('cat', 'the'), (2.0, 1.0)), min_df=2)", "texts", "features"),
    Entry("Text(ngrams=(1, 2), stop_words='english', min_df=2)", "texts", "heuristic features"),
    Entry("Text(stop_words=['the'], lowercase=False)", "texts", "heuristic features"),
    Entry("Text('char', ngrams=(2, 3), sublinear=True)", "texts", "heuristic features"),
    Entry("Text('char_wb', ngrams=(1, 5))", "texts", "heuristic features"),
    Entry(r"Text(token_pattern='\\w+', normalized=False)", "texts", "heuristic features"),
    Entry("Text().on('text') + Linear().on('length')", "texts in a column", "heuristic features"),
]

SETS = [
    Entry("SubsetCount()", "small sets", "features"),
    Entry("SubsetCount()", "sets"),
    Entry("SubsetCount()", "large sets"),
    Entry("normalize(SubsetCount())", "small sets", "features"),
    Entry("normalize(SubsetCount())", "large sets"),
    Entry("Jaccard()", "small sets"),
    Entry("Jaccard()", "large sets"),
    Entry("Jaccard() + 0.1 * SubsetCount()", "sets"),
    Entry("SetKernel(Gaussian(1.0))", "bags"),
    Entry("SetKernel(Gaussian('median'))", "bags", "heuristic"),
    Entry("SetKernel(Polynomial(2, offset=1.0), average=False)", "bags", "features"),
    Entry("SetKernel(Sigmoid(1.0, -1.0))", "bags", "", "refuted"),
    Entry("SetKernel(Laplacian('median'))", "bags of numbers", "heuristic"),
    Entry("SetKernel(Spectrum(2))", "bags of words", "features"),
    Entry("SetKernel(Subsequence(2, 0.5), average=False)", "bags of words"),
    Entry("normalize(SetKernel(Categorical()))", "bags of words", "features"),
    Entry("SetKernel(from_function(shared))", "bags of words", "", "unknown"),
    Entry("gaussian_over(SetKernel(Spectrum(1)), 'median')", "bags of words", "heuristic"),
]
