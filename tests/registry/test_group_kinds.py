"""Kinds outside the core and apps groups: what the server adds to them and keeps of them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from listwatch.editing.examples import EXAMPLES
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.registry.context import RequestContext, UserInfo
from tests.registry.house import House, pod, refused, shown

BATCH, CERTIFICATES = "batch", "certificates.k8s.io"
NETWORKING, SCHEDULING, NODE = "networking.k8s.io", "scheduling.k8s.io", "node.k8s.io"
REQUESTS = "certificatesigningrequests"


def named(kind: str, name: str = "a", **metadata: Any) -> JSONObject:  # Any: JSON
    return {"metadata": {"name": name, **metadata}, **copy.deepcopy(EXAMPLES[kind])}


async def test_a_job_knows_its_pods_by_its_own_uid(house: House) -> None:
    made = await house.create("jobs", named("Job"), group=BATCH)
    uid = made["metadata"]["uid"]
    labels = made["spec"]["template"]["metadata"]["labels"]

    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert labels["job-name"] == labels["batch.kubernetes.io/job-name"] == "a"
    assert made["metadata"]["labels"] == labels
    assert made["metadata"]["generation"] == 1


async def test_a_job_with_a_selector_of_its_own_gets_no_labels(house: House) -> None:
    job = named("Job")
    labels = {"a": "b"}
    template = {**job["spec"]["template"], "metadata": {"labels": labels}}
    job["spec"] = {
        "manualSelector": True, "selector": {"matchLabels": labels}, "template": template,
    }  # fmt: skip
    made = await house.create("jobs", job, group=BATCH)

    assert made["spec"]["template"]["metadata"]["labels"] == labels


async def test_who_deletes_a_job_is_told_that_its_pods_stay(house: House) -> None:
    await house.create("jobs", named("Job"), group=BATCH)
    ctx = house.ctx("jobs", "a", group=BATCH)
    deleted = await house.registry.delete(ctx, DeleteOptions())

    assert ctx.warnings[0].startswith("child pods are preserved by default")
    assert deleted.gone is False  # the collector orphans them first


def scaler(house: House, version: str) -> RequestContext:
    resource = house.registry.resources.find("autoscaling", version, "horizontalpodautoscalers")
    assert resource is not None
    return RequestContext(UserInfo("tester"), resource, namespace="default")


async def test_an_autoscaler_is_one_object_in_two_versions(house: House) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 50}
    written = await house.registry.create(
        scaler(house, "v1"), {"metadata": {"name": "a"}, "spec": spec}
    )
    found = (await house.registry.get(replace(scaler(house, "v2"), name="a"))).decode()

    assert shown(written)["spec"]["targetCPUUtilizationPercentage"] == 50
    assert shown(written)["apiVersion"] == "autoscaling/v1"
    assert found["apiVersion"] == "autoscaling/v2"
    assert found["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50


async def test_who_asks_for_a_certificate_is_said_by_the_server(house: House) -> None:
    document = named("CertificateSigningRequest")
    document["spec"] = {**document["spec"], "username": "somebody else", "groups": ["others"]}
    made = await house.create(REQUESTS, document, group=CERTIFICATES)

    assert made["spec"]["username"] == "tester"
    assert "groups" not in made["spec"]


async def test_a_request_is_approved_at_one_address_and_answered_at_another(house: House) -> None:
    await house.create(REQUESTS, named("CertificateSigningRequest"), group=CERTIFICATES)
    approved = {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "x"}]}}
    failed = {"status": {"certificate": "eA==", "conditions": [{"type": "Failed"}]}}

    async def patch(part: str, change: JSONObject) -> JSONObject:
        found = await house.patch(f"{REQUESTS}/{part}", "a", change, group=CERTIFICATES)
        status: JSONObject = found["status"]
        return status

    assert await patch("status", approved) == {}
    first = await patch("approval", approved)
    assert [c["type"] for c in first["conditions"]] == ["Approved"]
    assert first["conditions"][0]["lastTransitionTime"]
    second = await patch("status", failed)
    assert [c["type"] for c in second["conditions"]] == ["Approved", "Failed"]
    assert second["certificate"] == "eA=="


@pytest.mark.parametrize(
    ("resource", "kind", "finalizer"),
    [
        ("persistentvolumes", "PersistentVolume", "kubernetes.io/pv-protection"),
        ("persistentvolumeclaims", "PersistentVolumeClaim", "kubernetes.io/pvc-protection"),
    ],
)
async def test_volumes_and_claims_are_held_while_they_are_used(
    house: House, resource: str, kind: str, finalizer: str
) -> None:
    made = await house.create(resource, named(kind))

    assert made["metadata"]["finalizers"] == [finalizer]
    assert made["status"]["phase"] == "Pending"


async def test_the_phase_of_a_volume_has_a_time(house: House) -> None:
    made = await house.create("persistentvolumes", named("PersistentVolume"))
    await house.clock.advance(5)
    same = await house.patch("persistentvolumes/status", "a", {"status": {"reason": "x"}})
    bound = await house.patch("persistentvolumes/status", "a", {"status": {"phase": "Bound"}})
    first = made["status"]["lastPhaseTransitionTime"]

    assert same["status"]["lastPhaseTransitionTime"] == first
    assert bound["status"]["lastPhaseTransitionTime"] > first


async def test_a_budget_cannot_be_overwritten_blindly(house: House) -> None:
    budget = named("PodDisruptionBudget")
    await house.create("poddisruptionbudgets", budget, group="policy")
    error = await refused(
        house.put("poddisruptionbudgets", named("PodDisruptionBudget"), group="policy")
    )

    assert [cause.field for cause in error.causes] == ["metadata.resourceVersion"]


async def test_an_ingress_without_a_class_gets_the_default_one(house: House) -> None:
    notes = {"ingressclass.kubernetes.io/is-default-class": "true"}
    await house.create(
        "ingressclasses", named("IngressClass", "c", annotations=notes), group=NETWORKING
    )
    await house.registry.catch_up()
    made = await house.create("ingresses", named("Ingress"), group=NETWORKING)
    old = named("Ingress", "b", annotations={"kubernetes.io/ingress.class": "other"})

    assert made["spec"]["ingressClassName"] == "c"
    assert (
        "ingressClassName" not in (await house.create("ingresses", old, group=NETWORKING))["spec"]
    )


async def test_only_one_priority_is_the_default(house: House) -> None:
    first = {**named("PriorityClass"), "globalDefault": True}
    await house.create("priorityclasses", first, group=SCHEDULING)
    await house.registry.catch_up()
    second = {**named("PriorityClass", "b"), "globalDefault": True}
    error = await refused(house.create("priorityclasses", second, group=SCHEDULING))

    assert error.message == (
        'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as '
        "default. Only one default can exist"
    )


async def test_a_pod_gets_the_overhead_of_its_runtime(house: House) -> None:
    overhead = {"podFixed": {"cpu": "100m"}}
    scheduling = {"nodeSelector": {"kind": "sandbox"}}
    runtime = {**named("RuntimeClass"), "overhead": overhead, "scheduling": scheduling}
    await house.create("runtimeclasses", runtime, group=NODE)
    made = await house.create("pods", pod(runtimeClassName="a"))
    conflict = pod("q", runtimeClassName="a", nodeSelector={"kind": "bare"})

    assert made["spec"]["overhead"] == {"cpu": "100m"}
    assert made["spec"]["nodeSelector"] == {"kind": "sandbox"}
    assert "conflict" in (await refused(house.create("pods", conflict))).message
    assert (await refused(house.create("pods", pod("r", runtimeClassName="none")))).message == (
        'pods "r" is forbidden: pod rejected: RuntimeClass "none" not found'
    )


async def test_a_namespace_takes_its_jobs_and_claims_along(house: House) -> None:
    table = house.registry.resources
    content = [r for r in table.served() if r.namespaced and table.stored(r.storage) is r]

    assert {"jobs", "persistentvolumeclaims", "roles", "ingresses"} <= {r.resource for r in content}
    scalers = [r.version for r in content if r.resource == "horizontalpodautoscalers"]
    assert scalers == ["v2"]


async def test_the_priorities_of_the_system_are_there_from_the_start(house: House) -> None:
    listed = await house.registry.list(
        house.ctx("priorityclasses", group=SCHEDULING), ListOptions()
    )

    assert [version.name for version in listed.versions] == [
        "system-cluster-critical",
        "system-node-critical",
    ]


async def test_the_flows_of_every_api_server_are_there_from_the_start(house: House) -> None:
    group = "flowcontrol.apiserver.k8s.io"
    levels = await house.registry.list(
        house.ctx("prioritylevelconfigurations", group=group), ListOptions()
    )
    schemas = await house.registry.list(house.ctx("flowschemas", group=group), ListOptions())

    named = {version.name for version in levels.versions}
    assert {"exempt", "catch-all", "system", "workload-low"} <= named
    found = [version.decode() for version in schemas.versions]
    assert {"exempt", "catch-all", "probes", "service-accounts"} <= {
        schema["metadata"]["name"] for schema in found
    }
    for schema in found:
        assert schema["spec"]["priorityLevelConfiguration"]["name"] in named
        assert schema["status"]["conditions"][0]["status"] == "False", schema


async def test_both_fields_say_what_a_claim_begins_as(house: House) -> None:
    claim, other = {"kind": "PersistentVolumeClaim", "name": "b"}, {"kind": "Foo", "name": "b"}
    own = {**other, "apiGroup": "a.test"}

    async def spec(name: str, **source: JSONObject) -> JSONObject:
        given = named("PersistentVolumeClaim", name)
        given["spec"] |= source
        made: JSONObject = (await house.create("persistentvolumeclaims", given))["spec"]
        return {key: value for key, value in made.items() if key.startswith("dataSource")}

    assert await spec("a", dataSource=claim) == {"dataSource": claim, "dataSourceRef": claim}
    assert await spec("b", dataSourceRef=own) == {"dataSource": own, "dataSourceRef": own}
    # What the older field could never hold is passed over there.
    assert await spec("c", dataSource={}) == {}
    assert await spec("d", dataSource=own) == {}
