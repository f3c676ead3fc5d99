"""Whatever a server does, the cache ends equal to it, and handlers hear a legal sequence."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from listwatch.informer import (
    HandlerOptions,
    InformerOptions,
    ReflectorOptions,
    SharedIndexInformer,
)
from listwatch.informer.objects import Deleted, JSONObject, object_key, resource_version
from listwatch.testing.clock import FakeClock
from tests.informer.faulty_server import CUT, FaultyServer

NAMES = st.sampled_from("abcde")
STEP = st.one_of(
    st.tuples(st.just("write"), NAMES),
    st.tuples(st.just("write"), NAMES),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.3, 5.0, 80.0])),
    st.tuples(st.just("end"), st.none()),
    st.tuples(st.just("cut"), st.none()),
    st.tuples(st.just("expire"), st.none()),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("repeat"), st.none()),
    st.tuples(st.just("mark"), st.none()),
    st.tuples(st.just("restore"), st.integers(1, 5)),
    st.tuples(st.just("refuse"), st.sampled_from(["refused", "busy", "internal", "expired"])),
    st.tuples(st.just("join"), st.none()),
)
Queue = Literal["in_order", "delta"]


class Witness:
    """A handler that holds what it was told against what may be told."""

    def __init__(self, *, coalescing: bool = False) -> None:
        self.state: dict[str, JSONObject] = {}
        self.coalescing = coalescing

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> None:
        assert object_key(subject) not in self.state, "an add of what was there"
        self.state[object_key(subject)] = subject

    def on_update(self, old: JSONObject, new: JSONObject) -> None:
        key = object_key(new)
        assert self.state[key] is old, "an update from a state that was never told"
        assert resource_version(old) != resource_version(new), "an update that is none"
        self.state[key] = new

    def on_delete(self, gone: Deleted) -> None:
        # A coalescing handler may hear of the end of what began and ended while it was busy.
        del self.state[gone.key]


def act(server: FaultyServer, step: str, argument: Any) -> None:
    match step:
        case "write":
            server.write(argument)
        case "delete":
            server.delete(argument)
        case "end":
            server.cut()
        case "cut":
            server.cut(CUT)
        case "expire":
            server.expire_streams()
        case "compact":
            server.compact()
        case "repeat":
            server.repeat()
        case "mark":
            server.mark()
        case "restore":
            server.restore(argument)
        case "refuse":
            server.refusals.append(argument)


async def play(server: FaultyServer, queue: Queue, steps: list[tuple[str, Any]]) -> None:
    clock = FakeClock()
    informer = SharedIndexInformer(
        server,
        options=InformerOptions(name="things", queue=queue, reflector=ReflectorOptions()),
        clock=clock,
        random=Random(3),
    )
    witnesses = [Witness(), Witness(coalescing=True)]
    informer.add_indexers({"first": lambda o: [object_key(o)[:1]]})
    registrations = [
        informer.add_handler(witnesses[0]),
        informer.add_handler(witnesses[1], options=HandlerOptions(policy="coalesce")),
    ]
    async with informer:
        for step, argument in steps:
            if step == "wait":
                await clock.advance(argument)
            elif step == "join":
                witnesses.append(Witness())
                registrations.append(informer.add_handler(witnesses[-1]))
            else:
                act(server, step, argument)
        for _ in range(8):
            await clock.advance(40)
        # Once it is quiet everything must agree.
        truth = {object_key(o): o for o in server.objects.values()}
        assert {object_key(o): o for o in informer.indexer.list()} == truth
        for witness in witnesses:
            assert witness.state == truth
        for name in "abcde":
            found = {object_key(o) for o in informer.indexer.by_index("first", name)}
            assert found == {key for key in truth if key.startswith(name)}
        assert informer.has_synced
        for registration in registrations:
            assert registration.has_synced
            assert registration.statistics().errors == 0
        assert len(server.requests) < 60 + 8 * len(steps)  # never a hot loop


@pytest.mark.parametrize("queue", ["in_order", "delta"])
@given(st.lists(STEP, max_size=40), st.booleans(), st.sampled_from([0, 2]))
@settings(
    deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_cache_ends_equal_and_handlers_hear_a_legal_sequence(
    queue: Queue, steps: list[tuple[str, Any]], streaming: bool, page_limit: int
) -> None:
    server = FaultyServer(streaming=streaming, page_limit=page_limit)
    asyncio.run(play(server, queue, steps))


def test_a_server_that_went_back_below_what_was_known_is_followed_again() -> None:
    async def main() -> None:
        server, clock = FaultyServer(), FakeClock()
        for name in "abcde":
            server.write(name)
        informer = SharedIndexInformer(server, clock=clock, random=Random(3))
        async with informer:
            await clock.advance(2)
            server.version, server.objects, server.log = 101, {"a": server.objects["a"]}, []
            server.cut()  # its versions are below those that the informer asks from
            await clock.advance(10)

            assert informer.indexer.keys() == ["a"]
            assert informer.last_sync_resource_version == "101"

    asyncio.run(main())


def test_the_model_notices_an_informer_that_drops_an_event() -> None:
    class Forgetful(FaultyServer):
        def _happened(self, event: Any) -> None:
            self.log.append(event)  # no stream hears of it

    server = Forgetful()
    with pytest.raises(AssertionError):
        asyncio.run(play(server, "in_order", [("wait", 1.0), ("write", "a"), ("mark", None)]))
