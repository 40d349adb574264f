"""Proof trees as plain values, for a page that unfolds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.proof import Proof

__all__ = ["proof_tree", "refutation"]

MAX_NODES = 60  # of a tree that is shown
MAX_LETTERS = 300  # of a formula or of points


def proof_tree(proof: Proof) -> dict[str, Any]:
    """Return a proof with its premises.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> tree = proof_tree((Gaussian(1.0) + Linear()).proof())
    >>> tree["verdict"], [part["formula"] for part in tree["premises"]]
    ('proved', ['Gaussian(bandwidth=1.0)', 'Linear()'])
    """
    left = [MAX_NODES]
    return _node(proof, left)


def _node(proof: Proof, left: list[int]) -> dict[str, Any]:
    left[0] -= 1
    witness = proof.witness
    return {
        "formula": repr(proof.kernel)[:MAX_LETTERS],
        "verdict": proof.verdict,
        "rule": proof.rule,
        "witness": None if witness is None else {
            "points": _points(witness.points), "eigenvalue": witness.eigenvalue,
        },
        "premises": [_node(one, left) for one in proof.premises if left[0] > 0],
    }  # fmt: skip


def refutation(proof: Proof) -> str:
    """Say what is wrong with a kernel that is refuted, and what to do."""
    witness = next(proof.witnesses(), None)
    shown = ""
    if witness is not None:
        shown = (
            f" The Gram matrix of the points {_points(witness.points)} has the eigenvalue "
            f"{witness.eigenvalue:.3g}, and an inner product has none below zero."
        )
    return (
        f"This is no valid kernel, because {proof.rule}.{shown} Change the part that the tree "
        "marks as refuted; sums and products of valid kernels are valid."
    )


def _points(points: Any) -> str:
    try:
        text = np.array2string(np.asarray(points), separator=", ", threshold=12, precision=4)
    except ValueError:
        text = repr(points)
    return " ".join(text.split())[:MAX_LETTERS]
