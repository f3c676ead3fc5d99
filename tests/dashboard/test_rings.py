"""The ring map: ticks and resume points by time left, zones, growth, and all rings in one look."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from dashboard.machinery import ring_page
from dashboard.machinery.horizon import Horizon
from dashboard.machinery.ring_frames import MARKS, resume_points
from dashboard.machinery.watching import watches
from dashboard.ring_map import RingMap
from listwatch.protocol.events import EndReason
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


def busy(**options: Any) -> Stage:
    """A full ring that grows no more: an event leaves as one comes."""
    return Stage(ring_minimum=100, ring_maximum=100, **options)


async def write(stage: Stage, count: int, rate: float) -> None:
    for number in range(count):
        stage.write(f"web-{number % 9}")
        await stage.clock.advance(1 / rate)  # type: ignore[attr-defined]  # a FakeClock


async def map_of(stage: Stage) -> dict[str, Any]:
    cacher = stage.caches.cacher(PODS)
    return await ring_page.ring_map(stage, cacher)  # type: ignore[arg-type]  # a stage


async def test_who_stands_furthest_back_comes_first_with_the_time_that_is_left() -> None:
    stage = busy()
    await write(stage, 60, 5)
    await stage.watch(agent="idle/1", labels="app=none")
    await write(stage, 60, 5)
    lost = await stage.watch(agent="lost/1", labels="app=none", revision=25)
    await stage.watch(agent="fresh/1", labels="app=none")
    await write(stage, 10, 5)
    rows = (await map_of(stage))["places"]

    assert [(row["client"], row["left_is"]) for row in rows] == [
        ("lost/1", "lost"), ("idle/1", "near"), ("fresh/1", "soon"),
    ]  # fmt: skip
    assert rows[1]["left"] == pytest.approx(31 / 5, rel=0.05)
    assert rows[2]["left"] == pytest.approx(91 / 5, rel=0.05)
    assert rows[1]["left_says"] == "overwritten in 6s"
    assert rows[0]["delivered"] == "25"
    assert not lost.ended


async def test_what_is_foretold_comes_to_pass_for_a_client_that_is_gone() -> None:
    """Would a restart of X relist? Not within the time that is left, but after it."""
    stage = busy()
    await write(stage, 100, 5)
    watcher = await stage.watch(agent="x/1", labels="app=none")
    watcher.close(EndReason.CLIENT_LEFT)
    (place,) = (await map_of(stage))["places"]
    assert place["stands"] == "resume"
    await write(stage, int(place["left"] * 5 * 0.95), 5)
    before = await stage.caches.cacher(PODS).explain(watcher.revision)
    await write(stage, 10, 5)

    assert before.source == "ring"
    assert (await stage.caches.cacher(PODS).explain(watcher.revision)).source == "refused"


async def test_a_resume_point_goes_when_its_client_has_come_back(stage: Stage) -> None:
    stage.write("a")
    for _ in range(3):
        (await stage.watch(agent="x/1")).close(EndReason.CLIENT_LEFT)
    (await stage.watch(agent="y/1")).close(EndReason.CLIENT_LEFT)
    watching = await watches([stage.caches.cacher(PODS)])

    assert sorted(each.agent for each in resume_points(watching)) == ["x/1", "y/1"]

    await stage.clock.advance(1)  # type: ignore[attr-defined]  # a FakeClock
    await stage.watch(agent="x/1")
    watching = await watches([stage.caches.cacher(PODS)])

    assert [each.agent for each in resume_points(watching)] == ["y/1"]


async def test_zones_cover_the_strip_in_order() -> None:
    stage = busy()
    await write(stage, 130, 1.4)
    zones = (await map_of(stage))["ring"]["zones"]

    assert [zone["is"] for zone in zones] == ["near", "soon", "fine"]
    assert [zone["from"] for zone in zones] == [0, zones[0]["size"], 100 - zones[2]["size"]]
    assert sum(zone["size"] for zone in zones) == 100
    assert zones[0]["size"] == 13  # what goes in the next ten seconds, and what is at the limit


async def test_nothing_is_foretold_while_nothing_happens(stage: Stage) -> None:
    await write(stage, 5, 50)
    await stage.clock.advance(20)  # type: ignore[attr-defined]  # a FakeClock
    await stage.watch()
    data = await map_of(stage)

    assert data["figures"]["first_left"] == "never"
    assert [zone["is"] for zone in data["ring"]["zones"]] == ["still"]
    assert data["places"][0]["left_says"] == "not overwritten at this rate"


async def test_growth_is_told_with_its_steps() -> None:
    stage = Stage(ring_minimum=10)
    await write(stage, 45, 10)
    growth = (await map_of(stage))["growth"]

    assert [(row["before"], row["after"], row["does"]) for row in growth["rows"]] == [
        (40, 80, "grew"), (20, 40, "grew"), (10, 20, "grew"),
    ]  # fmt: skip
    assert (growth["resizes"], growth["most"]) == (3, 80)
    assert growth["path"].count("V") == 3


async def test_ticks_that_share_a_place_show_the_worst_of_it() -> None:
    stage = busy()
    await write(stage, 120, 20)
    for number in range(300):
        await stage.watch(agent=f"w/{number}", labels="app=none", revision=20 + number % 101)
    data = await map_of(stage)
    watchers = [mark for mark in data["ring"]["marks"] if mark["of"] == "watcher"]

    assert len(watchers) <= MARKS + 1
    assert sum(mark["count"] for mark in watchers) == 300
    assert {mark["is"] for mark in watchers} == {"near"}


async def test_places_further_on_never_last_less_long() -> None:
    stage = Stage(ring_minimum=10, ring_maximum=200, history_window=5.0)
    await write(stage, 60, 30)
    await write(stage, 30, 2)
    cacher, outline = stage.caches.cacher(PODS), RingMap()
    ring = cacher.statistics().ring
    outline.read(ring, cacher.ring_outline)
    horizon = Horizon(cacher, ring, outline)
    left = [horizon.at(ahead).seconds for ahead in range(ring.events + 1)]

    assert all(a is not None and b is not None and a <= b for a, b in pairwise(left))


async def test_refusals_and_ends_are_counted() -> None:
    stage = busy()
    await write(stage, 150, 50)
    await stage.watch(revision=3)
    (await stage.watch()).close(EndReason.TOO_SLOW)
    (await stage.watch()).close(EndReason.CLIENT_LEFT)
    data = await map_of(stage)

    assert (data["figures"]["too_old"], data["figures"]["too_old_is"]) == (1, "high")
    assert [(each["reason"], each["count"], each["is"]) for each in data["ends"]] == [
        ("history lost", 1, "bad"), ("too slow", 1, "bad"), ("client left", 1, "calm"),
    ]  # fmt: skip


async def test_all_rings_show_those_in_use_with_who_is_furthest_back(
    stage: Stage, browser: Browser
) -> None:
    stage.write("web", resource="deployments.apps")
    stage.write("a")
    await stage.watch(agent="x/1")
    await browser.say("subscribe", channel="rings")
    await browser.clock.advance(0.2)
    rows = browser.got("rings")[0]["rings"]["rows"]

    assert [(row["id"], row["nearest"]) for row in rows] == [
        ("pods", "x/1"), ("deployments.apps", ""),
    ]  # fmt: skip
    assert rows[0]["ring"]["buckets"] == [[1, 0, 0, 0]]


async def test_a_live_map_is_sent_what_changed(stage: Stage, browser: Browser) -> None:
    stage.write("a")
    await browser.say("subscribe", channel="ring:pods")
    await browser.say("subscribe", channel="ring:widgets")
    await browser.clock.advance(0.2)
    first = browser.got("ring:pods")[0]
    stage.write("b")
    await browser.clock.advance(1.1)
    second = browser.got("ring:pods")[-1]

    assert {"figures", "ring", "growth", "places"} <= set(first)
    assert second["ring"]["newest"] == "2"
    assert "ends" not in second
    assert browser.got("ring:widgets")[0]["status"]["code"] == 400
