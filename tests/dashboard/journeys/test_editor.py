"""The editor in a browser: completion, faults in place, changes by others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.accessibility import assert_accessible
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, fresh
from tests.servers import Server

ABOVE = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n"


def type_in(page: Page, text: str, typed: str) -> None:
    """Put the cursor behind a text and type."""
    field = page.locator("#id_document")
    field.fill(text)
    field.press("End")
    page.keyboard.type(typed)


@pytest.mark.parametrize(
    ("path", "text", "typed", "expected"),
    [
        ("create", ABOVE, "  rest", "  restartPolicy: "),
        ("admin", ABOVE, "  rest", "  restartPolicy: "),
        ("create", f"{ABOVE}  containers:\n", "  - ima", "  - image: "),
        ("create", ABOVE, "  restartPolicy: Ne", "  restartPolicy: Never"),
        ("create", "", "kind: ConfigM", "kind: ConfigMap"),
    ],
)
def test_the_schema_completes(
    visit: Visit, path: str, text: str, typed: str, expected: str
) -> None:
    address = {"create": "/dashboard/create/", "admin": "/admin/objects/pod/add/"}[path]
    page = visit(address)
    page.wait_for_selector(".gutter")
    type_in(page, text, typed)
    expect(page.locator("#completions")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Tab")

    expect(page.locator("#id_document")).to_have_value(text + expected)
    expect(page.locator("#completions")).to_be_hidden()


def test_the_list_of_completions_is_walked_and_closed(visit: Visit) -> None:
    page = visit("/dashboard/create/")
    page.wait_for_selector(".gutter")
    type_in(page, ABOVE, "  ")
    page.keyboard.press("Control+Space")
    first = page.locator("#completions [aria-selected=true] b")
    expect(first).to_have_text("containers")
    page.keyboard.press("ArrowDown")
    second = page.locator("#completions [aria-selected=true]")
    expect(second).not_to_contain_text("containers")
    assert page.locator("#id_document").get_attribute("aria-activedescendant") == "completion-1"
    page.keyboard.press("Escape")
    expect(page.locator("#completions")).to_be_hidden()


def test_faults_stand_beside_their_lines_while_one_types(live: Visit, server: Server) -> None:
    name = fresh()
    create(server, name, colour="blue")
    page = live(f"/dashboard/objects/configmaps/default/{name}/?view=edit")
    page.wait_for_selector(".gutter")
    field = page.locator("#id_document")
    field.fill(field.input_value().replace("\ndata:", "\ndate:"))

    expect(page.locator(".editor-notes span")).to_have_text("There is no such field.")
    expect(page.locator(".editor-notes span")).to_have_attribute("data-line", "2")
    expect(page.locator(".gutter .bad")).to_have_text("2")
    expect(page.locator("#editor-state")).to_have_text("1 thing to repair")
    assert_accessible(page)

    field.fill(field.input_value().replace("\ndate:", "\ndata:"))
    expect(page.locator("#editor-state")).to_have_text("The server would take this.")
    expect(page.locator(".editor-notes span")).to_have_count(0)


def test_a_change_by_others_is_told_and_the_text_stays(
    live: Visit, server: Server, complaints: list[str]
) -> None:
    name = fresh()
    create(server, name, colour="blue")
    page = live(f"/dashboard/objects/configmaps/default/{name}/?view=edit")
    page.wait_for_selector(".gutter")
    field = page.locator("#id_document")
    mine = field.input_value().replace("blue", "mine")
    field.fill(mine)
    change(server, name, colour="blue", size="theirs")

    expect(page.locator("#moved")).to_contain_text("The object has moved on")
    expect(field).to_have_value(mine)

    page.get_by_role("button", name="Check against the server").click()
    expect(page.get_by_text("Not saved: the object has moved on")).to_be_visible()
    expect(page.locator(".both")).to_contain_text("size: theirs")
    page.get_by_role("button", name="Put my changes on top of theirs").click()
    page.get_by_role("button", name="Check against the server").click()
    page.get_by_role("button", name="Save these changes").click()
    expect(page.locator("#yaml-text")).to_contain_text("colour: mine")
    expect(page.locator("#yaml-text")).to_contain_text("size: theirs")
    complaints[:] = [each for each in complaints if "409" not in each]  # the answer to the check


@pytest.mark.parametrize("where", ["dashboard", "admin"])
def test_what_was_typed_outlives_the_session(
    visit: Visit, server: Server, signed_in: list[Any], complaints: list[str], where: str
) -> None:
    name = fresh()
    create(server, name, colour="blue")
    path, button = {
        "dashboard": (
            f"/dashboard/objects/configmaps/default/{name}/?view=edit",
            "Check against the server",
        ),
        "admin": (f"/admin/objects/configmap/default/{name}/change/", "Check only"),
    }[where]
    page = visit(path)
    page.wait_for_selector(".gutter")
    field = page.locator("#id_document")
    mine = field.input_value().replace("blue", "mine")
    page.context.clear_cookies(name="listwatch_session")
    field.fill(mine)
    page.get_by_role("button", name=button).click()
    page.wait_for_url(re.compile("/login/"))
    page.context.add_cookies(signed_in)
    change(server, name, colour="blue", size="theirs")
    page.goto(path)

    expect(page.get_by_text("What you had typed did not arrive")).to_be_visible()
    expect(field).not_to_have_value(mine)
    page.get_by_role("button", name="Put it back").click()
    expect(field).to_have_value(mine)

    # It goes on from where it began: what others changed meanwhile is not overwritten unseen.
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("Not saved: the object has moved on")).to_be_visible()
    page.goto(path)
    page.wait_for_selector(".gutter")
    expect(page.get_by_text("What you had typed did not arrive")).to_have_count(0)
    complaints.clear()  # the answers: who are you, and the conflict
    page.goto({"dashboard": "/dashboard/", "admin": "/admin/"}[where])
    assert page.evaluate("sessionStorage.length") == 0  # nothing of it stays behind


def test_many_documents_are_made_and_one_is_deleted(live: Visit, server: Server) -> None:
    one, two = fresh(), fresh()
    text = "---\n".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n" for name in (one, two)
    )
    page = live("/dashboard/create/")
    page.locator("#id_document").fill(text)
    page.get_by_role("button", name="Check against the server").click()
    page.get_by_role("button", name="Create 2 objects").click()
    page.get_by_role("link", name=f"default/{two}").click()
    page.wait_for_selector("#chip[data-is=live]")
    page.get_by_role("link", name="Delete").click()
    page.get_by_label("Background: the object now").check()
    page.get_by_role("button", name="Delete").click()

    expect(page.get_by_text("This object was deleted. What the log")).to_be_visible()
    assert server.get(f"/api/v1/namespaces/default/configmaps/{two}")[0] == 404
    assert server.get(f"/api/v1/namespaces/default/configmaps/{one}")[0] == 200
