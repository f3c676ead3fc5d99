"""One write, and what each selector makes of it; a watch's own row of the truth table."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.events import EndReason, EventType
from listwatch.watchcache.options import CacheOptions
from tests.watchcache.kit import OPTIONS, World, everything, fielded, labelled

LABELS = st.sampled_from([None, {}, {"app": "x"}, {"app": "y"}, {"app": "x", "tier": "a"}])


@settings(max_examples=100, deadline=None)
@given(
    writes=st.lists(st.tuples(st.sampled_from("ab"), LABELS), min_size=1, max_size=12),
    selector=st.sampled_from(("", "app=x", "app!=x", "!app", "app in (x,y),tier")),
)
async def test_a_row_of_the_truth_table_is_what_the_watch_was_sent(
    writes: list[tuple[str, dict[str, str] | None]], selector: str
) -> None:
    world = World()
    watcher = await world.watch(selector=labelled(selector), namespace="blue", revision=0)
    there: set[str] = set()
    for name, labels in writes:
        if labels is None and name not in there:
            continue
        world.write(name, labels)
        (there.add if labels is not None else there.discard)(name)
    sent = await everything(watcher)
    rows = world.pods.transitions(watcher.statistics())

    assert [
        (row.judgement.hears.value, row.slot.name, row.slot.revision)
        for row in rows
        if row.judgement.hears is not None
    ] == sent
    for row in rows:
        judged = row.judgement
        assert judged.before == (judged.hears in (EventType.MODIFIED, EventType.DELETED))
        assert judged.after == (judged.hears in (EventType.MODIFIED, EventType.ADDED))
        if row.slot.type.value == "MODIFIED":
            assert judged.before == all(term.held for term in judged.terms)
            assert judged.after == all(term.holds for term in judged.terms)


async def test_the_values_that_decided_are_named() -> None:
    world = World()
    watcher = await world.watch(selector=labelled("app=web,!old"))
    nodes = await world.watch(selector=fielded("spec.nodeName="))
    world.write("a", {"app": "web"})
    world.write("a", {"app": "db"}, node="n1")
    created, moved = (row.judgement for row in world.pods.transitions(watcher.statistics()))
    (field,) = world.pods.transitions(nodes.statistics())[1].judgement.terms
    app, old = moved.terms

    assert (created.before, created.after, created.hears) == (False, True, EventType.ADDED)
    assert (moved.before, moved.after, moved.hears) == (True, False, EventType.DELETED)
    assert (app.text, app.before, app.after, app.held, app.holds) == (
        "app=web", "web", "db", True, False,
    )  # fmt: skip
    assert (old.text, old.held, old.holds) == ("!old", True, True)
    assert (field.key, field.kind, field.before, field.after) == (
        "spec.nodeName", "field", "", "n1",
    )  # fmt: skip


async def test_each_row_says_where_it_stands_in_the_time_of_the_watch() -> None:
    world = World()
    world.write("a", {})
    watcher = await world.watch()
    world.write("b", {})
    await everything(watcher)
    world.write("c", {})
    stands = [row.stands for row in world.pods.transitions(watcher.statistics())]
    watcher.close(EndReason.CLIENT_LEFT)
    (ended,) = world.pods.ended()

    assert stands == ["before", "delivered", "waiting"]
    assert [row.stands for row in world.pods.transitions(ended)][-1] == "after"


async def test_what_is_out_of_scope_is_heard_by_nobody_there() -> None:
    world = World()
    named = await world.watch(selector=fielded("metadata.name=a"), namespace="blue")
    world.write("a", {}, "red")
    world.write("b", {}, "blue")
    world.write("a", {}, "blue")
    judged = [row.judgement for row in world.pods.transitions(named.statistics())]

    assert [each.in_scope for each in judged] == [False, False, True]
    assert [each.hears for each in judged] == [None, None, EventType.ADDED]


async def test_lanes_say_who_was_asked_and_who_was_spared() -> None:
    world = World()
    lanes = [
        await world.watch(selector=labelled(text), namespace=namespace)
        for text, namespace in (("app=x", ""), ("app=y", ""), ("app=z", ""), ("", "red"))
    ]
    world.write("a", {"app": "x"})
    world.write("a", {"app": "y"})
    told = {
        lane.id: next(j for j in world.pods.judgements(2) if j.lane.id == lane.lane.id)
        for lane in lanes
        if lane.lane is not None
    }
    x, y, z, red = (told[lane.id] for lane in lanes)

    assert [each.asked for each in (x, y, z, red)] == [True, True, False, False]
    assert [each.judgement.hears for each in (x, y, z, red)] == [
        EventType.DELETED, EventType.ADDED, None, None,
    ]  # fmt: skip
    assert red.judgement.in_scope is False
    assert world.pods.judgements(99) == []


async def test_a_watch_says_when_and_why_its_next_bookmark_is_due() -> None:
    options = CacheOptions(flush_interval=0, bookmark_period=60, slow_reader_timeout=600)
    world = World(options)
    watcher = await world.watch(bookmarks=True, timeout=100)
    now = world.clock.now()
    first = watcher.statistics()
    world.write_elsewhere()
    lagging = watcher.statistics()
    await world.clock.advance(60.1)
    waiting = watcher.statistics()
    (bookmark,) = await everything(watcher)
    second = watcher.statistics()

    assert first.bookmark_at is not None
    assert first.deadline_at is not None
    assert round(first.bookmark_at - now, 3) == 60
    assert (first.bookmark_why, first.bookmark_waits) == ("period", False)
    assert round(first.deadline_at - now, 3) == 100
    assert (lagging.lag_revisions, lagging.lag_events) == (1, 0)
    assert waiting.bookmark_waits
    assert bookmark[0] == "BOOKMARK"
    assert second.bookmark_at is not None
    assert round(second.bookmark_at - now, 1) == 98
    assert (second.bookmark_why, second.lag_revisions) == ("closing", 0)
    plain = (await world.watch()).statistics()
    assert (plain.bookmark_at, plain.bookmark_why, plain.deadline_at) == (None, "", None)


async def test_a_watch_says_when_its_socket_last_took_everything() -> None:
    world = World(OPTIONS)
    watcher = await world.watch()
    world.write("a", {})
    assert watcher.statistics().accepted_at is None
    await watcher.next_chunk()
    held = watcher.statistics().accepted_at
    await world.clock.advance(5)
    assert held is None

    await everything(watcher)

    assert watcher.statistics().accepted_at == world.clock.now()
