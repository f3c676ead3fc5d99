"""Objects: found, listed live, read, compared; and by keys alone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.dashboard.accessibility import assert_accessible
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, delete, fresh
from tests.servers import Server

MAPS = "/dashboard/objects/configmaps/"


def row(page: Page, name: str) -> str:
    return f'#objects tr[data-row="default/{name}"]'


def test_a_table_follows_what_happens_without_a_reload(live: Visit, server: Server) -> None:
    page, name = live(f"{MAPS}?namespace=default"), fresh()
    create(server, name, one="1")
    expect(page.locator(row(page, name))).to_have_count(1)
    expect(page.locator(f"{row(page, name)} [data-text=c1]")).to_have_text("1")
    expect(page.locator(f"{row(page, name)} [data-age]")).to_have_text(re.compile(r"^\d+s$"))

    changed = change(server, name, one="1", two="2")
    expect(page.locator(f"{row(page, name)} [data-text=c1]")).to_have_text("2")
    expect(page.locator("#list-counts [data-text=revision]")).to_have_text(
        changed["metadata"]["resourceVersion"]
    )

    page.keyboard.press("Space")
    expect(page.locator("#pause")).to_have_text("Resume")
    delete(server, name)
    expect(page.locator("#pause")).to_have_text("Resume, 1 waiting")
    expect(page.locator(row(page, name))).to_have_count(1)
    page.keyboard.press("Space")
    expect(page.locator(row(page, name))).to_have_count(0)


def test_a_selector_in_the_address_narrows_what_follows(live: Visit, server: Server) -> None:
    mine, other = fresh(), fresh()
    page = live(f"{MAPS}?labels=app%3D{mine}")
    expect(page.get_by_text("No ConfigMap matches")).to_be_visible()
    create(server, other)
    create(server, mine)

    expect(page.locator("#objects tr")).to_have_count(1)
    expect(page.locator(row(page, mine))).to_be_visible()


def test_an_object_shows_its_new_state_and_then_that_it_is_gone(
    live: Visit, server: Server
) -> None:
    name = fresh()
    create(server, name, colour="blue")
    page = live(f"{MAPS}default/{name}/")
    page.locator("details.folded summary").click()
    expect(page.locator("#yaml-text")).to_contain_text("colour: blue")
    changed = change(server, name, colour="red")

    expect(page.locator("#yaml-text")).to_contain_text("colour: red")
    expect(page.locator("#object")).to_have_attribute(
        "data-revision", changed["metadata"]["resourceVersion"]
    )
    expect(page.locator("details.folded")).to_have_attribute("open", "")

    delete(server, name)
    expect(page.locator("#object-gone")).to_be_visible()
    page.locator("#object-gone a").click()
    expect(page.get_by_text("This object was deleted. What the log")).to_be_visible()
    expect(page.locator(".compare tbody tr")).to_have_count(3)


def test_search_to_difference_by_keys_alone(live: Visit, server: Server) -> None:
    name = fresh("needle")
    create(server, name, colour="blue")
    change(server, name, colour="red")
    page = live("/dashboard/")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/dashboard/objects/")
    page.wait_for_selector("#chip[data-is=live]")
    page.keyboard.press("/")
    page.keyboard.type(f"{name} ns:default")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=needle*")
    page.wait_for_selector("#chip[data-is=live]")
    page.locator("body").press("j")
    expect(page.locator(":focus")).to_have_text(name)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/configmaps/default/{name}/")
    page.wait_for_selector("#chip[data-is=live]")
    page.keyboard.press("d")
    page.wait_for_url("**view=history")

    expect(page.locator(".difference del")).to_have_text("  colour: blue")
    expect(page.locator(".difference ins")).to_have_text("  colour: red")

    page.wait_for_selector("#chip[data-is=live]")
    page.keyboard.press("y")
    page.wait_for_url(f"**/configmaps/default/{name}/")
    page.wait_for_selector("#chip[data-is=live]")
    page.keyboard.press("Escape")
    page.wait_for_url("**/configmaps/?namespace=default")


def test_rows_are_walked_by_j_and_k(live: Visit, server: Server) -> None:
    names = sorted(fresh("walk") for _ in range(3))
    for name in names:
        create(server, name)
    page = live(f"{MAPS}?q=walk-")
    for key, name in (("j", names[0]), ("j", names[1]), ("j", names[2]), ("j", names[2]),
                      ("k", names[1])):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_text(name)


def test_copy_as_opens_by_c_and_closes_by_escape(live: Visit, server: Server) -> None:
    page = live(f"{MAPS}?namespace=default")
    page.keyboard.press("c")

    expect(page.locator(".copy-as")).to_have_attribute("open", "")
    expect(page.locator(".copy-one code").first).to_have_text(
        "kubectl get configmaps -n default -w --output-watch-events"
    )
    assert_accessible(page)

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -sN -H")

    page.keyboard.press("Escape")
    expect(page.locator(".copy-as")).not_to_have_attribute("open", "")
    assert page.url.endswith("?namespace=default")


def test_objects_stand_without_a_script(visit: Visit, server: Server) -> None:
    name = fresh()
    create(server, name, colour="blue")
    page = visit(f"{MAPS}?namespace=default&sort=-name", java_script_enabled=False)
    page.get_by_role("link", name=name).click()
    expect(page.locator("#yaml-text")).to_contain_text("colour: blue")
    page.get_by_role("link", name="Edit").click()
    field = page.locator("#id_document")
    field.fill(field.input_value().replace("blue", "red"))
    page.get_by_role("button", name="Check against the server").click()
    expect(page.locator(".checked ins")).to_have_text("  colour: red")
    page.get_by_role("button", name="Save these changes").click()

    expect(page.locator("#yaml-text")).to_contain_text("colour: red")
    expect(page.get_by_text("Saved as revision")).to_be_visible()
