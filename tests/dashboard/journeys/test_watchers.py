"""Watchers: the table, sorted and filtered; the page of one with its truth table and its end."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, config_map, create, fresh, watching
from tests.servers import Server


def relabel(server: Server, name: str, app: str) -> None:
    body = config_map(name)
    body["metadata"]["labels"] = {"app": app}
    server.json("PUT", f"/api/v1/namespaces/default/configmaps/{name}", body)


def test_the_watches_of_the_controllers_can_be_left_out(live: Visit, server: Server) -> None:
    name = fresh()
    with watching(server, "", f"kubelet/{name}"), watching(server, "", f"mine/{name}"):
        page = live("/dashboard/watchers/")
        clients = page.locator("#watching tr:visible th").filter(has_text=name)
        expect(clients).to_have_count(2)
        page.get_by_role("link", name="Without the controllers' own").click()

        expect(clients).to_have_text([f"mine/{name}"])
        page.get_by_role("link", name="The controllers' watches, too").click()
        expect(clients).to_have_count(2)


def test_the_table_sorts_and_the_address_carries_it(live: Visit, server: Server) -> None:
    name = fresh()
    with watching(server, "", f"zz-{name}"), watching(server, "", f"aa-{name}"):
        page = live(f"/dashboard/watchers/?q={name}")
        clients = page.locator("#watching tr:visible th")
        expect(clients).to_have_text([f"zz-{name}", f"aa-{name}"])
        page.get_by_role("link", name="Client").click()

        expect(clients).to_have_text([f"aa-{name}", f"zz-{name}"])
        expect(page.locator("th[aria-sort=ascending]")).to_have_text("Client")
        assert page.url.endswith(f"?q={name}&sort=client")

        page.get_by_role("link", name="Client").click()
        expect(clients).to_have_text([f"zz-{name}", f"aa-{name}"])
        page.reload()
        expect(clients).to_have_text([f"zz-{name}", f"aa-{name}"])
        expect(page.locator("th[aria-sort=descending]")).to_have_text("Client")


def test_the_table_is_sorted_and_filtered_without_a_script(visit: Visit, server: Server) -> None:
    name = fresh()
    with watching(server, "", f"zz-{name}"), watching(server, "", f"aa-{name}"):
        page = visit(f"/dashboard/watchers/?q={name}", java_script_enabled=False)
        page.get_by_role("link", name="Client").click()

        expect(page.locator("#watching th")).to_have_text([f"aa-{name}", f"zz-{name}"])


def test_a_spark_shows_the_events_of_each_second(live: Visit, server: Server) -> None:
    name = fresh()
    with watching(server, f"labelSelector=app%3D{name}", name) as stream:
        page = live(f"/dashboard/watchers/?q={name}")
        spark = page.locator("#watching tr .spark-row path").first
        expect(spark).to_have_attribute("d", re.compile("^M"), timeout=15_000)  # it was looked at
        create(server, name)
        stream.readline()

        expect(spark).to_have_attribute("d", re.compile("M.*M.*V"), timeout=15_000)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390), ("dark", 1920)])
def test_one_watcher_shows_what_its_selector_makes_of_each_write(
    live: Visit, server: Server, theme: str, width: int
) -> None:
    name = fresh()
    query = f"labelSelector=app%3D{name}&allowWatchBookmarks=true"
    with watching(server, query, f"seer-{name}/v1 (linux)") as stream:
        page = live("/dashboard/watchers/", theme=theme, width=width)
        page.locator("#watching").get_by_role("link", name=f"seer-{name}/v1").click()
        page.wait_for_selector("#chip[data-is=live]")
        create(server, name)
        change(server, name, colour="blue")
        relabel(server, name, "other")
        for _ in range(3):
            stream.readline()
        rows = page.locator("#rows tr").filter(has_text=f"default/{name}")

        expect(rows.locator(".type")).to_have_text(["DELETED", "MODIFIED", "ADDED"])
        expect(rows.first.locator("[data-text=because]")).to_have_text(f"app: {name} → other")
        expect(rows.first.locator("[data-text=before]")).to_have_text("yes")
        expect(rows.first.locator("[data-text=after]")).to_have_text("no")
        expect(rows.first.locator("[data-text=write]")).to_have_text("MODIFIED")
        expect(rows.first.locator("[data-text=stands_says]")).to_have_text("delivered")
        for kind in ("ADDED", "MODIFIED", "DELETED"):
            expect(page.locator(f"#truth [data-text={kind}]")).to_have_text("1")
        expect(page.locator("#bookmark .due-in")).to_have_text(re.compile(r"^in \d+s$"))
        expect(page.locator("#reconnect")).to_contain_text("It would go on from the ring.")
        assert_no_sideways_scroll(page)
        assert_accessible(page)

    expect(page.locator("#ending")).to_contain_text("Ended: client left")
    expect(page.locator("#watcher-state")).to_have_text("client left")


def test_an_ended_watcher_has_its_page_with_the_reason(live: Visit, server: Server) -> None:
    name = fresh()
    with watching(server, "", f"gone-{name}"):
        create(server, name)
    page = live("/dashboard/watchers/")
    page.locator("#ended").get_by_role("link", name=f"gone-{name}").click()

    expect(page.locator(".ending")).to_contain_text("The client closed the connection.")
    expect(page.locator("#bookmark")).to_contain_text("The watch has ended.")
    expect(page.locator("#rows tr").filter(has_text=name)).to_have_count(1)


def test_a_watcher_that_is_not_remembered_is_told_so(visit: Visit, complaints: list[str]) -> None:
    page = visit("/dashboard/watchers/99999999/")

    expect(page.locator("h1")).to_have_text("404 NotFound")
    expect(page.locator("main")).to_contain_text("not among the ended ones still kept")
    complaints[:] = [each for each in complaints if "404" not in each]
