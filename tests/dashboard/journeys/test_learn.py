"""What teaches, in a browser, on a real server with its controllers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.servers import Server, running

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One with controllers, of which the way of a pod tells."""
    with running(tmp_path_factory.mktemp("learn"), "--controllers=*") as made:
        yield made


def test_lines_are_stepped_through_while_the_stream_goes_on(live: Visit, server: Server) -> None:
    page = live("/dashboard/learn/", theme="dark")
    page.get_by_role("button", name="Begin").click()

    expect(page.locator("#step-title")).to_have_text("List: what is there now?")
    page.get_by_role("button", name="Write something").click()
    page.get_by_role("button", name="Lose its history").click()
    expect(page.locator("#step-count")).to_contain_text("more came")
    seen = []
    for _ in range(7):
        page.locator("#step").click()
        seen.append(page.locator("#step-title").inner_text())

    assert seen[0].startswith("The state at revision")
    assert any(re.match(r"lesson-\w{5} appeared at revision", title) for title in seen)
    assert "410 Expired: that history is gone" in seen

    page.locator("#step").click()
    page.locator("#back").click()

    expect(page.locator("#step-title")).to_have_text(seen[-1])
    assert_accessible(page)
    page.locator("#auto").click()
    expect(page.locator("#step")).to_be_disabled(timeout=30_000)

    (name,) = names_in(server)
    assert name.startswith("lesson-")
    page.goto("/dashboard/learn/pod/")
    deadline = time.monotonic() + 10
    while names_in(server) and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert names_in(server) == set()  # what it wrote goes with it


def names_in(server: Server) -> set[str]:
    found = server.json("GET", "/api/v1/namespaces/default/configmaps")["items"]
    return {each["metadata"]["name"] for each in found} - {"kube-root-ca.crt"}


def test_the_way_of_a_pod_is_told_hop_by_hop(live: Visit) -> None:
    page = live("/dashboard/learn/pod/", width=390)
    page.get_by_role("button", name="Create a deployment").click()

    expect(page.locator("#way-chip")).to_have_text("done", timeout=40_000)
    hops = page.locator("#hops tr")
    expect(hops.filter(has_text="scheduler").first).to_contain_text("binds pod")
    expect(hops.filter(has_text="kubelet of node").first).to_contain_text("runs pod")
    assert_accessible(page)
    assert_no_sideways_scroll(page)


def test_three_ways_are_measured_here_and_now(live: Visit) -> None:
    page = live("/dashboard/learn/compare/")
    page.locator("#clients").fill("1")
    page.locator("#rate").fill("20")
    page.get_by_role("button", name="Measure").click()

    expect(page.locator("#compare-chip")).to_have_text("done", timeout=90_000)
    expect(page.locator("#runs th")).to_have_text(["poll", "long poll", "watch"])
    assert_accessible(page)


def test_what_is_out_of_bounds_is_refused(live: Visit) -> None:
    page = live("/dashboard/learn/compare/")
    page.locator("#clients").fill("5000")
    page.get_by_role("button", name="Measure").click()

    expect(page.locator("#compare-notice")).to_contain_text("400 BadRequest: clients: from 1 to 50")
