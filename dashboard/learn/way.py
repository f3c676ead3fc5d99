"""The way of a pod, on a page: a deployment comes and goes, and each hop is told with its time.

`listwatch.controllers.pods_way` looks on from outside, as `demo` does; this runs it and keeps what
it told.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from dashboard import access
from dashboard.attached import JSON, Message, Opening
from dashboard.learn.own_client import own_config
from dashboard.objects.asker import Asker
from listwatch.controllers.pods_way import PodsWay
from listwatch.informer import Client
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.resources import NAMESPACES
from listwatch.protocol.errors import bad_request, too_many_requests

if TYPE_CHECKING:
    from listwatch.controllers.pods_way import Hop
    from listwatch.informer import ClientConfig

REPLICAS = (1, 10)
PATIENCE = 30.0  # seconds until it is said that nobody takes the next step
SILENCE = 6.0  # seconds without a first hop of a controller until that is said
HOPS = 500
AT_ONCE = 2  # such ways in one server
NEEDED = (
    ("", "v1", "namespaces"), ("", "v1", "services"), ("apps", "v1", "deployments"),
)  # fmt: skip

_under_way: set[PodsWayAttachment] = set()


class PodsWayAttachment:
    """One deployment's coming and going. `start` once; `stop` removes what it made."""

    def __init__(self, config: ClientConfig, replicas: int, opening: Opening) -> None:
        self._config = config
        self._replicas = replicas
        self._wake = opening.wake
        self._clock = opening.runtime.clock
        self._namespace = f"demo-{secrets.token_hex(3)}"
        self._hops: list[JSON] = []
        self._sent = 0
        self._phase = "coming"
        self._says = ""
        self._tasks: list[asyncio.Task[None]] = []
        self.dirty = True

    def start(self) -> None:
        """Create, and look on."""
        _under_way.add(self)
        self._tasks = [
            asyncio.create_task(self._run(), name="the way of a pod"),
            asyncio.create_task(self._mind_silence(), name="the way of a pod: silence"),
        ]

    async def stop(self) -> None:
        """Stop looking on; the namespace goes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        _under_way.discard(self)

    def pause(self, paused: bool) -> None:
        """Nothing to freeze."""

    def show_page(self, visible: bool) -> None:
        """Hops are kept while nobody looks."""

    async def act(self, message: Message) -> None:
        """Nothing can be done on the way; raises 400."""
        raise bad_request("a way can only be stopped")

    def take(self) -> JSON:
        """The hops that are new, and how it stands."""
        self.dirty = False
        fresh, self._sent = self._hops[self._sent :], len(self._hops)
        return {
            "state": "live",
            "phase": self._phase,
            "says": self._says,
            "namespace": self._namespace,
            "hops": fresh,
        }

    async def _run(self) -> None:
        try:
            async with (
                asyncio.timeout(PATIENCE),
                Client(self._config, user_agent="listwatch-demo") as client,
            ):
                way = PodsWay(client, self._namespace, self._replicas)
                try:
                    async with way.watching():
                        async for hop in way.hops():
                            self._add(hop, "coming")
                        self._phase = "going"
                        async for hop in way.leave():
                            self._add(hop, "going")
                    self._phase = "done"
                finally:
                    if self._phase != "done":
                        await self._clean()
        except TimeoutError:
            self._phase, self._says = "stuck", (
                f"Not done within {PATIENCE:.0f} s. {self._nobody()}"
            )  # fmt: skip
        except (ApiError, TransportError, OSError) as error:
            self._phase, self._says = "failed", str(error)
        finally:
            _under_way.discard(self)
            self._moved()

    async def _clean(self) -> None:
        async with Client(self._config, user_agent="listwatch-demo") as client:
            try:
                await asyncio.wait_for(client.delete(NAMESPACES, self._namespace), 5)
            except (ApiError, TransportError, TimeoutError):
                return  # gone already, or the server is

    async def _mind_silence(self) -> None:
        await asyncio.sleep(SILENCE)
        if self._phase == "coming" and not any(hop["watched"] for hop in self._hops):
            self._says = self._nobody()
            self._moved()

    def _nobody(self) -> str:
        if any(hop["watched"] for hop in self._hops):
            return "Some controller does not take the next step: which are running?"
        return (
            "No controller has acted: they are not running. Start the server without "
            "--no-controllers, or beside it: listwatch controllers --kubeconfig FILE"
        )

    def _add(self, hop: Hop, part: str) -> None:
        if len(self._hops) >= HOPS:
            return
        self._says = ""
        before = self._hops[-1]["ms"] if self._hops else 0.0
        ms = round(hop.seconds * 1000, 1)
        self._hops.append({
            "id": len(self._hops) + 1, "part": part, "ms": ms, "after": round(ms - before, 1),
            "revision": hop.revision, "actor": hop.actor, "watched": hop.watched, "did": hop.did,
            "at": self._clock.now(),
        })  # fmt: skip
        self._moved()

    def _moved(self) -> None:
        self.dirty = True
        self._wake()


async def attach_way(opening: Opening, message: Message) -> PodsWayAttachment:
    """A way with so many replicas; raises 400, 403, 429, 503."""
    runtime = opening.runtime
    replicas = message.get("replicas", 2)
    least, most = REPLICAS
    if isinstance(replicas, bool) or not isinstance(replicas, int) or not least <= replicas <= most:
        raise bad_request(f"replicas: from {least} to {most}, or nobody could follow")
    if len(_under_way) >= AT_ONCE:
        raise too_many_requests("others follow a pod's way right now", 10)
    await require_all(opening)
    config = await asyncio.to_thread(own_config, runtime.options, opening.url)
    return PodsWayAttachment(config, replicas, opening)


async def require_all(opening: Opening) -> None:
    """That the visitor may make and delete all of it, everywhere; raises 403."""
    runtime = opening.runtime
    user = await access.kubernetes_visitor(runtime, opening.visitor)
    asker = Asker(runtime, user)
    for group, version, name in NEEDED:
        resource = runtime.resources.find(group, version, name)
        assert resource is not None, "these are built in"
        for verb in ("create", "delete"):
            asker.require(verb, resource)
