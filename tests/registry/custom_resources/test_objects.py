"""Custom objects in the hands of the verbs: versions, subresources, managers, patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject, decode
from listwatch.protocol.options import APPLY_PATCH
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
from tests.registry.test_field_managers import owned

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


def _counted(name: str, path: str) -> JSONObject:
    """A version whose replicas are there."""
    scale = {"specReplicasPath": path, "statusReplicasPath": ".status.n"}
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return version(name, spec, subresources={"scale": scale})


@pytest.mark.parametrize("path", [("size",), ("replicas",), ("a", "n")])
@pytest.mark.parametrize("way", [MERGE_PATCH, APPLY_PATCH])
async def test_whoever_scales_owns_what_the_definition_calls_replicas(
    custom: CustomHouse, path: tuple[str, ...], way: str
) -> None:
    await custom.define(definition(_counted("v1", f".spec.{'.'.join(path)}")))
    spec, mine = {"colour": "red"} | _nested(path, 1), _nested([f"f:{name}" for name in path], {})
    await custom.registry.create(custom.at(field_manager="maker"), widget(spec=spec))
    at = custom.at("a", part="scale", field_manager="scaler", force=way == APPLY_PATCH)
    await custom.registry.patch(at, way, _scale(7))
    changed = (await custom.registry.get(custom.at("a"))).decode()
    name, operation = "scaler", "Apply" if way == APPLY_PATCH else "Update"

    assert owned(changed)[name, operation, "scale"] == {"f:spec": mine}
    left = owned(changed)["maker", "Update"]["f:spec"]
    assert left == {".": {}, "f:colour": {}} | ({"f:a": {}} if "a" in path else {})

    # Who owns them can be taken from, and whoever applies them otherwise is told of it.
    again = custom.at("a", part="scale", field_manager="next")
    error = await refused(custom.registry.patch(again, APPLY_PATCH, _scale(8)))
    assert [cause.field for cause in error.causes] == [".spec.replicas"]
    assert 'conflict with "scaler"' in error.message
    config = widget(spec=_nested(path, 9))
    other = custom.at("a", field_manager="other")
    error = await refused(custom.registry.patch(other, APPLY_PATCH, config))
    assert [cause.field for cause in error.causes] == [f".spec.{'.'.join(path)}"]


async def test_a_scale_takes_replicas_from_where_the_owner_has_them(custom: CustomHouse) -> None:
    await custom.define(definition(_counted("v1", ".spec.size"), _counted("v2", ".spec.count")))
    both = {"size": 1, "count": 1}
    await custom.registry.create(custom.at(field_manager="maker"), widget(spec=both))
    at = custom.at("a", version="v2", part="scale", field_manager="scaler")
    await custom.registry.patch(at, MERGE_PATCH, _scale(7))
    changed = (await custom.registry.get(custom.at("a"))).decode()

    assert changed["spec"] == {"size": 1, "count": 7}
    assert owned(changed) == {
        ("scaler", "Update", "scale"): {"f:spec": {"f:count": {}}},
        ("maker", "Update"): {"f:spec": {".": {}, "f:count": {}}},
    }
    versions = {entry["apiVersion"] for entry in changed["metadata"]["managedFields"]}
    assert versions == {"w.test/v1", "w.test/v2"}


async def test_a_version_without_a_scale_keeps_its_owners(custom: CustomHouse) -> None:
    await custom.define(definition(_counted("v1", ".spec.size"), version("v2")))
    made = widget(version="v2", spec={"size": 1})
    await custom.registry.create(custom.at(version="v2", field_manager="maker"), made)
    at = custom.at("a", part="scale", field_manager="scaler")
    await custom.registry.patch(at, MERGE_PATCH, _scale(7))
    fields = owned((await custom.registry.get(custom.at("a"))).decode())

    assert fields["scaler", "Update", "scale"] == {"f:spec": {"f:size": {}}}
    assert fields["maker", "Update"] == {"f:spec": {".": {}, "f:size": {}}}


def _nested(path: Sequence[str], value: Any) -> JSONObject:
    for name in reversed(path):
        value = {name: value}
    return dict(value)


def _scale(replicas: int) -> JSONObject:
    return {
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"},
        "spec": {"replicas": replicas},
    }  # fmt: skip


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
