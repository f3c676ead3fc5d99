"""An informer beside the server, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, delete, fresh
from tests.servers import Server

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light"), (1920, "dark")])
def test_held_it_differs_and_let_go_it_is_equal(
    live: Visit, server: Server, width: int, theme: str
) -> None:
    name, other = fresh(), fresh()
    create(server, name)
    create(server, other)
    page = live("/dashboard/informers/", width=width, theme=theme)
    page.locator("[name=resource]").select_option("v1/configmaps")
    page.locator("[name=labels]").fill(f"app in ({name},{other})")
    page.get_by_role("button", name="Attach").click()
    informer = page.locator(".informer")

    expect(informer.locator(".chip")).to_have_text("live")
    expect(informer).to_contain_text("equal to the server: 2 same")

    informer.get_by_role("button", name="Hold the queue").click()
    expect(informer.locator(".chip")).to_have_text("held")
    change(server, name, colour="blue")
    change(server, name, colour="green")
    delete(server, other)

    expect(informer).to_contain_text("2 differ")
    row = informer.locator("[data-of=rows] tr").filter(has_text=f"default/{name}")
    expect(row).to_contain_text("behind")
    expect(row).to_contain_text("data")
    expect(informer.locator("[data-of=pending] tr").first).to_contain_text("Updated@")
    expect(informer.locator("[data-of=log]")).to_contain_text("joined 1 of its key")
    assert_accessible(page)
    assert_no_sideways_scroll(page)

    informer.get_by_role("button", name="410").click()
    informer.get_by_role("button", name="Let it pop").click()

    expect(informer).to_contain_text("equal to the server: 1 same", timeout=15_000)
    expect(informer.locator("[data-text=expirations]")).to_have_text("1")

    page.reload()
    expect(informer).to_contain_text("equal to the server: 1 same")
    informer.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("No informer attached")).to_be_visible()
