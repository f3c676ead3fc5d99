"""One event's way: recorded or not, what each selector made of it, and what the index spared."""

from __future__ import annotations

import asyncio
from typing import Any

from dashboard.agents import short_agent
from dashboard.machinery import event_page
from dashboard.machinery.event_page import LANES
from dashboard.machinery.recording import recorder_of
from listwatch.protocol.events import EndReason
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


def page_of(stage: Stage, revision: int) -> dict[str, Any]:
    found = event_page.find(stage, revision)  # type: ignore[arg-type]  # a stage
    assert found is not None
    return event_page.event(stage, found)  # type: ignore[arg-type]


def columns(data: dict[str, Any]) -> dict[str, list[str]]:
    return {
        column["type"]: [row["selector"] for row in column["rows"]]
        for column in data["transitions"]
    }


async def cast(stage: Stage) -> None:
    for labels in ("app=web", "app=db", "app in (web,db)", "app=none", ""):
        await stage.watch(agent=f"{labels or 'all'}/1", labels=labels)
    await stage.watch(agent="shop/1", namespace="shop")


async def test_the_same_write_is_added_here_deleted_there_and_nothing_elsewhere(
    stage: Stage,
) -> None:
    stage.write("a", labels={"app": "web"})
    await cast(stage)
    data = page_of(stage, stage.write("a", labels={"app": "db"}))

    assert columns(data) == {
        "ADDED": ["-l app=db"],
        "MODIFIED": ["-l app in (db,web)", "everything"],
        "DELETED": ["-l app=web"],
        "nothing": ["-l app=none", "-n shop"],
    }
    (gone,) = (c["rows"][0] for c in data["transitions"] if c["type"] == "DELETED")
    assert (gone["before"], gone["after"], gone["because"]) == (True, False, "app: web \u2192 db")


async def test_the_columns_are_what_the_watches_were_sent(stage: Stage) -> None:
    stage.write("a", labels={"app": "web"})
    await cast(stage)
    revision = stage.write("a", labels={"app": "db"})
    data = page_of(stage, revision)
    heard = {stop["client"]: stop["hears"] for stop in data["stops"]}
    for watcher in stage.caches.cacher(PODS).watchers():
        client = short_agent(watcher.request.client.agent)
        if client not in heard:
            continue
        chunk = await asyncio.wait_for(watcher.next_chunk(), 5)
        assert chunk is not None
        assert f'"type":"{heard[client]}"'.encode() in chunk

    assert set(heard) == {"app=web/1", "app=db/1", "app", "all/1"}


async def test_what_was_recorded_has_a_time_for_each_station(
    stage: Stage, browser: Browser
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(0.1)
    watcher = await stage.watch(agent="near/1")
    far = await stage.watch(agent="far/1")
    revision = stage.write("a", took=0.004)
    await browser.clock.advance(0.01)
    await asyncio.wait_for(watcher.next_chunk(), 5)
    await browser.clock.advance(0.02)
    await asyncio.wait_for(far.next_chunk(), 5)
    recorder_of(stage).applied(far.id, revision, "far/1")  # type: ignore[arg-type]  # a stage
    data = page_of(stage, revision)

    assert data["recorded"]
    assert [(each["name"], each["took"]) for each in data["stations"]] == [
        ("commit", None), ("cache", 4.0), ("lanes", 0.0), ("first watcher", 10.0),
        ("last watcher", 20.0), ("informers", 0.0),
    ]  # fmt: skip
    assert "handed over by the signal" in data["stations"][1]["says"]
    assert [(stop["client"], stop["took"], stop["state"]) for stop in data["stops"]] == [
        ("far/1", 30.0, "taken"), ("near/1", 10.0, "taken"),
    ]  # fmt: skip
    assert [(each["client"], each["took"]) for each in data["informers"]] == [("far/1", 30.0)]


async def test_what_nobody_recorded_still_says_who_has_it(stage: Stage) -> None:
    quick, _ = await stage.watch(agent="quick/1"), await stage.watch(agent="slow/1")
    revision = stage.write("a")
    await asyncio.wait_for(quick.next_chunk(), 5)
    data = page_of(stage, revision)

    assert not data["recorded"]
    assert [each["name"] for each in data["stations"]] == ["commit", "cache"]
    assert [(stop["client"], stop["state"]) for stop in data["stops"]] == [
        ("slow/1", "waits"), ("quick/1", "taken"),
    ]  # fmt: skip


async def test_fan_out_tells_what_the_index_spared_when_the_event_came(
    stage: Stage, browser: Browser
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(0.1)
    for number in range(20):
        await stage.watch(labels=f"app=a{number}")
    several = [await stage.watch(labels="app=a3") for _ in range(4)]
    recorded = stage.write("a", labels={"app": "a3"})
    told = page_of(stage, recorded)["fan_out"]
    for watcher in several:
        watcher.close(EndReason.CLIENT_LEFT)
    await stage.watch(labels="app=later")
    after = page_of(stage, recorded)["fan_out"]

    assert (told["when"], told["lanes"], told["asked"], told["spared"]) == ("then", 20, 1, 19)
    assert (told["stand"], told["offered"], told["watchers"]) == (1, 5, 24)
    assert (after["lanes"], after["asked"], after["offered"]) == (20, 1, 5)


async def test_many_lanes_are_listed_up_to_a_bound_those_asked_first(stage: Stage) -> None:
    for number in range(LANES + 10):
        await stage.watch(labels=f"app=a{number}")
    await stage.watch(labels="!app")
    data = page_of(stage, stage.write("a", labels={"app": "z"}))
    (nothing,) = (each for each in data["transitions"] if each["type"] == "nothing")

    assert (len(nothing["rows"]), nothing["more"]) == (LANES, 11)
    assert nothing["rows"][0]["selector"] == "-l !app"
    assert [row["asked"] for row in nothing["rows"][:2]] == [True, False]


async def test_an_event_leads_to_its_neighbours_in_the_ring(stage: Stage) -> None:
    first = stage.write("a")
    stage.write("web", resource="deployments.apps")
    second = stage.write("b")

    assert page_of(stage, first)["neighbours"] == {
        "older": "", "newer": f"/dashboard/events/{second}/",
    }  # fmt: skip
    assert page_of(stage, second)["neighbours"]["older"] == f"/dashboard/events/{first}/"
    assert event_page.find(stage, 99) is None  # type: ignore[arg-type]  # a stage


async def test_the_page_is_told_when_its_event_goes_on(stage: Stage, browser: Browser) -> None:
    watcher = await stage.watch()
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(0.1)
    channel = f"event:{stage.write('a')}"
    await browser.say("subscribe", channel=channel)
    await browser.clock.advance(1.5)
    before = len(browser.got(channel))
    await browser.clock.advance(3)
    assert len(browser.got(channel)) == before

    await asyncio.wait_for(watcher.next_chunk(), 5)
    await browser.clock.advance(1.1)

    assert len(browser.got(channel)) == before + 1
