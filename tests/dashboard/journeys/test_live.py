from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, delete, fresh, watching
from tests.servers import Server


def number(page: Page, selector: str) -> int:
    return int(page.locator(selector).inner_text().replace(",", "") or 0)


def test_the_overview_counts_what_is_written_without_a_reload(live: Visit, server: Server) -> None:
    page = live("/dashboard/")
    row = page.locator("[data-row=configmaps]")
    before = number(page, "[data-row=configmaps] [data-text=objects]")
    made = create(server, fresh())

    expect(row.locator("[data-text=objects]")).to_have_text(str(before + 1))
    expect(row.locator("[data-text=revision]")).to_have_text(made["metadata"]["resourceVersion"])
    expect(page.locator("#revisions [data-text=applied]")).to_have_text(
        made["metadata"]["resourceVersion"]
    )
    expect(page.locator("#spark rect").first).to_be_attached()


def test_the_flow_shows_each_event_with_who_got_it_and_when(live: Visit, server: Server) -> None:
    page, name = live("/dashboard/flow/"), fresh()
    with watching(server, f"labelSelector=app%3D{name}", "seen-here/v1 (linux)") as stream:
        create(server, name)
        stream.readline()
        change(server, name, colour="blue")
        delete(server, name)
        rows = page.locator("#journeys tr").filter(has_text=f"default/{name}")

        expect(rows).to_have_count(3)
        for row, kind in zip(rows.all(), ("DELETED", "MODIFIED", "ADDED"), strict=True):
            expect(row.locator(".type")).to_have_attribute("data-is", kind)
            expect(row.locator("[data-text=names]")).to_have_text("seen-here/v1")
            for stage in ("storage_to_cache", "cache_to_watcher", "total"):
                expect(row.locator(f"[data-text={stage}]")).to_have_text(
                    re.compile(r"^[\d.]+ m?s$")
                )


def test_the_flow_is_filled_before_the_socket_opens(visit: Visit, server: Server) -> None:
    name = fresh()
    create(server, name)
    page = visit("/dashboard/flow/", java_script_enabled=False)

    expect(page.locator("#journeys tr").filter(has_text=name)).to_have_count(1)
    expect(page.locator("#chip")).to_have_text("still page")


def test_pause_freezes_the_flow_and_counts_and_resume_shows_the_newest(
    live: Visit, server: Server
) -> None:
    page, name = live("/dashboard/flow/"), fresh()
    create(server, name)
    expect(page.locator("#journeys").get_by_text(f"default/{name}")).to_be_visible()
    page.keyboard.press("Space")
    for count in range(3):
        change(server, name, count=str(count))

    expect(page.locator("#pause")).to_have_text("Resume, 3 waiting")
    expect(page.locator("#pause")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#journeys tr").filter(has_text=name)).to_have_count(1)

    page.keyboard.press("Space")

    expect(page.locator("#pause")).to_have_text("Pause")
    expect(page.locator("#journeys tr").filter(has_text=name)).to_have_count(4)


def test_a_watcher_is_seen_while_it_watches_and_after_it_left(live: Visit, server: Server) -> None:
    page, name = live("/dashboard/watchers/"), fresh()
    agent = f"passer-by/{name}"
    with watching(server, f"labelSelector=app%3D{name}", f"{agent} (linux)") as stream:
        row = page.locator("#watching tr").filter(has_text=agent)

        expect(row).to_be_visible()
        expect(row.locator("[data-text=selector]")).to_have_text(f"-l app={name}")
        expect(row.locator("[data-text=user]")).to_have_text("admin")

        made = create(server, name)
        stream.readline()

        expect(row.locator("[data-text=delivered]")).to_have_text(
            made["metadata"]["resourceVersion"]
        )
        expect(row.locator("[data-text=lag_events]")).to_have_text("0")

    ended = page.locator("#ended tr").filter(has_text=agent)
    expect(row).to_have_count(0)
    expect(ended.locator(".end")).to_have_text("client left")
    expect(ended.locator("[data-text=delivered]")).to_have_text(made["metadata"]["resourceVersion"])


def test_the_ring_shows_the_slot_of_a_write_and_the_tick_of_a_watcher(
    live: Visit, server: Server
) -> None:
    page, name = live("/dashboard/resources/configmaps/"), fresh()
    rects = page.locator(".ring-strip rect").count()
    capacity = int(page.locator("#ring [data-text=capacity]").inner_text().replace(",", ""))
    with watching(server, "resourceVersion=0", "ring-tick/v1"):
        made = create(server, name)
        slot = page.locator("#slots tr").first

        expect(slot.locator("th")).to_have_text(made["metadata"]["resourceVersion"])
        expect(slot.locator(".type")).to_have_text("ADDED")
        expect(slot.locator("[data-text=key]")).to_have_text(f"default/{name}")
        expect(slot.locator("[data-age]")).to_have_text(re.compile(r"^\d+s$"))
        # Other journeys may have filled the ring: then its oldest slot made room.
        expect(page.locator(".ring-strip rect")).to_have_count(min(rects + 1, capacity))
        expect(page.locator("#ring [data-text=newest]")).to_have_text(
            made["metadata"]["resourceVersion"]
        )
        expect(page.locator("[data-of=watcher] title").last).to_contain_text("ring-tick/v1")


def test_ages_tick_without_the_network(live: Visit, server: Server) -> None:
    create(server, fresh())
    page = live("/dashboard/resources/configmaps/")
    age = page.locator("#slots tr [data-age]").first
    page.evaluate("window.stop()")
    first = age.inner_text()

    expect(age).not_to_have_text(first, timeout=4000)


def test_a_hidden_page_is_sent_nothing(live: Visit, server: Server) -> None:
    page = live("/dashboard/flow/")
    frames: list[str] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame))),
    )
    page.reload()
    page.wait_for_selector("#chip[data-is=live]")
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
    hide += "document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(hide % "true")
    page.wait_for_timeout(600)
    before, name = len(frames), fresh()
    create(server, name)
    page.wait_for_timeout(6000)

    assert len(frames) == before

    page.evaluate(hide % "false")
    change(server, name, colour="red")

    expect(page.locator("#journeys tr").filter(has_text=name)).to_be_visible()


def test_a_browser_that_is_signed_out_elsewhere_is_told(
    visit: Visit, complaints: list[str]
) -> None:
    page = visit("/dashboard/watchers/")
    page.wait_for_selector("#chip[data-is=live]")
    page.context.clear_cookies()
    page.context.set_offline(True)
    page.evaluate("document.dispatchEvent(new Event('none'))")
    page.context.set_offline(False)
    page.evaluate(
        """async () => {
          const {Socket} = await import('/static/dashboard/socket.js');
          const {Chip} = await import('/static/dashboard/chip.js');
          const chip = new Chip(document.getElementById('chip'), null);
          new Socket(new URL(document.body.dataset.socket, location.href.replace('http', 'ws')),
                     {onState: (state, more) => chip.show(state, more)}).start();
        }"""
    )

    expect(page.locator("#chip")).to_contain_text("signed out")
    expect(page.locator("#chip button")).to_have_text("Sign in")
