"""Custom objects in the hands of the verbs: versions, subresources, managers, patches."""

from __future__ import annotations

from listwatch.protocol.objects import decode
from listwatch.registry.conversions import served
from listwatch.registry.patch import MERGE_PATCH, STRATEGIC_PATCH
from tests.registry.custom_resources.house import (
    SPEC,
    CustomHouse,
    definition,
    until,
    version,
    widget,
)
from tests.registry.house import refused, shown

PARTS = {
    "status": {},
    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
}


async def test_what_is_made_in_one_version_is_read_in_the_other(custom: CustomHouse) -> None:
    await custom.define(definition(version(), version("v2")))
    made = await custom.registry.create(custom.at(version="v2"), widget(version="v2"))
    kept = await custom.registry.get(custom.at("a"))
    other = custom.at("a", version="v2").resource

    assert shown(made)["apiVersion"] == "w.test/v2"
    assert kept.decode()["apiVersion"] == "w.test/v1"
    assert decode(served(other, kept.encoded), 1)["apiVersion"] == "w.test/v2"


async def test_an_object_is_checked_by_the_version_it_was_sent_in(custom: CustomHouse) -> None:
    strict = {**SPEC, "required": ["size"]}
    await custom.define(definition(version(), version("v2", strict)))
    await custom.registry.create(custom.at(), widget(spec={}))
    error = await refused(
        custom.registry.create(custom.at(version="v2"), widget("b", "v2", spec={}))
    )

    assert error.message == 'Widget.w.test "b" is invalid: spec.size: Required value'


async def test_the_status_is_written_at_its_own_address(custom: CustomHouse) -> None:
    await custom.define(definition(version(subresources=PARTS)))
    made = shown(
        await custom.registry.create(custom.at(), widget(spec={"size": 1}, status={"a": 1}))
    )
    assert "status" not in made

    made |= {"status": {"a": 2}, "spec": {"size": 5}}
    made["metadata"]["labels"] = {"x": "y"}
    after = shown(await custom.registry.update(custom.at("a", part="status"), made))
    assert (after["spec"], after["status"]) == ({"size": 1}, {"a": 2})
    assert "labels" not in after["metadata"]


async def test_a_scale_reads_and_writes_where_the_definition_says(custom: CustomHouse) -> None:
    await custom.define(definition(version(subresources=PARTS)))
    await custom.registry.create(custom.at(), widget(spec={"size": 1}))
    scale = await custom.registry.patch(
        custom.at("a", part="scale"), MERGE_PATCH, {"spec": {"replicas": 7}}
    )

    assert shown(scale)["spec"] == {"replicas": 7}
    assert (await custom.registry.get(custom.at("a"))).decode()["spec"] == {"size": 7}
    error = await refused(
        custom.registry.patch(custom.at("a", part="scale"), MERGE_PATCH, {"spec": {"replicas": 99}})
    )
    assert error.code == 422


async def test_a_scale_that_names_no_version_means_any(custom: CustomHouse) -> None:
    await custom.define(definition(version(subresources=PARTS)))
    await custom.registry.create(custom.at(), widget(spec={"size": 1}))
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
    old = {**scale, "metadata": {"name": "a", "resourceVersion": "1"}}
    at = custom.at("a", part="scale")

    assert shown(await custom.registry.update(at, {**scale, "spec": {"replicas": 7}}))["spec"] == {
        "replicas": 7
    }
    error = await refused(custom.registry.update(at, {**old, "spec": {"replicas": 8}}))
    assert error.code == 409


async def _has_scale(custom: CustomHouse) -> bool:
    kind = custom.at().resource.custom
    return kind is not None and kind.scale is not None


async def test_replicas_are_not_put_into_what_holds_nothing(custom: CustomHouse) -> None:
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await custom.define(definition(version(spec=spec)))
    await custom.registry.create(custom.at(), widget(spec={"a": 1}))
    inner = {"specReplicasPath": ".spec.a.n", "statusReplicasPath": ".status.n"}
    change = {"op": "add", "path": "/spec/versions/0/subresources", "value": {"scale": inner}}
    await custom.redefine("widgets.w.test", [change])
    await until(lambda: _has_scale(custom))
    error = await refused(
        custom.registry.patch(custom.at("a", part="scale"), MERGE_PATCH, {"spec": {"replicas": 7}})
    )

    assert (error.code, error.message) == (
        400, "value cannot be set because .spec.a is not a map[string]interface{}",
    )  # fmt: skip


async def test_a_strategic_merge_needs_a_built_in_kind(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    error = await refused(custom.registry.patch(custom.at("a"), STRATEGIC_PATCH, {}))

    assert error.code == 415
    assert STRATEGIC_PATCH not in error.message
    # Of what is not there, too.
    error = await refused(custom.registry.patch(custom.at("none"), STRATEGIC_PATCH, {}))
    assert error.code == 415


async def test_an_update_names_the_version_it_replaces(custom: CustomHouse) -> None:
    await custom.define(definition())
    await custom.registry.create(custom.at(), widget())
    error = await refused(custom.registry.update(custom.at("a"), widget(spec={"size": 2})))

    assert error.message.endswith(
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    )


async def test_unknown_fields_are_refused_warned_of_or_passed_over(custom: CustomHouse) -> None:
    await custom.define(definition())
    sent = widget(spec={"extra": 1})
    strict = custom.at(field_validation="Strict")
    error = await refused(custom.registry.create(strict, widget(spec={"extra": 1})))
    assert 'strict decoding error: unknown field "spec.extra"' in error.message

    warned = custom.at()
    made = await custom.registry.create(warned, sent)
    assert warned.warnings == ['unknown field "spec.extra"']
    assert shown(made)["spec"] == {}


async def test_the_fields_of_a_custom_object_have_managers(custom: CustomHouse) -> None:
    await custom.define(definition())
    ctx = custom.at(field_manager="maker")
    made = shown(await custom.registry.create(ctx, widget(spec={"size": 1})))
    [entry] = made["metadata"]["managedFields"]

    assert (entry["manager"], entry["fieldsV1"]) == (
        "maker", {"f:spec": {".": {}, "f:size": {}}},
    )  # fmt: skip
