"""Update: which version is replaced, what cannot be changed, and what counts as no change."""

from __future__ import annotations

import pytest

from tests.registry.house import House, configmap, deployment, frames, pod, refused

MODIFIED = (
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply '
    "your changes to the latest version and try again"
)


async def test_the_current_version_is_replaced(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    changed = await house.put("configmaps", {**made, "data": {"k": "2"}})

    assert changed["data"] == {"k": "2"}
    assert int(changed["metadata"]["resourceVersion"]) == house.revision
    assert await house.get("configmaps", "a") == changed


@pytest.mark.parametrize("version", ["", "0", None])
async def test_without_a_version_whatever_is_there_is_replaced(
    house: House, version: str | None
) -> None:
    await house.create("configmaps", configmap())
    await house.put("configmaps", configmap(data={"k": "1"}))
    body = configmap(metadata={"resourceVersion": version}, data={"k": "2"})
    changed = await house.put("configmaps", body)

    assert changed["data"] == {"k": "2"}


@pytest.mark.parametrize("offset", [-1, 1_000_000])
async def test_another_version_is_a_conflict(house: House, offset: int) -> None:
    made = await house.create("configmaps", configmap())
    version = str(int(made["metadata"]["resourceVersion"]) + offset)
    body = configmap(metadata={"resourceVersion": version})
    error = await refused(house.put("configmaps", body))

    assert (error.code, error.reason, error.message) == (409, "Conflict", MODIFIED)
    assert error.details == {"name": "a", "kind": "configmaps"}


async def test_a_version_that_is_no_number_is_refused(house: House) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.put("configmaps", configmap(metadata={"resourceVersion": "abc"})))

    assert error.code == 400


async def test_a_kind_may_insist_on_a_version(house: House) -> None:
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "one"}}
    await house.create("leases", lease)
    error = await refused(house.put("leases", {"metadata": {"name": "l"}, "spec": {}}))

    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message == (
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: '
        "must be specified for an update"
    )


async def test_another_uid_is_a_conflict(house: House) -> None:
    made = await house.create("configmaps", configmap())
    uid, other = made["metadata"]["uid"], "11111111-2222-3333-4444-555555555555"
    error = await refused(house.put("configmaps", configmap(metadata={"uid": other})))

    assert error.message == (
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, '
        "Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: {other}, UID in object meta: {uid}"
    )


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
        (
            {},
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            {"name": "a", "namespace": "other"},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
async def test_the_body_must_be_of_the_paths_object(
    house: House, metadata: dict[str, str], message: str
) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.put("configmaps", {"metadata": metadata}, name="a"))

    assert (error.code, error.message) == (400, message)


async def test_what_is_not_there_cannot_be_replaced(house: House) -> None:
    error = await refused(house.put("configmaps", configmap("zz")))

    assert (error.code, error.message) == (404, 'configmaps "zz" not found')


async def test_some_kinds_are_created_by_an_update(house: House) -> None:
    ctx = house.ctx("endpoints", "e")
    written = await house.registry.update(ctx, {"metadata": {"name": "e"}})

    assert written.created
    assert (await house.get("endpoints", "e"))["kind"] == "Endpoints"


async def test_a_creating_update_needs_the_namespace(house: House) -> None:
    body = {"metadata": {"name": "e"}}
    error = await refused(house.put("endpoints", body, namespace="nowhere"))

    assert (error.code, error.message) == (404, 'namespaces "nowhere" not found')


async def test_identity_and_creation_stay_whatever_is_sent(house: House) -> None:
    made = await house.create("configmaps", configmap())
    sent = {"creationTimestamp": "2001-02-03T04:05:06Z", "generation": 9}
    changed = await house.put("configmaps", configmap(metadata=sent, data={"k": "1"}))

    assert changed["metadata"]["uid"] == made["metadata"]["uid"]
    assert changed["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert "generation" not in changed["metadata"]


async def test_a_deletion_timestamp_cannot_be_sent(house: House) -> None:
    await house.create("configmaps", configmap())
    sent = {"deletionTimestamp": "2001-02-03T04:05:06Z"}
    error = await refused(house.put("configmaps", configmap(metadata=sent)))

    assert (error.code, error.message) == (
        422,
        (
            'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: '
            '"2001-02-03T04:05:06Z": field is immutable'
        ),
    )
    assert len(error.causes) == 2


async def test_nothing_changed_is_no_write_and_no_event(house: House) -> None:
    made = await house.create(
        "configmaps", configmap(metadata={"labels": {"x": "y", "z": "w"}}, data={"k": "v"})
    )
    watcher = await house.watch("configmaps")
    await frames(watcher, 1)
    before = house.revision
    # The same object, its keys in another order and an empty map more.
    again = {
        "data": {"k": "v"}, "binaryData": {},
        "metadata": {"labels": {"z": "w", "x": "y"}, "name": "a", "annotations": {}},
    }  # fmt: skip
    same = await house.put("configmaps", again)
    await house.put("configmaps", configmap(data={"k": "other"}))

    assert same == made
    assert house.revision == before + 1
    ((kind, seen),) = await frames(watcher, 1)
    assert (kind, seen["data"]) == ("MODIFIED", {"k": "other"})


async def test_a_dry_run_answers_with_the_old_revision_and_changes_nothing(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    shown = await house.put("configmaps", configmap(data={"k": "2"}), dry_run=True)

    assert shown == {**made, "data": {"k": "2"}}
    assert await house.get("configmaps", "a") == made


async def test_an_immutable_config_map_stays_but_for_its_metadata(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "1"}, immutable=True))
    error = await refused(house.put("configmaps", configmap(data={"k": "2"}, immutable=True)))
    labelled = configmap(metadata={"labels": {"x": "y"}}, data={"k": "1"}, immutable=True)

    assert error.message == (
        'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set'
    )
    assert (await house.put("configmaps", labelled))["metadata"]["labels"] == {"x": "y"}


async def test_generation_counts_changes_of_the_spec_alone(house: House) -> None:
    made = await house.create("deployments", deployment())
    labelled = {**made, "metadata": {**made["metadata"], "labels": {"x": "y"}}}
    labelled = await house.put("deployments", labelled)
    scaled = await house.put(
        "deployments", {**labelled, "spec": {**labelled["spec"], "replicas": 3}}
    )
    again = await house.put("deployments", scaled)
    status = {**again, "status": {"replicas": 1}}
    observed = await house.put("deployments/status", status)

    generations = [
        one["metadata"]["generation"] for one in (made, labelled, scaled, again, observed)
    ]
    assert generations == [1, 1, 2, 2, 2]


async def test_annotations_of_a_deployment_count_as_well(house: House) -> None:
    made = await house.create("deployments", deployment())
    made["metadata"]["annotations"] = {"a": "b"}
    changed = await house.put("deployments", made)

    assert changed["metadata"]["generation"] == 2


async def test_the_main_address_passes_over_the_status(house: House) -> None:
    made = await house.create("pods", pod())
    changed = await house.put("pods", {**made, "status": {"phase": "Failed"}})

    assert changed == made


async def test_a_pod_sent_anew_is_the_same_pod(house: House) -> None:
    made = await house.create("pods", pod())
    changed = await house.put("pods", pod())

    assert changed == made


async def test_the_name_label_of_a_namespace_cannot_be_taken_off(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    body = {"metadata": {"name": "n", "labels": {"kubernetes.io/metadata.name": "other"}}}
    changed = await house.put("namespaces", body)

    assert changed["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}
    assert changed["spec"] == {"finalizers": ["kubernetes"]}


async def test_the_template_generation_of_a_daemon_set_follows_its_template(house: House) -> None:
    made = await house.create("daemonsets", {**deployment(), "kind": "DaemonSet"})
    made["spec"]["template"]["spec"]["containers"][0]["image"] = "img.test/app:2"
    made["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "70"}
    changed = await house.put("daemonsets", made)

    assert changed["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "2"}
    assert changed["metadata"]["generation"] == 2
