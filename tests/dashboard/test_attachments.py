from __future__ import annotations

from typing import Any

import pytest

from dashboard.attachments import HELD_EVENTS, PER_FRAME
from listwatch.protocol.events import EndReason
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


def keys(answers: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(e["type"], e["key"]) for answer in answers for e in answer.get("events", [])]


async def test_a_streaming_list_brings_the_state_its_bookmark_and_what_follows(
    browser: Browser, stage: Stage
) -> None:
    stage.write("web")
    await browser.say("attach", id="a", resource="v1/pods", bookmarks="true", **{"from": "state"})
    await browser.clock.advance(0.5)

    assert keys(browser.got("a")) == [
        ("ADDED", "default/web"),
        ("BOOKMARK", "k8s.io/initial-events-end"),
    ]
    assert browser.got("a")[-1]["synced"] is True

    stage.write("web", labels={"app": "x"})
    stage.write("web", deleted=True)
    await browser.clock.advance(0.5)

    assert keys(browser.got("a"))[2:] == [("MODIFIED", "default/web"), ("DELETED", "default/web")]
    assert browser.got("a")[-1]["revision"] == "3"


async def test_it_stands_among_all_watchers_and_ends_as_detached(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("attach", id="a", resource="v1/pods", namespace="shop", labels="app=web")
    await browser.clock.advance(0.5)
    (watcher,) = stage.caches.cacher(PODS).watchers()

    assert watcher.request.client.agent == "listwatch-dashboard"
    assert watcher.request.client.user == "admin"
    assert watcher.request.namespace == "shop"
    assert browser.got("a")[-1]["watcher"] == str(watcher.id)
    assert browser.got("a")[-1]["command"] == (
        "kubectl get pods -n shop -l app=web -w --output-watch-events"
    )

    await browser.say("detach", id="a")

    assert watcher.end_reason is EndReason.DETACHED
    assert list(stage.caches.cacher(PODS).watchers()) == []


async def test_from_now_brings_nothing_of_the_past(browser: Browser, stage: Stage) -> None:
    stage.write("old")
    await browser.say("attach", id="a", resource="v1/pods", **{"from": "now"})
    await browser.clock.advance(0.5)
    stage.write("new")
    await browser.clock.advance(0.5)

    assert keys(browser.got("a")) == [("ADDED", "default/new")]


async def test_from_a_revision_replays_what_came_after_it(browser: Browser, stage: Stage) -> None:
    stage.write("one")
    stage.write("two")
    await browser.say("attach", id="a", resource="v1/pods", revision="1", **{"from": "revision"})
    await browser.clock.advance(0.5)

    assert keys(browser.got("a")) == [("ADDED", "default/two")]


async def test_a_revision_that_nothing_holds_shows_the_410_and_keeps_no_revision(
    browser: Browser,
) -> None:
    stage = browser.stage
    for number in range(300):
        stage.write(f"web-{number % 7}")
        await browser.clock.advance(1)
    await browser.say("attach", id="a", resource="v1/pods", revision="5", **{"from": "revision"})
    await browser.clock.advance(0.5)
    answer = browser.got("a")[-1]

    assert answer["status"]["code"] == 410
    assert answer["state"] == "ended"
    assert answer["end_reason"] == "history lost"
    assert answer["revision"] == ""
    assert keys(browser.got("a"))[0][0] == "ERROR"


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"resource": "v1/nothing"}, 404),
        ({"resource": "pods"}, 404),
        ({"resource": ""}, 404),
        ({"resource": "v1/nodes", "namespace": "default"}, 400),
        ({"resource": "v1/pods", "labels": "a in (b"}, 400),
        ({"resource": "v1/pods", "fields": "no such"}, 400),
        ({"resource": "v1/pods", "fields": "spec.colour=blue"}, 400),
        ({"resource": "v1/pods", "from": "revision", "revision": "seven"}, 400),
    ],
)
async def test_what_the_api_refuses_is_refused_here_with_the_same_status(
    browser: Browser, form: dict[str, str], code: int
) -> None:
    await browser.say("attach", id="a", **form)
    await browser.clock.advance(0.5)

    assert browser.got("a")[-1]["status"]["code"] == code


async def test_paused_the_stream_goes_on_and_the_view_counts(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(0.5)
    await browser.say("pause", id="a")
    for number in range(312):
        stage.write(f"web-{number}")
        await browser.clock.advance(0.01)
    await browser.clock.advance(0.5)

    assert keys(browser.got("a")) == []
    assert browser.got("a")[-1]["waiting"] == 312
    assert browser.got("a")[-1]["state"] == "paused"
    (watcher,) = stage.caches.cacher(PODS).watchers()
    assert watcher.statistics().lag_events == 0

    await browser.say("resume", id="a")
    await browser.clock.advance(1)

    assert [key for _, key in keys(browser.got("a"))] == [f"default/web-{n}" for n in range(312)]
    assert browser.got("a")[-1]["waiting"] == 0
    assert browser.got("a")[-1]["skipped"] == 0


async def test_what_a_long_pause_left_out_is_counted(browser: Browser, stage: Stage) -> None:
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(0.5)
    await browser.say("pause", id="a")
    total = HELD_EVENTS + 70
    for number in range(total):
        stage.write(f"web-{number}")
        await browser.clock.advance(0.005)
    await browser.say("resume", id="a")
    await browser.clock.advance(2)
    shown = keys(browser.got("a"))

    assert browser.got("a")[-1]["skipped"] == total - len(shown) == 70
    assert shown[-1] == ("ADDED", f"default/web-{total - 1}")


async def test_a_slow_browser_makes_a_slow_watcher(browser: Browser, stage: Stage) -> None:
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(0.5)
    browser.acknowledge = False
    for number in range(PER_FRAME * 4):
        stage.write(f"web-{number}", spec={"filling": "x" * 2000})
        await browser.clock.advance(0.01)
    (watcher,) = stage.caches.cacher(PODS).watchers()
    behind = watcher.statistics().lag_events

    assert behind > PER_FRAME

    await browser.acknowledged()
    await browser.clock.advance(5)

    assert watcher.statistics().lag_events == 0
    assert len(keys(browser.got("a"))) == PER_FRAME * 4


async def test_an_event_can_be_opened_until_newer_ones_took_its_place(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("attach", id="a", resource="v1/pods")
    stage.write("web", labels={"app": "web"})
    await browser.clock.advance(0.5)
    await browser.say("show", id="a", event=1)
    await browser.say("show", id="a", event=99)
    await browser.clock.advance(0.2)
    shown = browser.got("a")[-1]["shown"]

    assert '"app": "web"' in shown[0]["text"]
    assert '"resourceVersion": "1"' in shown[0]["text"]
    assert shown[1] == {"id": 99, "text": "", "gone": True}


async def test_a_page_may_attach_only_so_many(browser: Browser) -> None:
    for number in range(13):
        await browser.say("attach", id=f"a{number}", resource="v1/pods")
    await browser.clock.advance(0.5)

    assert browser.got("a12")[-1]["status"]["code"] == 429
    assert browser.got("a11")[-1]["state"] == "live"


async def test_attaching_under_a_name_again_replaces_the_watcher(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("attach", id="a", resource="v1/pods")
    await browser.clock.advance(0.5)
    await browser.say("attach", id="a", resource="v1/secrets")
    await browser.clock.advance(0.5)

    assert list(stage.caches.cacher(PODS).watchers()) == []
    assert stage.statistics().cachers["secrets"].watchers == 1
