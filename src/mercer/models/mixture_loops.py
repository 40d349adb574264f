"""The loop of mixtures, compiled by Numba, so imported only when it is needed."""

from __future__ import annotations

from numba import njit

__all__ = ["diagonal_scores"]


@njit(cache=True, nogil=True)
def diagonal_scores(X, R, means, precisions, begin, out):
    """Write the scores of means, γ(x − μ)/σ², and, after all of these, of log deviations,
    γ((x − μ)²/σ² − 1), into the columns of `out` from `begin` on.

    `R` holds the γ and `precisions` 1/σ². What is written is much more than what is read, so
    everything is computed in one go.
    """
    components, width = means.shape
    half = begin + components * width
    for i in range(len(X)):
        x = X[i]
        for k in range(components):
            g, mean, precision = R[i, k], means[k], precisions[k]
            first = out[i, begin + k * width : begin + (k + 1) * width]
            second = out[i, half + k * width : half + (k + 1) * width]
            if g == 0.0:  # whatever the distance is, even if it is infinite
                first[:] = 0.0
                second[:] = 0.0
                continue
            for c in range(width):
                d = x[c] - mean[c]
                pull = d * precision[c]
                first[c] = g * pull
                second[c] = g * (d * pull - 1.0)
