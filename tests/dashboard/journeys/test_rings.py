"""The ring map: who stands where, how long that lasts, and the 410 calculator."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, delete, fresh, watching
from tests.servers import Server


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390), ("light", 1920)])
def test_the_map_shows_watchers_and_resume_points(
    live: Visit, server: Server, theme: str, width: int
) -> None:
    name = fresh()
    create(server, name)
    with watching(server, "", f"left-{name}"):
        pass
    with watching(server, "", f"stays-{name}"):
        page = live("/dashboard/rings/", theme=theme, width=width)
        page.get_by_role("link", name="configmaps", exact=True).click()
        page.wait_for_selector("#chip[data-is=live]")
        stays = page.locator("#places tr").filter(has_text=f"stays-{name}")
        left = page.locator("#places tr").filter(has_text=f"left-{name}")

        expect(stays.locator("[data-text=left_says]")).to_have_text(
            re.compile("overwritten|not overwritten")
        )
        expect(left.locator("[data-text=stands_says]")).to_have_text("ended, may resume")
        expect(page.locator("[data-of=watcher] title").last).to_contain_text("at revision")
        expect(page.locator("[data-of=resume] title").last).to_contain_text("would resume")
        expect(page.locator(".ring-zones rect").first).to_be_attached()
        expect(page.locator("#ends")).to_contain_text("client left")
        made = create(server, fresh())
        expect(page.locator("[data-text=newest]").first).to_have_text(
            made["metadata"]["resourceVersion"]
        )
        assert_no_sideways_scroll(page)
        assert_accessible(page)


def test_the_calculator_answers_while_one_types(live: Visit, server: Server) -> None:
    name = fresh()
    made = create(server, name)["metadata"]["resourceVersion"]
    change(server, name, colour="blue")
    delete(server, name)
    page = live("/dashboard/rings/configmaps/")
    told = page.locator("#explanation")
    page.locator("#calculator-from").fill(made)

    expect(told.locator(".verdict")).to_have_text("Served by the ring")
    expect(told.locator(".replay b")).to_have_text(["0", "1", "1"])
    expect(told.locator("[data-here] strong")).to_have_text("the ring")
    expect(told.locator("code")).to_contain_text(f"resourceVersion={made}")
    assert f"from={made}" in page.url

    page.locator("[name=labels]").fill("app=nobody")
    expect(told.locator(".replay b")).to_have_text(["0", "0", "0"])
    page.locator("[name=labels]").fill("app in (web")
    expect(told.locator(".notice")).to_contain_text("400 BadRequest")
    page.locator("[name=labels]").fill("")
    page.locator("#calculator-from").fill("18446744073709551615")
    expect(told.locator(".verdict")).to_have_text("Accepted, and silent")
    page.locator("#calculator-from").fill("0")
    expect(told.locator(".verdict")).to_have_text("Begins with the state")


def test_the_calculator_works_as_a_still_page_and_as_json(visit: Visit, server: Server) -> None:
    name = fresh()
    made = create(server, name)["metadata"]["resourceVersion"]
    change(server, name, colour="blue")
    page = visit("/dashboard/rings/configmaps/", java_script_enabled=False)
    page.locator("#calculator-from").fill(made)
    page.get_by_role("button", name="Explain").click()

    expect(page.locator(".verdict")).to_have_text("Served by the ring")

    answer = page.request.get(f"/dashboard/rings/configmaps.json?from={made}").json()

    assert answer["explanation"]["source"] == "ring"
    assert answer["explanation"]["replayed"] == 1


def test_a_mark_says_by_its_shape_what_its_colour_says(visit: Visit) -> None:
    page = visit("/dashboard/patterns/")
    shapes = page.eval_on_selector_all(
        ".theme-sample:first-child .mark",
        "all => all.map(m => [m.dataset.is, m.querySelector('path').getAttribute('d')])",
    )
    by_kind = dict(shapes)

    assert set(by_kind) == {"lost", "near", "soon", "fine"}
    assert len(set(by_kind.values())) == 4


def test_the_browser_draws_the_strip_as_the_server_does(live: Visit, server: Server) -> None:
    create(server, fresh())
    with watching(server, "", fresh("tick")):
        page = live("/dashboard/rings/configmaps/")
        page.wait_for_timeout(1500)  # for a look that draws it anew
        parts = ".ring-marks .mark path"
        shapes = "all => all.map(p => p.getAttribute('d'))"
        still = page.context.new_page()
        still.route("**/*.js", lambda route: route.abort())
        for _ in range(5):  # between the two looks a mark may come nearer to its end
            drawn = page.eval_on_selector_all(parts, shapes)
            still.goto("/dashboard/rings/configmaps/")
            written = still.eval_on_selector_all(parts, shapes)
            if drawn == written:
                break
            page.wait_for_timeout(700)

    assert drawn == written
