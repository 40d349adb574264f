"""Bars appear for those who wait, and for nobody else."""

import io
import math
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from mercer import progress as module
from mercer.errors import ValidityError
from mercer.progress import convergence, progress


class Terminal(io.StringIO):
    """A screen that remembers what was written to it."""

    def isatty(self):
        return True

    @property
    def letters(self):
        """What was written, without colors and movements of the cursor."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "_clock", found)
    return found


@pytest.fixture
def watch(monkeypatch):
    """Return a function that puts a terminal where stderr is."""

    def begin():  # by the test itself, because pytest has its own stderr for each of its phases
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return begin


def work(clock, seconds=10, show=True):
    """Take one step a second."""
    with progress("5 kernels x 2 folds", total=seconds, show=show) as step:
        for second in range(seconds):
            clock.now += 1
            step(1, f"fold {second}")


def test_a_bar_says_how_far_the_work_is_and_how_long_it_will_take(watch, clock):
    terminal = watch()
    with progress("5 kernels x 2 folds", total=10, show=True) as step:
        clock.now += 4
        step(1)
        assert "5 kernels x 2 folds" in terminal.letters
        assert " 10% 0:00:04 elapsed, 0:00:36 left" in terminal.letters
        clock.now += 2
        step(2, "fold 3")
        assert " 30% 0:00:06 elapsed, 0:00:14 left fold 3" in terminal.letters


def test_nothing_is_printed_for_two_seconds(watch, clock):
    terminal = watch()
    with progress("short", total=10, show=True) as step:
        clock.now += 1.9
        for _ in range(10):
            step()
    assert terminal.getvalue() == ""


def test_the_bar_is_removed_at_the_end(watch, clock):
    terminal = watch()
    work(clock)
    end = terminal.getvalue()[-40:]
    assert "\x1b[?25h" in end and "\x1b[2K" in end  # the cursor is back, the line is erased


def test_an_error_passes_through_and_removes_the_bar(watch, clock):
    terminal = watch()
    with pytest.raises(ZeroDivisionError), progress("work", total=2, show=True) as step:
        clock.now += 3
        step()
        1 / 0
    assert "\x1b[2K" in terminal.getvalue()[-40:]
    before = len(terminal.getvalue())
    work(clock)  # and the next one has its turn
    assert len(terminal.getvalue()) > before


def test_it_is_not_drawn_more_often_than_one_can_see(watch, clock):
    terminal = watch()
    with progress("many", total=100_000, show=True) as step:
        clock.now += 3
        for _ in range(1000):
            step()
        assert terminal.letters.count("elapsed") == 1


@pytest.mark.parametrize(
    ("show", "interactive", "drawn"),
    [
        (None, False, False),
        (None, True, True),
        (True, False, True),
        (True, True, True),
        (False, False, False),
        (False, True, False),
    ],
)
def test_by_default_only_interactive_sessions_have_bars(
    show, interactive, drawn, watch, clock, monkeypatch
):
    terminal = watch()
    if interactive:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    else:
        monkeypatch.delattr(sys, "ps1", raising=False)
    work(clock, show=show)
    assert bool(terminal.getvalue()) is drawn


@pytest.mark.parametrize("show", [None, True])
def test_what_is_no_terminal_gets_nothing(show, clock, monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        work(clock, show=show)
        assert stream is None or stream.getvalue() == ""


def test_a_kernel_of_a_notebook_is_an_interactive_session(monkeypatch):
    class IPython:
        kernel = object()

        @classmethod
        def get_ipython(cls):
            return cls

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert module._notebook()
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert module._console(None) is None
    monkeypatch.setattr(module, "find_spec", lambda name: object())
    assert module._console(None) is not None
    assert module._console(False) is None
    IPython.kernel = None  # a terminal
    assert not module._notebook()


@pytest.mark.parametrize("outer", [True, False])
def test_the_inner_one_stays_silent(outer, watch, clock):
    terminal = watch()
    with progress("outer", total=10, show=outer) as step:
        with progress("inner", total=10, show=True) as inner:
            clock.now += 3
            inner()
            assert terminal.getvalue() == ""
        step()
        assert ("outer" in terminal.letters) is outer
    assert "inner" not in terminal.letters


def test_steps_of_several_threads_are_all_counted(watch, clock):
    terminal = watch()
    with progress("threads", total=4000, show=True) as step:
        threads = [threading.Thread(target=lambda: [step() for _ in range(999)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        clock.now += 3
        step(4)
        assert "100%" in terminal.letters


def test_there_is_no_other_thread(watch, clock):
    watch()
    before = threading.active_count()
    with progress("work", total=10, show=True) as step:
        clock.now += 3
        step()
        assert threading.active_count() == before


def test_a_terminal_that_cannot_write_a_letter_does_not_stop_the_work(watch, clock):
    terminal = watch()
    terminal.write = lambda text: text.encode("ascii") and len(text)
    with progress("5 kernels × 10 folds", total=10, show=True) as step:
        clock.now += 3
        step(1, "μ")
    assert sys.stderr is terminal


def test_what_is_printed_to_a_file_stays_there(watch, clock, monkeypatch):
    terminal = watch()
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with progress("work", total=10, show=True) as step:
        clock.now += 3
        step()
        print("a result")
    assert out.getvalue() == "a result\n" and "a result" not in terminal.getvalue()


def test_show_must_be_a_yes_or_a_no():
    with pytest.raises(ValidityError, match="show"), progress("work", 1, show="often"):
        pass


def test_a_pipe_gets_nothing_and_rich_is_not_loaded():
    code = (
        "import sys; sys.ps1 = '>>> '\n"
        "from mercer import progress as module\n"
        "module.APPEARS_AFTER = 0.0\n"
        "for show in (None, True):\n"
        "    with module.progress('work', 3, show) as step: step(1, 'a'); step()\n"
        "assert 'rich' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_residuals_that_are_not_finite_do_not_move_the_bar():
    moves = []

    @contextmanager
    def bar(title, total):
        assert (title, total) == ("overflowing", 300)
        yield lambda count, doing: moves.append(count)

    with convergence("overflowing", 1e-3, bar=bar) as report:
        for residual in (math.inf, 0.1, math.nan, 0.5, -math.inf, 0.01, 1e-9):
            report(residual)
    assert moves == [100, 0, 100, 100]  # a hundred for each digit that is gained


def test_digits_are_counted_from_the_first_residual():
    moves = []

    @contextmanager
    def bar(title, total):
        moves.append(total)
        yield lambda count, doing: moves.append((count, doing))

    with convergence("work", 1e-1, first=10.0, bar=bar) as report:
        report(1.0, "half of them")
        report(1e-9)
    assert moves == [200, (100, "half of them"), (100, "residual 1.0e-09")]
