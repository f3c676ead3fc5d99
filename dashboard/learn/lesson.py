"""The step mode: a real informer on a real stream, each line told as it happens.

Its watches are short, so that the end of one and what follows need not be waited for; all else is
as any informer has it. Writes, cuts and the 410 are made by buttons, for this stream alone; the
object that was written goes when the lesson ends.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dashboard import access
from dashboard.attached import JSON, Message, Opening
from dashboard.in_process import InProcessListerWatcher, Source
from dashboard.learn.explaining import Narrator
from dashboard.objects.asker import Asker
from listwatch.informer import APIResource, InformerOptions, ReflectorOptions, SharedIndexInformer
from listwatch.protocol.errors import StatusError, bad_request, expired
from listwatch.protocol.events import EndReason
from listwatch.protocol.objects import decode
from listwatch.protocol.options import DeleteOptions
from listwatch.registry.metadata import generated_name
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from listwatch.registry.context import UserInfo

AGENT = "listwatch-dashboard-lesson"
WATCH_SECONDS = 20
PREFIX = "lesson-"  # of the object that it writes: no one else's has its name
COLOURS = ("blue", "green", "red", "yellow")


class Lesson:
    """A reflector that is watched at work. `start` once; `stop` ends it."""

    def __init__(self, source: Source, opening: Opening, *, streaming: bool) -> None:
        resource = source.resource
        api = APIResource(
            resource.group, resource.version, resource.resource, resource.kind, resource.namespaced
        )
        self._runtime = opening.runtime
        self._wake = opening.wake
        self._source = source
        self._narrator = Narrator(
            api.path(source.namespace), opening.runtime.clock.now, self._moved
        )
        self._lister = InProcessListerWatcher(
            source, trace=self._narrator, watch_seconds=WATCH_SECONDS
        )
        self._informer = SharedIndexInformer(
            self._lister,
            resource=api,
            options=InformerOptions(
                name="lesson", reflector=ReflectorOptions(streaming_lists=streaming)
            ),
            clock=opening.runtime.clock,
        )
        self._informer.add_handler(on_add=lambda subject, initial: self._moved())
        self._sent = 0
        self._writes = 0
        self._object = generated_name(PREFIX)
        self._made = ""  # the UID of the object that this lesson made, as long as it is there
        self._refusal: JSON | None = None
        self.dirty = True

    def start(self) -> None:
        """Begin with the list."""
        self._informer.start()

    async def stop(self) -> None:
        """End it, and its watch as detached."""
        if self._lister.stream is not None:
            self._lister.stream.watcher.close(EndReason.DETACHED)
        await self._informer.stop()
        await self._clean()

    def pause(self, paused: bool) -> None:
        """Nothing to freeze: the page steps at its own pace, and the stream goes on."""

    def show_page(self, visible: bool) -> None:
        """Steps are kept while nobody looks."""

    async def act(self, message: Message) -> None:
        """`write`, `cut` or `expire`; raises 400, 403."""
        stream = self._lister.stream
        match message.get("act"):
            case "write":
                await self._write()
            case "cut" if stream is not None:
                stream.break_off()
            case "expire" if stream is not None:
                revision = self._informer.last_sync_resource_version or "0"
                message_ = f"too old resource version: {revision} (for this lesson alone)"
                stream.watcher.refuse(expired(message_), EndReason.FAULT_INJECTED)
            case _:
                raise bad_request("a lesson can write, cut and expire")
        self._moved()

    def take(self) -> JSON:
        """The steps that are new."""
        self.dirty = False
        fresh = self._narrator.since(self._sent)
        missed = max(0, fresh[0].number - self._sent - 1) if fresh else 0
        self._sent = self._narrator.number
        return {
            "state": "live",
            "steps": [step.to_dict() for step in fresh],
            "missed": missed,
            "store": {
                "objects": len(self._informer.indexer.list()),
                "revision": self._informer.last_sync_resource_version,
                "synced": self._informer.has_synced,
            },
        }

    async def _write(self) -> None:
        # Created, changed twice, deleted, and again: each kind of event comes in its turn.
        asker = Asker(self._runtime, self._source.user)
        resource, namespace, name = self._source.resource, self._source.namespace, self._object
        registry, turn = self._runtime.registry, self._writes % 4
        verb = ("create", "update", "update", "delete")[turn]
        asker.require(verb, resource, namespace, name)
        colour = COLOURS[self._writes % len(COLOURS)]
        document = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name, "namespace": namespace},
            "data": {"colour": colour},
        }
        self._writes += 1
        try:
            if verb == "create":
                done = await registry.create(asker.context(resource, namespace), document)
                self._made = decode(done.encoded, done.revision)["metadata"]["uid"]
                self._narrator.wrote(f"POST {name}: colour {colour}", str(done.revision))
            elif verb == "update":
                done = await registry.update(asker.context(resource, namespace, name), document)
                self._narrator.wrote(f"PUT {name}: colour {colour}", str(done.revision))
            else:
                gone = await registry.delete(
                    asker.context(resource, namespace, name), DeleteOptions()
                )
                self._made = ""
                self._narrator.wrote(f"DELETE {name}", str(gone.revision))
        except StatusError as error:
            if error.code not in (404, 409):
                raise
            # Somebody else made or deleted it: go on with what there is.
            self._writes += 1 if error.code == 409 else (4 - self._writes % 4) % 4
            self._narrator.wrote(f"{verb} {name}: {error.message}", "")

    async def _clean(self) -> None:
        """Delete what this lesson made, and nothing that another made under the same name."""
        asker = Asker(self._runtime, self._source.user)
        resource, namespace, name = self._source.resource, self._source.namespace, self._object
        if self._made and asker.may("delete", resource, namespace, name):
            ctx, options = asker.context(resource, namespace, name), DeleteOptions(uid=self._made)
            with contextlib.suppress(StatusError):  # it is gone, or is not that one any more
                await self._runtime.registry.delete(ctx, options)
        self._made = ""

    def _moved(self) -> None:
        self.dirty = True
        self._wake()


async def attach_lesson(opening: Opening, message: Message) -> Lesson:
    """A lesson in a namespace; raises 400, 403."""
    runtime = opening.runtime
    resource = runtime.resources.find("", "v1", "configmaps")
    assert resource is not None, "config maps are built in"
    namespace = str(message.get("namespace") or "default").strip()
    user: UserInfo = await access.watching_user(runtime, opening.visitor, resource, namespace)
    source = Source(
        runtime, user, resource, ClientInfo(AGENT, user.name, opening.address), namespace
    )
    streaming = str(message.get("streaming", "")) == "true"
    return Lesson(source, opening, streaming=streaming)
