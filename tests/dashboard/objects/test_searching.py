from __future__ import annotations

import pytest

from tests.dashboard.objects.visitor import Visitor


async def furnish(visitor: Visitor) -> None:
    await visitor.make("namespaces", "", "shop")
    await visitor.make("configmaps", "default", "web", metadata={"labels": {"app": "web"}})
    await visitor.make("configmaps", "shop", "web-settings", metadata={"labels": {"app": "cart"}})
    await visitor.make("secrets", "shop", "my-web", metadata={"labels": {"app": "web"}})


async def found(visitor: Visitor, text: str) -> list[str]:
    data = (await visitor.json(f"/dashboard/objects.json?q={text}"))["found"]
    return [f"{row['kind']} {row['namespace']}/{row['name']}" for row in data["rows"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("web", ["ConfigMap default/web", "ConfigMap shop/web-settings", "Secret shop/my-web"]),
        ("WEB+ns:shop", ["ConfigMap shop/web-settings", "Secret shop/my-web"]),
        ("kind:secret+web", ["Secret shop/my-web"]),
        ("kind:cm+web+ns:def", ["ConfigMap default/web"]),
        ("app%3Dweb", ["Secret shop/my-web", "ConfigMap default/web"]),
        ("-l+app!%3Dweb+kind:cm+ns:shop", ["ConfigMap shop/web-settings"]),
        ("no-such-thing", []),
    ],
)
async def test_words_look_at_names_namespaces_kinds_and_labels(
    visitor: Visitor, text: str, expected: list[str]
) -> None:
    await furnish(visitor)

    assert await found(visitor, text) == expected


async def test_events_stand_behind_what_they_are_about(visitor: Visitor) -> None:
    about = {"kind": "ConfigMap", "namespace": "default", "name": "web"}
    await visitor.make("events", "default", "web-0.1", involvedObject=about)
    await visitor.make("configmaps", "default", "web-9")

    assert await found(visitor, "web-") == ["ConfigMap default/web-9", "Event default/web-0.1"]


async def test_nobody_finds_what_he_may_not_list(visitor: Visitor) -> None:
    await furnish(visitor)
    await _become_guest(visitor)

    assert await found(visitor, "web") == []

    await visitor.allow("list", "configmaps", "shop")

    assert await found(visitor, "web") == ["ConfigMap shop/web-settings"]
    data = await visitor.json("/dashboard/objects.json")
    assert [kind["kind"] for group in data["groups"] for kind in group["kinds"]] == ["ConfigMap"]


async def test_a_selector_that_is_none_is_refused_in_the_apis_words(visitor: Visitor) -> None:
    status = await visitor.json("/dashboard/objects.json?q=a%3D%3D%3Db", code=400)

    assert status["kind"] == "Status"
    page = await visitor.open("?q=a%3D%3D%3Db")
    assert page.code == 400
    assert status["message"] in page.text


async def test_the_directory_counts_the_objects_of_every_kind(visitor: Visitor) -> None:
    await furnish(visitor)
    groups = (await visitor.json("/dashboard/objects.json"))["groups"]
    counts = {kind["resource"]: kind["objects"] for group in groups for kind in group["kinds"]}

    assert counts["configmaps"] == 2
    assert counts["secrets"] == 1
    assert counts["pods"] == 0
    assert groups[0]["group"] == "core"


async def _become_guest(visitor: Visitor) -> None:
    from django.contrib.auth.models import User

    await User.objects.filter(username="someone").aupdate(is_superuser=False)
