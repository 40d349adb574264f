"""Batches: requests that come while others are answered are answered together.

One row costs hardly less than a hundred, because most of its time goes into what is done once. So
nobody waits for others to come, but whoever has come while a batch was computed is in the next.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mercer.serving.requests import Asked, Refused

__all__ = ["Batches"]

MAX_BATCH_ROWS = 2000  # that are answered together, so that nobody waits long


class Batches:
    """A queue before one thread that answers many requests at once.

    Parameters
    ----------
    work : callable
        ``work(asked)`` returns an answer, or a `Refused`, for each.
    waiting : int
        The most requests in the queue; more are refused.
    """

    def __init__(
        self, work: Callable[[Sequence[Asked]], Sequence[dict[str, Any] | Refused]], waiting: int
    ) -> None:
        self._work, self._most = work, waiting
        self._queue: deque[tuple[Asked, asyncio.Future[Any]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mercer-answers")
        self._task: asyncio.Task[None] | None = None

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """Return the answer to a request, or raise why it is refused."""
        if len(self._queue) >= self._most:
            raise Refused(503, "too many requests are waiting; try again in a second")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append((asked, answer))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._answer_all())
        found = await answer
        if isinstance(found, Refused):
            raise found
        return dict(found)

    async def _answer_all(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next():
            try:
                found = await loop.run_in_executor(
                    self._thread, self._work, [asked for asked, _ in batch]
                )
            except Exception as error:  # a mistake of ours: each who waits must hear of it
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            for (_, answer), one in zip(batch, found, strict=True):
                if not answer.done():  # nobody waits any more
                    answer.set_result(one)

    def _next(self) -> list[tuple[Asked, asyncio.Future[Any]]]:
        """Take requests whose asker still waits, up to some rows."""
        batch: list[tuple[Asked, asyncio.Future[Any]]] = []
        rows = 0
        while self._queue and (not batch or rows + len(self._queue[0][0].rows) <= MAX_BATCH_ROWS):
            asked, answer = self._queue.popleft()
            if not answer.done():
                batch.append((asked, answer))
                rows += len(asked.rows)
        return batch

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)
