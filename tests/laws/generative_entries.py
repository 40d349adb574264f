"""Entries of the registry: kernels of generative models."""

from __future__ import annotations

from tests.laws.entries import Entry

__all__ = ["GENERATIVE"]

NORMAL = "GaussianDensity([0.5, 0.0, -0.5], [[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 1.5]])"
OTHER = "GaussianDensity([1.0, 0.0, 1.0], 2.0)"
KNOWN = "GaussianDensity([0.5, 0.0, -0.5], 2.0, fixed='covariance')"
LOADING = "[[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]]"
ROWS = "rows features"
BLOBS = (
    "GaussianMixtureModel(2, 'diag', [0.4, 0.6], [[0.0, 0.0, 0.5], [1.0, -1.0, 0.0]], "
    "[[1.0, 0.5, 1.0], [0.8, 1.0, 2.0]])"
)
TOPICS = "[[0.3, 0.3, 0.1, 0.1, 0.1, 0.1], [0.05, 0.05, 0.2, 0.2, 0.2, 0.3]]"
CHAIN = (
    "HiddenMarkovModel(2, start=[0.7, 0.3], transition=[[0.9, 0.1], [0.0, 1.0]], "
    "emission=[[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.4, 0.4]], alphabet=('a', 'c', 'g', 't'))"
)
COURSE = (
    "HiddenMarkovModel(2, 'gaussian', start=[0.5, 0.5], transition=[[0.8, 0.2], [0.3, 0.7]], "
    "means=[[0.0], [1.0]], covariances=[[1.0], [0.5]])"
)

GENERATIVE = [
    Entry(f"Density({NORMAL})", "points", ROWS),
    Entry("Density(GaussianDensity(), fit_model=True)", "points", "heuristic " + ROWS),
    Entry("Density(FromSciPy('poisson', {'mu': 2.0}))", "few", ROWS),
    Entry("Density(from_log_density(frequency, rate=0.5))", "words", "features"),
    Entry(f"normalize(Density({NORMAL}))", "points", ROWS),
    Entry(f"Mixture(({NORMAL}, {OTHER}), (0.25, 0.75))", "points", ROWS),
    Entry(f"Mixture(({OTHER},))", "points", ROWS),
    Entry(f"normalize(Mixture(({NORMAL}, {OTHER}), (0.25, 0.75)))", "points", ROWS),
    Entry(f"2.0 * Mixture(({NORMAL}, {OTHER})) + Gaussian(1.0)", "points", "rows"),
    Entry(f"Mixture({BLOBS})", "points", ROWS),
    Entry(f"Mixture({BLOBS}, (0.9, 0.1))", "points", ROWS),
    Entry(f"normalize(Mixture(MultinomialMixture(2, [0.5, 0.5], {TOPICS})))", "histograms",
          "sparse features"),
    Entry(f"LatentGaussian({LOADING}, 0.7)", "points", "sparse"),
    Entry(f"LatentGaussian({LOADING}, [0.5, 1.0, 2.0], [0.0, 1.0, 0.0])", "points", "sparse"),
    Entry("LatentGaussian(2)", "wide points", "heuristic sparse"),
    Entry(f"normalize(LatentGaussian({LOADING}, 0.7))", "points", "sparse"),
    Entry("LatentIntegral(popularity, nodes=12)", "words", "features"),
    Entry("LatentIntegral(popularity, 3, 40, 'monte carlo', seed=1)", "words", "features"),
    Entry(f"HiddenMarkov({CHAIN})", "sequences"),
    Entry(f"HiddenMarkov({CHAIN}, normalized=False)", "sequences"),
    Entry(f"normalize(HiddenMarkov({CHAIN}, normalized=False))", "sequences"),
    Entry(f"HiddenMarkov({CHAIN}) * Spectrum(2)", "sequences"),
    Entry("HiddenMarkov(HiddenMarkovModel(2, smoothing=0.5), fit_model=True)", "sequences",
          "heuristic"),
    Entry(f"HiddenMarkov({COURSE})", "series"),
    Entry("ProbabilityProduct(ridge=0.5)", "samples"),
    Entry("ProbabilityProduct()", "samples", "heuristic"),
    Entry("ProbabilityProduct(1.0, 'diagonal')", "samples", "heuristic"),
    Entry("ProbabilityProduct(0.7, 'spherical', 0.2)", "samples"),
    Entry("normalize(ProbabilityProduct(1.0, ridge=0.01))", "samples"),
    Entry(f"Fisher({KNOWN}, 'exact')", "points", ROWS),
    Entry(f"Fisher({NORMAL}, 'exact')", "points", ROWS),
    Entry(f"Fisher({NORMAL}, 'identity')", "points", ROWS),
    Entry(f"Fisher({NORMAL})", "points", "heuristic " + ROWS),
    Entry(f"Fisher({NORMAL}, 'diagonal', ridge=0.1)", "points", "heuristic " + ROWS),
    Entry(f"Fisher({KNOWN}, [1.0, 2.0, 3.0])", "points", ROWS),
    Entry("Fisher(GaussianDensity(), fit_model=True)", "points", "heuristic " + ROWS),
    Entry("Fisher(from_log_density(frequency, rate=0.5), ridge=0.01)", "words",
          "heuristic features"),
    Entry(f"normalize(Fisher({NORMAL}, 'exact')) * Gaussian(2.0)", "points", "rows"),
    Entry(f"Fisher({BLOBS}, ridge=0.01)", "points", "heuristic " + ROWS),
    Entry(f"Fisher(AspectModel(2, {TOPICS}), 'diagonal', ridge=0.1)", "histograms",
          "heuristic sparse features"),
    Entry("Fisher(MarkovChain(1, smoothing=0.5), fit_model=True, ridge=0.1)", "sequences",
          "heuristic features"),
    Entry(f"Fisher({CHAIN}, ridge=0.01)", "sequences", "heuristic features"),
    Entry("Fisher(HiddenMarkovModel(2, smoothing=0.5), 'diagonal', fit_model=True)", "sequences",
          "heuristic features"),
]  # fmt: skip
