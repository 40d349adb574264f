"""Exits: how the command ends when something is wrong, in one sentence and without a traceback.

The exit status is 0 for success, 2 for bad input, 3 if `mercer drift` finds a change, 130 after
Ctrl-C, 141 (silently) if nobody reads the output any more and 143 after a request to terminate.
Anything else is a mistake of ours, ends with a traceback, and has the status 1.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

import typer

from mercer.cli.terminal import plain

__all__ = ["BAD_INPUT", "INTERRUPTED", "TERMINATED", "Terminated", "exits", "handle_signals",
           "restore_interrupt", "say", "say_encoding", "say_formulas"]  # fmt: skip

BAD_INPUT = 2
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
MAX_WARNINGS = 5
MAX_SENTENCE = 1000  # letters of what is said in one line
# Of no use to somebody who runs a command: they speak to those who write programs.
INTERNAL = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning,
            ResourceWarning)  # fmt: skip


class Terminated(KeyboardInterrupt):
    """Somebody asked this process to end; what it was writing is cleaned up first."""


def say(text: str) -> None:
    """Print one line on stderr, whatever is in it and whatever is the matter with stderr."""
    with suppress(OSError, ValueError):
        typer.echo(f"mercer: {plain(text, MAX_SENTENCE)}", err=True)


def say_encoding(sheet: Any) -> None:
    """Say on stderr, too, that a file is not in UTF-8: whoever keeps stdout apart must know."""
    for note in sheet.notes:
        if "is not UTF-8" in note:
            say(f"warning: {note}")


def say_formulas(labels: Any) -> None:
    """Say which labels a spreadsheet would run, and how they are written."""
    from mercer.report.formulas import formulas

    found = formulas([] if labels is None else labels.tolist())
    if found:
        say(
            f"labels that spreadsheets take for formulas have an apostrophe before them in CSV "
            f"files, for example {plain(found[0])}"
        )


@contextmanager
def exits() -> Iterator[None]:
    """Turn errors of input into a sentence and an exit status, and warnings into lines."""
    try:
        with _warnings():
            yield
            sys.stdout.flush()  # a full disk is noticed here rather than after the end
    except Terminated:
        _end("terminated; no file was left half-written", TERMINATED)
    except KeyboardInterrupt:
        _end("interrupted; no file was left half-written", INTERRUPTED)
    except typer.Exit:
        raise
    except BrokenPipeError:  # whoever read our output has seen enough
        _forget_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        _forget_output()
        _end(sentence, BAD_INPUT)


def sentence_of(error: Exception) -> str | None:
    """Return an error in one sentence, or None if it is a mistake of ours."""
    from mercer.errors import MercerError

    if isinstance(error, MercerError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"there is not enough memory; use fewer rows ({error})".replace(" ()", "")
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, UnicodeError):
        return f"a text cannot be read or written: {error}; save the file as UTF-8"
    if isinstance(error, ImportError) and not str(error.name or "").startswith("mercer"):
        return str(error)
    return None


def _of_the_system(error: OSError) -> str:
    where = "" if error.filename is None else f" {os.fspath(error.filename)!r}"
    match error.errno:
        case errno.ENOENT:
            return f"there is no file{where}"
        case errno.EISDIR:
            return f"{where.strip() or 'this'} is a folder, not a file"
        case errno.EEXIST | errno.ENOTDIR:
            return f"{where.strip() or 'this'} is a file, not a folder"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"reading or writing{where} is not permitted"
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return f"the disk is full or the file too large{where and ':'}{where}"
    return f"{error.strerror or error}{where and ':'}{where}"


def _end(sentence: str, status: int) -> NoReturn:
    say(sentence)
    raise typer.Exit(status) from None


def _forget_output() -> None:
    """Keep Python from trying again to write what could not be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _warnings() -> Iterator[None]:
    """Print each warning once, as a sentence, and count those that would be too many."""
    seen: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        sentence = str(message)
        if sentence not in seen:
            seen.add(sentence)
            if len(seen) <= MAX_WARNINGS:
                say(f"warning: {sentence}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in INTERNAL:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        try:
            yield
        finally:
            if len(seen) > MAX_WARNINGS:
                say(f"warning: and {len(seen) - MAX_WARNINGS} more")


def restore_interrupt() -> None:
    """Let a second Ctrl-C, while threads finish what they are at, end the process at once."""
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def handle_signals() -> None:
    """Let a request to end this process be heard as an interruption, so that it can tidy up."""

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        raise Terminated

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever told the process to ignore a hangup, as nohup does, wants it to go on.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, terminate)
