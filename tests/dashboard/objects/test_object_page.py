from __future__ import annotations

from typing import Any

import pytest

from tests.dashboard.objects.visitor import Visitor


async def lines(visitor: Visitor, path: str) -> list[str]:
    compared = (await visitor.json(path))["compared"]
    return [f"{line['sign']}{line['text']}" for line in compared["lines"] if line["sign"] in "+-"]


async def test_the_yaml_stands_without_managed_fields_which_are_folded(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    data = await visitor.json("configmaps/default/a.json")

    assert "managedFields" not in data["yaml"]
    assert data["managed"].startswith("managedFields:")
    assert data["object"]["metadata"]["managedFields"]
    page = await visitor.open("configmaps/default/a/")
    assert "managedFields, 1 manager" in page.text
    assert "kubectl get configmaps a -n default -o yaml" in page.text


async def test_conditions_stand_with_their_reasons(visitor: Visitor) -> None:
    condition = {
        "type": "Ready", "status": "False", "reason": "Waiting", "message": "for a node",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    spec = {"containers": [{"name": "main", "image": "app:1"}]}
    await visitor.make("pods", "default", "web", spec=spec)
    ctx = visitor.context("pods", "default", "web", subresource="status")
    patch = {"status": {"conditions": [condition]}}
    await visitor.runtime.registry.patch(ctx, "application/merge-patch+json", patch)
    [found] = (await visitor.json("pods/default/web.json"))["conditions"]

    assert (found["type"], found["status"], found["at"]) == ("Ready", "False", 1767225600.0)
    assert "Waiting: for a node" in (await visitor.open("pods/default/web/")).text


async def test_what_is_not_there_is_404_and_a_place_too_many_leads_to_the_list(
    visitor: Visitor,
) -> None:
    assert (await visitor.json("configmaps/default/a.json", code=404))["reason"] == "NotFound"
    assert (await visitor.open("configmaps/default/a/")).code == 404
    assert (
        await visitor.open("namespaces/x/default/")
    ).location == "/dashboard/objects/namespaces/"
    assert (await visitor.open("namespaces/default/")).code == 200


async def test_history_holds_every_revision_and_tells_any_two_apart(visitor: Visitor) -> None:
    made = await visitor.make("configmaps", "default", "a", data={"k": "1"})
    for value in ("2", "3"):
        await visitor.patch("configmaps", "default", "a", {"data": {"k": value}})
    path = "configmaps/default/a.json?view=history"
    revisions = (await visitor.json(path))["revisions"]
    newest, middle, oldest = (each["revision"] for each in revisions)

    assert [each["type"] for each in revisions] == ["MODIFIED", "MODIFIED", "ADDED"]
    assert oldest == str(made.revision)
    assert await lines(visitor, path) == ['-  k: "2"', '+  k: "3"']
    assert await lines(visitor, f"{path}&older={oldest}&newer={newest}") == [
        '-  k: "1"',
        '+  k: "3"',
    ]
    assert await lines(visitor, f"{path}&older={oldest}&newer={middle}") == [
        '-  k: "1"',
        '+  k: "2"',
    ]
    status = await visitor.json(f"{path}&older=1", code=410)
    assert f"the oldest that it holds is {oldest}" in status["message"]
    old = await visitor.json(f"configmaps/default/a.json?at={oldest}")
    assert 'k: "1"' in old["yaml"]


async def test_history_outlives_its_object(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    page = await visitor.open("configmaps/default/a/?view=delete")
    gone = await visitor.press("configmaps/default/a/?view=delete", page, "_delete")

    assert gone.location == "/dashboard/objects/configmaps/default/a/?view=history"
    page = await visitor.open("configmaps/default/a/?view=history")
    assert page.code == 200
    assert "This object was deleted" in page.text
    data = await visitor.json("configmaps/default/a.json?view=history")
    assert [each["type"] for each in data["revisions"]] == ["DELETED", "ADDED"]
    deleted, added = (each["revision"] for each in data["revisions"])
    for revision in (deleted, added):
        old = await visitor.json(f"configmaps/default/a.json?at={revision}")
        assert 'k: "1"' in old["yaml"]


@pytest.mark.parametrize("view", ["", "events", "owners", "edit", "delete"])
async def test_what_was_deleted_leads_to_its_history(visitor: Visitor, view: str) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    path = "configmaps/default/a/?view=delete"
    await visitor.press(path, await visitor.open(path), "_delete")
    page = await visitor.open(f"configmaps/default/a/?view={view}")

    assert page.code == 404
    assert 'configmaps "a" not found' in page.text
    assert 'href="/dashboard/objects/configmaps/default/a/?view=history"' in page.html
    status = await visitor.json(f"configmaps/default/a.json?view={view}", code=404)
    assert (status["kind"], status["reason"]) == ("Status", "NotFound")

    never = await visitor.open(f"configmaps/default/never/?view={view}")
    assert never.code == 404
    assert "view=history" not in never.html


@pytest.mark.parametrize("parameter", ["newer", "older", "at"])
async def test_what_is_no_revision_is_refused_by_the_name_of_its_parameter(
    visitor: Visitor, parameter: str
) -> None:
    await visitor.make("configmaps", "default", "a", data={"k": "1"})
    view = "" if parameter == "at" else "view=history&"
    path = f"configmaps/default/a.json?{view}{parameter}=abc"
    status = await visitor.json(path, code=400)

    assert status["message"] == f'{parameter}: "abc" is no revision'


async def test_events_about_an_object_are_found_by_its_uid(visitor: Visitor) -> None:
    await visitor.make("configmaps", "default", "a")
    uid = (await visitor.get("configmaps", "default", "a"))["metadata"]["uid"]
    for name, about in (("a.1", uid), ("a.2", "another-life")):
        await visitor.make(
            "events", "default", name, reason="Seen", message=f"about {name}", type="Warning",
            involvedObject={"kind": "ConfigMap", "namespace": "default", "name": "a", "uid": about},
            lastTimestamp="2026-01-01T00:00:00Z",
        )  # fmt: skip
    events = (await visitor.json("configmaps/default/a.json?view=events"))["events"]

    assert [row["message"] for row in events["rows"]] == ["about a.1"]
    assert events["rows"][0]["last"] == 1767225600.0


def owned(kind: str, owner: Any, api_version: str = "v1") -> dict[str, Any]:
    reference = {"apiVersion": api_version, "kind": kind, "name": owner[0], "uid": owner[1]}
    return {"ownerReferences": [reference]}


async def test_the_owner_tree_goes_up_and_down(visitor: Visitor) -> None:
    async def made(name: str, metadata: dict[str, Any] | None = None) -> tuple[str, str]:
        await visitor.make("configmaps", "default", name, metadata=metadata or {})
        return name, (await visitor.get("configmaps", "default", name))["metadata"]["uid"]

    root = await made("root")
    middle = await made("middle", owned("ConfigMap", root))
    await made("leaf", owned("ConfigMap", middle))
    await made("orphan", owned("ConfigMap", ("gone", "11111111-2222-3333-4444-555555555555")))

    async def tree(name: str) -> list[tuple[int, str, str]]:
        data = await visitor.json(f"configmaps/default/{name}.json?view=owners")
        rows = data["family"]["rows"]
        return [(row["depth"], row["name"], row.get("state", "")) for row in rows]

    assert await tree("middle") == [(0, "root", ""), (1, "middle", ""), (2, "leaf", "")]
    assert await tree("leaf") == [(0, "root", ""), (1, "middle", ""), (2, "leaf", "")]
    assert await tree("orphan") == [(0, "gone", "gone"), (1, "orphan", "")]


@pytest.mark.parametrize("view", ["", "history", "events", "owners", "edit", "delete"])
async def test_every_side_is_for_those_who_may_get_the_object(guest: Visitor, view: str) -> None:
    await guest.make("secrets", "default", "a", stringData={"token": "hidden"})
    path = f"secrets/default/a.json?view={view}"
    status = await guest.json(path, code=403)

    assert 'User "someone" cannot get resource "secrets"' in status["message"]

    await guest.allow("get", "secrets", "default")

    assert (await guest.json(path))["head"]["name"] == "a"
    page = await guest.open("secrets/default/a/")
    assert "view=edit" not in page.html
    assert "view=delete" not in page.html
