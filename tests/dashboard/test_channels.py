from __future__ import annotations

import asyncio
from typing import Any

from dashboard.machinery import watching
from tests.dashboard.browser import Browser
from tests.dashboard.stage import Stage


async def test_the_overview_counts_and_measures(browser: Browser, stage: Stage) -> None:
    await browser.say("subscribe", channel="overview")
    await browser.clock.advance(0.1)
    first = browser.got("overview")[0]

    assert first["table"]["all"] is True
    assert {row["id"]: row["quiet"] for row in first["table"]["rows"]}["pods"] == "true"

    await stage.watch()
    for number in range(10):
        stage.write(f"web-{number}")
    await browser.clock.advance(1.1)
    later = browser.got("overview")[-1]
    (pods,) = (row for row in later["table"]["rows"] if row["id"] == "pods")

    assert pods["objects"] == 10
    assert pods["watchers"] == 1
    assert pods["revision"] == "10"
    assert pods["rate"] == 10.0
    assert pods["ring_size"] == 10
    assert later["figures"]["rate"] == 10.0
    assert later["table"]["order"][0] == "pods"  # what is in use stands first
    assert "all" not in later["table"]


async def test_a_rate_falls_back_to_nothing_when_nothing_happens(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="overview")
    await browser.clock.advance(0.1)
    stage.write("web")
    await browser.clock.advance(2.5)
    sent = len(browser.got("overview"))

    assert browser.got("overview")[-1]["figures"]["rate"] == 0

    await browser.clock.advance(10)

    assert len(browser.got("overview")) == sent


async def test_revisions_are_text_however_large(browser: Browser, stage: Stage) -> None:
    stage.caches.advance(18014398509481983)
    stage.write("web")
    stage.write("web")
    await browser.say("subscribe", channel="resource:pods")
    await browser.say("subscribe", channel="flow")
    stage.write("web")
    await browser.clock.advance(0.2)
    slots = browser.got("resource:pods")[0]["slots"]["rows"]

    assert browser.frames[-1]["applied"] == "18014398509481986"
    assert [row["revision"] for row in slots][:2] == ["18014398509481986", "18014398509481985"]
    assert browser.got("resource:pods")[0]["ring"]["newest"] == "18014398509481986"
    assert browser.got("flow")[-1]["rows"][0]["revision"] == "18014398509481986"


async def test_a_resource_shows_every_slot_type_key_and_size(
    browser: Browser, stage: Stage
) -> None:
    stage.write("web")
    stage.write("web", labels={"a": "b"})
    stage.write("web", deleted=True)
    await browser.say("subscribe", channel="resource:pods")
    await browser.clock.advance(0.2)
    data = browser.got("resource:pods")[0]
    rows = data["slots"]["rows"]

    assert [(row["revision"], row["type"], row["key"]) for row in rows] == [
        ("3", "DELETED", "default/web"),
        ("2", "MODIFIED", "default/web"),
        ("1", "ADDED", "default/web"),
    ]
    assert all(row["bytes"] > 50 and row["at"] == stage.clock.now() - 0.2 for row in rows)
    assert data["ring"]["buckets"] == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert (data["ring"]["oldest"], data["ring"]["newest"]) == ("1", "3")


async def test_each_watcher_stands_where_it_was_delivered_to(
    browser: Browser, stage: Stage
) -> None:
    stage.write("one")
    quick = await stage.watch(agent="quick/1 (x)")
    await stage.watch(agent="lazy/1")
    stage.write("two")
    await browser.clock.advance(0.1)
    await asyncio.wait_for(quick.next_chunk(), 5)
    await browser.clock.advance(3)
    await browser.say("subscribe", channel="resource:pods")
    await browser.clock.advance(0.2)
    data = browser.got("resource:pods")[0]
    rows = {row["client"]: row for row in data["watching"]["rows"]}

    assert [(mark["at"], mark["count"]) for mark in data["ring"]["marks"]] == [(1, 1), (2, 1)]
    assert (rows["quick/1"]["delivered"], rows["quick/1"]["lag"]) == ("2", "none")
    assert (rows["lazy/1"]["delivered"], rows["lazy/1"]["lag"]) == ("1", "high")
    assert rows["lazy/1"]["lag_events"] == 1
    assert rows["lazy/1"]["lag_ms"] >= 3000


async def test_an_ended_watcher_moves_to_the_ended_with_its_reason(
    browser: Browser, stage: Stage
) -> None:
    from listwatch.protocol.events import EndReason

    watcher = await stage.watch(namespace="shop", labels="app=web")
    await browser.say("subscribe", channel="watchers")
    await browser.clock.advance(0.2)
    watcher.close(EndReason.TOO_SLOW)
    await browser.clock.advance(1.1)
    data = browser.got("watchers")[-1]
    (row,) = data["ended"]["rows"]

    assert data["watching"]["gone"] == [str(watcher.id)]
    assert data["counts"]["watching"] == 0
    assert (row["end_reason"], row["end_kind"]) == ("too slow", "bad")
    assert row["selector"] == "-n shop -l app=web"


async def test_of_very_many_watchers_those_furthest_behind_are_sent(
    browser: Browser, stage: Stage, monkeypatch: Any
) -> None:
    monkeypatch.setattr(watching, "WATCHERS", 5)
    quick = [await stage.watch(agent=f"quick/{n}") for n in range(10)]
    lazy = await stage.watch(agent="lazy/1")
    stage.write("web")
    await browser.clock.advance(0.1)
    for watcher in quick:
        await asyncio.wait_for(watcher.next_chunk(), 5)
    await browser.say("subscribe", channel="watchers")
    await browser.clock.advance(0.2)
    data = browser.got("watchers")[0]

    assert len(data["watching"]["rows"]) == 5
    assert str(lazy.id) in data["watching"]["order"]
    assert data["counts"] == {"watching": 11, "not_shown": ", the 5 furthest behind shown"}


async def test_the_flow_tells_stage_times_in_milliseconds(browser: Browser, stage: Stage) -> None:
    watcher = await stage.watch(agent="kubectl/v1.37.1 (linux)")
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(0.2)
    stage.write("web", took=0.004)
    await browser.clock.advance(0.01)
    await asyncio.wait_for(watcher.next_chunk(), 5)
    await browser.clock.advance(0.3)
    row = browser.got("flow")[-1]["rows"][-1]

    assert row["storage_to_cache"] == 4.0
    assert row["cache_to_watcher"] == 10.0
    assert row["total"] == 14.0
    assert (row["reached"], row["names"]) == (1, "kubectl/v1.37.1")
    assert row["takers"] == ("first kubectl/v1.37.1 after 10 ms, last kubectl/v1.37.1 after 10 ms")


async def test_a_paused_flow_counts_and_a_resumed_one_shows_the_newest(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(0.2)
    await browser.say("pause", id="flow")
    for number in range(30):
        stage.write(f"web-{number}")
        await browser.clock.advance(0.05)
    await browser.clock.advance(0.2)

    assert all(not part.get("rows") for part in browser.got("flow"))
    assert browser.got("flow")[-1]["waiting"] == 30

    await browser.say("resume", id="flow")
    await browser.clock.advance(0.2)

    assert [row["key"] for row in browser.got("flow")[-1]["rows"]][-1] == "default/web-29"
    assert browser.got("flow")[-1]["waiting"] == 0


async def test_a_page_that_comes_back_paused_stays_paused(browser: Browser, stage: Stage) -> None:
    await browser.say("subscribe", channel="flow", paused=True)
    stage.write("web")
    await browser.clock.advance(0.3)

    assert browser.got("flow")[-1]["waiting"] == 1
    assert "rows" not in browser.got("flow")[-1]


async def test_an_unknown_resource_is_refused(browser: Browser) -> None:
    await browser.say("subscribe", channel="resource:widgets.example.com")
    await browser.clock.advance(0.2)

    assert browser.got("resource:widgets.example.com")[0]["status"]["code"] == 400
