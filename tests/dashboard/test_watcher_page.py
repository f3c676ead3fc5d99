"""The page of one watch: its truth table, its bookmarks, its end, what a reconnect would meet."""

from __future__ import annotations

import asyncio
from typing import Any

from dashboard.machinery import watcher_page
from listwatch.protocol.events import EndReason
from listwatch.watchcache.watcher import CacheWatcher
from tests.dashboard.browser import Browser
from tests.dashboard.stage import Stage


async def page_of(stage: Stage, watcher: CacheWatcher, **options: Any) -> dict[str, Any]:
    found = watcher_page.find(stage, watcher.id)  # type: ignore[arg-type]  # a stage
    assert found is not None
    return await watcher_page.watcher(*found, **options)


async def story(stage: Stage) -> CacheWatcher:
    """A pod that comes into a selector, changes in it, leaves it, and goes."""
    watcher = await stage.watch(agent="web-controller/1", labels="app=web")
    stage.write("a", labels={"app": "db"})
    stage.write("a", labels={"app": "web"})
    stage.write("a", labels={"app": "web", "n": "2"})
    stage.write("a", labels={"app": "db"})
    stage.write("a", deleted=True, labels={"app": "db"})
    return watcher


async def test_the_truth_table_counts_each_field(stage: Stage) -> None:
    data = await page_of(stage, await story(stage))

    assert data["table"] == {"nothing": 2, "ADDED": 1, "MODIFIED": 1, "DELETED": 1, "judged": 5}


async def test_each_row_says_what_was_heard_and_because_of_what(stage: Stage) -> None:
    watcher = await story(stage)
    await asyncio.wait_for(watcher.next_chunk(), 5)
    rows = (await page_of(stage, watcher))["rows"]

    assert [(r["write"], r["before"], r["after"], r["hears"], r["because"]) for r in rows] == [
        ("DELETED", "no", "no", "nothing", "app: db \u2192 none"),
        ("MODIFIED", "yes", "no", "DELETED", "app: web \u2192 db"),
        ("MODIFIED", "yes", "yes", "MODIFIED", ""),
        ("MODIFIED", "no", "yes", "ADDED", "app: db \u2192 web"),
        ("ADDED", "no", "no", "nothing", "app: none \u2192 db"),
    ]
    assert [r["stands_says"] for r in rows] == ["", "delivered", "delivered", "delivered", ""]


async def test_what_it_heard_nothing_of_can_be_left_out(stage: Stage) -> None:
    rows = (await page_of(stage, await story(stage), heard_only=True))["rows"]

    assert [row["hears"] for row in rows] == ["DELETED", "MODIFIED", "ADDED"]


async def test_what_waits_is_told_apart_from_what_was_delivered(stage: Stage) -> None:
    watcher = await story(stage)
    rows = (await page_of(stage, watcher, heard_only=True))["rows"]

    assert {row["stands_says"] for row in rows} == {"waits"}


async def test_the_next_bookmark_is_told_with_its_reason_and_its_gain(stage: Stage) -> None:
    watcher = await stage.watch(labels="app=none", bookmarks=True, timeout=3600.0)
    stage.write("a")
    stage.write("a")
    due = (await page_of(stage, watcher))["bookmark"]
    plain = (await page_of(stage, await stage.watch()))["bookmark"]

    assert due["due"] == "in"
    assert round(due["due_at"] - stage.clock.now()) == 60
    assert "One each period" in due["why"]
    assert "It ends in 60m at its deadline." in due["why"]
    assert "past 2 revisions not meant for it" in due["gains"]
    assert plain["due"] == "none"
    assert "did not ask" in plain["why"]


async def test_an_ended_watch_is_still_explained(stage: Stage) -> None:
    watcher = await story(stage)
    await asyncio.wait_for(watcher.next_chunk(), 5)
    watcher.close(EndReason.TOO_SLOW)
    stage.write("b", labels={"app": "web"})
    data = await page_of(stage, watcher)

    assert (data["end"]["reason"], data["end"]["is"]) == ("too slow", "bad")
    assert data["watcher"]["state"] == "ended"
    assert data["bookmark"]["due"] == "none"
    assert data["rows"][0]["stands_says"] == "after its end"
    assert data["reconnect"]["source"] == "ring"
    assert data["reconnect"]["events"] == "1 event to catch up on."


async def test_ended_watches_are_remembered_up_to_a_bound(stage: Stage) -> None:
    first = await stage.watch()
    first.close(EndReason.CLIENT_LEFT)
    for _ in range(200):
        (await stage.watch()).close(EndReason.CLIENT_LEFT)

    assert watcher_page.find(stage, first.id) is None  # type: ignore[arg-type]  # a stage
    assert watcher_page.find(stage, first.id + 1) is not None  # type: ignore[arg-type]


async def test_a_reconnect_below_everything_would_be_refused() -> None:
    stage = Stage(ring_minimum=3, ring_maximum=3)
    watcher = await stage.watch(labels="app=none")
    stage.write("a")
    watcher.close(EndReason.CLIENT_LEFT)
    for _ in range(9):
        stage.write("a")
    reconnect = (await page_of(stage, watcher))["reconnect"]

    assert reconnect["source"] == "refused"
    assert "410 Expired" in reconnect["says"]
    assert reconnect["left_is"] == "lost"


async def test_a_live_page_gets_each_event_once_and_learns_of_the_end(
    stage: Stage, browser: Browser
) -> None:
    watcher = await story(stage)
    channel = f"watcher:{watcher.id}"
    await browser.say("subscribe", channel=channel)
    await browser.clock.advance(0.2)
    first = browser.got(channel)[0]

    assert first["table"] == {"nothing": 2, "ADDED": 1, "MODIFIED": 1, "DELETED": 1, "judged": 5}
    assert [row["id"] for row in first["rows"]] == ["1", "2", "3", "4", "5"]

    await asyncio.wait_for(watcher.next_chunk(), 5)
    stage.write("b", labels={"app": "web"})
    await browser.clock.advance(1.1)
    second = browser.got(channel)[-1]
    delivered = [row for row in second["rows"] if "type" not in row]
    (fresh,) = (row for row in second["rows"] if "type" in row)

    assert {row["stands_says"] for row in delivered} == {"delivered"}
    assert [row["id"] for row in delivered] == ["2", "3", "4"]
    assert (fresh["id"], fresh["hears"]) == ("6", "ADDED")
    assert second["table"]["judged"] == 6

    watcher.close(EndReason.CLIENT_LEFT)
    await browser.clock.advance(1.1)

    assert browser.got(channel)[-1]["end"]["reason"] == "client left"


async def test_a_burst_is_judged_up_to_a_bound(stage: Stage, browser: Browser) -> None:
    watcher = await stage.watch(labels="app=web")
    channel = f"watcher:{watcher.id}"
    await browser.say("subscribe", channel=channel)
    await browser.clock.advance(0.2)
    for number in range(1_000):
        stage.write(f"web-{number % 7}", labels={"app": "web"})
    await browser.clock.advance(1.1)
    data = browser.got(channel)[-1]

    assert len(data["rows"]) <= watcher_page.ROWS
    assert data["rows"][-1]["id"] == "1000"


async def test_a_watcher_that_nobody_knows_is_refused(browser: Browser) -> None:
    await browser.say("subscribe", channel="watcher:99999999")
    await browser.say("subscribe", channel="watcher:x")
    await browser.clock.advance(0.2)

    assert browser.got("watcher:99999999")[0]["status"]["code"] == 400
    assert browser.got("watcher:x")[0]["status"]["code"] == 400


async def test_a_client_that_has_gone_silent_is_seen_by_when_its_socket_last_took_all(
    stage: Stage,
) -> None:
    """As kubernetes-client/javascript#596: the stream stands still, and nobody is told."""
    watcher = await stage.watch()
    stage.write("a")
    await asyncio.wait_for(watcher.next_chunk(), 5)
    reading = asyncio.create_task(watcher.next_chunk())
    await asyncio.sleep(0)
    took = stage.clock.now()
    stage.write("b")
    await asyncio.wait_for(reading, 5)
    await stage.clock.advance(20)  # type: ignore[attr-defined]  # a FakeClock
    silent = (await page_of(stage, watcher))["watcher"]

    assert silent["accepted_at"] == took
    assert silent["sending"] == "a chunk is on its way"
