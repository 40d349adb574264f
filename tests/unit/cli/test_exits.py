"""How the command ends: a sentence and an exit status, never a traceback for bad input."""

import errno
import signal
import warnings

import pytest
import typer

from mercer import errors
from mercer.cli import exits as module
from mercer.cli.exits import Terminated, exits, handle_signals, sentence_of


def ended(error, capsys):
    """Let `error` happen inside, and return the exit status and what was said."""
    with pytest.raises(typer.Exit) as found, exits():
        raise error
    return found.value.exit_code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.DomainError("line 3: 'x' is no number"), "line 3: 'x' is no number"),
        (errors.PlanError("8.0 TB are needed"), "8.0 TB are needed"),
        (errors.FileError("it is damaged"), "it is damaged"),
        (FileNotFoundError(errno.ENOENT, "gone", "a.csv"), "there is no file 'a.csv'"),
        (IsADirectoryError(errno.EISDIR, "", "a"), "'a' is a folder, not a file"),
        (NotADirectoryError(errno.ENOTDIR, "", "a"), "'a' is a file, not a folder"),
        (PermissionError(errno.EACCES, "", "a"), "reading or writing 'a' is not permitted"),
        (OSError(errno.ENOSPC, "No space left"), "the disk is full"),
        (OSError(errno.EIO, "Input/output error", "a"), "Input/output error: 'a'"),
        (OSError("odd"), "odd"),
        (MemoryError(), "there is not enough memory; use fewer rows"),
        (UnicodeEncodeError("ascii", "é", 0, 1, "no"), "save the file as UTF-8"),
        (ImportError("pip install 'mercer[molecules]'"), "mercer[molecules]"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_what_users_can_cause_becomes_one_sentence(error, words, capsys):
    status, said = ended(error, capsys)
    assert status == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert words in said and said.startswith("mercer: ") and said.count("\n") == 1


def test_a_request_to_terminate_has_its_own_status(capsys):
    assert ended(Terminated(), capsys) == (
        143,
        "mercer: terminated; no file was left half-written\n",
    )


def test_a_reader_who_has_seen_enough_is_no_error(capsys):
    assert ended(BrokenPipeError(errno.EPIPE, "Broken pipe"), capsys) == (141, "")


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyError("x"), AssertionError()])
def test_our_own_mistakes_keep_their_traceback(error):
    assert sentence_of(error) is None
    with pytest.raises(type(error)), exits():
        raise error


def test_a_message_of_several_lines_becomes_one(capsys):
    assert ended(errors.DomainError("one\n  two"), capsys) == (2, "mercer: one two\n")


def test_what_a_terminal_would_obey_is_not_said(capsys):
    assert ended(errors.DomainError("no column \x1b[31mred"), capsys) == (
        2,
        "mercer: no column ·[31mred\n",
    )


def test_warnings_are_sentences_and_said_once(capsys):
    with exits():
        for _ in range(3):
            warnings.warn("the grid ends here", errors.SelectionWarning, stacklevel=1)
        warnings.warn("use something newer", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "mercer: warning: the grid ends here\n"


def test_many_warnings_are_counted(capsys):
    with exits():
        for number in range(8):
            warnings.warn(f"fold {number}", UserWarning, stacklevel=1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == module.MAX_WARNINGS + 1
    assert lines[-1] == "mercer: warning: and 3 more"


def test_termination_is_heard_unless_it_is_to_be_ignored():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        handle_signals()
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
