"""A watch is saved as lines and told again; selectors complete themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.accessibility import assert_accessible, assert_no_sideways_scroll
from tests.dashboard.journeys.conftest import Visit
from tests.dashboard.journeys.objects import change, create, delete, fresh
from tests.dashboard.journeys.test_attach import attach, kinds
from tests.dashboard.paths import EACH_LOOK
from tests.servers import Server

pytestmark = pytest.mark.timeout(120)


def line(kind: str, name: str, revision: int, time: str = "") -> str:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(revision)}
    if time:
        metadata["creationTimestamp"] = time
    subject = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
    return json.dumps({"type": kind, "object": subject})


def replay(page: Page, tmp_path: Path, *lines: str) -> None:
    path = tmp_path / "watch.ndjson"
    path.write_text("\n".join(lines) + "\n")
    page.locator("#replay-file").set_input_files(path)


def test_what_a_watch_said_is_saved_exactly_and_told_again(
    live: Visit, server: Server, tmp_path: Path
) -> None:
    name = fresh()
    revision = create(server, name)["metadata"]["resourceVersion"]
    change(server, name, colour="grün")
    delete(server, name)
    page = live("/dashboard/attach/")
    selector = f"app={name}"
    before = str(int(revision) - 1)
    pane = attach(
        page, resource="v1/configmaps", labels=selector, revision=before, **{"from": "revision"}
    )
    expect(pane.locator("tbody .type")).to_have_count(3)
    with page.expect_download() as download:
        pane.get_by_role("button", name="Save").click()
    saved = tmp_path / "saved.ndjson"
    download.value.save_as(saved)
    query = f"watch=true&resourceVersion={before}&labelSelector=app%3D{name}&timeoutSeconds=1"
    status, exact = server.get(f"/api/v1/configmaps?{query}&allowWatchBookmarks=false")

    assert status == 200
    assert [
        each for each in saved.read_bytes().splitlines(keepends=True) if b"BOOKMARK" not in each
    ] == exact.splitlines(keepends=True)
    assert download.value.suggested_filename.endswith(".ndjson")

    pane.get_by_role("button", name="Detach").click()
    page.locator("#replay-file").set_input_files(saved)
    told = page.locator(".replay")
    told.locator("[name=speed]").select_option("100")

    expect(told.locator(".chip")).to_have_text("replay ended")
    assert [each for each in kinds(told) if each != "BOOKMARK"] == ["ADDED", "MODIFIED", "DELETED"]
    expect(told).to_contain_text("Nothing here is live")

    told.get_by_role("button", name=f"default/{name}").first.click()

    expect(told.locator(".object")).to_contain_text(f'"name": "{name}"')


def test_a_replay_keeps_the_pace_of_the_objects_times_its_speed(
    live: Visit, tmp_path: Path
) -> None:
    page = live("/dashboard/attach/")
    replay(
        page, tmp_path,
        line("ADDED", "a", 1, "2026-01-01T00:00:00Z"),
        line("ADDED", "b", 2, "2026-01-01T00:00:08Z"),
        line("ADDED", "c", 3, "2026-01-01T05:00:00Z"),
    )  # fmt: skip
    told = page.locator(".replay")

    expect(told.locator("tbody tr")).to_have_count(1)
    expect(told).to_contain_text("1 of 3")
    expect(told.locator("[data-text=next]")).to_contain_text(" s")

    told.get_by_role("button", name="Pause").click()

    expect(told.locator(".chip")).to_have_text("replay paused")

    told.locator("[name=speed]").select_option("100")
    told.get_by_role("button", name="Resume").click()

    expect(told.locator("tbody tr")).to_have_count(3)
    expect(told.locator(".chip")).to_have_text("replay ended")

    told.get_by_role("button", name="From the start").click()

    expect(told.locator("tbody tr")).to_have_count(3)

    told.get_by_role("button", name="Close").click()

    expect(page.get_by_text("Nothing attached")).to_be_visible()


def test_a_file_that_is_no_watch_is_refused_by_its_line(live: Visit, tmp_path: Path) -> None:
    page = live("/dashboard/attach/")
    replay(page, tmp_path, line("ADDED", "a", 1), "{half a line")

    expect(page.locator(".replay .notice")).to_contain_text("Line 2 is no JSON")

    replay(page, tmp_path, '{"kind": "List"}')

    expect(page.locator(".replay .notice").nth(1)).to_contain_text("Line 1 is no event of a watch")


def test_a_table_is_watched_and_told_as_one(live: Visit, server: Server) -> None:
    name = fresh()
    create(server, name)
    page = live("/dashboard/attach/")
    page.locator("[name=as]").select_option("table")
    pane = attach(page, resource="v1/configmaps", labels=f"app={name}")
    pane.get_by_role("button", name=f"default/{name}").click()

    expect(pane.locator(".object")).to_contain_text('"kind": "Table"')
    assert "as%3Dtable" in page.url


def test_selectors_are_completed_from_the_cache(live: Visit, server: Server) -> None:
    name = f"0-{fresh()}"  # of many values the first ones are told
    create(server, name)
    page = live("/dashboard/attach/")
    page.locator("[name=resource]").select_option("v1/configmaps")
    labels = page.locator("[name=labels]")
    labels.focus()
    options = page.locator("#labels-known option")
    expect(options.first).to_have_attribute("value", "app=")
    labels.fill(f"tier!=x,app={name}")

    expect(options.first).to_have_attribute("value", f"tier!=x,app={name}")

    fields = page.locator("[name=fields]")
    fields.fill(f"metadata.name={name}")

    expect(page.locator("#fields-known option").first).to_have_attribute(
        "value", f"metadata.name={name}"
    )


@pytest.mark.parametrize(("theme", "width"), EACH_LOOK)
def test_panes_and_replays_fit_and_are_accessible(
    live: Visit, server: Server, tmp_path: Path, theme: str, width: int
) -> None:
    page = live("/dashboard/attach/", width=width, theme=theme)
    pane = attach(page, resource="v1/namespaces")
    expect(pane.locator("tbody .type").first).to_be_visible()
    replay(page, tmp_path, line("ADDED", "a", 1, "2026-01-01T00:00:00Z"))

    expect(page.locator(".replay .chip")).to_have_text("replay ended")
    assert_accessible(page)
    assert_no_sideways_scroll(page)
