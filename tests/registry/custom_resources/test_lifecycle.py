"""The life of a definition: accepted, established, changed, and gone with its objects."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.protocol.options import DeleteOptions, ListOptions
from tests.registry.custom_resources.house import (
    NAME,
    CustomHouse,
    definition,
    until,
    version,
    widget,
)
from tests.registry.house import refused


async def test_a_definition_is_completed_and_established(custom: CustomHouse) -> None:
    made = await custom.define(definition())

    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert made["spec"]["names"] == names
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["status"]["acceptedNames"] == names
    assert made["status"]["storedVersions"] == ["v1"]
    assert [one["type"] for one in made["status"]["conditions"]] == ["NamesAccepted", "Established"]


async def test_it_is_served_as_soon_as_it_is_established(custom: CustomHouse) -> None:
    await custom.define(definition(names={"shortNames": ["wd"], "categories": ["all"]}))
    resource = custom.at().resource

    assert (resource.short_names, resource.categories) == (("wd",), ("all",))
    assert resource.list_kind == "WidgetList"


async def test_names_that_another_has_are_not_accepted_until_it_gives_them_up(
    custom: CustomHouse,
) -> None:
    await custom.define(definition())
    rival = definition(plural="gadgets", names={"kind": "Widget", "singular": "gadget"})
    await custom.create("customresourcedefinitions", rival, group="apiextensions.k8s.io")
    await until(lambda: custom.condition("gadgets.w.test", "NamesAccepted", "False"))
    [conflict, established] = (await custom.definition("gadgets.w.test"))["status"]["conditions"]

    assert (conflict["reason"], conflict["message"]) == (
        "KindConflict", '"Widget" is already in use',
    )  # fmt: skip
    assert (established["status"], established["reason"]) == ("False", "NotAccepted")
    assert custom.registry.resources.find("w.test", "v1", "gadgets") is None

    await custom.undefine(NAME)
    await until(lambda: custom.condition("gadgets.w.test", "Established", "True"))
    assert custom.registry.resources.find("w.test", "v1", "gadgets") is not None


async def test_another_stored_version_is_remembered(custom: CustomHouse) -> None:
    await custom.define(definition(version(), version("v2")))
    await custom.redefine(
        NAME,
        [
            {"op": "replace", "path": "/spec/versions/0/storage", "value": False},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": True},
        ],
    )

    assert (await custom.definition(NAME))["status"]["storedVersions"] == ["v1", "v2"]


async def test_a_definition_goes_after_its_objects(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    await custom.undefine(NAME)
    await until(lambda: custom.is_gone(NAME))

    assert custom.registry.resources.find("w.test", "v1", "widgets") is None
    await custom.define(definition())
    assert list((await custom.registry.list(custom.at(), ListOptions())).versions) == []


async def test_what_holds_an_object_holds_its_definition_and_is_told(custom: CustomHouse) -> None:
    await custom.define(definition())
    held = widget(metadata={"finalizers": ["test.io/hold"]})
    await custom.registry.create(custom.at(), held)
    await custom.undefine(NAME)
    terminating = "InstanceDeletionInProgress"

    async def told() -> bool:
        conditions = (await custom.definition(NAME))["status"]["conditions"]
        return any(one["reason"] == terminating for one in conditions)

    await until(told)
    error = await refused(custom.registry.create(custom.at(), widget("b")))
    assert (error.code, error.message) == (
        405, "create not allowed while custom resource definition is terminating",
    )  # fmt: skip

    await custom.registry.patch(
        custom.at("a"), "application/merge-patch+json", {"metadata": {"finalizers": None}}
    )

    async def gone() -> bool:
        await custom.clock.advance(10.0)
        return await custom.is_gone(NAME)

    await until(gone)


async def test_a_second_deletion_changes_nothing(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget(metadata={"finalizers": ["test.io/hold"]}))
    await custom.undefine(NAME)
    marked = (await custom.definition(NAME))["metadata"]["deletionTimestamp"]
    await custom.clock.advance(5.0)
    await custom.undefine(NAME)

    assert (await custom.definition(NAME))["metadata"]["deletionTimestamp"] == marked


async def test_a_dry_run_defines_nothing(custom: CustomHouse) -> None:
    await custom.create(
        "customresourcedefinitions", definition(), group="apiextensions.k8s.io", dry_run=True
    )

    assert custom.registry.resources.find("w.test", "v1", "widgets") is None


async def test_an_object_is_deleted_like_any_other(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    deleted = await custom.registry.delete(custom.at("a"), DeleteOptions())

    assert (deleted.encoded, deleted.gone) == (None, True)


async def test_of_two_that_come_at_once_one_gets_the_name(custom: CustomHouse) -> None:
    rivals = [definition(), definition(plural="gadgets", names={"kind": "Widget"})]
    await asyncio.gather(
        *(
            custom.create("customresourcedefinitions", each, group="apiextensions.k8s.io")
            for each in rivals
        )
    )
    names = [each["metadata"]["name"] for each in rivals]

    async def decided() -> bool:
        found = [await custom.definition(name) for name in names]
        return all(len(one["status"].get("conditions") or ()) == 2 for one in found)

    await until(decided)
    accepted = [await custom.condition(name, "NamesAccepted", "True") for name in names]
    assert sorted(accepted) == [False, True]


async def test_whoever_defines_rules_that_nobody_evaluates_is_warned(
    custom: CustomHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("listwatch.registry.strategies.definitions.environment", lambda: None)
    spec = {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}
    ctx = custom.ctx("customresourcedefinitions", group="apiextensions.k8s.io")
    await custom.registry.create(ctx, definition(version(spec=spec)))

    assert [warning.partition(":")[0] for warning in ctx.warnings] == [
        "x-kubernetes-validations are not evaluated"
    ]
