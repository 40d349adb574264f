"""The textbooks: experiments of the seeds that one can drag points of and turn knobs of."""

from mercer.explorer.textbook.registry import DEMONSTRATIONS, demonstrate, titles

__all__ = ["DEMONSTRATIONS", "demonstrate", "titles"]
