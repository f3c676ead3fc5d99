"""Faults as a person puts them in, sees them on every page, and lifts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import create, fresh, watching
from tests.dashboard.paths import EACH_LOOK
from tests.servers import Server, running

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that lets faults be put in: these pages are not of others."""
    with running(tmp_path_factory.mktemp("faulty"), "--faults") as made:
        yield made


@pytest.fixture(autouse=True)
def no_fault_is_left(server: Server) -> Iterator[None]:
    yield
    server.json("DELETE", "/debug/faults")


def put_in(page: Page, title: str, **fields: str) -> None:
    form = page.locator("#fault-form")
    form.get_by_role("radio", name=title).check()
    for name, value in fields.items():
        form.locator(f"[name={name}]").fill(value)
    form.get_by_role("button", name="Put it in").click()
    page.wait_for_selector("#chip[data-is=live]")


def test_a_fault_is_put_in_and_every_page_says_so_until_it_is_lifted(
    live: Visit, server: Server
) -> None:
    page, other = live("/dashboard/faults/"), live("/dashboard/watchers/")
    expect(other.locator("#fault-banner")).to_be_hidden()
    put_in(page, "Delay", resource="configmaps", delayMilliseconds="50", seconds="60")

    expect(other.locator("#fault-banner")).to_contain_text("Delay on watches of configmaps")
    expect(other.locator("#fault-banner")).to_contain_text("50 ms")
    row = page.locator("#faults-on tr")
    expect(row).to_contain_text("admin")

    with watching(server, "resourceVersion=0", "kubectl/v1"):
        create(server, fresh())
        expect(row.locator("[data-text=hits]")).not_to_have_text("0")

    row.get_by_role("button", name="Lift").click()
    expect(page.locator("#faults-over tr").first).to_contain_text("lifted")
    expect(other.locator("#fault-banner")).to_be_hidden()


def test_the_banner_counts_down_and_lifts_from_where_one_is(live: Visit, server: Server) -> None:
    fault = {"spec": {"type": "delay", "seconds": 60}}
    server.json("POST", "/debug/faults", fault)
    page = live("/dashboard/watchers/?q=kube")
    left = page.locator("#fault-banner [data-lifts]")
    first = left.inner_text()
    expect(left).not_to_have_text(first)
    page.get_by_role("button", name="Lift all").click()
    page.wait_for_url("**/dashboard/watchers/?q=kube")

    expect(page.locator("#fault-banner")).to_be_hidden()


def test_it_leaves_what_other_pages_count_down_alone(live: Visit, server: Server) -> None:
    with watching(server, "allowWatchBookmarks=true", f"waits-{fresh()}/1"):
        page = live("/dashboard/watchers/?q=waits-")
        page.locator("#watching th a").first.click()
        page.wait_for_selector("#chip[data-is=live]")
        due = page.locator("#bookmark .due-in span")
        expect(due).to_have_text(re.compile(r"^\d"))
        # Whatever was written into it for a moment only, too.
        due.evaluate("""due => {
            window.seen = [];
            new MutationObserver(() => window.seen.push(due.textContent))
                .observe(due, { childList: true, characterData: true, subtree: true });
        }""")
        page.wait_for_timeout(2500)
        seen = page.evaluate("window.seen")

        assert seen
        assert [text for text in seen if "NaN" in text] == []


def test_only_what_belongs_to_the_type_is_asked_for(live: Visit) -> None:
    page = live("/dashboard/faults/")
    form = page.locator("#fault-form")
    form.get_by_role("radio", name="Stop the pump").check()

    expect(form.locator("[name=resource]")).to_be_hidden()
    expect(form.locator(".command code")).to_contain_text('{"spec":{"type":"stop-pump"')

    form.get_by_role("radio", name="429").check()

    expect(form.locator("[name=retryAfterSeconds]")).to_be_visible()
    expect(form.locator("[name=delayMilliseconds]")).to_be_hidden()


def test_a_wrong_wish_comes_back_with_the_field_marked(live: Visit, complaints: list[str]) -> None:
    page = live("/dashboard/faults/")
    put_in(page, "Freeze the reader", resource="unicorns")

    expect(page.get_by_role("alert")).to_contain_text("422 Invalid")
    expect(page.get_by_role("alert")).to_contain_text("no such resource is served")
    expect(page.locator("[name=resource]")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[name=resource]")).to_have_value("unicorns")
    complaints[:] = [each for each in complaints if "422" not in each]


def test_without_javascript_the_forms_do_it(visit: Visit) -> None:
    page = visit("/dashboard/faults/", java_script_enabled=False)
    page.get_by_role("radio", name="Hold the next watch").check()
    page.get_by_role("button", name="Put it in").click()

    expect(page.locator("#fault-banner")).to_contain_text("Hold the next watch")

    page.locator("#faults-on").get_by_role("button", name="Lift").click()

    expect(page.locator("#fault-banner")).to_be_hidden()


@pytest.mark.parametrize(("theme", "width"), EACH_LOOK)
def test_page_and_banner_fit_and_are_accessible(
    live: Visit, server: Server, theme: str, width: int
) -> None:
    server.json("POST", "/debug/faults", {"spec": {"type": "expired", "form": "http"}})
    server.json("POST", "/debug/faults", {"spec": {"type": "compact"}})
    page = live("/dashboard/faults/", width=width, theme=theme)

    expect(page.locator("#faults-on tr")).to_have_count(1)
    assert_accessible(page)
    assert_no_sideways_scroll(page)


def test_who_may_not_is_told_what_it_takes(
    chromium: Browser, server: Server, complaints: list[str]
) -> None:
    from tests.dashboard.journeys.people import somebody

    page = somebody(chromium, server, complaints)
    page.goto("/dashboard/faults/")

    expect(page.get_by_text("You may look, not touch")).to_be_visible()
    expect(page.get_by_role("button", name="Put it in")).to_be_disabled()

    token = page.locator("#fault-form [name=csrfmiddlewaretoken]").input_value()
    form: dict[str, Any] = {"type": "cut", "seconds": "5", "csrfmiddlewaretoken": token}
    answer = page.request.post("/dashboard/faults/", form=form, headers={"Referer": page.url})

    assert answer.status == 403
    assert "cannot post path" in answer.text()
    phases = [each["status"]["phase"] for each in server.json("GET", "/debug/faults")["items"]]
    assert "Active" not in phases
