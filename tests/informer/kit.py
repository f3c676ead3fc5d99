"""Objects, scripted sources and recorders for the tests of the informer stack."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any, Self

from listwatch.informer.list_watch import ListPage, ListQuery, WatchEvent, WatchQuery
from listwatch.informer.objects import Deleted, JSONObject
from listwatch.informer.reflector import Reflector
from listwatch.informer.reflector_options import ReflectorOptions
from listwatch.protocol.errors import StatusError
from listwatch.testing.clock import FakeClock

END = {"k8s.io/initial-events-end": "true"}


def thing(name: str, version: int | str = "", namespace: str = "", **more: Any) -> JSONObject:
    """An object; `labels` go into its metadata."""
    metadata: JSONObject = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if version != "":
        metadata["resourceVersion"] = str(version)
    if "labels" in more:
        metadata["labels"] = more.pop("labels")
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, **more}


def bookmark(version: int | str, annotations: dict[str, str] | None = None) -> WatchEvent:
    metadata: JSONObject = {"resourceVersion": str(version)}
    if annotations is not None:
        metadata["annotations"] = annotations
    return WatchEvent("BOOKMARK", {"kind": "Thing", "apiVersion": "v1", "metadata": metadata})


def error_event(error: StatusError) -> WatchEvent:
    return WatchEvent("ERROR", error.to_dict())


def event(kind: str, name: str, version: int | str) -> WatchEvent:
    return WatchEvent(kind, thing(name, version))


class FakeStream:
    """A watch whose events the test sends when it wants to."""

    def __init__(self, *events: WatchEvent, ended: bool = False) -> None:
        self._events: deque[WatchEvent | BaseException | None] = deque(events)
        self._arrived = asyncio.Event()
        self.closed = 0
        if ended:
            self.end()

    def send(self, *events: WatchEvent) -> None:
        self._events.extend(events)
        self._arrived.set()

    def end(self, error: BaseException | None = None) -> None:
        self._events.append(error)
        self._arrived.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent:
        while not self._events:
            if self.closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        found = self._events.popleft()
        if found is None:
            raise StopAsyncIteration
        if isinstance(found, BaseException):
            raise found
        return found

    async def close(self) -> None:
        self.closed += 1
        self._arrived.set()


Answer = ListPage | Exception | Callable[[ListQuery], ListPage]
Opening = FakeStream | Exception | Callable[[WatchQuery], FakeStream]


class Script:
    """A source that answers as written down; the last answer of each kind is given for ever."""

    def __init__(self, lists: Sequence[Answer] = (), watches: Sequence[Opening] = ()) -> None:
        self.lists = deque(lists)
        self.watches = deque(watches)
        self.list_queries: list[ListQuery] = []
        self.watch_queries: list[WatchQuery] = []
        self.asked: list[str] = []

    async def list(self, query: ListQuery) -> ListPage:
        self.list_queries.append(query)
        self.asked.append("list")
        answer = self.lists.popleft() if len(self.lists) > 1 else self.lists[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ListPage) else answer(query)

    async def watch(self, query: WatchQuery) -> FakeStream:
        self.watch_queries.append(query)
        self.asked.append("watch")
        if not self.watches:
            return FakeStream()
        answer = self.watches.popleft() if len(self.watches) > 1 else self.watches[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, FakeStream) else answer(query)


def page(version: int | str, *items: JSONObject, token: str = "") -> ListPage:
    return ListPage(list(items), str(version), token, "ThingList", "v1")


class RecordingStore:
    """What a reflector tells, in order, and the state it amounts to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.objects: dict[str, JSONObject] = {}
        self.resync_error: Exception | None = None

    def add(self, subject: JSONObject) -> None:
        self.calls.append(("add", subject["metadata"]["name"]))
        self.objects[subject["metadata"]["name"]] = subject

    def update(self, subject: JSONObject) -> None:
        self.calls.append(("update", subject["metadata"]["name"]))
        self.objects[subject["metadata"]["name"]] = subject

    def delete(self, subject: JSONObject) -> None:
        self.calls.append(("delete", subject["metadata"]["name"]))
        self.objects.pop(subject["metadata"]["name"], None)

    def replace(self, subjects: list[JSONObject], resource_version: str) -> None:
        self.calls.append(("replace", resource_version))
        self.objects = {subject["metadata"]["name"]: subject for subject in subjects}

    def bookmark(self, resource_version: str) -> None:
        self.calls.append(("bookmark", resource_version))

    def resync(self) -> None:
        self.calls.append(("resync", ""))
        if self.resync_error is not None:
            raise self.resync_error

    async def room(self) -> None:
        return


def reflector(
    source: Any, store: Any, clock: FakeClock, *, streaming: bool = False, **options: Any
) -> Reflector:
    """A reflector of things, with plain lists unless told otherwise."""
    chosen = ReflectorOptions(streaming_lists=streaming, **options)
    return Reflector(
        source, store, options=chosen, name="things", kind="Thing", clock=clock, random=Random(7)
    )


class Recorder:
    """A handler that writes down what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> None:
        self.told.append(("add", subject["metadata"]["name"], is_in_initial_list))

    def on_update(self, old: JSONObject, new: JSONObject) -> None:
        self.told.append(
            (
                "update",
                new["metadata"]["name"],
                old["metadata"].get("resourceVersion"),
                new["metadata"].get("resourceVersion"),
            )
        )

    def on_delete(self, gone: Deleted) -> None:
        self.told.append(("delete", gone.name, gone.final_state_unknown))

    def take(self) -> list[tuple[Any, ...]]:
        """What was told since this was last asked."""
        told, self.told = self.told, []
        return told


async def settle(turns: int = 30) -> None:
    """Let everything run that can run without time going by."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for it."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def started(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.create_task(coroutine)
