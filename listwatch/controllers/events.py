"""Events of the cluster as `kubectl get events` shows them: what happened to which object, and why.

Controllers call `EventRecorder.record`, which never waits; writing is done behind their backs.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from listwatch.controllers.similar_events import COMBINED, SimilarEvents
from listwatch.informer import resources
from listwatch.informer.errors import ApiError, NotFoundError, TransportError
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.objects import JSONObject

if TYPE_CHECKING:
    from listwatch.informer import APIResource, Client
    from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)

NORMAL, WARNING = "Normal", "Warning"
QUEUE = 1000  # events that wait; more are dropped, as upstream's recorder drops them
REMEMBERED = 4096  # events that can still be counted up instead of told anew
# Of one object: so many at once, then one every so many seconds, as upstream's spam filter.
OBJECT_BURST, OBJECT_SECONDS = 25, 300.0
WRITERS = 2


@dataclass(frozen=True, slots=True)
class EventStatistics:
    """A recorder at one moment; counts since it was made."""

    component: str
    recorded: int  # calls of `record`
    written: int  # events made or counted up
    dropped: int  # too many at once, or refused by the server
    pending: int  # events that wait


@dataclass(frozen=True, slots=True)
class _Happened:
    subject: JSONObject  # the involvedObject
    kind: str
    reason: str
    message: str
    at: float

    @property
    def key(self) -> tuple[str, ...]:
        """Events with one key are one event that happened several times."""
        subject = self.subject
        return (
            str(subject.get("uid")), str(subject.get("fieldPath") or ""), self.kind, self.reason,
            self.message,
        )  # fmt: skip

    @property
    def similar(self) -> tuple[str, ...]:
        """Events with one of these differ in their messages, and in where in the object."""
        subject = self.subject
        where = ("_host", "apiVersion", "kind", "namespace", "name", "uid")
        return (*(str(subject.get(key) or "") for key in where), self.kind, self.reason)


class EventRecorder:
    """Writes the events of one component. An event that repeats is counted, not told again.

    Many that differ only in their messages become one.
    Promises that no event delays or fails a controller, not that every event is written.
    `rate` events a second at most, above a burst; 0: as many as come.
    """

    def __init__(
        self, client: Client, component: str, clock: Clock, *, host: str = "", rate: float = 0.0
    ) -> None:
        self.component = component
        self._client = client
        self._clock = clock
        self._host = host
        self._rate = rate
        self._tokens = self._burst = rate * 2
        self._filled_at = clock.monotonic()
        # What is of one object goes to one writer: the next has to see what became of the last.
        self._queues: tuple[asyncio.Queue[_Happened], ...] = tuple(
            asyncio.Queue() for _ in range(WRITERS)
        )
        self._similar = SimilarEvents(REMEMBERED)
        self._known: OrderedDict[tuple[str, ...], tuple[str, str, int]] = OrderedDict()
        self._objects: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since when
        self._recorded = self._written = self._dropped = 0

    def record(
        self,
        resource: APIResource,
        subject: JSONObject,
        reason: str,
        message: str,
        *,
        kind: str = NORMAL,
        field_path: str = "",
        host: str = "",
    ) -> None:
        """Say that this happened to the object."""
        self._recorded += 1
        if not (self._may_of(str(subject["metadata"].get("uid"))) and self._may()):
            self._dropped += 1
            return
        reference = _reference(resource, subject)
        if field_path:
            reference["fieldPath"] = field_path
        if host:
            reference["_host"] = host
        if self._pending() >= QUEUE:
            self._dropped += 1
            return
        queue = self._queues[hash(reference.get("uid")) % WRITERS]
        queue.put_nowait(_Happened(reference, kind, reason, message, self._clock.now()))

    async def run(self) -> None:
        """Write what was recorded, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for queue in self._queues:
                group.create_task(self._write_all(queue))

    def statistics(self) -> EventStatistics:
        """A record of now."""
        return EventStatistics(
            self.component, self._recorded, self._written, self._dropped, self._pending()
        )

    def _pending(self) -> int:
        return sum(queue.qsize() for queue in self._queues)

    def _may(self) -> bool:
        if not self._rate:
            return True
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _may_of(self, uid: str) -> bool:
        now = self._clock.monotonic()
        tokens, since = self._objects.get(uid, (float(OBJECT_BURST), now))
        tokens = min(OBJECT_BURST, tokens + (now - since) / OBJECT_SECONDS)
        self._objects[uid] = (tokens - 1 if tokens >= 1 else tokens, now)
        self._objects.move_to_end(uid)
        if len(self._objects) > REMEMBERED:
            self._objects.popitem(last=False)
        return tokens >= 1

    async def _write_all(self, queue: asyncio.Queue[_Happened]) -> None:
        while True:
            happened = await queue.get()
            try:
                await self._write(happened)
            except (ApiError, TransportError) as error:
                # The namespace is going, or so is the server: nobody will miss it.
                self._dropped += 1
                logger.debug("event %s not written: %s", happened.reason, error)
            else:
                self._written += 1

    async def _write(self, happened: _Happened) -> None:
        key = happened.key
        if self._similar.combines(happened.similar, happened.message, happened.at):
            key = happened.similar
            happened = replace(happened, message=COMBINED + happened.message)
        known = self._known.get(key)
        if known is not None:
            namespace, name, count = known
            patch = {
                "count": count + 1, "lastTimestamp": rfc3339(happened.at),
                "message": happened.message,
            }  # fmt: skip
            try:
                await self._client.patch(resources.EVENTS, name, patch, namespace=namespace)
            except NotFoundError:
                self._known.pop(key, None)
            else:
                self._remember(key, (namespace, name, count + 1))
                return
        event = self._event(happened)
        await self._client.create(resources.EVENTS, event)
        metadata = event["metadata"]
        self._remember(key, (metadata["namespace"], metadata["name"], 1))

    def _remember(self, key: tuple[str, ...], known: tuple[str, str, int]) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _event(self, happened: _Happened) -> JSONObject:
        subject = dict(happened.subject)
        host = subject.pop("_host", self._host)
        stamp = rfc3339(happened.at)
        return {
            "metadata": {
                "name": f"{subject['name']}.{int(happened.at * 1e9):x}",
                "namespace": subject.get("namespace") or "default",
            },
            "involvedObject": subject,
            "reason": happened.reason,
            "message": happened.message,
            "source": {"component": self.component, **({"host": host} if host else {})},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": happened.kind,
            "eventTime": None,
            "reportingComponent": self.component,
            "reportingInstance": host,
        }


def _reference(resource: APIResource, subject: JSONObject) -> JSONObject:
    metadata = subject["metadata"]
    reference = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata.get("uid"),
        "resourceVersion": metadata.get("resourceVersion"),
    }
    return {key: value for key, value in reference.items() if value}
