from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from dashboard.objects import listing
from listwatch.api.tables import TableForm
from listwatch.protocol.objects import decode
from tests.dashboard.objects.visitor import Visitor

WIDGETS: dict[str, Any] = {
    "group": "example.com",
    "scope": "Namespaced",
    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
    "versions": [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {
                            "type": "object",
                            "properties": {"size": {"type": "integer"}, "on": {"type": "boolean"}},
                        }
                    },
                }
            },
            "selectableFields": [{"jsonPath": ".spec.size"}],
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "On", "type": "boolean", "jsonPath": ".spec.on", "priority": 1},
            ],
        }
    ],
}


async def with_widgets(visitor: Visitor) -> None:
    await visitor.make("customresourcedefinitions", "", "widgets.example.com", spec=WIDGETS)
    for _ in range(200):
        if any(r.resource == "widgets" for r in visitor.runtime.resources.served()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the definition is not served")


async def names(visitor: Visitor, path: str) -> list[str]:
    return [row["name"] for row in (await visitor.json(path))["rows"]]


async def test_the_cells_are_those_that_the_api_prints(visitor: Visitor) -> None:
    spec = {"containers": [{"name": "main", "image": "app:1"}]}
    await visitor.make("pods", "default", "web-0", spec=spec, metadata={"labels": {"app": "web"}})
    data = await visitor.json("pods.json")
    resource = visitor.context("pods").resource
    version = await visitor.runtime.registry.get(visitor.context("pods", "default", "web-0"))
    form = TableForm(resource, visitor.runtime.clock)
    printed = orjson.loads(form.cells(decode(version.encoded, version.revision)))

    [row] = data["rows"]
    titles = [column.name for column in form.columns if column.name != "Name"]
    assert [column["name"] for column in data["columns"]] == titles
    assert [row[f"c{index}"] for index in range(len(printed))] == [
        "" if cell is None else str(cell) for cell in printed
    ]
    assert row["state"] == "busy"
    assert row["revision"] == str(version.revision)


async def test_a_custom_kind_has_its_own_columns_and_selectable_fields(visitor: Visitor) -> None:
    await with_widgets(visitor)
    for name, size in (("a", 3), ("b", 5)):
        await visitor.make("widgets", "default", name, spec={"size": size, "on": True})
    data = await visitor.json("widgets.example.com.json")

    assert [(c["name"], c["wide"]) for c in data["columns"]] == [("Size", False), ("On", True)]
    assert data["selectable_fields"] == ["metadata.name", "metadata.namespace", "spec.size"]
    assert await names(visitor, "widgets.example.com.json?fields=spec.size%3D5") == ["b"]

    status = await visitor.json("widgets.example.com.json?fields=spec.on%3Dtrue", code=400)
    assert "spec.on" in status["message"]
    page = await visitor.open("widgets.example.com/")
    assert '<option value="spec.size=">' in page.html


async def test_the_address_narrows_and_sorts(visitor: Visitor) -> None:
    await visitor.make("namespaces", "", "shop")
    for namespace, name, app in (("default", "b", "x"), ("default", "a", "y"), ("shop", "c", "x")):
        metadata = {"labels": {"app": app}}
        await visitor.make("configmaps", namespace, name, metadata=metadata, data={name: "1"})

    assert await names(visitor, "configmaps.json") == ["a", "b", "c"]
    assert await names(visitor, "configmaps.json?namespace=shop") == ["c"]
    assert await names(visitor, "configmaps.json?labels=app%3Dx") == ["b", "c"]
    assert await names(visitor, "configmaps.json?sort=-name") == ["c", "b", "a"]
    assert (await visitor.json("nodes.json?namespace=x", code=400))["reason"] == "BadRequest"
    assert (await visitor.json("nothing.json", code=404))["reason"] == "NotFound"


async def test_a_namespace_that_is_not_there_stays_the_one_that_is_looked_at(
    visitor: Visitor,
) -> None:
    page = await visitor.open("configmaps/?namespace=nope")

    assert "<option selected>nope</option>" in page.html
    assert "kubectl get configmaps -n nope" in page.text
    assert "--from-literal=colour=blue -n nope" in page.text
    everywhere = await visitor.open("configmaps/")
    assert "nope" not in everywhere.html
    assert " -n " not in everywhere.text


async def test_pages_are_of_one_revision(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "ROWS", 2)
    for name in "abcde":
        await visitor.make("configmaps", "default", name)
    seen, path = [], "configmaps.json"
    while True:
        data = await visitor.json(path)
        seen += [row["name"] for row in data["rows"]]
        if not data["next"]:
            break
        await visitor.make("configmaps", "default", f"d{len(seen)}")
        path = f"configmaps.json?after={data['next']}"

    assert seen == list("abcde")


async def test_an_old_state_is_listed_as_long_as_it_is_held(visitor: Visitor) -> None:
    made = await visitor.make("configmaps", "default", "a")
    await visitor.make("configmaps", "default", "b")

    assert await names(visitor, f"configmaps.json?at={made.revision}") == ["a"]
    assert "at: " in (await visitor.json("configmaps.json?at=x", code=400))["message"]


async def test_a_revision_that_nobody_wrote_yet_is_refused_at_once(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    progress = visitor.runtime.caches.progress
    wait_until = progress.wait_until

    async def waits(revision: int, seconds: float) -> None:
        waited.append(revision)
        await wait_until(min(revision, progress.applied), seconds)

    await visitor.make("configmaps", "default", "a")
    monkeypatch.setattr(progress, "wait_until", waits)
    status = await visitor.json("configmaps.json?at=99999999", code=400)

    assert "at: revision 99999999 is not reached yet: the newest is" in status["message"]
    assert 99999999 not in waited


async def test_what_is_no_column_is_not_sorted_by(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a")
    status = await visitor.json("configmaps.json?sort=-colour", code=400)

    assert 'sort: there is no column "colour"' in status["message"]
    assert "namespace, name, c1, created" in status["message"]


async def test_who_may_list_somewhere_is_told_where(guest: Visitor) -> None:
    await guest.make("namespaces", "", "shop")
    await guest.make("configmaps", "shop", "mine")
    await guest.make("configmaps", "default", "others")

    assert (await guest.open("configmaps/")).code == 403

    await guest.allow("list", "configmaps", "shop")
    page = await guest.open("configmaps/")

    assert page.code == 403
    assert 'User "someone" cannot list resource "configmaps"' in page.text
    assert "?namespace=shop" in page.html
    assert await names(guest, "configmaps.json?namespace=shop") == ["mine"]
    assert (await guest.json("configmaps.json?namespace=default", code=403))["code"] == 403


async def test_an_empty_table_says_what_would_fill_it(visitor: Visitor) -> None:
    page = await visitor.open("configmaps/")

    assert "No ConfigMap here" in page.text
    assert "kubectl create configmap demo" in page.text
