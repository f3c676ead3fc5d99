"""Server-side apply, from the request to what is stored."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from listwatch.protocol.events import EndReason
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.options import APPLY_PATCH
from listwatch.registry.last_applied import ANNOTATION
from tests.registry.house import House, configmap, deployment, frames, refused
from tests.registry.test_field_managers import owned


async def apply(
    house: House, config: JSONObject, manager: str = "alpha", **more: Any
) -> JSONObject:
    resource = more.pop("resource", "configmaps")
    name = more.pop("name", None) or config["metadata"]["name"]
    return await house.patch(resource, name, config, APPLY_PATCH, field_manager=manager, **more)


def scale(replicas: int, name: str = "d") -> JSONObject:
    return {
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name},
        "spec": {"replicas": replicas},
    }  # fmt: skip


async def test_applying_again_changes_nothing_and_wakes_nobody(house: House) -> None:
    config = configmap(data={"k": "1"}, metadata={"labels": {}, "annotations": {"a": ""}})
    made = await apply(house, config)
    await house.clock.advance(60)
    watcher = await house.watch("configmaps")
    await frames(watcher, 1)
    again = await apply(house, config)
    await house.create("configmaps", configmap("z"))

    assert again == made
    assert [frame[1]["metadata"]["name"] for frame in await frames(watcher, 1)] == ["z"]
    watcher.close(EndReason.CLIENT_LEFT)


@pytest.mark.parametrize(
    "config",
    [
        configmap(data={}, binaryData={}, metadata={"labels": {}, "finalizers": []}),
        configmap(data={"k": ""}),
        configmap(immutable=False),
    ],
)
async def test_empty_values_of_two_managers_are_no_conflict(
    house: House, config: JSONObject
) -> None:
    await apply(house, config, "one")
    once = await apply(house, config, "two")

    assert await apply(house, config, "one") == once
    assert await apply(house, config, "two") == once
    assert await house.put("configmaps", dict(once), field_manager="three") == once


async def test_equal_values_are_owned_together_and_go_with_the_last_owner(house: House) -> None:
    await apply(house, configmap(data={"k": "1"}), "one")
    both = await apply(house, configmap(data={"k": "1"}), "two")
    one = await apply(house, configmap(), "two")
    none = await apply(house, configmap(), "one")

    assert set(owned(both)) == {("one", "Apply"), ("two", "Apply")}
    assert one["data"] == {"k": "1"}
    assert "data" not in none


async def test_a_conflict_names_every_field_and_its_owner(house: House) -> None:
    made = await apply(house, configmap(data={"k": "1", "l": "1"}), "one")
    await house.patch("configmaps", "a", {"data": {"m": "1"}}, field_manager="two")
    config = configmap(data={"k": "2", "l": "2", "m": "2"})
    error = await refused(apply(house, config, "three"))

    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Apply failed with 3 conflicts: conflicts with "one":\n- .data.k\n- .data.l\n'
        'conflicts with "two" using v1:\n- .data.m'
    )
    assert [cause.to_dict() for cause in error.causes] == [
        {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": f".data.{k}"}
        for who, k in (('"one"', "k"), ('"one"', "l"), ('"two" using v1', "m"))
    ]
    assert (await house.get("configmaps", "a"))["data"] == {**made["data"], "m": "1"}


async def test_force_takes_what_others_own(house: House) -> None:
    await apply(house, configmap(data={"k": "1", "l": "1"}), "one")
    forced = await apply(house, configmap(data={"k": "2"}), "two", force=True)

    assert forced["data"] == {"k": "2", "l": "1"}
    assert owned(forced) == {
        ("one", "Apply"): {"f:data": {"f:l": {}}},
        ("two", "Apply"): {"f:data": {"f:k": {}}},
    }


async def test_what_was_there_before_anybody_was_tracked_has_an_owner(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}))
    await house.patch("configmaps", "a", {"metadata": {"managedFields": []}})
    error = await refused(apply(house, configmap(data={"k": "2"})))
    applied = await apply(house, configmap(data={"l": "1"}))

    assert error.causes[0].message == 'conflict with "before-first-apply" using v1'
    assert owned(applied) == {
        ("alpha", "Apply"): {"f:data": {"f:l": {}}},
        ("before-first-apply", "Update"): {"f:data": {".": {}, "f:k": {}}},
    }


async def test_what_is_applied_no_more_goes_unless_an_update_owns_it_too(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}), field_manager="maker")
    await apply(house, configmap(data={"k": "1", "l": "1"}))
    applied = await apply(house, configmap())

    assert applied["data"] == {"k": "1"}


async def test_an_object_may_be_made_by_many_at_the_same_time(house: House) -> None:
    calls = [apply(house, configmap(data={f"k{i}": "1"}), f"m{i}") for i in range(6)]
    await asyncio.gather(*calls)

    assert (await house.get("configmaps", "a"))["data"] == {f"k{i}": "1" for i in range(6)}


async def test_nothing_is_made_where_a_dry_run_was_asked_for(house: House) -> None:
    shown = await apply(house, configmap(data={"k": "1"}), dry_run=True)
    error = await refused(house.get("configmaps", "a"))

    assert owned(shown) == {("alpha", "Apply"): {"f:data": {"f:k": {}}}}
    assert error.code == 404


async def test_a_uid_means_an_object_that_is_there(house: House) -> None:
    error = await refused(apply(house, configmap(metadata={"uid": "1-2"})))

    assert (error.code, error.reason) == (409, "Conflict")
    assert "uid mismatch: the provided object specified uid 1-2" in error.message


async def test_a_stale_version_is_a_conflict(house: House) -> None:
    made = await apply(house, configmap(data={"k": "1"}))
    await apply(house, configmap(data={"k": "2"}))
    stale = {"resourceVersion": made["metadata"]["resourceVersion"]}
    error = await refused(apply(house, configmap(data={"k": "3"}, metadata=stale)))

    assert (error.code, error.reason) == (409, "Conflict")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "error decoding YAML: a configuration must be an object"),
        ({"metadata": {"name": "a"}}, "invalid object type: /, Kind="),
        ({"apiVersion": "a/b/c", "kind": "X"}, "invalid object type: /, Kind="),
        ({"apiVersion": 1, "kind": "X"}, "invalid object type: /, Kind="),
        ({"apiVersion": "apps/v1", "kind": "X"}, "invalid object type: apps/v1, Kind=X"),
        (configmap(metadata={"managedFields": []}), "metadata.managedFields must be nil"),
        (
            configmap(data=[], what=1),
            ("failed to create typed patch object (/a; /v1, Kind=ConfigMap): errors:\n"
            "  .data: expected map, got &value.valueUnstructured{Value:[]}\n"
            "  .what: field not declared in schema"),
        ),
        (
            {**configmap(), "metadata": "text"},
            ("failed to create typed patch object (/; /v1, Kind=ConfigMap): "
            '.metadata: expected map, got &value.valueUnstructured{Value:"text"}'),
        ),
    ],
)  # fmt: skip
async def test_what_is_no_configuration_is_refused(house: House, config: Any, message: str) -> None:
    error = await refused(apply(house, config, name="a"))

    assert (error.code, error.message) == (400, message)


async def test_a_value_of_another_form_than_its_type_is_refused(house: House) -> None:
    """The types of fields say no more than text or number; the kind knows better."""
    resources = {"limits": {"cpu": "much"}}
    container = {"name": "main", "image": "i", "resources": resources}
    config = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [container]},
    }  # fmt: skip
    error = await refused(apply(house, config, resource="pods"))

    assert error.code == 400
    assert "Pod in version" in error.message


async def test_an_object_that_fails_validation_is_not_stored(house: House) -> None:
    error = await refused(apply(house, configmap(data={"bad key!": "1"})))

    assert (error.code, error.reason) == (422, "Invalid")


async def test_keys_that_stand_twice_are_told_or_refused(house: House) -> None:
    fault = 'line 6: key "k" already set in map'
    ctx = house.ctx("configmaps", "a", field_manager="m", duplicates=(fault,))
    await house.registry.patch(ctx, APPLY_PATCH, configmap(data={"k": "1"}))
    ctx_strict = house.ctx(
        "configmaps", "a", field_manager="m", duplicates=(fault,), field_validation="Strict"
    )
    error = await refused(house.registry.patch(ctx_strict, APPLY_PATCH, configmap()))

    assert ctx.warnings == [fault]
    assert error.code == 400
    assert fault in error.message


async def test_a_status_is_applied_apart_and_makes_nothing(house: House) -> None:
    await house.create("deployments", deployment(), field_manager="maker")
    config = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"replicas": 9}, "status": {"replicas": 2},
    }  # fmt: skip
    applied = await apply(house, config, resource="deployments/status")
    error = await refused(
        apply(house, {**config, "metadata": {"name": "x"}}, resource="deployments/status")
    )

    assert owned(applied)["alpha", "Apply", "status"] == {"f:status": {"f:replicas": {}}}
    assert (applied["spec"]["replicas"], applied["status"]["replicas"]) == (1, 2)
    assert error.code == 404


async def test_replicas_can_be_applied_by_a_scale(house: House) -> None:
    await house.create("deployments", deployment(replicas=1), field_manager="maker")
    error = await refused(apply(house, scale(3), "scaler", resource="deployments/scale"))
    answer = await apply(house, scale(3), "scaler", resource="deployments/scale", force=True)
    fields = owned(await house.get("deployments", "d"))

    assert error.message == (
        'Apply failed with 1 conflict: conflict with "maker" using apps/v1: .spec.replicas'
    )
    assert answer["spec"] == {"replicas": 3}
    assert fields["scaler", "Apply", "scale"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in fields["maker", "Update"]["f:spec"]

    other = {**deployment(replicas=4), "kind": "Deployment"}
    refusal = await refused(apply(house, other, "x", resource="deployments"))

    assert refusal.causes[0].message == 'conflict with "scaler" with subresource "scale"'


async def test_kubectl_comes_over_from_its_own_apply_without_a_conflict(house: House) -> None:
    noted = orjson.dumps(configmap(data={"k": "1", "l": "1"})).decode()
    sent = configmap(data={"k": "1", "l": "2"}, metadata={"annotations": {ANNOTATION: noted}})
    await house.create("configmaps", sent, field_manager="kubectl-client-side-apply")
    others = await refused(apply(house, configmap(data={"k": "2"}), "other"))
    changed = await refused(apply(house, configmap(data={"k": "2", "l": "3"}), "kubectl"))
    applied = await apply(house, configmap(data={"k": "2"}), "kubectl")

    assert len(others.causes) == 1
    assert [cause.field for cause in changed.causes] == [".data.l"], "it was not kubectl's"
    assert applied["data"] == {"k": "2", "l": "2"}
    assert applied["metadata"]["annotations"][ANNOTATION] == (
        '{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )


async def test_the_order_of_lists_is_the_appliers_where_he_names_elements(house: House) -> None:
    def service(*ports: int) -> JSONObject:
        listed = [{"port": port, "name": f"p{port}"} for port in ports]
        return {
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
            "spec": {"ports": listed},
        }  # fmt: skip

    await apply(house, service(80, 81, 82), "one", resource="services")
    applied = await apply(house, service(90, 82, 80), "two", resource="services")

    assert [port["port"] for port in applied["spec"]["ports"]] == [81, 90, 82, 80]


async def test_entries_without_a_time_are_no_trouble_in_a_conflict(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}))
    entry = {
        "manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {}},
    }  # fmt: skip
    await house.patch("configmaps", "a", {"metadata": {"managedFields": [entry]}})
    applied = await apply(house, configmap(data={"k": "2"}))

    assert applied["data"] == {"k": "2"}
    assert owned(applied)["x", "Update"] == {"f:data": {}}
