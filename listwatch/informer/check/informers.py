"""Informers and elections on the server; faults are put in on the client's side.

Verdicts go to `__main__`.
"""

from __future__ import annotations

import asyncio
from typing import Self

from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.check.stage import PATIENCE, CheckFailedError, Stage, require, scenario
from listwatch.informer.errors import ApiError, ConnectionRefused, StreamCutError, api_error
from listwatch.informer.leader_election import LeaderElectionOptions, LeaderElector
from listwatch.informer.list_watch import (
    ListerWatcher,
    ListPage,
    ListQuery,
    WatchEvent,
    WatchQuery,
    WatchStream,
)
from listwatch.informer.objects import Deleted, JSONObject, object_key, resource_version
from listwatch.informer.pager import list_all
from listwatch.informer.reflector_options import ReflectorOptions
from listwatch.informer.resources import CONFIG_MAPS
from listwatch.informer.shared_informer import InformerOptions, SharedIndexInformer
from listwatch.informer.waiting import NotSyncedError, wait_for_cache_sync

EXPIRED = {"code": 410, "reason": "Expired", "message": "put in by the check"}


class Mirror:
    """What a handler makes of what it is told; illegal steps are kept."""

    def __init__(self) -> None:
        self.state: dict[str, str] = {}
        self.illegal: list[str] = []

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> None:
        """It must be new."""
        key = object_key(subject)
        if key in self.state:
            self.illegal.append(f"an add of {key}, which was there")
        self.state[key] = resource_version(subject)

    def on_update(self, old: JSONObject, new: JSONObject) -> None:
        """It must be known, in the old state."""
        key = object_key(new)
        if self.state.get(key) != resource_version(old):
            self.illegal.append(f"an update of {key} from a state that was never told")
        self.state[key] = resource_version(new)

    def on_delete(self, gone: Deleted) -> None:
        """It must be known."""
        if self.state.pop(gone.key, None) is None:
            self.illegal.append(f"a delete of {gone.key}, which was not there")


class Faulty:
    """A source whose streams are cut, expire and are refused now and then."""

    def __init__(self, inner: ListerWatcher, stage: Stage, share: float) -> None:
        self._inner = inner
        self._random = stage.random
        self._share = share

    async def list(self, query: ListQuery) -> ListPage:
        """As of the server, if it is not refused."""
        self._refuse()
        return await self._inner.list(query)

    async def watch(self, query: WatchQuery) -> WatchStream:
        """As of the server, if it is not refused; the stream may not last."""
        self._refuse()
        if not query.initial_events and self._random.random() < self._share:
            raise api_error(EXPIRED)
        lives = int(self._random.random() * 20 / max(self._share, 0.01))
        return _Short(await self._inner.watch(query), lives, self._random.random() < 0.3)

    def _refuse(self) -> None:
        if self._random.random() < self._share:
            raise ConnectionRefused("put in by the check")


class _Short:
    def __init__(self, inner: WatchStream, lives: int, expires: bool) -> None:
        self._inner = inner
        self._lives = lives
        self._expires = expires

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent:
        if self._lives <= 0:
            if self._expires:
                return WatchEvent("ERROR", EXPIRED)
            raise StreamCutError("put in by the check")
        self._lives -= 1
        return await self._inner.__anext__()

    async def close(self) -> None:
        await self._inner.close()


def _informer(stage: Stage, source: ListerWatcher, *, streaming: bool) -> SharedIndexInformer:
    reflector = ReflectorOptions(
        streaming_lists=streaming, backoff=BackoffPolicy(initial=0.05, cap=0.5)
    )
    return SharedIndexInformer(
        source,
        resource=CONFIG_MAPS,
        options=InformerOptions(reflector=reflector),
        clock=stage.clock,
        random=stage.random,
    )


async def _follow(stage: Stage, *, streaming: bool, share: float, writes: int) -> None:
    for number in range(10):
        await stage.create(f"i{number}")
    mirror = Mirror()
    informer = _informer(stage, Faulty(stage.source(), stage, share), streaming=streaming)
    registration = informer.add_handler(mirror)
    async with informer:
        try:
            await wait_for_cache_sync(informer, registration, within=PATIENCE)
        except NotSyncedError as error:
            raise CheckFailedError("the informer did not sync") from error
        alive = {f"i{number}" for number in range(10)}
        for _ in range(writes):
            name = f"i{int(stage.random.random() * 20)}"
            if name not in alive:
                await stage.create(name)
                alive.add(name)
            elif stage.random.random() < 0.3:
                await stage.delete(name)
                alive.discard(name)
            else:
                await stage.change(name)
        listed = await list_all(stage.source().list, ListQuery())
        truth = {object_key(item): resource_version(item) for item in listed.items}

        def cached() -> dict[str, str]:
            return {object_key(o): resource_version(o) for o in informer.indexer.list()}

        await stage.until(
            lambda: cached() == truth and mirror.state == truth,
            "the cache or the handlers did not become equal to the server",
        )
        require(not mirror.illegal, "; ".join(mirror.illegal[:3]))


@scenario("an informer follows two hundred writes")
async def follows(stage: Stage) -> None:
    """Without any fault."""
    await _follow(stage, streaming=True, share=0.0, writes=200)


@scenario("an informer ends equal through cuts, refusals and 410s")
async def survives(stage: Stage) -> None:
    """With streaming lists, where the server has them."""
    await _follow(stage, streaming=True, share=0.2, writes=200)


@scenario("an informer with plain lists ends equal through cuts, refusals and 410s")
async def survives_plain(stage: Stage) -> None:
    """By list and watch."""
    await _follow(stage, streaming=False, share=0.2, writes=200)


@scenario("of two candidates one leads, and the other takes over")
async def election(stage: Stage) -> None:
    """By a Lease, released on the way out."""
    electors = [
        LeaderElector(
            stage.client,
            LeaderElectionOptions(
                "listwatch-check",
                f"candidate-{number}",
                namespace=stage.namespace,
                lease_seconds=3,
                renew_deadline=2,
                retry_seconds=0.2,
                release_on_cancel=True,
            ),
            clock=stage.clock,
            random=stage.random,
        )
        for number in range(2)
    ]

    async def forever() -> None:
        await asyncio.Event().wait()

    tasks = [asyncio.ensure_future(elector.run(forever)) for elector in electors]
    try:
        await stage.until(lambda: any(e.is_leader for e in electors), "nobody became leader")
        await stage.clock.sleep(1)
        leaders = [number for number, elector in enumerate(electors) if elector.is_leader]
        require(len(leaders) == 1, f"{len(leaders)} lead at the same time")
        tasks[leaders[0]].cancel()
        other = electors[1 - leaders[0]]
        await stage.until(lambda: other.is_leader, "the other did not take over")
    except ApiError as error:
        raise CheckFailedError(f"the lease was refused: {error}") from error
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
