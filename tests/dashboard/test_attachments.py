from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock

import pytest

from dashboard.attachments import HELD_EVENTS, PER_FRAME
from listwatch.faults import Faults, FaultSpec
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
    await browser.say("act", id="a", act="show", event=1)
    await browser.say("act", id="a", act="show", event=99)
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


async def test_lines_are_saved_as_the_watch_response_had_them(
    browser: Browser, stage: Stage
) -> None:
    stage.write("before")
    watcher = await stage.watch(revision=1)
    await browser.say("attach", id="a", resource="v1/pods", revision="1", **{"from": "revision"})
    await browser.clock.advance(0.5)
    stage.write("web", spec={"text": "smörgås"})
    stage.write("web", deleted=True)
    await browser.clock.advance(0.5)
    exact = await watcher.next_chunk()
    await browser.say("act", id="a", act="save")
    await browser.clock.advance(0.5)
    (saved,) = [each["saved"] for each in browser.got("a") if "saved" in each]

    assert exact is not None
    assert saved == {"text": exact.decode(), "last": True, "lines": 2, "missing": 0}


async def test_many_lines_are_saved_in_pieces_and_what_is_missing_is_told(
    browser: Browser, stage: Stage
) -> None:
    await browser.say("attach", id="a", resource="v1/pods", paused=True, **{"from": "now"})
    await browser.clock.advance(0.2)
    for number in range(HELD_EVENTS + 7):
        stage.write(f"pod-{number}", spec={"text": "x" * 2000})
    await browser.clock.advance(0.5)
    await browser.say("act", id="a", act="save")
    await browser.clock.advance(3)
    saved = [each["saved"] for each in browser.got("a") if "saved" in each]

    assert len(saved) > 2
    assert [each["last"] for each in saved] == [False] * (len(saved) - 1) + [True]
    assert saved[-1]["missing"] == 7
    text = "".join(each["text"] for each in saved)
    assert text.count("\n") == HELD_EVENTS
    assert '"name":"pod-7"' in text.split("\n")[0]


async def test_a_table_and_metadata_alone_are_watched_as_the_api_writes_them(
    browser: Browser, stage: Stage
) -> None:
    for name, form in (("t", "table"), ("m", "metadata")):
        await browser.say(
            "attach", id=name, resource="v1/pods", bookmarks="true", **{"as": form, "from": "state"}
        )
    await browser.clock.advance(0.5)
    stage.write("web")
    await browser.clock.advance(0.5)
    for name, kind in (("t", "Table"), ("m", "PartialObjectMetadata")):
        shown = [e for answer in browser.got(name) for e in answer["events"]]

        assert [(e["type"], e["key"]) for e in shown] == [
            ("BOOKMARK", "k8s.io/initial-events-end"), ("ADDED", "default/web"),
        ]  # fmt: skip

        await browser.say("act", id=name, act="show", event=shown[1]["id"])
        await browser.clock.advance(0.5)

        assert f'"kind": "{kind}"' in browser.got(name)[-1]["shown"][0]["text"]


async def test_it_begins_where_the_ring_does(browser: Browser, stage: Stage) -> None:
    for number in range(3):
        stage.write(f"pod-{number}")
    await browser.say("attach", id="a", resource="v1/pods", **{"from": "oldest"})
    await browser.clock.advance(0.5)

    assert [key for _, key in keys(browser.got("a"))] == [f"default/pod-{n}" for n in range(3)]


async def test_what_cannot_be_done_is_refused(browser: Browser) -> None:
    await browser.say("attach", id="a", kind="unicorn")
    await browser.say("attach", id="b", resource="v1/pods", **{"as": "poem"})
    await browser.say("attach", id="c", resource="v1/pods")
    await browser.say("act", id="c", act="dance")
    await browser.clock.advance(0.5)

    assert browser.got("a")[0]["status"]["code"] == 400
    assert browser.got("b")[0]["status"]["code"] == 400
    assert any(answer.get("status", {}).get("code") == 400 for answer in browser.got("c"))


async def test_a_cut_is_seen_as_one(browser: Browser, stage: Stage) -> None:
    faults = Faults(
        stage.caches, stage.clock, hold_pump=lambda held: None, compact=AsyncMock(return_value="")
    )
    stage.faults = faults
    stage.write("a")
    await browser.say("attach", id="a", resource="v1/pods", **{"from": "state"})
    await browser.clock.advance(0.5)
    await faults.inject(FaultSpec.read({"spec": {"type": "cut-mid-line"}}))
    stage.write("b")
    await browser.clock.advance(0.5)

    assert browser.got("a")[-1]["state"] == "cut"
    assert keys(browser.got("a")) == [("ADDED", "default/a")]
    assert browser.got("a")[-1]["end_reason"] == "fault injected"
    faults.lift_all()
