"""Handwritten digits: the lecture's table of test errors, with our figures beside it.

The lecture ("Kernel Engineering") gives the errors of people, a perceptron and a support vector
machine on the 2007 test images. Ours are those of one machine each, whose kernel and C are chosen
by five-fold cross-validation on the 7291 training images. The test images are read after that,
once. Polynomials and Gaussians of the pixels are among the candidates, to show what the others
gain: pixels that are blurred, and edges (see `examples.usps_invariance`, whose windows and
directions were found by cross-validation on the training images, too).
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from examples.usps_invariance import BACKGROUND, edge_kernel, pixel_kernel
from mercer import SVC, Perceptron
from mercer.bench.measure import columns
from mercer.datasets import usps
from mercer.errors import DomainError
from mercer.kernels import (
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    normalize,
    precomputed,
    pullback,
)

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
PENALTIES = (1.0, 10.0, 100.0)  # the C of the support vector machines
EPOCHS = 20
SIDE = 16

Machine = SVC | Perceptron


def report() -> str:
    """Choose by cross-validation, test once, and return both tables; or say what is missing."""
    try:
        digits = usps(download=False)
    except DomainError as error:
        return f"nothing measured: {error}"
    X, y = digits
    kernels = candidates()
    errors = np.array([held_out_errors(kernel, X, y) for kernel in kernels])
    row, column = np.unravel_index(np.argmin(errors[:, 1:]), errors[:, 1:].shape)
    best = machines(kernels[row])[1 + column]
    walker = machines(kernels[np.argmin(errors[:, 0])])[0]

    def tested(method: str, lecture: str, machine: Machine) -> tuple[str, ...]:
        wrong = machine.fit(X, y).predict(digits.extra["X_test"]) != digits.extra["y_test"]
        return method, lecture, f"{wrong.mean():.1%}", say(machine)

    lines = [
        ("method", "lecture", "ours", "our machine"),
        ("human classification", "2.7%", "", ""),
        tested("perceptron", "5.9%", machines(Linear())[0]),
        tested("  with a kernel", "", walker),
        tested("support vector machines", "4.0%", best),
    ]
    return "\n\n".join(
        [
            f"errors in five folds of the {len(y)} training images",
            validation_table(kernels, errors),
            f"chosen: {say(best)}\n{best.kernel.proof()}",
            f"errors on the {len(digits.extra['y_test'])} test images",
            columns(lines, words=(0, 3)),
        ]
    )


def machines(kernel: Kernel) -> list[Machine]:
    """Return the machines to choose from: the perceptron, and support vectors with each C."""
    perceptron = Perceptron(kernel, averaged=True, max_epochs=EPOCHS)
    return [perceptron, *(SVC(kernel, C=C) for C in PENALTIES)]


def held_out_errors(kernel: Kernel, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the cross-validated error of each machine, all on one Gram matrix."""
    K = kernel(X)
    return [
        float(np.mean(cross_val_predict(machine, K, y, cv=FOLDS) != y))
        for machine in machines(precomputed())
    ]


def validation_table(kernels: list[Kernel], errors: np.ndarray) -> str:
    """Return the cross-validated errors, a line for each kernel."""
    header = ("kernel", "Perceptron", *(f"SVC, C={C:g}" for C in PENALTIES))
    lines = [
        (repr(kernel), *(f"{error:.2%}" for error in line))
        for kernel, line in zip(kernels, errors, strict=True)
    ]
    return columns([header, *lines])


def say(machine: Machine) -> str:
    """Return the machine in one line."""
    ending = f", C={machine.C:g}" if isinstance(machine, SVC) else ""
    return f"{type(machine).__name__}({machine.kernel!r}{ending})"


def candidates() -> list[Kernel]:
    """Return the kernels to choose from; of equally good ones the first is taken."""
    cosine = normalize(Polynomial(5))
    return [
        Linear(),
        *(Gaussian(bandwidth) for bandwidth in (11.0, 8.0, 5.5)),
        *(pixel_kernel(SIDE, degree) for degree in (3, 5)),
        *(pullback(cosine, phi, batched=True) for phi in (ink, blurred)),
        *(edge_kernel(bandwidth) for bandwidth in (0.6, 0.45, 0.35)),
    ]


def ink(X: np.ndarray) -> np.ndarray:
    """Count gray values from the background on, so that it adds nothing to a product."""
    return np.asarray(X, dtype=np.float64) - BACKGROUND


def blurred(X: np.ndarray) -> np.ndarray:
    """Spread the ink over about a pixel, so that strokes side by side still overlap."""
    images = ink(X).reshape(-1, SIDE, SIDE)
    return gaussian_filter(images, (0, 0.8, 0.8), mode="constant").reshape(len(images), -1)
