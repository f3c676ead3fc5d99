"""The lists, their filters, deletion and history."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from listwatch.faults import Fault, FaultSpec, FaultType
from listwatch.protocol.errors import StatusError
from listwatch.schemas.kinds import kept_resources
from tests.admin.visitor import Page, Visitor

KINDS = sorted(
    ("events" if r.group == "events.k8s.io" else "") + r.kind.lower() for r in kept_resources()
)


def shown(page: Page) -> list[str]:
    """The keys of the objects in a list, by their links."""
    return re.findall(
        r'class="field-name[^"]*"><a href="/admin/objects/\w+/([^"]+)/change/', page.html
    )


async def config_maps(visitor: Visitor) -> None:
    for namespace, name, labels in (
        ("default", "a", {"tier": "front"}),
        ("default", "b", {"tier": "back"}),
        ("shop", "a", {"tier": "front", "old": ""}),
        ("shop", "web", {}),
    ):
        await visitor.make(
            "configmaps", namespace, name, metadata={"labels": labels}, data={"k": "v"}
        )


@pytest.fixture
async def shop(visitor: Visitor) -> Visitor:
    await visitor.make("namespaces", "", "shop")
    await config_maps(visitor)
    return visitor


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_has_a_list_and_a_form(visitor: Visitor, kind: str) -> None:
    listed, form = await visitor.open(f"{kind}/"), await visitor.open(f"{kind}/add/")

    assert (listed.code, form.code) == (200, 200)
    assert "apiVersion:" in form.document


@pytest.mark.parametrize("kind", KINDS)
async def test_the_example_of_every_kind_can_be_created(visitor: Visitor, kind: str) -> None:
    form = await visitor.open(f"{kind}/add/")

    page = await visitor.press(f"{kind}/add/", form, "_check", document=form.document)

    assert page.context["faults"] == []
    assert page.code == 200


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("", ["default/a", "default/b", "shop/a", "shop/web"]),
        ("?namespace=shop", ["shop/a", "shop/web"]),
        ("?q=web", ["shop/web"]),
        ("?labels=tier%3Dfront", ["default/a", "shop/a"]),
        ("?labels=tier+in+(front,back),!old", ["default/a", "default/b"]),
        ("?labels=!tier", ["shop/web"]),
        ("?labels=tier%3Dfront&namespace=shop", ["shop/a"]),
        ("?labels=nothing", []),
    ],
)
async def test_a_list_is_filtered(shop: Visitor, query: str, keys: list[str]) -> None:
    page = await shop.open(f"configmap/{query}")

    assert shown(page) == keys


async def test_a_selector_that_cannot_be_read_is_explained(shop: Visitor) -> None:
    page = await shop.open("configmap/?labels=a+b")

    assert shown(page) == []
    assert "found 'b', expected: in, notin, =, ==, !=, gt, lt" in page.text


async def test_a_list_has_kubectls_columns(shop: Visitor) -> None:
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "main", "image": "i:1"}]},
    }}  # fmt: skip
    await shop.make("deployments", "shop", "x", spec=spec)

    page = await shop.open("deployment/")

    heads = [h.strip() for h in re.findall(r'<div class="text">.*?>([A-Z][^<]*)<', page.html)]
    assert heads == ["Name", "Namespace", "Ready", "Up-to-date", "Available", "Age", "Labels"]
    assert "0/2" in page.text


async def test_a_label_leads_to_all_that_have_it(shop: Visitor) -> None:
    page = await shop.open("configmap/")

    assert '<a href="?labels=tier%3Dfront">tier=front</a>' in page.html


async def test_an_empty_list_says_what_to_do(visitor: Visitor) -> None:
    page = await visitor.open("lease/")

    assert "There are no Leases yet. Write one" in page.text


async def test_the_front_page_counts_the_objects(shop: Visitor) -> None:
    page = Page(await shop.client.get("/admin/"))

    found = re.findall(
        r'href="/admin/objects/configmap/">([^<]*)</a>\s*<span class="count">(\d+)<', page.html
    )
    assert found == [("ConfigMaps", "4")]
    assert page.text.index("apps/v1") > page.text.index("ConfigMaps")


async def test_no_page_has_an_inline_script_or_style(shop: Visitor) -> None:
    paths = (
        "configmap/", "configmap/add/", "configmap/shop/a/change/", "configmap/shop/a/delete/",
        "configmap/shop/a/history/",
    )  # fmt: skip

    for path in paths:
        page = await shop.open(path)
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", page.html), path
        assert "<style" not in page.html, path
        assert not re.search(r'\sstyle="|\son\w+="', page.html), path


# Deletion


async def is_there(
    visitor: Visitor, namespace: str, name: str, resource: str = "configmaps"
) -> bool:
    try:
        await visitor.get(resource, namespace, name)
    except StatusError:
        return False
    return True


async def test_an_object_is_deleted_after_a_question(shop: Visitor) -> None:
    path = "configmap/shop/a/delete/"
    asked = await shop.open(path)
    still = await is_there(shop, "shop", "a")

    page = await shop.press(path, asked, "sure")

    assert "Delete shop/a?" in asked.text
    assert still
    assert (page.code, page.location) == (302, "/admin/objects/configmap/")
    assert not await is_there(shop, "shop", "a")


async def test_an_object_that_has_changed_since_the_question_is_asked_about_again(
    shop: Visitor,
) -> None:
    path = "configmap/shop/a/delete/"
    asked = await shop.open(path)
    await shop.patch("configmaps", "shop", "a", {"data": {"k": "new"}})

    refused = await shop.press(path, asked, "sure")
    still = await is_there(shop, "shop", "a")
    done = await shop.press(path, refused, "sure")

    assert refused.code == 409
    assert "Not deleted: the object has moved on" in refused.text
    assert "k: new" in refused.text
    assert still
    assert done.code == 302
    assert not await is_there(shop, "shop", "a")


async def test_an_object_with_finalizers_stays_and_that_is_said(shop: Visitor) -> None:
    await shop.patch("configmaps", "shop", "a", {"metadata": {"finalizers": ["test.example/hold"]}})
    path = "configmap/shop/a/delete/"
    asked = await shop.open(path)

    await shop.press(path, asked, "sure")
    after = await shop.open("configmap/")

    assert "test.example/hold" in asked.text
    assert "is on its way out" in after.text
    assert "deletionTimestamp" in (await shop.get("configmaps", "shop", "a"))["metadata"]


async def test_a_pods_grace_period_can_be_chosen(visitor: Visitor) -> None:
    spec = {"nodeName": "n", "containers": [{"name": "main", "image": "i:1"}]}
    await visitor.make("pods", "default", "p", spec=spec)
    path = "pod/default/p/delete/"

    graceful = await visitor.press(path, await visitor.open(path), "sure")
    waits = await is_there(visitor, "default", "p", "pods")
    await visitor.press(path, await visitor.open(path), "sure", grace="0")

    assert graceful.code == 302
    assert waits
    assert not await is_there(visitor, "default", "p", "pods")


async def test_a_deletion_policy_that_does_not_exist_is_refused(shop: Visitor) -> None:
    path = "configmap/shop/a/delete/"

    page = await shop.press(path, await shop.open(path), "sure", policy="Sideways")

    assert page.code == 200
    assert "Sideways is not one of the available choices" in page.text
    assert await is_there(shop, "shop", "a")


async def test_many_are_deleted_one_by_one_after_a_question(shop: Visitor) -> None:
    page = await shop.open("configmap/?namespace=shop")
    chosen = re.findall(r'name="_selected_action" value="(\d+)"', page.html)
    sent = {"action": "delete_chosen", "_selected_action": chosen, "select_across": "0"}

    asked = Page(await shop.client.post("/admin/objects/configmap/?namespace=shop", sent))
    still = await is_there(shop, "shop", "a")
    done = Page(
        await shop.client.post(
            "/admin/objects/configmap/?namespace=shop",
            {**sent, "policy": "Background", "_sure": "1"},
        )
    )
    after = await shop.open("configmap/")

    assert "Delete 2 ConfigMaps?" in asked.text
    assert still
    assert done.code == 302
    assert "2 ConfigMaps were deleted." in after.text
    assert shown(after) == ["default/a", "default/b"]


async def test_what_may_not_be_deleted_is_explained(visitor: Visitor) -> None:
    path = "namespace/default/delete/"

    page = await visitor.press(path, await visitor.open(path), "sure")

    assert page.code == 403
    assert "this namespace may not be deleted" in page.text


# History


async def test_the_history_shows_each_version_and_who_wrote_it_here(shop: Visitor) -> None:
    path = "configmap/shop/a/change/"
    form = await shop.open(path)
    await shop.press(path, form, "_save", document=form.document.replace("k: v", "k: w"))
    await shop.patch("configmaps", "shop", "a", {"data": {"k": "x"}})

    page = await shop.open("configmap/shop/a/history/")

    entries = page.context["entries"]
    assert [(e.type, e.by) for e in entries] == [
        ("MODIFIED", ""),
        ("MODIFIED", "someone"),
        ("ADDED", ""),
    ]
    assert [(line.sign, line.text) for line in entries[1].changes if line.sign.strip()] == [
        ("-", "  k: v"),
        ("+", "  k: w"),
    ]


async def test_the_history_outlives_the_object(shop: Visitor) -> None:
    path = "configmap/shop/a/delete/"
    await shop.press(path, await shop.open(path), "sure")

    page = await shop.open("configmap/shop/a/history/")

    assert [e.type for e in page.context["entries"]] == ["DELETED", "ADDED"]


async def test_one_object_has_two_faces_where_two_groups_serve_it(visitor: Visitor) -> None:
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    await visitor.make("events", "default", "e", involvedObject=about, message="m")

    core = await visitor.open("event/default/e/change/")
    other = await visitor.open("eventsevent/default/e/change/")

    assert "message: m" in core.document
    assert "note: m" in other.document
    assert "apiVersion: events.k8s.io/v1" in other.document


async def test_a_fault_that_is_on_stands_on_every_page(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = Fault(1, FaultSpec(FaultType.CUT, resource="pods"), "admin", 0.0, 1767225600.0)
    faults = SimpleNamespace(active=lambda: [fault], lift_all=lambda: None)
    monkeypatch.setattr(visitor.runtime, "faults", faults)
    for path in ("configmap/", "configmap/add/"):
        page = await visitor.open(path)

        assert "Cut the connection on watches of pods, until 00:00:00 UTC" in page.text
        assert 'href="/dashboard/faults/"' in page.html


async def test_where_no_server_runs_the_page_says_so(visitor: Visitor) -> None:
    from django.test import AsyncClient

    client = AsyncClient()
    client.cookies = visitor.client.cookies

    page = Page(await client.get("/admin/objects/configmap/add/"))

    assert page.code == 503
    assert "no server runs in this process" in page.text
