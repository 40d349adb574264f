"""Limits: how much one request may ask for, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mercer.errors import DomainError

__all__ = ["Limits"]

SHARE = 50  # bytes of a body for each letter of its longest text


@dataclass(frozen=True)
class Limits:
    """What a service does for one request, and for all that wait.

    Attributes
    ----------
    bytes : int
        Of the body of a request; longer ones are refused with status 413.
    rows : int
        Of one request; more are refused with 422.
    seconds : float
        Until the body is there (else 408), and until there is an answer (else 503).
    waiting : int
        Requests that may wait for an answer at a time; more are refused with 503.

    Examples
    --------
    >>> Limits(rows=10).rows
    10
    """

    bytes: int = 1_000_000
    rows: int = 1000
    seconds: float = 10.0
    waiting: int = 1000

    @property
    def letters(self) -> int:
        """The longest text of one entry, so that a request of some of them is not too large."""
        return max(int(self.bytes) // SHARE, 1)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise DomainError(f"the limit of {field.name} must be positive, found {value!r}")
