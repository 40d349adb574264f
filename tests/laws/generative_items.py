"""Items for kernels of generative models: samples of rows, and sequences of letters."""

from __future__ import annotations

import numpy as np

__all__ = ["GENERATIVE_ITEMS"]

rng = np.random.default_rng(20240307)


def samples() -> list[np.ndarray]:
    """Return samples of different sizes, one of a single row, one far away, two equal ones."""
    found = [rng.normal(rng.normal(), 1.0, size=(n, 2)) for n in (1, 2, 3, 3, 5, 8, 4, 13, 2, 6)]
    return [*found, found[4], found[3] + 20.0]


def sequences() -> list[str]:
    """Return words of four letters, of different lengths, two of them equal."""
    found = ["".join(rng.choice(list("acgt"), size=n)) for n in (1, 2, 3, 5, 5, 8, 9, 4, 7, 6)]
    return [*found, found[4], "aaaa", "tttttttt"]


GENERATIVE_ITEMS: dict[str, object] = {
    "few": rng.poisson(2.0, size=(12, 1)).astype(float),
    "samples": samples(),
    "sequences": sequences(),
}
