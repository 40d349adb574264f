"""The loop of mixtures, compiled by Numba, so imported only when it is needed."""

from __future__ import annotations

from numba import njit

__all__ = ["diagonal_scores"]

NOTHING = 1e-20


@njit(cache=True, nogil=True)
def diagonal_scores(X, R, means, precisions, excess, out):
    """Write all scores of a mixture with independent columns: first those of the weights, which
    are in `excess`, then γ(x − μ)/σ² of the means, then γ((x − μ)²/σ² − 1) of log deviations.

    `R` holds the γ and `precisions` 1/σ²; `out` is zero before. What is written is much more than
    what is read, and the memory is touched for the first time, so each row is written at once
    from end to end. Most components have nothing to do with an item. Those below 10⁻²⁰ are left
    out: beside what the others contribute they are zero in all digits, at any distance.
    """
    components, width = means.shape
    begin = excess.shape[1]
    half = begin + components * width
    for i in range(len(X)):
        x = X[i]
        out[i, :begin] = excess[i]
        for k in range(components):
            g, mean, precision = R[i, k], means[k], precisions[k]
            if g < NOTHING:
                continue
            first = out[i, begin + k * width : begin + (k + 1) * width]
            second = out[i, half + k * width : half + (k + 1) * width]
            for c in range(width):
                d = x[c] - mean[c]
                pull = d * precision[c]
                first[c] = g * pull
                second[c] = g * (d * pull - 1.0)
