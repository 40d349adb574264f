"""Proofs: why a kernel is positive semi-definite, or points that show that it is not.

A kernel is valid if its Gram matrix is positive semi-definite for every choice of points, that
is, wᵀKw ≥ 0 for all w. A proof is a tree: a rule of the textbooks, applied to the proofs of the
parts. There are three verdicts: *proved*, *refuted* (with witness points whose Gram matrix has
a negative eigenvalue) and *unknown*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from mercer.engine.block import Array

__all__ = ["Proof", "Witness", "derive", "proved", "refute", "unknown"]

Verdict = Literal["proved", "refuted", "unknown"]

# An eigenvalue counts as negative when it is below this share of the largest entry: far above
# rounding errors of the small Gram matrices used as witnesses.
NEGATIVE_SHARE = 1e-11


class Similarity(Protocol):
    """What a proof is about: a kernel, asked for Gram matrices and for its own proof."""

    def __call__(self, A: Array) -> Any: ...

    def proof(self) -> Proof: ...


@dataclass(frozen=True)
class Witness:
    """Points whose Gram matrix has a negative eigenvalue, so that the kernel cannot be valid.

    Parameters
    ----------
    points : sequence of things
    eigenvalue : float
        The smallest one of their Gram matrix.

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> witness = Sigmoid(1.0, -1.0).proof().witness
    >>> witness.points, round(witness.eigenvalue, 3)
    ([[0.0]], -0.762)
    """

    points: Any
    eigenvalue: float


@dataclass(frozen=True)
class Proof:
    """A claim about one kernel, the rule that decides it, and the proofs of its parts.

    Attributes
    ----------
    kernel : Similarity
        What the claim is about.
    verdict : {"proved", "refuted", "unknown"}
    rule : str
        Why, in words, with the equation of the source.
    premises : tuple of Proof
        What the rule was applied to.
    witness : Witness or None
        Points that refute the kernel.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> print((Gaussian(1.0) * Linear()).proof())
    Gaussian(bandwidth=1.0) * Linear() is positive semi-definite because it is a product (6.18) of
    ├─ Gaussian(bandwidth=1.0), positive semi-definite because (6.25) writes it as ...
    └─ Linear(), positive semi-definite because xᵀz is an inner product (6.1)
    """

    kernel: Similarity
    verdict: Verdict
    rule: str
    premises: tuple[Proof, ...] = ()
    witness: Witness | None = None

    def __str__(self) -> str:
        return "\n".join(self._lines(" is "))

    def witnesses(self) -> Iterator[Witness]:
        """Iterate over the witnesses of this proof and of its premises."""
        if self.witness is not None:
            yield self.witness
        for premise in self.premises:
            yield from premise.witnesses()

    def _lines(self, joint: str) -> Iterator[str]:
        yield f"{self.kernel!r}{joint}{_WORDS[self.verdict]} because {self.rule}"
        if self.witness is not None:
            yield (
                f"   witness: the Gram matrix of {_brief(self.witness.points)} "
                f"has the eigenvalue {self.witness.eigenvalue:.3g}"
            )
        for premise in self.premises:
            last = premise is self.premises[-1]
            first_line, *more = premise._lines(", ")
            yield ("└─ " if last else "├─ ") + first_line
            yield from (("   " if last else "│  ") + line for line in more)


_WORDS = {
    "proved": "positive semi-definite",
    "refuted": "not positive semi-definite",
    "unknown": "not known to be positive semi-definite",
}


def proved(kernel: Similarity, rule: str, *premises: Proof) -> Proof:
    """State that `kernel` is valid by `rule`.

    Parameters
    ----------
    kernel : Kernel
    rule : str
        Why, in words, with its source.
    *premises : Proof
        Of the kernels that it is made of.

    Returns
    -------
    Proof

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> proved(Linear(), "xᵀz is an inner product (6.1)").verdict
    'proved'
    """
    return Proof(kernel, "proved", rule, premises)


def unknown(kernel: Similarity, reason: str, *premises: Proof) -> Proof:
    """State that nothing is known, and why."""
    return Proof(kernel, "unknown", reason, premises)


def derive(kernel: Similarity, rule: str, *parts: Similarity) -> Proof:
    """Apply a rule that keeps validity: proved if all parts are.

    If a part is not valid, the whole may still be; it is refuted only if a witness against a
    part is also one against the whole.
    """
    premises = tuple(part.proof() for part in parts)
    if all(premise.verdict == "proved" for premise in premises):
        return proved(kernel, rule, *premises)
    candidates = [witness.points for premise in premises for witness in premise.witnesses()]
    return refute(kernel, f"{rule}, of which not every part is valid", candidates, premises)


def refute(
    kernel: Similarity, reason: str, candidates: Iterable[Any], premises: tuple[Proof, ...] = ()
) -> Proof:
    """Look for a witness among the candidates; without one the verdict is unknown."""
    for points in candidates:
        witness = negative(kernel, points)
        if witness is not None:
            return Proof(kernel, "refuted", reason, premises, witness)
    return unknown(kernel, reason, *premises)


def negative(kernel: Similarity, points: Any) -> Witness | None:
    """Return a witness if the Gram matrix of `points` has a clearly negative eigenvalue."""
    try:
        K = kernel(points)
    except Exception:  # not in the kernel's domain, or not what a user's function takes
        return None
    smallest = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    return Witness(points, smallest) if smallest < -NEGATIVE_SHARE * np.abs(K).max() else None


def _brief(points: Any) -> str:
    text = np.array2string(np.asarray(points), separator=", ", threshold=12, precision=4)
    return " ".join(text.split())
