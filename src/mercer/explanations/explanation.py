"""An explanation: the scores of some items, and everything that they add up from."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, to_numpy
from mercer.engine.block import Block
from mercer.engine.tiles import common_origin, fill
from mercer.errors import DomainError
from mercer.explanations.attribution import Attribution, attribute
from mercer.explanations.feature_attribution import attribute_features
from mercer.explanations.terms import terms_of, unwrap
from mercer.kernels import Kernel
from mercer.memory import afford
from mercer.rkhs import Function

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Explanation", "ItemExplanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """Why a machine decides about some items as it does. Made by `explain`.

    Attributes
    ----------
    items : list
        What is explained.
    toward : list
        For each item the label that a positive score speaks for; None for a number.
    scores : ndarray of shape (items,)
    offsets : ndarray of shape (items,)
        The part of a score that is the same for whatever item.
    similarities : ndarray of shape (items, exemplars)
    contributions : ndarray of shape (items, exemplars)
        Weight times similarity of each exemplar; with the offset they add up to the score, but for
        the rounding of terms that cancel. The parts add up to it in any case.
    places : ndarray of shape (exemplars,)
        The row of each exemplar among the items that the machine learned from.
    exemplars : list
        The exemplars themselves.
    parts : list of Attribution
        The score divided among the parts of the kernel and their features.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> machine = KernelRidge("linear", penalty=0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> why = explain(machine, [[0.5], [2.0]])
    >>> bool(np.allclose(why.offsets + why.contributions.sum(axis=1), why.scores))
    True
    """

    items: list[Any]
    toward: list[Any]
    scores: np.ndarray
    offsets: np.ndarray
    similarities: np.ndarray
    contributions: np.ndarray
    places: np.ndarray
    exemplars: list[Any]
    parts: list[Attribution]

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, item: int) -> ItemExplanation:
        return ItemExplanation(self, range(len(self))[operator.index(item)])

    def __iter__(self) -> Iterator[ItemExplanation]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Explanation({len(self)} items, {len(self.exemplars)} exemplars)"


@dataclass(frozen=True)
class ItemExplanation:
    """Why a machine decides about one item as it does: ``explanation[i]``.

    Print it for a summary; `exemplars`, `features`, `units` and `columns` are tables.

    Parameters
    ----------
    explanation : Explanation
        Of several items.
    item : int
        Which of them.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> machine = KernelRidge("linear", penalty=0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> why = explain(machine, [[0.5], [2.0]])[1]
    >>> why.item, len(why.exemplars())
    (1, 1)
    """

    explanation: Explanation
    item: int

    @property
    def thing(self) -> Any:
        """What was decided about."""
        return self.explanation.items[self.item]

    @property
    def score(self) -> float:
        """The score, in favor of `toward`."""
        return float(self.explanation.scores[self.item])

    @property
    def toward(self) -> Any:
        """The label that a positive score speaks for."""
        return self.explanation.toward[self.item]

    def exemplars(self, count: int | None = None) -> pd.DataFrame:
        """Return who pulled the decision, strongest first, with the share of all pulling.

        A positive contribution pulls toward the label, a negative one away from it.
        """
        import pandas as pd

        all_of_it = self.explanation
        pull = all_of_it.contributions[self.item]
        order = np.argsort(-np.abs(pull), kind="stable")[:count]
        order = order[pull[order] != 0]
        total = np.abs(pull).sum() or 1.0
        return pd.DataFrame(
            {
                "row": all_of_it.places[order],
                "exemplar": [all_of_it.exemplars[i] for i in order],
                "similarity": all_of_it.similarities[self.item, order],
                "contribution": pull[order],
                "share": np.abs(pull[order]) / total,
            }
        )

    def features(self, count: int | None = None) -> pd.DataFrame:
        """Return what in the item spoke for and against, strongest first.

        Patterns, words or columns, for parts of the kernel that have explicit features; empty if
        there are none.
        """
        import pandas as pd

        rows = []
        for part in self.explanation.parts:
            if part.features is None:
                continue
            row, kernel = part.features[[self.item]], _short(part.kernel)
            for column, value in zip(row.indices, row.data, strict=True):
                if value != 0:
                    rows.append((part.names[column], value, kernel, part.columns))  # type: ignore[index]
        frame = pd.DataFrame(rows, columns=["feature", "contribution", "kernel", "columns"])
        order = np.argsort(-np.abs(frame["contribution"].to_numpy(float)), kind="stable")[:count]
        return frame.iloc[order].reset_index(drop=True)

    def columns(self) -> pd.DataFrame:
        """Return what each part of the kernel contributed, with the columns that it looks at."""
        import pandas as pd

        parts = self.explanation.parts
        return pd.DataFrame(
            {
                "columns": [part.columns for part in parts],
                "kernel": [_short(part.kernel) for part in parts],
                "contribution": [float(part.totals[self.item]) for part in parts],
            }
        )

    def units(self, part: int | None = None) -> pd.DataFrame:
        """Return the contribution of each letter, node or word of the item, in order.

        Parameters
        ----------
        part : int, optional
            Which part of the kernel; by default all that have places of the same kind and number,
            added up.
        """
        import pandas as pd

        chosen = [p for p in self.explanation.parts if p.places is not None and p.units]
        if part is not None:
            chosen = [p for p in [self.explanation.parts[part]] if p.places is not None]
        names: list[str] = chosen[0].units[self.item] if chosen else []  # type: ignore[index]
        total = np.zeros(len(names))
        for p in chosen:
            if p.units[self.item] == names:  # type: ignore[index]
                total += p.places[self.item]  # type: ignore[index]
        return pd.DataFrame({"unit": names, "contribution": total})

    def __str__(self) -> str:
        about = "" if self.toward is None else f" toward {self.toward!r}"
        offset = float(self.explanation.offsets[self.item])
        lines = [f"score {self.score:.4g}{about}, of which {offset:.4g} for any item"]
        parts = self.columns()
        if len(parts) > 1:
            lines.append("parts:")
            for columns, kernel, value in parts.itertuples(index=False):
                where = f" of {', '.join(map(str, columns))}" if columns else ""
                lines.append(f"  {value:+.4g}  {kernel}{where}")
        features = self.features(5)
        if len(features):
            lines.append("features:")
            lines += [f"  {v:+.4g}  {f}" for f, v in features.iloc[:, :2].itertuples(index=False)]
        pulls = self.exemplars(5)
        lines.append("exemplars:")
        for row, _, similarity, value, share in pulls.itertuples(index=False):
            lines.append(f"  {value:+.4g}  row {row}, similarity {similarity:.3g}, {share:.0%}")
        return "\n".join(lines)


def _short(kernel: Kernel, longest: int = 80) -> str:
    """Return the formula of a kernel, without the end of one that holds what it has learned."""
    formula = repr(kernel)
    return formula if len(formula) <= longest else formula[: longest - 1] + "…"


def explain(
    machine: BaseEstimator, X: Items, *, label: object = None, output: int = 0
) -> Explanation:
    """Return why a fitted machine decides about the items of `X` as it does.

    For every kernel: the exemplars that pulled the decision each way, with their share. For
    kernels with explicit features also the contribution of each k-mer, word, subtree or column,
    and of each letter, node or atom of the item. Everything adds up to the score.

    Parameters
    ----------
    machine : fitted machine
        Or a pipeline that ends with one, or a search that has fitted one. Of a `Calibrated`
        machine the scores are explained.
    X : items
        As for ``machine.predict``.
    label : optional
        The class whose score is explained, by default the one that is predicted.
    output : int
        Which of several numbers, for regression.

    Returns
    -------
    Explanation
        Of each item, as ``explanation[i]``.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> from mercer.kernels import Spectrum
    >>> machine = KernelRidgeClassifier(Spectrum(2), penalty=0.1)
    >>> machine = machine.fit(["abab", "baba", "caca", "acac"], ["b", "b", "c", "c"])
    >>> why = explain(machine, ["xaby"])[0]
    >>> why.toward, why.features(1)["feature"].tolist()
    ('b', ['ab'])
    >>> why.units()["unit"].tolist()
    ['x', 'a', 'b', 'y']
    """
    machine, X = unwrap(machine, X)
    check_is_fitted(machine)
    function = getattr(machine, "function_", None)
    if not isinstance(function, Function) or not getattr(machine, "has_terms", True):
        raise DomainError(
            f"{type(machine).__name__} does not decide by a sum over its examples, so there is "
            "nothing to divide among them"
        )
    kernel = function.kernel
    points = machine._admit_new(X, kernel)
    afford(40 * len(points) * len(function), "an explanation", "explain fewer items at a time")
    terms = terms_of(machine, points, X, label, output)
    left, right = common_origin(kernel, points, function.points)
    K = np.asarray(to_numpy(fill(kernel, left, right)), dtype=np.float64)
    contributions = terms.weights * K
    exemplars = list(function.points.items())
    scores = contributions.sum(axis=1) + terms.offsets
    if terms.of_features is None:
        parts = attribute(kernel, Block(left, right), terms.weights)
    else:  # the weights are the function; the pulls of the exemplars may cancel
        reference = function.reference  # type: ignore[attr-defined]
        parts = attribute_features(kernel, points, reference, terms.of_features)
        scores = sum((part.totals for part in parts), start=terms.offsets)
    return Explanation(
        items=list(points.items()),
        toward=terms.toward,
        scores=scores,
        offsets=terms.offsets,
        similarities=K,
        contributions=contributions,
        places=_places(machine, len(exemplars)),
        exemplars=exemplars,
        parts=parts,
    )


def _places(machine: object, count: int) -> np.ndarray:
    """Return which training items the exemplars are; those of a repaired kernel are unknown."""
    support = getattr(machine, "support_", None)
    if support is None:
        return np.arange(count)
    return np.asarray(support) if len(support) == count else np.full(count, -1)
