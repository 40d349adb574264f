"""How much memory a piece of work takes."""

import gc
import tracemalloc

from mercer import threads
from mercer.engine import tiles

__all__ = ["peak"]


def peak(work):
    """Return the most bytes that were allocated at once while `work` ran.

    Threads and their scratch memory outlive a piece of work; they are forgotten first, so that
    they count.
    """
    threads._pool.cache_clear()
    tiles._thread.__dict__.clear()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
