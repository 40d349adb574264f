"""Reading ahead: the next thing is prepared while this one is used."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Generator, Iterator
from typing import TypeVar

__all__ = ["prefetch"]

T = TypeVar("T")
END = object()


def prefetch(things: Iterator[T]) -> Generator[T, None, None]:
    """Yield what an iterator gives, each prepared by a thread while the one before is used.

    Never more than one waits, so that two are in memory. An error comes out where the thing would
    have. The thread starts with the first request and has ended when this generator has: at the
    end, at an error, or when it is closed. The iterator runs in that thread from first to last.
    """
    ready: queue.SimpleQueue = queue.SimpleQueue()
    wanted = threading.Semaphore(1)
    stopped = threading.Event()

    def work() -> None:
        error = None
        try:
            while wanted.acquire() and not stopped.is_set():
                ready.put((next(things), None))
        except StopIteration:
            pass
        except BaseException as found:
            error = found
        finally:
            if hasattr(things, "close"):
                things.close()
            ready.put((END, error))

    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(work,), name="mercer-prefetch", daemon=True
    )
    thread.start()
    try:
        while True:
            thing, error = ready.get()
            if error is not None:
                raise error
            if thing is END:
                return
            wanted.release()
            yield thing
            del thing  # before the next one is waited for
    finally:
        stopped.set()
        wanted.release()
        thread.join()
