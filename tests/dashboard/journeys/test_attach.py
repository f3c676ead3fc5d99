from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Locator, Page, expect

from tests.dashboard.journeys.conftest import Visit, listen
from tests.dashboard.journeys.objects import change, create, delete, fresh
from tests.servers import Server, running


def attach(page: Page, **fields: str) -> Locator:
    """Fill the form and attach; the new pane."""
    before = page.locator(".pane").count()
    form = page.locator("#attach-form")
    for name in ("resource", "from", "as"):
        if name in fields:
            form.locator(f"[name={name}]").select_option(fields[name])
    for name in ("namespace", "labels", "fields", "revision"):
        if name in fields:
            form.locator(f"[name={name}]").fill(fields[name])
    form.get_by_role("button", name="Attach").click()
    return page.locator(".pane").nth(before)


def kinds(pane: Locator) -> list[str]:
    """Types of the events a pane shows, oldest first."""
    return list(reversed(pane.locator("tbody .type").all_inner_texts()))


def test_a_watcher_is_attached_paused_resumed_and_detached(live: Visit, server: Server) -> None:
    name = fresh()
    create(server, name)
    page = live("/dashboard/attach/")
    pane = attach(page, resource="v1/configmaps", namespace="default", labels=f"app={name}")

    expect(pane.locator(".chip")).to_have_text("live")
    expect(pane.locator("h2")).to_have_text(f"configmaps -n default -l app={name}")
    expect(pane.locator(".command")).to_contain_text(
        f"kubectl get configmaps -n default -l app={name} -w --output-watch-events"
    )
    expect(pane.locator("tbody tr")).to_have_count(2)
    assert kinds(pane) == ["ADDED", "BOOKMARK"]

    change(server, name, colour="blue")
    expect(pane.locator("tbody tr")).to_have_count(3)

    pane.get_by_role("button", name="Pause").click()
    expect(pane.locator(".chip")).to_have_text("paused")
    for count in range(4):
        change(server, name, count=str(count))
    expect(pane.locator("[data-do=pause]")).to_have_text("Resume, 4 waiting")
    expect(pane.locator("tbody tr")).to_have_count(3)

    pane.locator("[data-do=pause]").click()
    expect(pane.locator("tbody tr")).to_have_count(7)
    delete(server, name)
    expect(pane.locator("tbody tr")).to_have_count(8)
    assert kinds(pane) == ["ADDED", "BOOKMARK", *["MODIFIED"] * 5, "DELETED"]

    pane.get_by_role("button", name="Detach").click()
    expect(page.locator(".pane")).to_have_count(0)
    expect(page.get_by_text("Nothing attached")).to_be_visible()


def test_each_row_keeps_the_revision_of_its_event(visit: Visit) -> None:
    """Also rows that stand before the pane itself is filled for the first time."""
    page = visit("/dashboard/attach/")
    shown = page.evaluate(
        """async () => {
            const { copyOf, fill } = await import("/static/dashboard/bind.js");
            const { KeyedTable } = await import("/static/dashboard/tables.js");
            const pane = copyOf("pane");
            const table = new KeyedTable(pane.querySelector("tbody"));
            const event = (id) => ({ id, type: "ADDED", key: "a", revision: String(id), at: 1 });
            for (const id of [5, 6]) table.put(event(id));
            fill(pane, { revision: "6" });
            table.put(event(7));
            fill(pane, { revision: "7" });
            const cells = pane.querySelectorAll("[data-text=revision]");
            return [...cells].map((each) => each.textContent);
        }"""
    )

    assert shown == ["7", "5", "6", "7"]


def test_panes_that_differ_in_start_or_form_alone_are_told_apart(live: Visit) -> None:
    page = live("/dashboard/attach/")
    name = fresh()
    wishes = [
        {"from": "revision", "revision": "1"},
        {"from": "now", "as": "table"},
        {"from": "any", "as": "metadata"},
        {"from": "state", "as": "full"},
    ]
    for wish in wishes:
        attach(page, resource="v1/configmaps", labels=f"app={name}", **wish)
    expect(page.locator(".pane .chip")).to_have_text([re.compile("live|ended|history lost")] * 4)
    same = f"configmaps -A -l app={name}"

    expect(page.locator(".pane h2")).to_have_text([
        f"{same} from revision 1", f"{same} from now as Table", f"{same} from 0 as metadata", same,
    ])  # fmt: skip


def test_it_is_a_watcher_like_any_other(live: Visit, server: Server) -> None:
    name = fresh()
    page, table = live("/dashboard/attach/"), live("/dashboard/watchers/")
    pane = attach(page, resource="v1/configmaps", labels=f"app={name}")
    row = table.locator("#watching tr").filter(has_text=f"-l app={name}")

    expect(row.locator("th")).to_have_text("listwatch-dashboard")

    pane.get_by_role("button", name="Detach").click()
    ended = table.locator("#ended tr").filter(has_text=f"-l app={name}")

    expect(ended.locator(".end")).to_have_text("detached")


def test_several_stand_side_by_side_and_hear_the_same_write_differently(
    live: Visit, server: Server
) -> None:
    name, other = fresh(), fresh()
    create(server, name)
    page = live("/dashboard/attach/")
    loses = attach(page, resource="v1/configmaps", labels=f"app={name}", **{"from": "now"})
    gains = attach(page, labels=f"app={other}")
    body = {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": other}},
    }  # fmt: skip
    expect(gains.locator(".chip")).to_have_text("live")
    expect(loses.locator(".chip")).to_have_text("live")
    server.json("PUT", f"/api/v1/namespaces/default/configmaps/{name}", body)

    expect(loses.locator("tbody .type")).to_have_text("DELETED")
    expect(gains.locator("tbody .type")).to_have_text("ADDED")
    left, right = loses.bounding_box(), gains.bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]


def test_what_the_api_would_refuse_is_shown_as_its_status(live: Visit) -> None:
    page = live("/dashboard/attach/")
    bad = attach(page, resource="v1/pods", labels="app in (web")

    expect(bad.locator(".chip")).to_have_text("refused")
    expect(bad.locator(".notice")).to_contain_text("400 BadRequest")

    unknown = attach(page, labels="", fields="spec.colour=blue")

    expect(unknown.locator(".notice")).to_contain_text("400 BadRequest")
    expect(unknown.locator(".notice")).to_contain_text("spec.colour")


def test_a_future_of_revisions_is_refused_in_words(live: Visit) -> None:
    page = live("/dashboard/attach/")
    page.locator("[name=from]").select_option("revision")

    expect(page.locator("[name=revision]")).to_be_visible()

    pane = attach(page, resource="v1/pods", revision="18446744073709551616")

    expect(pane.locator(".notice")).to_contain_text("value out of range")


def test_an_object_is_opened_and_the_view_holds_still_for_it(live: Visit, server: Server) -> None:
    name = fresh()
    create(server, name, colour="green")
    page = live("/dashboard/attach/")
    pane = attach(page, resource="v1/configmaps", labels=f"app={name}")
    pane.get_by_role("button", name=f"default/{name}").click()

    expect(pane.locator(".object")).to_contain_text('"colour": "green"')
    expect(pane.locator(".chip")).to_have_text("paused")

    change(server, name, colour="blue")
    expect(pane.locator("[data-do=pause]")).to_have_text("Resume, 1 waiting")
    pane.get_by_role("button", name=f"default/{name}").focus()
    page.keyboard.press("Enter")

    expect(pane.locator(".object")).to_have_count(0)


def test_the_address_carries_what_is_attached(live: Visit, server: Server) -> None:
    name = fresh()
    page = live("/dashboard/attach/")
    attach(page, resource="v1/configmaps", labels=f"app={name}", **{"from": "now"})
    attach(page, resource="v1/secrets", labels="")
    (first, second) = parse_qs(urlsplit(page.url).query)["watch"]

    assert parse_qs(first)["labels"] == [f"app={name}"]
    assert parse_qs(second)["resource"] == ["v1/secrets"]

    page.reload()

    expect(page.locator(".pane .chip")).to_have_text(["live", "live"])
    expect(page.locator(".pane h2").first).to_have_text(f"configmaps -A -l app={name} from now")


def test_after_a_restart_it_goes_on_from_its_last_revision(
    chromium: Browser, tmp_path: Path, complaints: list[str]
) -> None:
    with running(tmp_path) as server:
        context = chromium.new_context(base_url=server.url)
        page = context.new_page()
        page.goto(server.login_link())
        listen(page, server, complaints)
        create(server, "web")
        page.goto("/dashboard/attach/")
        page.wait_for_selector("#chip[data-is=live]")
        pane = attach(page, resource="v1/configmaps")
        expect(pane.locator("tbody .type")).to_have_count(2)
        server.kill()

        expect(page.locator("#chip")).to_contain_text("again in")
        expect(page.locator("#chip button")).to_have_text("Retry now")

        server.start()
        change(server, "web", colour="blue")

        expect(page.locator("#chip")).to_contain_text("live", timeout=30_000)
        # Not the state again: the one event that came meanwhile.
        expect(pane.locator("tbody .type")).to_have_text(["MODIFIED"])
        expect(pane.locator(".chip")).to_have_text("live")
        context.close()
    lost = ("WebSocket", "ERR_CONNECTION_")  # a picture may have been on its way, too
    complaints[:] = [each for each in complaints if not any(word in each for word in lost)]


def test_the_development_server_carries_the_same_socket(
    chromium: Browser, daphne_server: Server, complaints: list[str]
) -> None:
    context = chromium.new_context(base_url=daphne_server.url)
    page, name = context.new_page(), fresh()
    page.goto(daphne_server.login_link())
    listen(page, daphne_server, complaints)
    page.goto("/dashboard/attach/")
    page.wait_for_selector("#chip[data-is=live]")
    pane = attach(page, resource="v1/configmaps", labels=f"app={name}", **{"from": "now"})
    expect(pane.locator(".chip")).to_have_text("live")
    create(daphne_server, name)

    expect(pane.locator("tbody .type")).to_have_text(["ADDED"])
    context.close()


def test_what_there_is_to_copy_follows_the_form(live: Visit) -> None:
    page = live("/dashboard/attach/")
    page.locator("[name=labels]").fill("app=copied")
    page.locator("[name=labels]").blur()
    page.get_by_text("Copy as", exact=True).click()

    expect(page.locator("#copies").get_by_label("kubectl", exact=True)).to_contain_text(
        "kubectl get pods -A -l app=copied -w --output-watch-events"
    )
    assert "app=copied" not in page.url
