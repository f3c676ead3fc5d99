"""An attached informer is the last station on the way of an event."""

from __future__ import annotations

from dashboard.machinery import event_page
from tests.dashboard.browser import Browser
from tests.dashboard.informers.test_attachment import attached, listing, told
from tests.dashboard.stage import Stage

__all__ = ["listing"]  # a fixture


async def test_an_event_is_followed_into_the_indexer(browser: Browser, listing: Stage) -> None:
    await browser.say("subscribe", channel="flow")
    listing.write("a")
    await attached(browser)
    written = listing.write("a", labels={"app": "web"})
    deleted = listing.write("a", deleted=True)
    await browser.clock.advance(2)
    await told(browser, lambda known: known["counts"]["verdict"] == "equal to the server")
    for revision in (written, deleted):
        found = event_page.find(listing, revision)  # type: ignore[arg-type]  # a stage
        assert found is not None
        data = event_page.event(listing, found)  # type: ignore[arg-type]

        assert data["stations"][-1]["name"] == "informers"
        assert [each["client"] for each in data["informers"]] == ["informer of pods"]
