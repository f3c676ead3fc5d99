"""What a change of a definition does to objects, watches, and to another process."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.events import EndReason
from listwatch.protocol.options import ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector
from listwatch.watchcache.requests import ClientInfo
from listwatch.watchcache.watcher import CacheWatcher
from tests.registry.custom_resources.house import (
    NAME,
    SPEC,
    CustomHouse,
    definition,
    open_custom_house,
    until,
    version,
    widget,
)
from tests.registry.house import frames, refused, shown

PLACE = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
A_DEFAULT = [
    {"op": "add", "path": f"{PLACE}/shape", "value": {"type": "string", "default": "round"}}
]
NO_DEFAULT = [{"op": "add", "path": f"{PLACE}/shape", "value": {"type": "string"}}]


async def watch(custom: CustomHouse, revision: str = "", **options: Any) -> CacheWatcher:
    options.setdefault("send_initial_events", not revision)
    selected = ListOptions(watch=True, resource_version=revision, **options)
    representation = JSONRepresentation("Widget", "w.test/v1")
    return await custom.registry.watch(custom.at(), selected, representation, ClientInfo())


async def test_a_new_default_is_there_on_reading(custom: CustomHouse) -> None:
    await custom.define(definition())
    made = await custom.registry.create(custom.at(), widget(spec={"size": 1}))
    await custom.redefine(NAME, A_DEFAULT)
    version_now = await custom.registry.get(custom.at("a"))

    assert version_now.decode()["spec"] == {"size": 1, "shape": "round"}
    assert version_now.revision == made.revision


async def test_what_reading_filled_in_is_stored_by_the_next_write(custom: CustomHouse) -> None:
    await custom.define(definition())
    made = await custom.registry.create(custom.at(), widget(spec={"size": 1}))
    await custom.redefine(NAME, A_DEFAULT)
    patched = await custom.registry.patch(custom.at("a"), "application/merge-patch+json", {})
    again = await custom.registry.patch(custom.at("a"), "application/merge-patch+json", {})

    assert patched.revision > made.revision
    assert again.revision == patched.revision
    assert shown(again)["metadata"]["generation"] == 1


async def test_watches_end_when_the_definition_changes(custom: CustomHouse) -> None:
    await custom.define(definition())
    watcher = await watch(custom)
    await custom.redefine(NAME, NO_DEFAULT)

    assert await watcher.next_chunk() is None
    assert watcher.end_reason is EndReason.DEFINITION_CHANGED


async def test_a_watch_goes_on_where_no_object_looks_different(custom: CustomHouse) -> None:
    await custom.define(definition())
    first = await custom.registry.create(custom.at(), widget("a"))
    await custom.redefine(NAME, NO_DEFAULT)
    await custom.registry.create(custom.at(), widget("b"))
    watcher = await watch(custom, str(first.revision))
    [(kind, document)] = await frames(watcher, 1)

    assert (kind, document["metadata"]["name"]) == ("ADDED", "b")


async def test_a_watch_from_before_is_refused_where_objects_look_different(
    custom: CustomHouse,
) -> None:
    await custom.define(definition())
    first = await custom.registry.create(custom.at(), widget("a", spec={}))
    await custom.redefine(NAME, A_DEFAULT)
    watcher = await watch(custom, str(first.revision))
    [(kind, status)] = await frames(watcher, 1)

    assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")


async def test_a_status_of_the_definition_ends_no_watch(custom: CustomHouse) -> None:
    await custom.define(definition())
    watcher = await watch(custom)
    await custom.patch(
        "customresourcedefinitions", NAME, {"metadata": {"labels": {"a": "b"}}},
        group="apiextensions.k8s.io",
    )  # fmt: skip

    assert watcher.end_reason is None


async def test_a_watch_sees_its_objects_go_and_ends_with_the_definition(
    custom: CustomHouse,
) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    watcher = await watch(custom)
    assert [kind for kind, _ in await frames(watcher, 1)] == ["ADDED"]
    await custom.undefine(NAME)

    assert [kind for kind, _ in await frames(watcher, 1)] == ["DELETED"]
    assert await watcher.next_chunk() is None
    assert watcher.end_reason is EndReason.DEFINITION_CHANGED


async def test_a_definition_that_comes_back_begins_anew(custom: CustomHouse) -> None:
    await custom.define(definition())
    old = await custom.registry.create(custom.at(), widget())
    await custom.undefine(NAME)
    await until(lambda: custom.is_gone(NAME))
    await custom.define(definition())
    [(kind, status)] = await frames(await watch(custom, str(old.revision)), 1)
    assert (kind, status["code"]) == ("ERROR", 410)

    watcher = await watch(custom)
    await custom.registry.create(custom.at(), widget("new"))
    [(_, document)] = await frames(watcher, 1)
    assert document["metadata"]["name"] == "new"


async def test_another_start_serves_the_same(custom: CustomHouse) -> None:
    with_default = {**SPEC, "properties": {**SPEC["properties"], "shape": {"type": "string"}}}
    await custom.define(definition(version(spec=with_default)))
    made = await custom.registry.create(custom.at(), widget(spec={"size": 1}))
    await custom.redefine(NAME, [{"op": "add", "path": f"{PLACE}/shape/default", "value": "round"}])

    async with open_custom_house() as again:
        found = await again.registry.get(again.at("a"))

        assert found.decode()["spec"] == {"size": 1, "shape": "round"}
        assert found.revision == made.revision
        resumed = await watch(again, str(made.revision - 1))
        assert [kind for kind, _ in await frames(resumed, 1)] == ["ADDED"]


async def test_another_process_hears_of_a_definition(custom: CustomHouse) -> None:
    async with open_custom_house() as other:
        await custom.define(definition())
        await other.pump.catch_up()
        await other.registry.create(other.at(), widget())
        await custom.pump.catch_up()

        assert (await custom.registry.get(custom.at("a"))).name == "a"


async def test_objects_of_what_is_not_defined_stop_nothing(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    custom.definitions._served.clear()
    custom.registry.resources.replace(custom.at().resource.storage, ())
    await custom.create("configmaps", {"metadata": {"name": "later"}})

    assert (await custom.get("configmaps", "later"))["metadata"]["name"] == "later"


async def test_fields_are_selected_that_the_definition_names(custom: CustomHouse) -> None:
    fields = [{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.colour"}]
    await custom.define(definition(version(selectableFields=fields)))
    for name, size in (("a", 1), ("b", 2)):
        await custom.registry.create(custom.at(), widget(name, spec={"size": size}))

    async def selected(text: str) -> list[str]:
        options = ListOptions(field_selector=FieldSelector.parse(text))
        return [v.name for v in (await custom.registry.list(custom.at(), options)).versions]

    assert await selected("spec.size=2") == ["b"]
    assert await selected("spec.colour=") == ["a", "b"]
    error = await refused(selected("spec.shape=round"))
    assert (error.code, "field label not supported: spec.shape" in error.message) == (400, True)


async def test_a_custom_kind_without_fields_to_select_refuses_as_one_that_has(
    custom: CustomHouse,
) -> None:
    await custom.define(definition())
    options = ListOptions(field_selector=FieldSelector.parse("spec.shape=round"))
    error = await refused(custom.registry.list(custom.at(), options))

    assert (error.code, error.message) == (400, "field label not supported: spec.shape")
