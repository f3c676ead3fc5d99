"""Each fault befalls a real client over HTTP, whose cache then is the server's state again."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from listwatch.informer import (
    Client,
    ClientConfig,
    HTTPListerWatcher,
    InformerOptions,
    ReflectorOptions,
    SharedIndexInformer,
)
from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.reflector_options import ReflectorStatistics
from listwatch.informer.resources import CONFIG_MAPS, NAMESPACES
from tests.servers import Server

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("faulty")]

_numbers = itertools.count(1)

OPTIONS = InformerOptions(
    reflector=ReflectorOptions(
        # Shorter than usual, as the server's bookmarks are: silence is noticed after four seconds.
        idle_seconds=4,
        initial_idle_seconds=4,
        backoff=BackoffPolicy(initial=0.05, cap=0.5),
    )
)


class Scene:
    """A namespace, a writer, and an informer of its config maps."""

    def __init__(self, client: Client, informer: SharedIndexInformer) -> None:
        self.client = client
        self.informer = informer
        self.namespace = informer.name

    async def write(self, name: str, value: str) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        subject = {"metadata": metadata, "data": {"value": value}}
        if self.informer.indexer.get_by_key(f"{self.namespace}/{name}") is None:
            await self.client.create(CONFIG_MAPS, subject)
        else:
            await self.client.patch(
                CONFIG_MAPS, name, {"data": {"value": value}}, namespace=self.namespace
            )

    async def inject(self, kind: str, **spec: Any) -> str:
        document = {"spec": {"type": kind, "resource": "configmaps", **spec}}
        fault = await self.client.request("POST", "/debug/faults", body=document)
        return str(fault["metadata"]["name"])

    async def lift(self, name: str) -> None:
        await self.client.request("DELETE", f"/debug/faults/{name}")

    @property
    def statistics(self) -> ReflectorStatistics:
        return self.informer.statistics().reflector

    def cached(self) -> dict[str, str]:
        return {
            subject["metadata"]["name"]: subject["metadata"]["resourceVersion"]
            for subject in self.informer.indexer.list()
        }

    async def equal(self) -> None:
        """Wait until the cache is what the server says now."""
        listed = await self.client.list(CONFIG_MAPS, namespace=self.namespace)
        truth = {
            subject["metadata"]["name"]: subject["metadata"]["resourceVersion"]
            for subject in listed["items"]
        }
        await until(lambda: self.cached() == truth)


async def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 (what is waited for is in another process)
            await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def config(faulty: Server) -> ClientConfig:
    return ClientConfig(faulty.url, token=faulty.token)


@asynccontextmanager
async def scene(config: ClientConfig) -> AsyncIterator[Scene]:
    namespace = f"faults-{next(_numbers)}"
    async with Client(config) as client:
        await client.create(NAMESPACES, {"metadata": {"name": namespace}})
        source = HTTPListerWatcher(client, CONFIG_MAPS, namespace=namespace)
        options = InformerOptions(name=namespace, reflector=OPTIONS.reflector)
        async with SharedIndexInformer(source, options=options) as informer:
            await informer.wait_synced()
            made = Scene(client, informer)
            await made.write("a", "1")
            await made.equal()
            yield made
            # Whatever happened, what is written afterwards arrives, and nothing is missing.
            await made.write("last", "1")
            await made.equal()


async def test_410_as_the_last_line_of_a_stream(config: ClientConfig) -> None:
    async with scene(config) as it:
        lists = it.statistics.lists
        await it.inject("expired")
        await it.write("a", "2")
        await until(lambda: it.statistics.lists > lists and it.statistics.expirations == 1)


async def test_410_as_the_answer_to_a_request(config: ClientConfig) -> None:
    async with scene(config) as it:
        lists = it.statistics.lists
        await it.inject("expired", form="http")
        await it.write("a", "2")
        await until(lambda: it.statistics.lists > lists and it.statistics.expirations == 1)


async def test_a_cut_costs_a_new_watch_and_no_list(config: ClientConfig) -> None:
    async with scene(config) as it:
        lists = it.statistics.lists
        await it.inject("cut")
        await until(lambda: it.statistics.cuts == 1)
        await it.write("a", "2")
        await it.equal()

        assert it.statistics.lists == lists


async def test_a_cut_in_the_middle_of_a_line_loses_no_event(config: ClientConfig) -> None:
    async with scene(config) as it:
        lists = it.statistics.lists
        await it.inject("cut-mid-line")
        await it.write("a", "2")
        await until(lambda: it.statistics.cuts == 1)
        await it.equal()

        assert it.statistics.lists == lists


async def test_a_frozen_reader_hears_all_of_it_later(config: ClientConfig) -> None:
    async with scene(config) as it:
        before = it.cached()
        fault = await it.inject("freeze")
        for number in range(3):
            await it.write("a", str(number + 2))
        await asyncio.sleep(0.3)

        assert it.cached() == before

        await it.lift(fault)
        await it.equal()


async def test_a_reader_frozen_for_too_long_is_cut_and_resumes(config: ClientConfig) -> None:
    async with scene(config) as it:
        await it.inject("freeze", seconds=6, times=1)
        await it.write("a", "2")
        await it.write("a", "3")
        await until(lambda: it.statistics.cuts == 1)
        await it.equal()


async def test_what_a_black_hole_swallowed_is_asked_for_again(config: ClientConfig) -> None:
    async with scene(config) as it:
        fault = await it.inject("black-hole", seconds=60)
        before = it.cached()
        await it.write("a", "2")
        await asyncio.sleep(0.3)

        assert it.cached() == before

        await it.lift(fault)
        await it.equal()


async def test_a_client_that_minds_silence_notices_a_black_hole(config: ClientConfig) -> None:
    async with scene(config) as it:
        fault = await it.inject("black-hole", seconds=60)
        await it.write("a", "2")
        await until(lambda: it.statistics.silences == 1)
        await it.lift(fault)
        await it.equal()


async def test_a_delay_delays(config: ClientConfig) -> None:
    async with scene(config) as it:
        before = it.cached()
        await it.inject("delay", delayMilliseconds=1000, seconds=20)
        await it.write("a", "2")
        await asyncio.sleep(0.2)

        assert it.cached() == before

        await it.equal()


async def test_429_is_waited_out_as_long_as_the_server_says(config: ClientConfig) -> None:
    async with scene(config) as it:
        await it.inject("too-many-requests", seconds=2)
        await it.inject("cut")
        await it.write("a", "2")
        await until(lambda: it.statistics.throttlings >= 1)
        await it.equal()


async def test_the_next_watch_is_held_until_the_fault_is_over(config: ClientConfig) -> None:
    async with scene(config) as it:
        watches = it.statistics.watches
        fault = await it.inject("hold", seconds=60)
        await it.inject("cut")
        await until(lambda: it.statistics.cuts == 1)
        await it.write("a", "2")
        await asyncio.sleep(0.3)

        assert it.statistics.watches == watches

        await it.lift(fault)
        await it.equal()


async def test_the_pump_stands_still_and_catches_up(config: ClientConfig) -> None:
    async with scene(config) as it:
        before = it.cached()
        document = {"spec": {"type": "stop-pump", "seconds": 60}}
        fault = await it.client.request("POST", "/debug/faults", body=document)
        for number in range(3):
            await it.write("a", str(number + 2))
        await asyncio.sleep(0.3)

        assert it.cached() == before

        await it.lift(fault["metadata"]["name"])
        await it.equal()


async def test_after_a_compaction_who_comes_late_is_told_410_and_lists_anew(
    config: ClientConfig,
) -> None:
    async with scene(config) as it:
        lists = it.statistics.lists
        hold = await it.inject("hold", seconds=60)
        await it.inject("cut")
        await until(lambda: it.statistics.cuts == 1)
        for number in range(3):
            await it.write("a", str(number + 2))
        document = {"spec": {"type": "compact"}}
        done = await it.client.request("POST", "/debug/faults", body=document)

        assert done["status"]["phase"] == "Ended"
        assert done["status"]["message"].startswith("compacted up to revision ")

        await it.lift(hold)
        await until(lambda: it.statistics.expirations == 1)
        await it.equal()

        assert it.statistics.lists > lists


async def test_a_watch_that_keeps_up_outlives_a_compaction(config: ClientConfig) -> None:
    async with scene(config) as it:
        await it.equal()
        watches = it.statistics.watches
        document = {"spec": {"type": "compact"}}
        await it.client.request("POST", "/debug/faults", body=document)
        await it.write("a", "2")
        await it.equal()

        assert it.statistics.watches == watches


def test_the_official_client_follows_through_every_kind_of_end(faulty: Server) -> None:
    """Its watch has no list of its own, so whoever uses it resumes by hand, as here."""
    from kubernetes import client, watch

    configuration = client.Configuration(host=faulty.url)
    configuration.api_key = {"authorization": f"Bearer {faulty.token}"}
    # Any: that package has no types.
    api: Any = client.CoreV1Api(client.ApiClient(configuration))
    watches: Any = watch.Watch
    api.create_namespace({"metadata": {"name": "official"}})
    revision = api.list_namespaced_config_map("official").metadata.resource_version
    seen: list[str] = []

    def follow(count: int) -> None:
        nonlocal revision
        stream = watches().stream(
            api.list_namespaced_config_map, "official", resource_version=revision,
            timeout_seconds=20,
        )  # fmt: skip
        for event in stream:
            seen.append(event["object"].metadata.name)
            revision = event["object"].metadata.resource_version
            if len(seen) == count:
                return

    def inject(kind: str) -> None:
        spec = {"type": kind, "resource": "configmaps", "seconds": 20}
        faulty.json("POST", "/debug/faults", {"spec": spec})

    def write(name: str) -> None:
        api.create_namespaced_config_map("official", {"metadata": {"name": name}})

    write("a")
    follow(1)
    inject("cut-mid-line")
    write("b")
    with pytest.raises(Exception, match=r"IncompleteRead|prematurely|Connection broken"):
        follow(2)
    follow(2)
    inject("expired")
    write("c")
    with pytest.raises(client.ApiException, match="too old resource version"):
        follow(3)

    assert seen == ["a", "b"]

    follow(3)

    assert seen == ["a", "b", "c"]
