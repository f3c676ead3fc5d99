from __future__ import annotations

from dashboard.machinery.flows import PACE
from dashboard.session import COST_SHARE, FRAME_INTERVAL, HEARTBEAT, WINDOW
from tests.dashboard.browser import Browser
from tests.dashboard.stage import Stage


async def test_a_page_is_greeted_at_once(browser: Browser) -> None:
    await browser.clock.advance(0)

    assert [frame["frame"] for frame in browser.frames] == [1]
    assert browser.frames[0]["applied"] == "0"


async def test_a_quiet_page_gets_a_heartbeat_and_nothing_else(browser: Browser) -> None:
    await browser.clock.advance(0.5)
    before = len(browser.frames)

    await browser.clock.advance(HEARTBEAT * 4)

    assert len(browser.frames) - before == 4
    assert all(frame["channels"] == {} for frame in browser.frames[before:])


async def test_at_most_ten_frames_a_second_whatever_happens(browser: Browser, stage: Stage) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(1)
    before = len(browser.frames)
    for _ in range(200):
        stage.write("web")
        await browser.clock.advance(0.01)

    sent = len(browser.frames) - before

    assert 2 / PACE <= sent <= 2 / FRAME_INTERVAL + 1
    assert max(len(part["rows"]) for part in browser.got("flow")) > 1  # came together


async def test_a_browser_that_does_not_acknowledge_gets_no_more(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(2)
    browser.acknowledge = False
    before = len(browser.frames)
    for _ in range(50):
        stage.write("web")
        await browser.clock.advance(0.2)

    assert len(browser.frames) - before == WINDOW

    await browser.acknowledged()
    await browser.clock.advance(0.2)

    assert len(browser.frames) - before == WINDOW + 1
    assert browser.got("flow")[-1]["rows"][-1]["revision"] == "50"


async def test_a_hidden_page_is_sent_nothing_and_costs_nothing(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.say("subscribe", channel="overview")
    await browser.clock.advance(2)
    await browser.say("visible", visible=False)
    await browser.clock.advance(1)
    before = len(browser.frames)
    looks = 0

    def look() -> object:
        nonlocal looks
        looks += 1
        return None

    real, stage.statistics = stage.statistics, look  # type: ignore[method-assign,assignment]
    for _ in range(20):
        stage.write("web")
        await browser.clock.advance(1)

    assert len(browser.frames) == before
    assert looks == 0
    assert stage.observers._observers == ()

    stage.statistics = real  # type: ignore[method-assign]
    await browser.say("visible", visible=True)
    await browser.clock.advance(0.1)

    assert browser.frames[-1]["applied"] == "20"
    assert stage.observers._observers != ()


async def test_closing_the_page_ends_its_watchers_and_stops_observing(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(1)
    assert stage.statistics().cachers["pods"].watchers == 1

    await browser.close()

    assert stage.observers._observers == ()
    assert stage.statistics().cachers["pods"].watchers == 0


async def test_looks_are_rarer_when_they_are_costly(browser: Browser, stage: Stage) -> None:
    real = stage.statistics
    looks = 0

    def slow() -> object:
        nonlocal looks
        looks += 1
        browser.clock.set(browser.clock.now() + 0.2)
        return real()

    stage.statistics = slow  # type: ignore[method-assign,assignment]
    await browser.say("subscribe", channel="overview")
    await browser.clock.advance(200)

    assert 200 / (0.2 * (COST_SHARE + 1)) * 0.7 <= looks <= 200 / (0.2 * COST_SHARE) + 1


async def test_what_is_not_understood_is_answered_as_a_status(browser: Browser) -> None:
    await browser.say("subscribe", channel="nothing")
    await browser.say("dance", id="me")
    await browser.say("pause", id="ghost")
    await browser.clock.advance(0.2)

    assert browser.got("nothing")[0]["status"]["code"] == 400
    assert browser.got("me")[0]["status"]["reason"] == "BadRequest"
    assert "ghost" in browser.got("ghost")[0]["status"]["message"]


async def test_a_fault_of_ours_is_told_and_does_not_end_the_page(
    browser: Browser, stage: Stage
) -> None:
    stage.resources = None  # type: ignore[assignment]
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(0.2)

    assert browser.got("a")[0]["status"]["code"] == 500

    await browser.clock.advance(HEARTBEAT)

    assert browser.frames[-1]["channels"] == {}


async def test_an_acknowledgement_of_frames_not_sent_opens_nothing(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("subscribe", channel="flow")
    await browser.clock.advance(2)
    await browser.say("ack", frame=10_000)
    browser.acknowledge = False
    before = len(browser.frames)
    for _ in range(10):
        stage.write("web")
        await browser.clock.advance(0.2)

    assert len(browser.frames) - before == WINDOW
