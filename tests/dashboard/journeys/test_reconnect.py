"""A connection that is lost comes back by itself, and the page says what passed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.dashboard.accessibility import assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import listen
from tests.dashboard.journeys.objects import change, create, watching
from tests.dashboard.journeys.test_attach import attach
from tests.servers import Server, running


class Gate:
    """Lets the page's socket through, or not."""

    def __init__(self) -> None:
        self.open = True
        self.refused = 0

    def pass_on(self, socket: WebSocketRoute) -> None:
        if self.open:
            socket.connect_to_server()
        else:
            self.refused += 1
            socket.close(code=4000)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path) as server:
        yield server


def visit(chromium: Browser, server: Server, gate: Gate, complaints: list[str]) -> Page:
    context = chromium.new_context(base_url=server.url)
    page = context.new_page()
    page.goto(server.login_link())
    listen(page, server, complaints)
    page.route_web_socket(re.compile("/socket/"), gate.pass_on)
    page.goto("/dashboard/watchers/")
    page.wait_for_selector("#chip[data-is=live]")
    return page


@pytest.mark.timeout(180)
def test_after_a_restart_the_page_says_how_much_it_missed_and_is_right_again(
    chromium: Browser, own: Server, complaints: list[str]
) -> None:
    create(own, "web")
    gate = Gate()
    page = visit(chromium, own, gate, complaints)
    with watching(own, "", "before-restart/1"):
        expect(page.locator("#watching tr").filter(has_text="before-restart/1")).to_be_visible()
        applied = int(page.locator("#revisions [data-text=applied]").inner_text())
        gate.open = False
        own.stop()

        expect(page.locator("#chip")).to_contain_text("lost, again in", timeout=20_000)
        expect(page.locator("#announcer")).to_have_text("The connection was lost.")
    own.start()
    for number in range(3):
        newest = change(own, "web", n=str(number))["metadata"]["resourceVersion"]
    passed = int(newest) - applied
    with watching(own, "", "after-restart/1"):
        gate.open = True

        said = f"live, {passed} revisions passed"
        expect(page.locator("#chip")).to_have_text(said, timeout=30_000)
        expect(page.locator("#watching tr").filter(has_text="after-restart/1")).to_be_visible()
        expect(page.locator("#watching tr").filter(has_text="before-restart/1")).to_have_count(0)
        expect(page.locator("#announcer")).to_contain_text(f"{passed} revisions passed meanwhile")
    complaints[:] = [each for each in complaints if "WebSocket" not in each]
    page.context.close()


@pytest.mark.timeout(180)
def test_an_attached_watcher_goes_on_after_a_restart_and_the_bar_holds_its_news(
    chromium: Browser, own: Server, complaints: list[str]
) -> None:
    create(own, "web")
    page = visit(chromium, own, Gate(), complaints)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/dashboard/attach/")
    page.wait_for_selector("#chip[data-is=live]")
    pane = attach(page, resource="v1/configmaps", labels="app=web")
    expect(pane.locator("tbody .type[data-is=ADDED]")).to_be_visible()
    own.stop()
    expect(page.locator("#chip")).to_contain_text("lost, again in", timeout=20_000)
    assert_no_sideways_scroll(page)
    own.start()
    change(own, "web", n="1")

    expect(pane.locator("tbody .type[data-is=MODIFIED]")).to_be_visible(timeout=30_000)
    expect(pane.locator(".chip")).to_have_text("live")
    assert_no_sideways_scroll(page)
    complaints[:] = [each for each in complaints if "WebSocket" not in each]
    page.context.close()


@pytest.mark.timeout(180)
def test_after_a_restart_the_ring_shows_nothing_of_the_process_before(
    chromium: Browser, own: Server, complaints: list[str]
) -> None:
    create(own, "web")
    with watching(own, "", "before-restart/1"):
        pass
    page = visit(chromium, own, Gate(), complaints)
    page.goto("/dashboard/rings/configmaps/")
    page.wait_for_selector("#chip[data-is=live]")
    expect(page.locator("#ends")).to_contain_text("client left")
    expect(page.locator("#places tr")).to_have_count(1)
    own.stop()
    expect(page.locator("#chip")).to_contain_text("lost, again in", timeout=20_000)
    own.start()

    expect(page.locator("#ends")).to_have_text("none has ended yet", timeout=30_000)
    expect(page.locator("#places tr")).to_have_count(0)
    complaints[:] = [each for each in complaints if "WebSocket" not in each]
    page.context.close()


def test_attempts_come_at_growing_distances(
    chromium: Browser, own: Server, complaints: list[str]
) -> None:
    """As kubernetes-client/javascript#1933, on our own side: never tens of requests a second."""
    gate = Gate()
    page = visit(chromium, own, gate, complaints)
    gate.open = False
    own.kill()
    expect(page.locator("#chip")).to_contain_text("again in", timeout=20_000)
    page.wait_for_timeout(5_000)

    assert 1 <= gate.refused <= 6
    complaints[:] = [each for each in complaints if "WebSocket" not in each]
    page.context.close()
