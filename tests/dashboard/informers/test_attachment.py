"""An informer attached from a page, over the registry, without a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from listwatch.protocol.events import EndReason
from listwatch.registry import reads
from tests.dashboard.browser import Browser
from tests.dashboard.stage import PODS, Stage


@pytest.fixture
def listing(stage: Stage) -> Stage:
    """A stage that lists, too."""

    async def list_(ctx: Any, options: Any) -> Any:
        async def fresh() -> int:
            return stage.caches.progress.applied

        backend: Any = type("Backend", (), {"caches": stage.caches, "options": stage.options})()
        backend.fresh = fresh
        backend.reached = lambda number: fresh()
        return await reads.list_objects(backend, ctx, options)

    stage.registry.list = list_
    return stage


async def told(browser: Browser, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """All that the page knows, as soon as it is so."""
    for _ in range(40):
        known: dict[str, Any] = {}
        for part in browser.got("i"):
            known |= part
        if known and true(known):
            return known
        await browser.clock.advance(0.5)
    raise AssertionError(known)


async def attached(browser: Browser) -> dict[str, Any]:
    await browser.say("attach", kind="informer", id="i", resource="v1/pods")
    return await told(browser, lambda known: known.get("state") == "live")


async def test_it_stands_beside_the_server_and_is_equal(browser: Browser, listing: Stage) -> None:
    listing.write("a")
    known = await attached(browser)

    assert known["counts"]["verdict"] == "equal to the server"
    assert [(row["key"], row["state"]) for row in known["rows"]] == [("default/a", "same")]
    (watcher,) = listing.caches.cacher(PODS).watchers()
    assert watcher.request.client.agent == "listwatch-dashboard-informer"

    await browser.say("detach", id="i")

    assert watcher.end_reason is EndReason.DETACHED


async def test_held_it_falls_behind_and_let_go_it_is_equal_again(
    browser: Browser, listing: Stage
) -> None:
    listing.write("a")
    await attached(browser)
    await browser.say("act", id="i", act="hold")
    listing.write("a", labels={"x": "y"})
    listing.write("b")
    known = await told(browser, lambda known: known["queue"]["queued"] == 2)

    assert known["state"] == "held"
    assert known["counts"]["verdict"] == "2 differ"
    assert known["pending"][0] == {
        "id": "default/a", "key": "default/a", "deltas": "Updated@2",
    }  # fmt: skip
    assert known["rows"][0]["fields"] == "metadata.labels.x"

    await browser.say("act", id="i", act="release")
    await told(browser, lambda known: known["counts"]["verdict"] == "equal to the server")


@pytest.mark.parametrize("act", ["cut", "expire"])
async def test_whatever_ends_its_stream_it_is_equal_again(
    browser: Browser, listing: Stage, act: str
) -> None:
    listing.write("a")
    await attached(browser)
    await browser.say("act", id="i", act=act)
    listing.write("b")
    counter = {"cut": "cuts", "expire": "expirations"}[act]
    known = await told(
        browser,
        lambda known: (
            known["facts"][counter] == 1
            and known["counts"]["verdict"] == "equal to the server"
            and known["counts"]["same"] == 2
        ),
    )

    assert known["facts"]["watches"] >= 2


async def test_what_cannot_be_followed_is_refused(browser: Browser, listing: Stage) -> None:
    await browser.say("attach", kind="informer", id="i", resource="v1/unicorns")
    await browser.say("attach", kind="informer", id="j", resource="v1/nodes", namespace="x")
    await browser.say("attach", kind="informer", id="k", resource="v1/pods", fields="spec.x=1")
    await browser.clock.advance(0.5)

    assert browser.got("i")[0]["status"]["code"] == 404
    assert browser.got("j")[0]["status"]["code"] == 400
    assert browser.got("k")[0]["status"]["code"] == 400
