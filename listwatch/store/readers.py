"""Threads that read for an event loop, each on one long-lived connection.

`changefeed` and `registry` call the functions of `reads` through it.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from listwatch.store.operations import StoreUnavailable

logger = logging.getLogger(__name__)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Call:
    function: Callable[[], Any]  # Any: whatever the caller's function returns
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Readers:
    """Runs synchronous functions that read the store.

    Promises that a call never runs in the event loop's thread, and that a connection which broke is
    replaced and the function called once more: so it must only read, or do again what is done.
    Calls of one event loop or of several; `stop` is for another thread, since it waits.
    """

    def __init__(self, size: int = 2) -> None:
        self._size = size
        self._queue: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads."""
        for number in range(self._size):
            thread = threading.Thread(target=self._run, name=f"reader {number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Answer the calls that were made, close the connections, wait for the threads' end.

        Not to be called in the event loop.
        """
        threads, self._threads = self._threads, []
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            thread.join()

    async def run(
        self, function: Callable[Parameters, Result], *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:  # fmt: skip
        """Call the function in one of the threads; raises StoreUnavailable if none is running."""
        if not self._threads:
            raise StoreUnavailable("the store cannot be read: it is not running")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._queue.put(_Call(partial(function, *args, **kwargs), answer, loop))
        return await answer

    def _run(self) -> None:
        try:
            while (call := self._queue.get()) is not None:
                if call.answer.cancelled():
                    continue
                result, error = _called(call.function)
                if not call.loop.is_closed():
                    call.loop.call_soon_threadsafe(_settle, call.answer, result, error)
        finally:
            connections[DEFAULT_DB_ALIAS].close()


def _called(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:  # Any: see _Call
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        try:
            return function(), None
        except (DatabaseError, InterfaceError) as error:
            if connection.is_usable():
                raise
            logger.warning("a reader's connection broke; connecting again: %s", error)
            connection.close()
            return function(), None
    except BaseException as error:  # noqa: BLE001 (handed to the caller; the thread lives on)
        return None, error


def _settle(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
