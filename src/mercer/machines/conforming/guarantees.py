"""Guarantees: what intervals and sets promise, in words, with what that assumes."""

from __future__ import annotations

from mercer.machines.conforming.held_out_scores import HeldOutScores

__all__ = ["guarantee"]


def guarantee(kept: HeldOutScores, method: str, level: float, by: object, learned: bool) -> str:
    """Say what is promised.

    Examples
    --------
    >>> import numpy as np
    >>> kept = HeldOutScores(np.arange(20.0), np.arange(20))
    >>> print(guarantee(kept, "jackknife+", 0.9, None, False))
    Of new rows drawn like the 20 that were held out, about 90% have their target inside, and ...
    """
    count, unit = kept.count(), kept.unit
    who = "rows" if kept.groups is None else "rows of new groups"
    where = "" if by is None else f", in each category of {by!r} by itself"
    lines = [
        f"Of new {who} drawn like the {count} {'that' if unit == 'rows' else 'groups that'} were "
        f"held out, {'at least' if method == 'split' else 'about'} {level:.4g}".replace(
            f"{level:.4g}", f"{100 * level:.4g}%"
        )
        + f" have their target inside{where}"
    ]
    if method in ("jackknife+", "cv+"):
        least = f"{100 * max(2 * level - 1, 0.0):.4g}%"
        lines.append(f", and at least {least} whatever the machine is")
    lines.append(
        ". That is so over all rows and over all samples to learn from, not for each single row."
    )
    if method == "held out":
        lines.append(
            " The machine that answers has learned from all rows; those that were held out were "
            "judged by machines that had not seen them, and that these are about as wrong as the "
            "one that answers is assumed."
        )
    if kept.ratio is not None:
        known = "was learned from rows" if learned else "was given"
        lines.append(f" How much more frequent rows are now {known}, and is taken to be right.")
    return "".join(lines)
