"""Cells of the kinds outside the core and apps groups, as the real server prints them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.cells import row_cells, row_conditions

Document = dict[str, Any]

NOW = 1_800_000_000.0
CREATED = "2027-01-15T07:57:57Z"  # 123 seconds before
AGE = "2m3s"


def cells(api_version: str, kind: str, document: Document) -> list[Any]:
    group, _, version = api_version.rpartition("/")
    metadata = {"name": "x", "creationTimestamp": CREATED, **document.pop("metadata", {})}
    return row_cells(
        GroupVersionKind(group, version, kind), {"metadata": metadata, **document}, NOW
    )


def condition(kind: str, status: str = "True") -> Document:
    return {"type": kind, "status": status}


@pytest.mark.parametrize(
    ("status", "spec", "shown"),
    [
        ({}, {"completions": 2}, ("Running", "0/2", "")),
        (
            {
                "conditions": [condition("Complete")], "succeeded": 2,
                "startTime": "2027-01-15T07:00:00Z", "completionTime": "2027-01-15T07:01:05Z",
            },
            {"completions": 2},
            ("Complete", "2/2", "65s"),
        ),
        ({"conditions": [condition("Failed")]}, {}, ("Failed", "0/1", "")),
        ({"conditions": [condition("Suspended")]}, {}, ("Suspended", "0/1", "")),
        ({"conditions": [condition("Complete", "False")]}, {}, ("Running", "0/1", "")),
        ({"startTime": CREATED}, {"parallelism": 3}, ("Running", "0/1 of 3", AGE)),
    ],
)  # fmt: skip
def test_jobs(status: Document, spec: Document, shown: tuple[str, str, str]) -> None:
    found = cells("batch/v1", "Job", {"spec": spec, "status": status})

    assert tuple(found[1:4]) == shown


def test_a_cron_job() -> None:
    spec = {"schedule": "@daily", "suspend": False, "timeZone": "UTC"}
    status = {"lastScheduleTime": CREATED, "active": [{}, {}]}

    assert cells("batch/v1", "CronJob", {"spec": spec, "status": status})[:7] == [
        "x", "@daily", "UTC", "False", 2, AGE, AGE,
    ]  # fmt: skip
    assert cells("batch/v1", "CronJob", {})[2:6] == ["<none>", "<unset>", 0, "<none>"]


CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
USED = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 30}}}
AVERAGE = {"target": {"averageValue": "500m"}}


@pytest.mark.parametrize(
    ("metrics", "current", "shown"),
    [
        ([], [], "<none>"),
        ([{"type": "Resource", "resource": CPU}], [], "cpu: <unknown>/80%"),
        ([{"type": "Resource", "resource": CPU}], [USED], "cpu: 30%/80%"),
        ([{"type": "Pods", "pods": AVERAGE}], [], "<unknown>/500m"),
        ([{"type": "External", "external": AVERAGE}], [], "<unknown>/500m (avg)"),
        ([{"type": "Object", "object": {"target": {"value": "3"}}}], [], "<unknown>/3"),
        (
            [{"type": "Pods", "pods": AVERAGE}] * 3,
            [],
            "<unknown>/500m, <unknown>/500m + 1 more...",
        ),
    ],
)
def test_what_an_autoscaler_looks_at(
    metrics: list[Document], current: list[Document], shown: str
) -> None:
    spec = {"metrics": metrics, "scaleTargetRef": {"kind": "Deployment", "name": "d"}}
    document = {"spec": {**spec, "maxReplicas": 3}, "status": {"currentMetrics": current}}

    assert cells("autoscaling/v2", "HorizontalPodAutoscaler", document) == [
        "x", "Deployment/d", shown, "<unset>", 3, 0, AGE,
    ]  # fmt: skip


def test_an_autoscaler_shows_the_same_in_its_older_form() -> None:
    spec = {"targetCPUUtilizationPercentage": 80, "maxReplicas": 3, "minReplicas": 1}
    found = cells("autoscaling/v1", "HorizontalPodAutoscaler", {"spec": spec})

    assert found[2:5] == ["cpu: <unknown>/80%", "1", 3]


def test_volumes_and_claims() -> None:
    spec = {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "fast",
        "claimRef": {"namespace": "n", "name": "c"}, "volumeMode": "Filesystem",
    }  # fmt: skip
    volume = {"spec": spec, "status": {"phase": "Bound"}}
    claim = {
        "spec": {"volumeName": "v"},
        "status": {
            "phase": "Bound",
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadOnlyMany"],
        },
    }

    assert cells("v1", "PersistentVolume", volume) == [
        "x", "1Gi", "RWO,RWX", "Retain", "Bound", "n/c", "fast", "<unset>", "", AGE, "Filesystem",
    ]  # fmt: skip
    assert cells("v1", "PersistentVolumeClaim", claim) == [
        "x", "Bound", "v", "1Gi", "ROX", "", "<unset>", AGE, "<unset>",
    ]  # fmt: skip


def test_the_default_storage_class_says_so() -> None:
    notes = {"storageclass.kubernetes.io/is-default-class": "true"}
    document = {"metadata": {"annotations": notes}, "provisioner": "p"}

    assert cells("storage.k8s.io/v1", "StorageClass", document) == [
        "x (default)", "p", "Delete", "Immediate", False, AGE,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [
        ([], "*"),
        ([""], "*"),
        (["a", "b"], "a,b"),
        (["a", "b", "c"], "a,b,c"),
        (["a", "b", "c", "d", "e"], "a,b,c + 2 more..."),
    ],
)
def test_hosts_of_an_ingress(hosts: list[str], shown: str) -> None:
    spec = {"rules": [{"host": host} for host in hosts], "tls": [{}]}
    found = cells("networking.k8s.io/v1", "Ingress", {"spec": spec})

    assert found == ["x", "<none>", shown, "", "80, 443", AGE]


def test_a_quota_tells_limits_apart() -> None:
    hard = {"pods": "5", "limits.cpu": "4", "requests.cpu": "2"}
    status = {"hard": hard, "used": {"pods": "1"}}

    assert cells("v1", "ResourceQuota", {"status": status}) == [
        "x", "pods: 1/5, requests.cpu: 0/2", "limits.cpu: 0/4", AGE,
    ]  # fmt: skip


def test_subjects_of_a_binding() -> None:
    document = {
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "User", "name": "v"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
        ],
    }

    assert cells("rbac.authorization.k8s.io/v1", "RoleBinding", document) == [
        "x", "Role/r", AGE, "u, v", "", "n/s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "certificate", "shown"),
    [
        ([], "", "Pending"),
        (["Approved"], "", "Approved"),
        (["Approved"], "eA==", "Approved,Issued"),
        (["Approved", "Failed"], "", "Approved,Failed"),
        (["Approved", "Denied"], "", "Denied"),
    ],
)
def test_what_became_of_a_signing_request(
    conditions: list[str], certificate: str, shown: str
) -> None:
    status = {"conditions": [condition(kind) for kind in conditions], "certificate": certificate}
    document = {"spec": {"signerName": "s", "expirationSeconds": 3600}, "status": status}

    found = cells("certificates.k8s.io/v1", "CertificateSigningRequest", document)
    assert found == ["x", AGE, "s", "", "60m", shown]


def test_parameters_of_a_policy_binding() -> None:
    group, kind = "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"

    def parameters(reference: Document | None) -> Any:
        spec = {"policyName": "p"} | ({} if reference is None else {"paramRef": reference})
        return cells(group, kind, {"spec": spec})[2]

    assert parameters(None) == "<unset>"
    assert parameters({"name": "a"}) == "a"
    assert parameters({"name": "a", "namespace": "n"}) == "n/a"
    assert parameters({"selector": {"matchLabels": {"k": "v"}}}) == (
        "&LabelSelector{MatchLabels:map[string]string{k: v,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}"
    )


@pytest.mark.parametrize(
    ("document", "state"),
    [
        ({}, "pending"),
        ({"status": {"allocation": {}}}, "allocated"),
        ({"status": {"allocation": {}, "reservedFor": [{}]}}, "allocated,reserved"),
        ({"metadata": {"deletionTimestamp": CREATED}}, "deleted"),
    ],
)
def test_states_of_a_resource_claim(document: Document, state: str) -> None:
    assert cells("resource.k8s.io/v1", "ResourceClaim", document)[1] == state


def test_a_revision_names_what_it_belongs_to() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "controller": True}
    document = {"metadata": {"ownerReferences": [owner]}, "revision": 3}

    assert cells("apps/v1", "ControllerRevision", document) == [
        "x", "statefulset.apps/s", 3, AGE,
    ]  # fmt: skip
    assert cells("apps/v1", "ControllerRevision", {})[1] == "<none>"


def test_the_row_of_a_pod_that_has_ended_says_so() -> None:
    pod = GroupVersionKind("", "v1", "Pod")

    assert row_conditions(pod, {"status": {"phase": "Running"}}) == []
    assert row_conditions(pod, {"status": {"phase": "Failed"}}) == [
        {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}
    ]
    assert row_conditions(GroupVersionKind("", "v1", "Node"), {"status": {"phase": "Failed"}}) == []
