"""The admin in a real browser: with and without scripts, and on a small screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.servers import Server

pytestmark = [pytest.mark.external, pytest.mark.timeout(180)]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
MAPS = "/api/v1/namespaces/default/configmaps"
FORM = "/admin/objects/configmap/default/a/change/"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM and not os.environ.get("CI"):
        pytest.skip("no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def site(server: Server) -> Iterator[Server]:
    server.request("DELETE", f"{MAPS}/a")
    server.json("POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    yield server
    server.request("DELETE", f"{MAPS}/a")


def context(chromium: Browser, site: Server, **options: Any) -> BrowserContext:
    made = chromium.new_context(base_url=site.url, **options)
    page = made.new_page()
    page.goto(site.login_link())
    page.close()
    return made


def test_a_form_works_without_scripts(chromium: Browser, site: Server) -> None:
    page = context(chromium, site, java_script_enabled=False).new_page()
    page.goto(FORM)
    field = page.locator("#id_document")

    field.fill(field.input_value().replace('"1"', "changed"))
    page.get_by_role("button", name="Save", exact=True).click()

    assert "was saved as revision" in page.locator(".messagelist").inner_text()
    assert site.json("GET", f"{MAPS}/a")["data"] == {"k": "changed"}


def test_scripts_number_the_lines_and_indent(chromium: Browser, site: Server) -> None:
    page = context(chromium, site).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(FORM)
    field = page.locator("#id_document")
    lines = field.input_value().count("\n") + 1

    page.locator(".gutter span").first.wait_for()
    numbers = page.locator(".gutter span").all_inner_texts()
    field.fill("data:")
    field.press("End")
    field.press("Enter")
    field.type("k: v")
    field.press("Tab")
    field.press("Shift+Tab")
    typed = field.input_value()
    field.press("Escape")
    field.press("Tab")

    assert numbers == [str(number) for number in range(1, lines + 1)]
    assert typed.rstrip() == "data:\nk: v"
    assert page.evaluate("document.activeElement.id") != "id_document"
    assert complaints == []


def test_the_sidebar_has_every_kind_on_one_line(chromium: Browser, site: Server) -> None:
    page = context(chromium, site, viewport={"width": 1280, "height": 900}).new_page()
    page.goto("/admin/objects/validatingadmissionpolicybinding/")
    heights = page.locator("#nav-sidebar th a").evaluate_all(
        "links => links.map(link => link.getClientRects()[0].height)"
    )

    assert len(heights) > 30
    assert len(set(heights)) == 1


def test_a_fault_is_marked_on_its_line_and_leads_there(chromium: Browser, site: Server) -> None:
    page = context(chromium, site).new_page()
    page.goto(FORM)
    field = page.locator("#id_document")

    field.fill(field.input_value().replace("  k:", "  a/b:"))
    page.get_by_role("button", name="Check only").click()
    page.locator(".gutter .bad").first.wait_for()  # the editor is set up once the page is there
    bad = page.locator(".gutter .bad").all_inner_texts()
    page.locator("#faults a.line").first.click()
    selected = page.evaluate(
        "(f => f.value.slice(f.selectionStart, f.selectionEnd))(document.activeElement)"
    )

    assert bad == ["3"]
    assert selected == '  a/b: "1"'


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_small_screens_and_both_themes_hold_every_page(
    chromium: Browser, site: Server, theme: Any
) -> None:
    viewport = {"width": 390, "height": 844}
    page = context(chromium, site, viewport=viewport, color_scheme=theme).new_page()
    paths = ("/admin/", "/admin/objects/configmap/", FORM, "/admin/objects/deployment/add/")

    widths = {}
    for path in (*paths, "/admin/objects/configmap/default/a/history/"):
        page.goto(path)
        widths[path] = page.evaluate("document.documentElement.scrollWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert set(widths.values()) == {390}, widths
    assert (sum(map(int, ground[4:-1].split(","))) > 384) is (theme == "light")
