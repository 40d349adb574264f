"""Numbers of extended range: m·2^(512e), with 2^−256 ≤ m < 2^256 and a whole exponent e.

Sums over all alignments of two series, or over all hidden paths of two sequences, are far outside
the range of floating-point numbers. Neighboring sums nearly always have the same exponent. Then
a step of a recursion is plain arithmetic, faster and with less rounding than logarithms would be.
"""

from __future__ import annotations

import math

from mercer.compiled import compiled

__all__ = ["LOG_UNIT", "NOTHING", "lowered", "rescaled"]

LOG_UNIT = 512 * math.log(2.0)  # by which the logarithm grows with the exponent
NOTHING = -(2**60)  # the exponent of zero, below all others
HIGH, LOW = 2.0**256, 2.0**-256
UP, DOWN = 2.0**512, 2.0**-512


@compiled
def rescaled(m, e):
    """Return a number with a mantissa that is neither large nor small."""
    if m >= HIGH:
        return m * DOWN, e + 1
    if m < LOW:
        if m == 0.0:
            return 0.0, NOTHING
        return m * UP, e - 1
    return m, e


@compiled
def lowered(m, e, highest):
    """Return m·2^(512e) in units of 2^(512·highest), where what is two lower is lost anyway."""
    if e == highest:
        return m
    return m * DOWN if e == highest - 1 else 0.0
