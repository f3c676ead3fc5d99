"""Public reports on consoles and live views that no other file here holds: each fault, tried.

Others stand where their subject is: frequent connects, stuck readers and forced closes in
`test_watching`; the revision of one object in `test_calculator`; rounded revisions in
`test_channels` and `journeys/test_bounds`; a silent socket in `test_watcher_page`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dashboard import frames
from listwatch.protocol.errors import expired
from listwatch.protocol.events import EndReason
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


async def test_an_error_event_wipes_neither_the_events_nor_the_revision(
    browser: Browser, stage: Stage
) -> None:
    """kubernetes-sigs/headlamp#7340: an ERROR without a revision made the next watch begin anew."""
    await browser.say("attach", id="a", resource="v1/pods", **{"from": "now"})
    await browser.clock.advance(0.3)
    for _ in range(10):
        stage.write("web")
    await browser.clock.advance(0.3)
    (watcher,) = stage.caches.cacher(PODS).watchers()
    watcher.refuse(expired("too old resource version"), EndReason.HISTORY_LOST)
    await browser.clock.advance(0.3)
    answers = browser.got("a")
    kinds = [event["type"] for answer in answers for event in answer["events"]]

    assert answers[-1]["status"]["code"] == 410
    assert answers[-1]["revision"] == "10"
    assert (kinds[0], kinds[-1], len(kinds)) == ("ADDED", "ERROR", 11)


async def test_the_lag_of_this_process_behind_the_database_is_shown(stage: Stage) -> None:
    """kubernetes/kubernetes#59848: a cache that is behind answers with the past, unseen."""
    stage.write("web")
    statistics: Any = stage.statistics()

    assert frames.figures(statistics)["behind"] == "caches are at head"

    behind = frames.figures(replace(statistics, head=statistics.applied + 1_204))

    assert (behind["behind"], behind["behind_is"]) == ("1,204 behind head", "high")


async def test_a_burst_while_nobody_draws_leaves_nothing_queued(
    browser: Browser, stage: Stage
) -> None:
    """A live view that queues what its browser cannot draw grows until the tab is closed."""
    channels = ("flow", "watchers:", "ring:pods", "rings", "resource:pods")
    for channel in channels:
        await browser.say("subscribe", channel=channel)
    await stage.watch()
    await browser.clock.advance(2)
    browser.acknowledge = False
    before = len(browser.frames)
    for number in range(3_000):
        stage.write(f"web-{number % 50}")
        if number % 50 == 0:
            await browser.clock.advance(0.5)
    sent = len(browser.frames) - before
    drawn = len(browser.frames)
    await browser.acknowledged()
    await browser.clock.advance(2.5)
    rows = [
        part[name]
        for frame in browser.frames[drawn:]
        for part in frame["channels"].values()
        for name in ("rows", "slots")
        if name in part
    ]
    sizes = [len(each if isinstance(each, list) else each.get("rows", ())) for each in rows]

    assert sent == 2
    assert max(sizes) <= 100
    assert sum(sizes) <= 600
    assert browser.frames[-1]["applied"] == "3000"
