"""Candidates: the families of machines that a study tries, and kernels that suit its columns.

Each kind of column has a similarity of its own, all of them about 1 for a row with itself. Where
there are several columns, the similarities are added up, and a Gaussian of the distance that they
span lets the columns interact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from mercer.domains import Columns, Items, VectorDomain, is_frame
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels import (
    Categorical,
    Gaussian,
    Kernel,
    Linear,
    Molecule,
    Spectrum,
    Text,
    WeightedDegree,
    WeisfeilerLehman,
    gaussian_over,
    normalize,
)
from mercer.machines import (
    SVC,
    SVR,
    Calibrated,
    ExemplarClassifier,
    ExemplarRegressor,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelNeighbors,
    KernelRidge,
    KernelRidgeClassifier,
    PrototypeClassifier,
)
from mercer.sources import Column
from mercer.studies.arrangement import INDEPENDENT, Arrangement

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SCALES", "CandidateKernel", "ModelFamily", "candidate_kernels", "families", "family_names",
    "on_columns",
]  # fmt: skip

NUMBERS = ("numeric", "date")


@dataclass(frozen=True)
class ModelFamily:
    """A family of machines: one class, with the values of the parameter that is chosen."""

    name: str  # what users call it
    cls: Any
    parameter: str = ""  # what is chosen besides the kernel, if anything
    # The values that are tried first; further ones in the same steps if the best is at an end.
    values: tuple[float, ...] = ()
    limits: tuple[float, float] = (0.0, np.inf)  # how far that goes
    larger_is_smoother: bool = False  # of values; the smoother one is taken of two with one error
    settings: dict[str, Any] = field(default_factory=dict)  # what is not chosen
    # Whether it is tried with similarities that may be negative and grow without bound. To means
    # of similarities they make no sense, and margins take very long with them.
    unbounded: bool = True
    # Whether values, tube and tolerance are in standard deviations of the target, until
    # `for_targets` has said how large these are.
    scaled: bool = False
    learned: bool = False  # whether the metric of its kernel is learned, and its parameter with it
    constant: bool = False  # whether it always says the same, so that others have to be better
    title: str = ""  # what reports call it, if not by the name of its class

    @property
    def takes_weights(self) -> bool:
        """Whether rows may count differently."""
        return bool(has_fit_parameter(self.cls, "sample_weight"))

    @property
    def ridge(self) -> bool:
        """Whether it is a ridge regression of which the answer alone is wanted."""
        return self.cls in (KernelRidge, KernelRidgeClassifier)

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.title or str(self.cls.__name__)

    def for_targets(self, y: np.ndarray) -> ModelFamily:
        """Return the same family with its numbers in the unit of the targets."""
        if not self.scaled:
            return self
        spread = float(np.std(y)) or 1.0
        settings = {**self.settings, "epsilon": 0.1 * spread, "tol": 1e-3 * spread}
        low, high = self.limits
        values = tuple(float(f"{value * spread:.4g}") for value in self.values)
        limits = (low * spread, high * spread)
        return replace(self, values=values, limits=limits, settings=settings, scaled=False)

    def machine(self, kernel: Kernel, value: float | None) -> Any:
        """Return a machine that is not fitted yet."""
        chosen = {self.parameter: value} if self.parameter and value is not None else {}
        return self.cls(kernel, **self.settings, **chosen)

    def with_probabilities(
        self, machine: Any, rows: int, seed: int, tied: Arrangement = INDEPENDENT,
        costs: np.ndarray | None = None,
    ) -> BaseEstimator:  # fmt: skip
        """Return the same machine as one that knows probabilities too.

        Where rows are tied together they are calibrated on splits that keep to that. What a
        machine says of itself is calibrated too: means of similarities may be right in 99 of 100
        cases and claim to be sure by 51 percent.
        """
        if not tied.independent or costs is not None:
            sample = None if rows <= CALIBRATING_ROWS else CALIBRATING_ROWS
            return Calibrated(machine, 5, random_state=seed, sample=sample, costs=costs)
        if "probability" in machine.get_params(deep=False) and rows <= CALIBRATING_ROWS:
            return machine.set_params(probability=True, random_state=seed)
        if rows <= CALIBRATING_ROWS:
            return Calibrated(machine, 5, random_state=seed)
        return Calibrated(machine, 3, random_state=seed, sample=CALIBRATING_ROWS)


RIDGE: dict[str, Any] = {
    "parameter": "penalty", "values": (1e-3, 1e-2, 0.1, 1.0), "limits": (1e-7, 1e4),
    "larger_is_smoother": True,
}  # fmt: skip
MARGIN: dict[str, Any] = {"parameter": "C", "values": (0.3, 3.0, 30.0), "limits": (1e-3, 300.0)}
INTERCEPT = {"intercept": True}
LEARNED: dict[str, Any] = {
    "parameter": "penalty", "settings": INTERCEPT, "learned": True, "title": "LearnedMetric",
}  # fmt: skip
# A function so small that the intercept alone is left: the most frequent class, or the mean.
CONSTANT: dict[str, Any] = {
    "parameter": "penalty", "values": (1e12,), "limits": (1e12, 1e12), "settings": INTERCEPT,
    "constant": True, "title": "Constant",
}  # fmt: skip
CALIBRATING_ROWS = 2500  # of more, so many learn and are held out for probabilities
# The strongest first: what comes later has to be better.
CLASSIFIERS = (
    ModelFamily("learned", KernelRidgeClassifier, **LEARNED),
    ModelFamily("svm", SVC, **MARGIN, unbounded=False),
    ModelFamily("ridge", KernelRidgeClassifier, **RIDGE, settings=INTERCEPT),
    ModelFamily("exemplar", ExemplarClassifier, unbounded=False),
    ModelFamily("prototype", PrototypeClassifier),
    ModelFamily(
        "neighbors",
        KernelNeighbors,
        "n_neighbors",
        (1, 3, 5, 9),
        unbounded=False,
        larger_is_smoother=True,
    ),
    ModelFamily("logistic", KernelLogistic, **RIDGE),
    ModelFamily("discriminant", KernelDiscriminant, **RIDGE),
    ModelFamily("constant", KernelRidgeClassifier, **CONSTANT),
)
REGRESSORS = (
    ModelFamily("learned", KernelRidge, **LEARNED),
    ModelFamily("svm", SVR, **MARGIN, scaled=True, unbounded=False),
    ModelFamily("ridge", KernelRidge, **RIDGE, settings=INTERCEPT),
    ModelFamily("exemplar", ExemplarRegressor, unbounded=False),
    ModelFamily("gp", GaussianProcess, **RIDGE, settings=INTERCEPT),
    ModelFamily("constant", KernelRidge, **CONSTANT),
)
USUAL = ("learned", "svm", "ridge", "exemplar", "prototype", "constant")
SCALES = (0.5, 1.0, 2.0)  # of bandwidths, in units of the heuristic's


def family_names(task: str | None = None) -> tuple[str, ...]:
    """Return the names of all families for a task, or for any.

    Parameters
    ----------
    task : {"classify", "regress"}, optional

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> family_names("regress")
    ('learned', 'svm', 'ridge', 'exemplar', 'gp', 'constant')
    """
    known = {"classify": CLASSIFIERS, "regress": REGRESSORS}.get(
        task or "", CLASSIFIERS + REGRESSORS
    )
    return tuple(dict.fromkeys(family.name for family in known))


def families(
    task: str, machine: str | None, classes: int, learned: bool = True, weighted: bool = False
) -> tuple[list[ModelFamily], list[tuple[ModelFamily, str]]]:
    """Return the families to try, the strongest first, and those left out, with a reason.

    Parameters
    ----------
    task : {"classify", "regress"}
    machine : str, optional
        The only one to try: a short name, or the name of the class.
    classes : int
    learned : bool
        Whether the columns are such that a metric can be learned.
    weighted : bool
        Whether rows have weights.
    """
    known: tuple[ModelFamily, ...] = CLASSIFIERS if task == "classify" else REGRESSORS
    if not learned:
        if machine is not None and machine.lower() in ("learned", "learnedmetric"):
            raise ValidityError(
                "a metric can be learned for numbers, categories and dates only, and for no "
                "kernel that is given"
            )
        known = tuple(family for family in known if not family.learned)
    if machine is None:
        usual = [family for family in known if family.name in USUAL]
        out = {}
        if weighted:
            out = {one.name: "it takes no weights" for one in usual if not one.takes_weights}
        if task == "classify" and classes > 60:  # whose pairs are too many for a machine each
            out["svm"] = f"{classes} classes make {classes * (classes - 1) // 2} duels of two"
        left = [(family, out[family.name]) for family in usual if family.name in out]
        return [family for family in usual if family.name not in out], left
    found = [family for family in known if machine.lower() in (family.name, family.label.lower())]
    if not found:
        others = "regress" if task == "classify" else "classify"
        hint = suggestion(machine, family_names(task))
        if machine.lower() in family_names(others):
            hint = f"; it does not {task}, choose among {', '.join(family_names(task))}"
        raise ValidityError(f"unknown machine {machine!r}{hint}")
    if weighted and not found[0].takes_weights:
        raise ValidityError(f"{found[0].label} takes no weights; choose another machine")
    return found, []


@dataclass(frozen=True)
class CandidateKernel:
    """A kernel to try."""

    kernel: Kernel  # its heuristics are resolved on the rows that are learned from
    # Factors of its bandwidth that are tried first; empty if it has none to vary.
    scales: tuple[float, ...] = ()
    unbounded: bool = False  # whether similarities may be negative and grow without bound
    rows: str = ""  # the preparation of the rows

    def resolve(self, X: Items) -> Kernel:
        """Return the kernel with its heuristics resolved."""
        return self.kernel.resolve(X)

    def scale(self, kernel: Kernel, factor: float) -> Kernel:
        """Return a resolved kernel with another bandwidth."""
        if not self.scales:
            return kernel
        width = float(f"{factor * kernel.bandwidth:.4g}")  # type: ignore[attr-defined]
        return kernel.set_params(bandwidth=width)


def candidate_kernels(
    X: Any, columns: Sequence[Column], scaled: bool = False
) -> list[CandidateKernel]:
    """Return kernels for prepared rows, the simplest first.

    Parameters
    ----------
    X : DataFrame or array
    columns : sequence of Column
        What the columns were taken for; a column of `X` that is not among them holds numbers.
    scaled : bool
        Whether there are rows on several scales, which are tried too.
    """
    if not is_frame(X):
        if not scaled:
            return _numeric()
        standard = [replace(one, rows="standard") for one in _numeric()]
        return [*standard, CandidateKernel(Gaussian("median"), SCALES, rows="ranks")]
    kinds = {column.name: column for column in columns if column.used}
    numbers = [n for n in X.columns if n not in kinds or kinds[n].kind in NUMBERS]
    others = [kinds[n] for n in X.columns if n in kinds and kinds[n].kind not in NUMBERS]
    if not others:
        return _numeric()
    parts = [_parts(X, column) for column in others]
    if len(others) == 1 and not numbers:
        chosen = [CandidateKernel(kernel) for kernel in parts[0]]
        if others[0].kind == "text":  # words are many, so that they need no interaction
            return chosen
        return [*chosen, CandidateKernel(gaussian_over(parts[0][0], "median"), SCALES)]
    first = [kernels[0] for kernels in parts]
    if numbers:
        plain, share = Linear().on(*numbers), float(f"{1 / len(numbers):.3g}")
        first.insert(0, plain if len(numbers) == 1 else share * plain)
    total = reduce(add, first)
    return [
        CandidateKernel(total, unbounded=bool(numbers)),
        CandidateKernel(gaussian_over(total, "median"), SCALES),
    ]


def _numeric() -> list[CandidateKernel]:
    return [CandidateKernel(Linear(), unbounded=True), CandidateKernel(Gaussian("median"), SCALES)]


def _parts(X: pd.DataFrame, column: Column) -> list[Kernel]:
    """Return kernels for one column, the default first."""
    entries = X[column.name]
    kernels: list[Kernel]
    match column.kind:
        case "categorical":
            kernels = [Categorical()]
        case "text":
            kernels = [Text(), Text(sublinear=True, ngrams=(1, 2))]
        case "sequence":
            kernels = [normalize(Spectrum(length)) for length in (3, 2, 4)]
            if _aligned(entries):
                kernels.insert(0, normalize(WeightedDegree(5)))
        case "smiles":
            kernels = [Molecule(), normalize(WeisfeilerLehman(2))]
        case "graph":
            kernels = [normalize(WeisfeilerLehman(depth)) for depth in (2, 1, 4)]
        case _:  # what the reading sets aside does not come here
            raise AssertionError(column.kind)
    # Also where none of these rows has a gap: one that is held out or comes later may have one.
    return [kernel.on(column.name, missing="own category") for kernel in kernels]


def _aligned(entries: pd.Series) -> bool:
    """Tell whether all sequences have one length, as windows around a site do."""
    lengths = np.unique(entries.dropna().str.len())
    return len(lengths) == 1 and lengths[0] <= 200  # letters; longer ones are not aligned


def on_columns(kernel: Kernel, X: Any, columns: Sequence[Column]) -> Kernel:
    """Return a user's kernel on the columns that it means.

    One that names its columns stays as it is. Another is meant for all columns of numbers, or for
    the only column there is.

    Parameters
    ----------
    kernel : Kernel
    X : DataFrame, or other items, which are left alone
    columns : sequence of Column
        What each column is taken for.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import Column
    >>> from mercer.kernels import Spectrum
    >>> on_columns(Spectrum(3), pd.DataFrame({"s": ["ACGT"]}), [Column("s", "sequence", "")])
    Spectrum(length=3).on('s')
    """
    if not is_frame(X) or isinstance(kernel.domain, Columns):
        return kernel
    kinds = {column.name: column.kind for column in columns}
    numbers = [name for name in X.columns if kinds.get(name, "numeric") in NUMBERS]
    if isinstance(kernel.domain, VectorDomain) and numbers:
        return kernel if len(numbers) == X.shape[1] else kernel.on(*numbers)
    if X.shape[1] == 1:
        return kernel.on(X.columns[0])
    names = ", ".join(repr(str(name)) for name in X.columns[:8])
    raise DomainError(
        f"{kernel!r} does not say which column it looks at; write for example "
        f"{kernel!r}.on({str(X.columns[0])!r}); the columns are {names}"
        f"{', …' if X.shape[1] > 8 else ''}"
    )
