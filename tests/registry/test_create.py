"""Create: what the server sets, what it refuses, and in whose words."""

from __future__ import annotations

import os
import re

import pytest

from listwatch.registry import metadata
from tests.registry.house import House, configmap, deployment, pod, refused

UID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


async def test_a_created_object_has_an_identity_and_is_seen_at_once(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "v"}))

    meta = made["metadata"]
    assert list(made) == ["kind", "apiVersion", "metadata", "data"]
    assert meta["namespace"] == "default"
    assert re.fullmatch(UID, meta["uid"])
    assert meta["creationTimestamp"] == "2023-11-14T22:13:20Z"
    assert meta["resourceVersion"] == str(house.revision)
    assert await house.get("configmaps", "a") == made


async def test_a_body_need_not_name_its_kind(house: House) -> None:
    made = await house.create("configmaps", {"metadata": {"name": "a"}})

    assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"kind": "Secret"},
            (
                'Secret in version "v1" cannot be handled as a ConfigMap: '
                "converting (v1.Secret) to (core.ConfigMap): unknown conversion"
            ),
        ),
        (
            {"kind": "ConfigMapList"},
            (
                'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting '
                "(v1.ConfigMapList) to (core.ConfigMap): unknown conversion"
            ),
        ),
        (
            {"apiVersion": "apps/v1"},
            (
                'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
                'no kind "ConfigMap" is registered for version "apps/v1" in scheme '
                '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'
            ),
        ),
        (
            {"kind": "Nothing"},
            (
                'Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is '
                'registered for version "v1" in scheme '
                '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'
            ),
        ),
    ],
)
async def test_a_body_of_another_kind_is_refused(
    house: House, body: dict[str, str], message: str
) -> None:
    error = await refused(house.create("configmaps", {**configmap(), **body}))

    assert (error.code, error.reason, error.message) == (400, "BadRequest", message)


async def test_what_the_client_says_of_the_servers_fields_is_passed_over(house: House) -> None:
    sent = {
        "uid": "11111111-2222-3333-4444-555555555555",
        "creationTimestamp": "2001-02-03T04:05:06Z",
        "deletionTimestamp": "2001-02-03T04:05:06Z",
        "deletionGracePeriodSeconds": 5,
        "generation": 7,
        "selfLink": "/x",
        "managedFields": [{"manager": "m"}],
    }
    meta = (await house.create("configmaps", configmap(metadata=sent)))["metadata"]

    assert meta["uid"] != sent["uid"]
    assert meta["creationTimestamp"] != sent["creationTimestamp"]
    assert meta["generation"] == 7
    assert not meta.keys() & {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}
    assert "managedFields" not in meta


async def test_a_second_object_of_a_name_is_refused(house: House) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.create("configmaps", configmap()))

    assert error.to_dict() == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": 'configmaps "a" already exists', "reason": "AlreadyExists",
        "details": {"name": "a", "kind": "configmaps"}, "code": 409,
    }  # fmt: skip


async def test_a_name_whose_object_is_being_deleted_is_refused_with_that_word(house: House) -> None:
    await house.create("configmaps", configmap(metadata={"finalizers": ["a.test/1"]}))
    await house.delete("configmaps", "a")
    error = await refused(house.create("configmaps", configmap()))

    assert error.message == 'object is being deleted: configmaps "a" already exists'


async def test_a_generated_name_has_five_characters_more(house: House) -> None:
    made = await house.create("configmaps", {"metadata": {"generateName": "x-"}})

    assert re.fullmatch("x-[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "x-"


async def test_a_long_base_is_cut_so_that_the_name_fits_a_label(house: House) -> None:
    made = await house.create("configmaps", {"metadata": {"generateName": "x" * 80}})

    assert len(made["metadata"]["name"]) == 63


async def test_a_name_wins_over_a_base(house: House) -> None:
    made = await house.create("configmaps", configmap("n", metadata={"generateName": "x-"}))

    assert made["metadata"]["name"] == "n"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_generates_other_names() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, ",".join(metadata.generated_name("a") for _ in range(20)).encode())
        os._exit(0)
    mine = {metadata.generated_name("a") for _ in range(20)}
    os.waitpid(child, 0)
    theirs = os.read(reading, 4096).decode().split(",")
    os.close(reading)
    os.close(writing)

    assert len(theirs) == 20
    assert not mine & set(theirs)


async def test_a_taken_generated_name_is_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["x-one", "x-one", "x-two"])
    monkeypatch.setattr(metadata, "generated_name", lambda _: next(names))
    await house.create("configmaps", {"metadata": {"generateName": "x-"}})
    second = await house.create("configmaps", {"metadata": {"generateName": "x-"}})

    assert second["metadata"]["name"] == "x-two"


async def test_eight_taken_generated_names_are_enough(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def one(base: str) -> str:
        tries.append(base)
        return "x-one"

    await house.create("configmaps", configmap("x-one"))
    monkeypatch.setattr(metadata, "generated_name", one)
    error = await refused(house.create("configmaps", {"metadata": {"generateName": "x-"}}))

    assert (error.code, error.reason, error.retry_after) == (409, "AlreadyExists", 1)
    assert len(tries) == 8


async def test_neither_name_nor_base_is_refused(house: House) -> None:
    error = await refused(house.create("configmaps", {"metadata": {}}))

    assert (error.code, error.reason) == (422, "Invalid")
    assert "name or generateName is required" in error.message


async def test_a_resource_version_is_refused(house: House) -> None:
    error = await refused(house.create("configmaps", configmap(metadata={"resourceVersion": "5"})))

    assert error.code == 400
    assert error.message == "resourceVersion should not be set on objects to be created"


async def test_a_dry_run_answers_without_a_revision_and_leaves_nothing(house: House) -> None:
    before = house.revision
    made = await house.create("configmaps", configmap(), dry_run=True)
    error = await refused(house.get("configmaps", "a"))

    assert "uid" in made["metadata"]
    assert "resourceVersion" not in made["metadata"]
    assert error.code == 404
    assert house.revision == before


async def test_a_dry_run_finds_that_the_name_is_taken(house: House) -> None:
    await house.create("configmaps", configmap())
    error = await refused(house.create("configmaps", configmap(), dry_run=True))

    assert (error.code, error.reason) == (409, "AlreadyExists")


async def test_a_namespace_that_is_not_there_is_refused(house: House) -> None:
    error = await refused(house.create("configmaps", configmap(), namespace="nowhere"))

    assert (error.code, error.message) == (404, 'namespaces "nowhere" not found')
    assert error.details == {"name": "nowhere", "kind": "namespaces"}


async def test_a_missing_namespace_is_told_before_other_faults(house: House) -> None:
    bad = configmap(metadata={"labels": {"x": "-"}})
    error = await refused(house.create("configmaps", bad, namespace="nowhere"))

    assert error.code == 404


async def test_a_terminating_namespace_takes_nothing_new(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    await house.delete("namespaces", "n")
    error = await refused(house.create("configmaps", configmap(), namespace="n"))

    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message == (
        'configmaps "a" is forbidden: unable to create new content in namespace n because it is '
        "being terminated"
    )
    (cause,) = error.causes
    assert (cause.reason, cause.field) == ("NamespaceTerminating", "metadata.namespace")


async def test_another_namespace_in_the_body_is_refused(house: House) -> None:
    error = await refused(house.create("configmaps", configmap(metadata={"namespace": "other"})))

    assert error.code == 400
    assert error.message == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_a_cluster_scoped_object_has_no_namespace(house: House) -> None:
    made = await house.create("nodes", {"metadata": {"name": "n", "namespace": "default"}})

    assert "namespace" not in made["metadata"]


async def test_a_status_sent_along_is_dropped_where_it_has_an_address_of_its_own(
    house: House,
) -> None:
    body = {**deployment(), "status": {"replicas": 3}}
    made = await house.create("deployments", body)

    assert made["status"] == {}
    assert made["metadata"]["generation"] == 1


async def test_a_node_registers_with_its_status(house: House) -> None:
    body = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}}
    made = await house.create("nodes", body)

    assert made["status"]["capacity"] == made["status"]["allocatable"] == {"cpu": "4"}
    assert made["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]


async def test_a_pod_begins_pending(house: House) -> None:
    made = await house.create("pods", {**pod(), "status": {"phase": "Running"}})

    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert made["metadata"]["generation"] == 1
    assert made["spec"]["priority"] == 0
    assert [t["key"] for t in made["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
    ]  # fmt: skip


async def test_a_gated_pod_says_so(house: House) -> None:
    made = await house.create("pods", pod(schedulingGates=[{"name": "a.test/g"}]))

    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("PodScheduled", "SchedulingGated")


async def test_a_namespace_begins_active_with_its_finalizer_and_label(house: House) -> None:
    made = await house.create("namespaces", {"metadata": {"name": "n"}})

    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["status"] == {"phase": "Active"}
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


async def test_a_generated_namespace_is_labelled_by_its_own_name(house: House) -> None:
    made = await house.create("namespaces", {"metadata": {"generateName": "n-"}})

    name = made["metadata"]["name"]
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}


async def test_a_daemon_set_counts_its_template_in_an_annotation(house: House) -> None:
    body = {**deployment(), "kind": "DaemonSet"}
    made = await house.create("daemonsets", body)

    assert made["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "1"}


async def test_every_fault_has_a_cause_and_the_message_tells_all(house: House) -> None:
    error = await refused(house.create("configmaps", configmap(data={"a/b": "c"})))

    assert error.to_dict()["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": 'Invalid value: "a/b": a valid config key must consist of alphanumeric '
            "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
            "used for validation is '[-._a-zA-Z0-9]+')",
            "field": "data[a/b]",
        }
    ]
    assert error.message.startswith('ConfigMap "a" is invalid: data[a/b]: Invalid value: "a/b"')
