"""What the arithmetic of 410 says of a revision is what a watch from there gets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.events import EventType
from listwatch.protocol.selectors import EVERYTHING, Selector
from listwatch.watchcache import explaining
from listwatch.watchcache.options import CacheOptions
from tests.watchcache.kit import World, documents, everything, labelled, settle

SMALL = CacheOptions(ring_minimum=3, ring_maximum=8, history_window=4.0, log_batch=2)
SELECTORS = ("", "app=x", "app in (x, y)", "app!=x", "!app")
LABELS = st.sampled_from([None, {}, {"app": "x"}, {"app": "y"}, {"app": "x", "tier": "a"}])
WRITES = st.lists(
    st.tuples(st.sampled_from("abc"), LABELS, st.sampled_from(("blue", "red", "")), st.booleans()),
    max_size=30,
)


async def heard(world: World, revision: int, namespace: str, selector: Selector) -> Counter[str]:
    """The types of what a watch from there is sent before it waits; ERROR if it is refused."""
    watcher = await world.watch(revision=revision, namespace=namespace, selector=selector)
    if watcher.ended:
        return Counter(frame["type"] for frame in documents(await watcher.next_chunk()))
    return Counter(kind for kind, _, _ in await everything(watcher))


@settings(max_examples=120, deadline=None)
@given(
    writes=WRITES,
    selector=st.sampled_from(SELECTORS),
    namespace=st.sampled_from(("", "blue")),
    compacted=st.integers(0, 12),
    data=st.data(),
)
async def test_the_explanation_is_what_a_watch_gets(
    writes: list[tuple[str, dict[str, str] | None, str, bool]],
    selector: str,
    namespace: str,
    compacted: int,
    data: st.DataObject,
) -> None:
    world = World(SMALL)
    there: set[str] = set()
    for name, labels, space, slow in writes:
        if space == "":
            world.write_elsewhere()
            continue
        if labels is None and f"{space}/{name}" not in there:
            continue
        world.write(name, labels, space)
        (there.add if labels is not None else there.discard)(f"{space}/{name}")
        if slow:
            await world.clock.advance(3)
    world.log.compacted_to = min(compacted, world.log.current)
    revision = data.draw(st.integers(0, world.log.current + 2))
    wanted = labelled(selector)

    told = await world.pods.explain(revision, namespace=namespace, selector=wanted)
    got = await heard(world, revision, namespace, wanted)

    assert (told.source == "refused") is (got == {"ERROR": 1})
    if told.source != "refused":
        assert {kind.value: count for kind, count in told.by_type.items()} == got
        assert told.replayed == got.total()
        assert told.counted
    if told.source == "future":
        assert not got
        assert revision > world.progress.applied


async def test_a_refusal_is_told_in_the_words_of_the_error() -> None:
    world = World(SMALL)
    for _ in range(20):
        world.write("a", {})
    world.log.compacted_to = 5
    told = await world.pods.explain(2)
    watcher = await world.watch(revision=2)
    (frame,) = documents(await watcher.next_chunk())

    assert frame["object"]["message"] == told.message
    assert (told.oldest_in_log, told.oldest_in_ring) == (5, world.pods.floor)


async def test_what_was_before_a_change_of_the_definition_is_refused() -> None:
    """The log still holds it, but under another definition, as it is for a watch."""
    world = World(SMALL)
    for _ in range(4):
        world.write("a", {})
    world.pods.redefine(lambda version: version, anew=True)
    world.write("a", {})

    assert (await world.pods.explain(2)).source == "refused"
    assert await heard(world, 2, "", EVERYTHING) == {"ERROR": 1}
    assert (await world.pods.explain(4)).by_type == {EventType.MODIFIED: 1}


async def test_a_long_log_is_counted_to_a_bound_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explaining, "MOST_FROM_LOG", 6)
    world = World(SMALL)
    for _ in range(40):
        world.write("a", {})
    told = await world.pods.explain(1)

    assert not told.counted
    assert told.replayed == 6 + len(world.pods.ring)


async def test_asking_changes_nothing() -> None:
    world = World(SMALL)
    for _ in range(20):
        world.write("a", {})
    before = world.pods.statistics()
    for revision in range(25):
        await world.pods.explain(revision)
    await settle()

    assert world.pods.statistics() == before
