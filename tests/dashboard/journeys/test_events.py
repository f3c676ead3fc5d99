"""One write followed: its stations, what each selector made of it, and what the index spared."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import create, fresh, watching
from tests.dashboard.journeys.test_watchers import relabel
from tests.servers import Server

TIME = re.compile(r"^[\d.]+( m?s)?$")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390), ("dark", 1920)])
def test_one_write_is_followed_to_each_watcher(
    live: Visit, server: Server, theme: str, width: int
) -> None:
    name, other = fresh(), fresh()
    create(server, name)
    with (
        watching(server, f"labelSelector=app%3D{name}", f"loses-{name}") as loses,
        watching(server, f"labelSelector=app%3D{other}", f"gains-{name}") as gains,
        watching(server, f"labelSelector=app%3Dno-{name}", f"deaf-{name}"),
    ):
        page = live("/dashboard/flow/", theme=theme, width=width)
        relabel(server, name, other)
        loses.readline()
        gains.readline()
        row = page.locator("#journeys tr").filter(has_text=f"default/{name}").first
        expect(row.locator(".type")).to_have_text("MODIFIED")
        expect(row.locator("[data-text=total]")).to_have_text(TIME)
        row.locator("[data-text=revision]").click()
        page.wait_for_selector("#chip[data-is=live]")
        stations = page.locator(".stations strong")

        expect(stations.first).to_have_text("commit")
        for station in ("cache", "lanes", "first watcher", "last watcher"):
            expect(page.locator(".stations li").filter(has_text=station).last).to_be_visible()
        for took in page.locator(".took").all():
            expect(took).to_have_text(TIME)
        for kind, text in (
            ("ADDED", f"app={other}"), ("DELETED", f"app={name}"), ("nothing", f"app=no-{name}"),
        ):  # fmt: skip
            expect(page.locator(f".transition[data-is={kind}]")).to_contain_text(text)
        stops = page.locator("tr[data-row]")
        expect(stops.filter(has_text=f"loses-{name}").locator(".type")).to_have_text("DELETED")
        expect(stops.filter(has_text=f"gains-{name}").locator(".type")).to_have_text("ADDED")
        expect(stops.filter(has_text=f"deaf-{name}")).to_have_count(0)
        expect(page.locator(".fan-says")).to_contain_text(re.compile(r"spared \d+ of \d+ lane"))
        assert_no_sideways_scroll(page)
        assert_accessible(page)


def test_an_event_from_before_the_page_was_open_says_what_is_not_known(
    visit: Visit, server: Server
) -> None:
    name = fresh()
    revision = create(server, name)["metadata"]["resourceVersion"]
    page = visit(f"/dashboard/events/{revision}/", java_script_enabled=False)

    expect(page.locator("h1")).to_contain_text(revision)
    expect(page.locator(".stations strong")).to_have_text(["commit", "cache"])
    expect(page.locator("main")).to_contain_text("Nobody looked on when it passed")


def test_events_lead_to_their_neighbours(live: Visit, server: Server) -> None:
    first = create(server, fresh())["metadata"]["resourceVersion"]
    second = create(server, fresh())["metadata"]["resourceVersion"]
    page = live(f"/dashboard/events/{first}/")
    page.get_by_role("link", name="Newer").click()
    page.wait_for_url(f"**/events/{second}/")
    page.get_by_role("link", name="Older").click()

    page.wait_for_url(f"**/events/{first}/")


def test_an_event_that_no_ring_holds_is_told_so(visit: Visit, complaints: list[str]) -> None:
    page = visit("/dashboard/events/999999999/")

    expect(page.locator("main")).to_contain_text("no ring holds an event of revision 999999999")
    complaints[:] = [each for each in complaints if "404" not in each]
