"""Patches: applied to the newest state, whoever else writes; their results are objects again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.registry.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from tests.registry.house import House, configmap, deployment, pod, refused


async def test_a_merge_patch_sets_removes_and_replaces(house: House) -> None:
    await house.create(
        "configmaps",
        configmap(
            metadata={"labels": {"x": "y", "z": "w"}, "finalizers": ["a.test/1", "a.test/2"]},
            data={"k": "1", "l": "2"},
        ),
    )
    patch = {
        "metadata": {"labels": {"x": None, "n": "m"}, "finalizers": ["a.test/2"]},
        "data": {"k": "9", "none": None},
    }
    changed = await house.patch("configmaps", "a", patch)

    assert changed["metadata"]["labels"] == {"z": "w", "n": "m"}
    assert changed["metadata"]["finalizers"] == ["a.test/2"]
    assert changed["data"] == {"k": "9", "l": "2"}
    assert "data" not in await house.patch("configmaps", "a", {"data": None})


async def test_a_json_patch_runs_its_operations_in_order(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1", "l": "2"}))
    patch = [
        {"op": "test", "path": "/data/k", "value": "1"},
        {"op": "replace", "path": "/data/k", "value": "9"},
        {"op": "remove", "path": "/data/l"},
        {"op": "copy", "from": "/data/k", "path": "/data/c"},
        {"op": "move", "from": "/data/c", "path": "/data/d"},
    ]
    changed = await house.patch("configmaps", "a", patch, JSON_PATCH)

    assert changed["data"] == {"k": "9", "d": "9"}


async def test_a_json_patch_may_test_the_resource_version(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    version = made["metadata"]["resourceVersion"]
    patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/data/k", "value": "2"},
    ]
    changed = await house.patch("configmaps", "a", patch, JSON_PATCH)
    error = await refused(house.patch("configmaps", "a", patch, JSON_PATCH))

    assert changed["data"] == {"k": "2"}
    assert (error.code, error.message) == (
        422, "the server rejected our request due to an error in our request",
    )  # fmt: skip


async def test_a_strategic_patch_merges_containers_by_name(house: House) -> None:
    await house.create("deployments", deployment())
    containers = [{"name": "side", "image": "img.test/side:1"}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    changed = await house.patch("deployments", "d", patch, STRATEGIC_PATCH)

    found = changed["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in found] == ["side", "main"]
    assert changed["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("patch", "patch_type"),
    [
        ({"data": {"k": "1"}}, MERGE_PATCH),
        ({}, STRATEGIC_PATCH),
        ([{"op": "replace", "path": "/data/k", "value": "1"}], JSON_PATCH),
    ],
)
async def test_a_patch_that_changes_nothing_writes_nothing(
    house: House, patch: Any, patch_type: str
) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    before = house.revision

    assert await house.patch("configmaps", "a", patch, patch_type) == made
    assert house.revision == before


async def test_a_patch_with_the_current_version_is_applied(house: House) -> None:
    made = await house.create("configmaps", configmap())
    version = made["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"k": "1"}}

    assert (await house.patch("configmaps", "a", patch))["data"] == {"k": "1"}
    error = await refused(house.patch("configmaps", "a", patch))
    assert (error.code, error.reason) == (409, "Conflict")


async def test_a_patch_of_another_uid_is_refused_as_immutable(house: House) -> None:
    await house.create("configmaps", configmap())
    uid = "11111111-2222-3333-4444-555555555555"
    error = await refused(house.patch("configmaps", "a", {"metadata": {"uid": uid}}))

    assert (error.code, error.message) == (
        422,
        f'ConfigMap "a" is invalid: metadata.uid: Invalid value: "{uid}": field is immutable',
    )


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (
            {"metadata": {"name": "b"}},
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            {"metadata": {"namespace": "b"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
async def test_a_patch_cannot_rename(house: House, patch: Any, message: str) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.patch("configmaps", "a", patch))

    assert (error.code, error.message) == (400, message)


@pytest.mark.parametrize("patch_type", [MERGE_PATCH, STRATEGIC_PATCH])
@pytest.mark.parametrize("patch", [{"data": {"k": 5}}, {"data": []}])
async def test_a_result_of_wrong_types_is_refused_by_the_patch(
    house: House, patch: Any, patch_type: str
) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}))
    error = await refused(house.patch("configmaps", "a", patch, patch_type))

    assert (error.code, error.reason) == (422, "Invalid")
    assert [(cause.reason, cause.field) for cause in error.causes] == [
        ("FieldValueInvalid", "patch")
    ]
    strategic = "unrecognized type" in error.message or "cannot restore map" in error.message
    assert strategic if patch_type == STRATEGIC_PATCH else "json: cannot unmarshal" in error.message
    assert error.details == {}


async def test_an_invalid_result_is_refused_as_an_update_would_be(house: House) -> None:
    await house.create("configmaps", configmap(metadata={"labels": {"x": "y"}}))
    error = await refused(house.patch("configmaps", "a", {"metadata": {"labels": {"x": "-"}}}))

    assert error.code == 422
    assert {cause.field for cause in error.causes} == {"metadata.labels"}


@pytest.mark.parametrize("patch_type", [MERGE_PATCH, STRATEGIC_PATCH, JSON_PATCH])
async def test_a_patch_of_another_shape_is_a_bad_request(house: House, patch_type: str) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.patch("configmaps", "a", "text", patch_type))

    assert (error.code, error.reason) == (400, "BadRequest")


async def test_what_is_not_there_cannot_be_patched(house: House) -> None:
    error = await refused(house.patch("endpoints", "none", {}))

    assert (error.code, error.message) == (404, 'endpoints "none" not found')


async def test_a_dry_run_shows_the_result_alone(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    shown = await house.patch("configmaps", "a", {"data": {"k": "2"}}, dry_run=True)

    assert shown == {**made, "data": {"k": "2"}}
    assert await house.get("configmaps", "a") == made


async def test_patches_at_the_same_time_are_all_applied(house: House) -> None:
    await house.create("configmaps", configmap())
    patches = [{"data": {f"k{number}": "v"}} for number in range(20)]
    await asyncio.gather(*(house.patch("configmaps", "a", patch) for patch in patches))

    assert len((await house.get("configmaps", "a"))["data"]) == 20


async def test_a_refused_strict_patch_stays_refused_when_it_is_tried_again(house: House) -> None:
    await house.create("configmaps", configmap())
    patch = {"what": 1, "data": {"k": "v"}}
    error = await refused(house.patch("configmaps", "a", patch, field_validation="Strict"))

    assert error.code == 422
    assert 'strict decoding error: unknown field "what"' in error.message


async def test_a_pod_takes_another_image_but_no_other_policy(house: House) -> None:
    await house.create("pods", pod())
    containers = [{"name": "main", "image": "img.test/app:2"}]
    changed = await house.patch("pods", "p", {"spec": {"containers": containers}}, STRATEGIC_PATCH)
    error = await refused(house.patch("pods", "p", {"spec": {"restartPolicy": "Never"}}))

    assert changed["metadata"]["generation"] == 2
    assert error.code == 422


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"replicas": "many"}, '"map[spec:map[replicas:many]]": unrecognized type: int32'),
        ({"paused": 1}, '"map[spec:map[paused:1]]": unrecognized type: bool'),
        ({"template": []}, '"map[spec:map[template:[]]]": cannot restore struct from: slice'),
        ({"selector": {"matchLabels": True}},
         '"map[spec:map[selector:map[matchLabels:true]]]": cannot restore map from bool'),
        ({"template": {"spec": {"containers": "c", "hostNetwork": None}}},
         ('"map[spec:map[template:map[spec:map[containers:c hostNetwork:<nil>]]]]": '
          "cannot restore slice from string")),
    ],
)  # fmt: skip
async def test_a_strategic_patch_is_quoted_and_refused_in_words_of_its_own(
    house: House, patch: dict[str, Any], message: str
) -> None:
    await house.create("deployments", deployment())
    error = await refused(house.patch("deployments", "d", {"spec": patch}, STRATEGIC_PATCH))

    assert error.code == 422
    assert error.message == f' "" is invalid: patch: Invalid value: {message}'
