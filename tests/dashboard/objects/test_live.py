from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from dashboard.objects.listing import Listed, Wanted
from dashboard.objects.live import ObjectsChannel, Rows
from dashboard.objects.tables import TableOf, sorted_rows
from listwatch.protocol.errors import expired
from listwatch.registry.resources import ResourceTable
from listwatch.testing.clock import FakeClock
from tests.dashboard.objects.visitor import Visitor

ABOVE_DOUBLES = 18014398509481984  # 2^54: doubles tell no odd number from its neighbours


def config_map(name: str, revision: int, **labels: str) -> dict[str, Any]:
    metadata = {
        "name": name, "namespace": "default", "resourceVersion": str(revision), "labels": labels,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {}}


def rows_of(*names: str, revision: int = 10, last_key: str = "", remaining: int = 0) -> Rows:
    wanted = Wanted.read(ResourceTable(), "configmaps", {})
    table = TableOf(wanted.resource, FakeClock())
    rows = [table.row(config_map(name, revision)) for name in names]
    made = Rows(wanted)
    made.replace(Listed(table, rows, revision, "", last_key, remaining or None))
    made.take()
    return made


def test_an_error_changes_no_row_and_asks_for_a_new_list() -> None:
    """ADDED(10), ERROR(410), DELETED(9): the error is no state, and what follows it is stale."""
    rows = rows_of()

    assert rows.apply("ADDED", config_map("a", 11))
    assert rows.apply("ERROR", expired("too old resource version: 9 (10)").to_dict()) is False
    assert rows.revision == "11"
    assert [row["name"] for row in rows.take()["table"]["rows"]] == ["a"]


def test_revisions_beyond_what_a_double_holds_are_told_apart() -> None:
    rows = rows_of("a", revision=ABOVE_DOUBLES)
    rows.apply("MODIFIED", config_map("a", ABOVE_DOUBLES + 1))
    taken = rows.take()

    assert taken["revision"] == "18014398509481985"
    assert [row["revision"] for row in taken["table"]["rows"]] == ["18014398509481985"]


def test_of_many_events_to_one_object_the_newest_alone_is_sent() -> None:
    rows = rows_of("a")
    for revision in range(11, 40):
        rows.apply("MODIFIED", config_map("a", revision))
    rows.apply("ADDED", config_map("b", 40))
    rows.apply("DELETED", config_map("b", 41))
    assert rows.waiting == 31
    taken = rows.take()

    assert [row["revision"] for row in taken["table"]["rows"]] == ["39"]
    assert taken["flashes"] == {"default/a": "MODIFIED"}
    assert taken["revision"] == "41"


def test_what_is_made_behind_the_page_is_counted_and_not_shown() -> None:
    rows = rows_of("a", "b", last_key="default/b", remaining=7)
    rows.apply("ADDED", config_map("aa", 11))
    rows.apply("ADDED", config_map("z", 12))
    taken = rows.take()

    assert taken["remaining"] == 8
    assert taken["table"]["order"] == ["default/a", "default/aa", "default/b"]


def test_a_bookmark_moves_the_revision_alone() -> None:
    rows = rows_of("a")
    rows.apply("BOOKMARK", {"metadata": {"resourceVersion": "99"}})
    taken = rows.take()

    assert (taken["revision"], taken["table"], taken["flashes"]) == ("99", None, {})


def test_numbers_sort_by_size_and_ages_by_youth() -> None:
    rows = [
        {"id": name, "c1": cell, "created": created}
        for name, cell, created in (("a", "10", 1.0), ("b", "9", 3.0), ("c", "<none>", 2.0))
    ]

    assert [row["id"] for row in sorted_rows(rows, "c1")] == ["b", "a", "c"]
    assert [row["id"] for row in sorted_rows(rows, "-c1")] == ["c", "a", "b"]
    assert [row["id"] for row in sorted_rows(rows, "created")] == ["b", "c", "a"]
    assert [row["id"] for row in sorted_rows(rows, "nothing")] == ["a", "b", "c"]


async def _until(condition: Any) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to pass")


async def test_a_table_is_a_real_watch_that_ends_with_the_page(visitor: Visitor) -> None:
    runtime = visitor.runtime
    await visitor.make("configmaps", "default", "a")
    from django.contrib.auth.models import User

    user = await User.objects.aget(username="someone")
    channel = ObjectsChannel(runtime, user, "configmaps?namespace=default", lambda: None)
    channel.show(True)
    cacher = runtime.caches.cacher(visitor.context("configmaps").resource.storage)
    await _until(lambda: cacher.statistics().watchers == 1)
    first = channel.take() or {}
    await visitor.make("configmaps", "default", "b")
    await visitor.make("configmaps", "kube-system", "elsewhere")
    await _until(lambda: channel.dirty)
    second = channel.take() or {}

    assert [row["name"] for row in first["table"]["rows"]] == ["a"]
    assert [row["name"] for row in second["table"]["rows"]] == ["b"]
    assert {w.statistics().agent for w in cacher.watchers()} == {"listwatch-dashboard"}

    channel.show(False)
    await _until(lambda: cacher.statistics().watchers == 0)


async def test_who_may_not_list_is_told_so_in_the_channel(guest: Visitor) -> None:
    from django.contrib.auth.models import User

    user = await User.objects.aget(username="someone")
    woken = SimpleNamespace(count=0)

    def wake() -> None:
        woken.count += 1

    channel = ObjectsChannel(guest.runtime, user, "secrets", wake)
    channel.show(True)
    await _until(lambda: woken.count)
    taken = channel.take() or {}

    assert taken["status"]["code"] == 403
    channel.close()
