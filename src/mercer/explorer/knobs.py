"""Knobs: a kernel, its bandwidth and the penalty, turned while one looks at what they do.

All rests on one decomposition of the centered Gram matrix, HKH = VΛVᵀ. The first two columns of
VΛ^½ are the map. Ridge regression with an intercept smooths targets by S = 11ᵀ/n + VΛ(Λ + λ)⁻¹Vᵀ,
for every penalty λ, and the error of a row that is left out is its residual divided by 1 − Sᵢᵢ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from mercer.domains import VectorDomain, to_numpy
from mercer.errors import DomainError
from mercer.explorer.entries import NUMBERS
from mercer.explorer.proof_tree import proof_tree, refutation
from mercer.explorer.subject import Subject, evenly
from mercer.kernels import Kernel, parse
from mercer.studies import on_columns
from mercer.studies.candidates import candidate_kernels

__all__ = ["Decomposed", "Knobs"]

KNOB_ROWS = 300  # that are decomposed anew when the kernel changes, in a tenth of a second
PENALTIES = np.logspace(-6, 3, 37)  # along which errors are drawn
BOUNDARY_SIDE = 44  # places along each column at which the answer is drawn
MAX_EXPRESSION = 2000  # letters
LONGEST_START = 200  # letters of the machine's own kernel, if the page begins with it
MIN_LEFT = 1e-9  # of 1 − Sᵢᵢ: a row that decides its own prediction says nothing when left out
MAX_WIDTH = 1e6  # factor of a bandwidth
SPAN_MARGIN = 0.08  # of the range of a column, beyond which the boundary goes on


@dataclass(frozen=True, eq=False)
class Decomposed:
    """The eigenvalues and eigenvectors of a centered Gram matrix, with the targets.

    Attributes
    ----------
    kernel : Kernel
        Resolved on these rows.
    points : Points
    values : ndarray of shape (n,)
        Ascending; negative ones are 0.
    vectors : ndarray of shape (n, n)
    means : ndarray of shape (n,)
        Of the columns of the Gram matrix.
    targets : ndarray of shape (n, outputs)
        ±1 for each class, or numbers.
    lowest : float
        The smallest eigenvalue, which may be negative.
    """

    kernel: Kernel
    points: Any
    values: np.ndarray
    vectors: np.ndarray
    means: np.ndarray
    targets: np.ndarray
    lowest: float

    @classmethod
    def of(cls, kernel: Kernel, points: Any, targets: np.ndarray) -> Decomposed:
        """Decompose the Gram matrix of some points.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> found = Decomposed.of(Linear(), Linear().admit(X), X)
        >>> float(found.values[-1].round(6)), found.held_out(np.array([1e-9]))[:, 0, 0].round(6)
        (5.0, array([0., 1., 2., 3.]))
        """
        K = np.asarray(to_numpy(kernel(points)), dtype=np.float64)
        if not np.isfinite(K).all():
            raise DomainError(
                f"{str(kernel)[:80]} of these rows has entries that are no finite numbers; take "
                "another bandwidth or degree"
            )
        means = K.mean(axis=0)
        values, vectors = eigh(
            K - means - means[:, None] + means.mean(), check_finite=False, driver="evd",
            overwrite_a=True,
        )  # fmt: skip
        kept = np.maximum(values, 0.0)
        return cls(kernel, points, kept, vectors, means, targets, float(values[0]))

    @cached_property
    def _sides(self) -> np.ndarray:
        return self.vectors.T @ (self.targets - self.targets.mean(axis=0))

    def _shares(self, penalties: np.ndarray) -> np.ndarray:
        """Return Λ/(Λ + λ) for each penalty, of shape (n, penalties)."""
        values = self.values[:, None]
        return np.divide(values, values + penalties, out=np.zeros((len(values), len(penalties))),
                         where=values > 0)  # fmt: skip

    def fitted(self, penalties: np.ndarray) -> np.ndarray:
        """Return what is said of each row by all, of shape (n, outputs, penalties)."""
        shares = self._shares(penalties)
        outputs = self._sides.shape[1]
        sides = (self._sides[:, :, None] * shares[:, None, :]).reshape(len(shares), -1)
        smoothed = (self.vectors @ sides).reshape(-1, outputs, len(penalties))
        return smoothed + self.targets.mean(axis=0)[:, None]

    def held_out(self, penalties: np.ndarray) -> np.ndarray:
        """Return what is said of each row by all others, of shape (n, outputs, penalties).

        It is NaN where a row alone decides what is said of it.
        """
        own = 1 / len(self.values) + self.vectors**2 @ self._shares(penalties)
        left = 1 - own[:, None, :]
        residuals = self.targets[:, :, None] - self.fitted(penalties)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(left > MIN_LEFT, residuals / left, np.nan)
        return self.targets[:, :, None] - found

    def function(self, penalty: float, new: Any) -> np.ndarray:
        """Return what is said of other points, of shape (points, outputs)."""
        coefficients = self.vectors @ (self._sides / (self.values + penalty)[:, None])
        K = np.asarray(to_numpy(self.kernel(new, self.points)), dtype=np.float64)
        return K @ coefficients - self.means @ coefficients + self.targets.mean(axis=0)

    @property
    def places(self) -> np.ndarray:
        """The places of the rows on the map."""
        top = self.vectors[:, ::-1][:, :2] * np.sqrt(self.values[::-1][:2])
        top = np.pad(top, ((0, 0), (0, 2 - top.shape[1])))
        signs = np.sign(top[np.abs(top).argmax(axis=0), [0, 1]])
        return top * np.where(signs == 0, 1.0, signs)


class Knobs:
    """What turning the knobs does, for some rows of a subject.

    Parameters
    ----------
    subject : Subject
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.some = evenly(len(subject), KNOB_ROWS)
        self.table = subject.rows.take(self.some)
        truth = subject.truth if subject.truth is not None else subject.answers.prediction
        self.truth = np.asarray(truth)[self.some]
        if subject.classes is None:
            self.codes = None
            self.targets = np.asarray(self.truth, dtype=np.float64).reshape(len(self.some), -1)
        else:
            self.codes = np.array([subject.classes.index(label) for label in self.truth.tolist()])
            self.targets = 2.0 * np.eye(len(subject.classes))[self.codes] - 1
        self._last: tuple[Any, Decomposed] | None = None

    @cached_property
    def start(self) -> dict[str, Any]:
        """Where the knobs are at first: the machine's own kernel and penalty."""
        machine = self.subject.machine
        expression = repr(machine.kernel_)
        try:
            fits = len(expression) <= LONGEST_START and parse(expression) is not None
        except DomainError:
            fits = False
        penalty = float(getattr(machine, "penalty", 0.1) or 0.1)
        return {
            "expression": expression if fits else self._usual,
            "penalty": min(max(penalty, PENALTIES[0]), PENALTIES[-1]),
            "width": 1.0,
            "numbers": self.number_columns,
            "rows": len(self.some),
        }

    @property
    def _usual(self) -> str:
        """A kernel that suits the rows, where the machine's own is too long to be shown."""
        whole = self.subject.recipe_columns
        if isinstance(getattr(self.subject.points, "array", None), np.ndarray) or not whole:
            return "Gaussian('median')"
        return repr(candidate_kernels(self.table.items(), whole)[0].kernel)

    @property
    def number_columns(self) -> list[str]:
        """The columns of numbers, of which two can be chosen."""
        kinds = self.table.kinds
        return [name for name in kinds if kinds[name] in NUMBERS and name in self.table.spans]

    def turn(
        self, expression: str, penalty: float, width: float = 1.0,
        columns: list[str] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return what some positions of the knobs do.

        Parameters
        ----------
        expression : str
            A kernel, parsed and never evaluated.
        penalty : float
        width : float
            A factor of all bandwidths.
        columns : list of str, optional
            Two columns of numbers to learn from alone, whose boundary is then drawn.
        """
        kernel, items = self._resolved(expression, width, columns)
        proof = kernel.proof()
        found: dict[str, Any] = {
            "formula": repr(kernel)[:MAX_EXPRESSION], "verdict": proof.verdict,
            "proof": proof_tree(proof), "note": "", "rows": len(self.some),
        }  # fmt: skip
        if proof.verdict == "refuted":
            return found | {"note": refutation(proof), "held": None}
        whole = self._decomposed(kernel, items)
        if whole.lowest < -1e-8 * max(float(whole.values[-1]), 1e-300):
            found["note"] = (
                f"On these rows the smallest eigenvalue is {whole.lowest:.3g}, so that this is no "
                "inner product; negative ones are taken for 0."
            )
        found |= self._errors(whole, penalty)
        found["x"], found["y"] = whole.places.T.tolist()
        found["boundary"] = None
        if columns is not None:
            found["boundary"] = self._boundary(whole, penalty, columns)
        return found

    def _resolved(
        self, expression: str, width: float, columns: list[str] | None
    ) -> tuple[Kernel, Any]:
        """Return the kernel, with numbers for its rules, and the rows that it compares."""
        if not isinstance(expression, str) or len(expression) > MAX_EXPRESSION:
            raise DomainError(f"a kernel is a text of at most {MAX_EXPRESSION} letters")
        kernel = parse(expression)
        kernel, items = self._seen(kernel, columns)
        kernel = kernel.resolve(items)
        if not 1 / MAX_WIDTH <= width <= MAX_WIDTH:
            raise DomainError("the width must be a positive number")
        if width != 1.0:
            kernel = _widened(kernel, width)
        return kernel, items

    def _seen(self, kernel: Kernel, columns: list[str] | None) -> tuple[Kernel, Any]:
        """Return the rows as a kernel is meant to see them."""
        plain = isinstance(kernel.domain, VectorDomain)
        if columns is not None:
            if not plain:
                raise DomainError("with two columns, the kernel must be one of numbers")
            return kernel, self._standard(self._chosen(columns))
        array = getattr(self.subject.points, "array", None)
        if plain and isinstance(array, np.ndarray):
            return kernel, array[self.some]
        X = self.table.items()
        if self.table.container == "frame":
            return on_columns(kernel, X, self.subject.recipe_columns), X
        return kernel, X

    def _chosen(self, columns: list[str]) -> list[str]:
        known = self.number_columns
        if not isinstance(columns, list) or len(columns) != 2 or columns[0] == columns[1]:
            raise DomainError("choose two different columns of numbers")
        for name in columns:
            if name not in known:
                raise DomainError(f"{str(name)[:60]!r} is no column of numbers")
        return columns

    def _standard(self, columns: list[str]) -> np.ndarray:
        """Return two columns in standard deviations from their mean; gaps are the mean."""
        values = self.table.frame[columns].to_numpy(dtype=np.float64)
        center, spread = self._scale(columns)
        return np.nan_to_num((values - center) / spread)

    def _scale(self, columns: list[str]) -> tuple[np.ndarray, np.ndarray]:
        values = self.table.frame[columns].to_numpy(dtype=np.float64)
        spread = np.nanstd(values, axis=0)
        return np.nanmean(values, axis=0), np.where(spread > 0, spread, 1.0)

    def _decomposed(self, kernel: Kernel, items: Any) -> Decomposed:
        points = kernel.admit(items)
        key = repr(kernel), items.tobytes() if isinstance(items, np.ndarray) else None
        if self._last is None or self._last[0] != key:
            self._last = key, Decomposed.of(kernel, points, self.targets)
        return self._last[1]

    def _errors(self, whole: Decomposed, penalty: float) -> dict[str, Any]:
        """Return errors of rows that are left out, and of all, along the penalties and at one."""
        if not (isinstance(penalty, int | float) and 0 < penalty < math.inf):
            raise DomainError("the penalty must be a positive number")
        penalties = np.append(PENALTIES, penalty)
        held, own = whole.held_out(penalties), whole.fitted(penalties)
        errors, fits = self._error(held), self._error(own)
        best = int(np.nanargmin(errors[:-1])) if np.isfinite(errors[:-1]).any() else 0
        return {
            "penalties": PENALTIES.tolist(), "held": _plain(errors[:-1]), "own": _plain(fits[:-1]),
            "here": {"penalty": float(penalty), "held": _plain(errors)[-1],
                     "own": _plain(fits)[-1]},
            "best": float(PENALTIES[best]),
            "wrong": self._wrong(held[:, :, -1]),
            "measure": "share of wrong labels" if self.codes is not None else "root mean square",
        }  # fmt: skip

    def _error(self, said: np.ndarray) -> np.ndarray:
        """Return the error for each penalty; NaN where nothing is said of a row."""
        gaps = np.isnan(said).any(axis=(0, 1))
        if self.codes is not None:
            wrong = np.argmax(np.nan_to_num(said), axis=1) != self.codes[:, None]
            return np.where(gaps, np.nan, wrong.mean(axis=0))
        return np.sqrt(((said - self.targets[:, :, None]) ** 2).mean(axis=(0, 1)))

    def _wrong(self, said: np.ndarray) -> list[bool]:
        """Tell which rows are answered wrongly when they are left out."""
        if self.codes is not None:
            return (np.argmax(np.nan_to_num(said), axis=1) != self.codes).tolist()
        apart = np.abs(said - self.targets).mean(axis=1)
        return (apart > np.std(self.targets)).tolist()

    def _boundary(self, whole: Decomposed, penalty: float, columns: list[str]) -> dict[str, Any]:
        """Return what is answered on a grid over two columns."""
        center, spread = self._scale(columns)
        ends = []
        for name in columns:
            low, high, _ = self.table.spans[name]
            margin = SPAN_MARGIN * ((high - low) or 1.0)
            ends.append((low - margin, high + margin))
        axes = [np.linspace(low, high, BOUNDARY_SIDE) for low, high in ends]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        new = whole.kernel.admit((grid - center) / spread)
        said = whole.function(float(penalty), new)
        if self.codes is None:
            field, kind = said[:, 0], "numbers"
        elif said.shape[1] == 2:
            field, kind = (said[:, 1] - said[:, 0]) / 2, "score"
        else:
            field, kind = said.argmax(axis=1).astype(float), "codes"
        values = self.table.frame[columns].to_numpy(dtype=np.float64)
        return {
            "columns": columns, "x": list(ends[0]), "y": list(ends[1]), "kind": kind,
            "field": field.reshape(BOUNDARY_SIDE, BOUNDARY_SIDE).tolist(),
            "points": [[None if np.isnan(v) else v for v in pair] for pair in values.tolist()],
        }  # fmt: skip


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def _widened(kernel: Kernel, width: float) -> Kernel:
    """Return a resolved kernel with all its bandwidths multiplied."""
    found: dict[str, Any] = {}
    for name, value in kernel.get_params(deep=True).items():
        if name.split("__")[-1] == "bandwidth" and not isinstance(value, str | None):
            scaled = np.asarray(value, dtype=np.float64) * width
            found[name] = float(scaled) if scaled.ndim == 0 else tuple(scaled.tolist())
    return kernel.set_params(**found) if found else kernel
