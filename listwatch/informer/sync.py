"""Informers for threads: the same code in an event loop of its own, in one background thread.

`SyncInformers` is the door: it makes informers, queues and a client whose calls block. Nothing is
done here but crossing over; what happens is told in `factory`, `shared_informer` and `workqueue`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.informer.client import Client
from listwatch.informer.client_config import ClientConfig
from listwatch.informer.factory import Scope, SharedInformerFactory
from listwatch.informer.handlers import HandlerOptions
from listwatch.informer.indexer import Indexer
from listwatch.informer.indices import IndexFunction
from listwatch.informer.listener import HandlerStatistics, Registration
from listwatch.informer.lister import Lister
from listwatch.informer.objects import Deleted, JSONObject
from listwatch.informer.resources import APIResource
from listwatch.informer.shared_informer import (
    InformerOptions,
    InformerStatistics,
    SharedIndexInformer,
)
from listwatch.informer.waiting import wait_for_cache_sync
from listwatch.informer.workqueue import RateLimiter, RateLimitingQueue, WorkQueueStatistics
from listwatch.informer.workqueue.metrics import Item

Result = TypeVar("Result")


class LoopThread:
    """An event loop in a daemon thread; calls cross over and block until they are answered."""

    def __init__(self, name: str = "informers") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run it there, and wait; raises RuntimeError in the loop's own thread."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a call that blocks, in the thread that it waits for")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def run(self, function: Callable[[], Result]) -> Result:
        """Run a plain function there, and wait; at once in the loop's own thread."""
        if threading.current_thread() is self._thread:
            return function()
        answer: Future[Result] = Future()

        def run() -> None:
            try:
                answer.set_result(function())
            except BaseException as error:  # noqa: BLE001 -- raised where it was asked for
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(run)
        return answer.result()

    def post(self, function: Callable[[], object]) -> None:
        """Run a plain function there, some time soon."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """End the loop and its thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            if threading.current_thread() is not self._thread:
                self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


class SyncRegistration:
    """A handler's place at an informer, for threads; the handler has a thread of its own."""

    def __init__(
        self, thread: LoopThread, registration: Registration, executor: ThreadPoolExecutor
    ) -> None:
        self._thread = thread
        self._registration = registration
        self._executor = executor

    @property
    def registration(self) -> Registration:
        """The one in the loop."""
        return self._registration

    @property
    def has_synced(self) -> bool:
        """Whether the handler was told of all that was there when it was added."""
        return self._thread.run(lambda: self._registration.has_synced)

    def remove(self) -> None:
        """Call it no more; a running call goes on. Also from the handler itself."""
        self._thread.run(self._registration.remove_now)
        self._executor.shutdown(wait=False)

    def statistics(self) -> HandlerStatistics:
        """A record of now."""
        return self._thread.run(self._registration.statistics)


class SyncInformer:
    """A SharedIndexInformer for threads. `indexer` and `lister` read without crossing over."""

    def __init__(self, thread: LoopThread, informer: SharedIndexInformer) -> None:
        self._thread = thread
        self.informer = informer
        self.indexer: Indexer = informer.indexer
        self.lister: Lister = informer.lister
        self._executors: list[ThreadPoolExecutor] = []

    def add_handler(
        self,
        *,
        on_add: Callable[[JSONObject, bool], None] | None = None,
        on_update: Callable[[JSONObject, JSONObject], None] | None = None,
        on_delete: Callable[[Deleted], None] | None = None,
        options: HandlerOptions | None = None,
    ) -> SyncRegistration:
        """Tell these functions of everything, in a thread of their own: they may block."""
        executor = ThreadPoolExecutor(1, thread_name_prefix=f"handler {self.informer.name}")
        self._executors.append(executor)

        def away(function: Callable[..., None] | None) -> Callable[..., Any] | None:
            if function is None:
                return None

            def call(*arguments: object) -> asyncio.Future[None]:
                return asyncio.get_running_loop().run_in_executor(executor, function, *arguments)

            return call

        registration = self._thread.run(
            lambda: self.informer.add_handler(
                on_add=away(on_add),
                on_update=away(on_update),
                on_delete=away(on_delete),
                options=options,
            )
        )
        return SyncRegistration(self._thread, registration, executor)

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the store."""
        return self.informer.has_synced

    def wait_synced(self, seconds: float | None = None) -> None:
        """Wait for the first list; raises NotSyncedError after so many seconds."""
        self._thread.call(wait_for_cache_sync(self.informer, within=seconds))

    @property
    def is_live(self) -> bool:
        """Whether the store follows the server now."""
        return self.informer.is_live

    def statistics(self) -> InformerStatistics:
        """A record of now."""
        return self._thread.run(self.informer.statistics)

    def close_handlers(self) -> None:
        """End the handlers' threads when their calls have returned."""
        for executor in self._executors:
            executor.shutdown(wait=False)


class SyncWorkQueue(Generic[Item]):
    """A RateLimitingQueue for threads."""

    def __init__(self, thread: LoopThread, queue: RateLimitingQueue[Item]) -> None:
        self._thread = thread
        self.queue = queue

    def add(self, item: Item) -> None:
        """This needs work."""
        self._thread.post(lambda: self.queue.add(item))

    def add_after(self, item: Item, seconds: float) -> None:
        """This needs work later."""
        self._thread.post(lambda: self.queue.add_after(item, seconds))

    def add_rate_limited(self, item: Item) -> None:
        """This failed."""
        self._thread.post(lambda: self.queue.add_rate_limited(item))

    def forget(self, item: Item) -> None:
        """This succeeded."""
        self._thread.post(lambda: self.queue.forget(item))

    def get(self) -> Item:
        """The next item; raises ShutDownError at the end."""
        return self._thread.call(self.queue.get())

    def done(self, item: Item) -> None:
        """The worker is through with it."""
        self._thread.post(lambda: self.queue.done(item))

    def shut_down(self, *, drain: bool = False) -> None:
        """Take nothing more; `drain` waits until everything is done."""
        if drain:
            self._thread.call(self.queue.shut_down_with_drain())
        else:
            self._thread.run(self.queue.shut_down)

    def statistics(self) -> WorkQueueStatistics:
        """A record of now."""
        return self._thread.run(self.queue.statistics)


class SyncInformers:
    """Client, informers and queues of one server, for threads.

    `with SyncInformers(config) as informers:` starts what was asked for by `start`, and stops all.
    `stop` may be called from any thread, a handler's too.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        options: InformerOptions | None = None,
        scope: Scope | None = None,
    ) -> None:
        self._thread = LoopThread()
        self._stopping = threading.Lock()
        self._stopped = False

        def make() -> SharedInformerFactory:
            return SharedInformerFactory(Client(config), options=options, scope=scope)

        self.factory = self._thread.run(make)
        self._informers: dict[SharedIndexInformer, SyncInformer] = {}

    def informer_for(
        self,
        resource: APIResource,
        *,
        scope: Scope | None = None,
        indexers: Mapping[str, IndexFunction] | None = None,
    ) -> SyncInformer:
        """The informer for a resource and scope, made when first asked for."""

        def make() -> SyncInformer:
            informer = self.factory.informer_for(resource, scope=scope, indexers=indexers)
            return self._informers.setdefault(informer, SyncInformer(self._thread, informer))

        return self._thread.run(make)

    def queue(self, name: str = "", *, limiter: RateLimiter | None = None) -> SyncWorkQueue[Any]:
        """A work queue, of items of any hashable type."""

        def make() -> RateLimitingQueue[Any]:
            return RateLimitingQueue(name, limiter=limiter)

        return SyncWorkQueue(self._thread, self._thread.run(make))

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> JSONObject:
        """One request to the server; options as of `Client.request`."""
        return self._thread.call(self.factory.client.request(method, path, body, **options))

    def start(self) -> None:
        """Start the informers made since."""
        self._thread.run(self.factory.start)

    def wait_for_cache_sync(
        self, *registrations: SyncRegistration, seconds: float | None = None
    ) -> None:
        """Wait for all informers and for these handlers; raises NotSyncedError."""

        async def wait() -> None:
            handlers = [each.registration for each in registrations]
            await wait_for_cache_sync(*self.factory.informers(), *handlers, within=seconds)

        self._thread.call(wait())

    def stop(self) -> None:
        """Stop all, and wait for running handlers; from a handler without waiting for that one."""
        with self._stopping:
            if self._stopped:
                return
            self._stopped = True
        inside = threading.current_thread().name.startswith("handler ")

        async def shut_down() -> None:
            await self.factory.shutdown()
            await self.factory.client.close()

        if inside:
            # The handler that called must return before its informer can end.
            def later() -> None:
                self._thread.call(shut_down())
                self._finish()

            threading.Thread(target=later, name="informers stop", daemon=True).start()
            return
        self._thread.call(shut_down())
        self._finish()

    def _finish(self) -> None:
        for informer in self._informers.values():
            informer.close_handlers()
        self._thread.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
