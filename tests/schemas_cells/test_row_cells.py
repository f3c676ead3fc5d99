"""Cells as the real server prints them, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind, Resource
from listwatch.schemas.cells import row_cells
from listwatch.schemas.kinds import builtin_resources

Document = dict[str, Any]

NOW = 1_800_000_000.0
CREATED = "2027-01-15T07:57:57Z"  # 123 seconds before


def cells(kind: str, document: Document, group: str = "") -> list[Any]:
    metadata = {"name": "x", "creationTimestamp": CREATED, **document.pop("metadata", {})}
    gvk = GroupVersionKind(group, "v1", kind)
    return row_cells(gvk, {"metadata": metadata, **document}, NOW)


with_columns = [resource for resource in builtin_resources() if resource.columns]


@pytest.mark.parametrize("resource", with_columns, ids=lambda r: str(r.group_resource))
def test_every_column_has_a_cell_also_of_an_object_that_holds_nothing(resource: Resource) -> None:
    found = row_cells(resource.gvk, {}, NOW)

    assert len(found) == len(resource.columns)
    for column, cell in zip(resource.columns, found, strict=True):
        numeric = column.type == "integer" and cell != "<none>"
        assert isinstance(cell, int) if numeric else column.type == "date" or cell is not None
        assert cell == "<unknown>" if column.name == "Age" else True


@pytest.mark.parametrize("resource", with_columns, ids=lambda r: str(r.group_resource))
def test_nulls_are_borne_like_what_is_missing(resource: Resource) -> None:
    keys = ("metadata", "spec", "status", "data", "subsets", "ports", "endpoints", "template")
    empty = row_cells(resource.gvk, {}, NOW)

    assert row_cells(resource.gvk, dict.fromkeys(keys), NOW) == empty
    assert row_cells(resource.gvk, {key: {} for key in keys[:3]}, NOW) == empty


def test_a_kind_that_is_not_known_has_its_name_and_its_creation() -> None:
    assert cells("Widget", {}, "test.example") == ["x", CREATED]
    assert row_cells(GroupVersionKind("test.example", "v1", "Widget"), {}, NOW) == ["", None]


def test_plain_kinds() -> None:
    assert cells("ConfigMap", {"data": {"a": "1"}, "binaryData": {"b": "", "c": ""}}) == [
        "x", 3, "2m3s",
    ]  # fmt: skip
    assert cells("Secret", {"type": "Opaque", "data": {"k": "dg=="}}) == ["x", "Opaque", 1, "2m3s"]
    assert cells("ServiceAccount", {}) == ["x", "2m3s"]
    assert cells("Namespace", {"status": {"phase": "Active"}}) == ["x", "Active", "2m3s"]
    assert cells("Lease", {"spec": {"holderIdentity": "h"}}, "coordination.k8s.io") == [
        "x", "h", "2m3s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("created", "age"),
    [(None, "<unknown>"), ("nonsense", "<unknown>"), ("2027-01-15T08:00:30Z", "<invalid>")],
)
def test_an_age_that_cannot_be_told(created: Any, age: str) -> None:
    assert cells("ServiceAccount", {"metadata": {"creationTimestamp": created}}) == ["x", age]


TEMPLATE = {
    "metadata": {"labels": {"b": "2", "a": "1"}},
    "spec": {
        "containers": [{"name": "main", "image": "i:1"}, {"name": "side", "image": "i:2"}],
        "nodeSelector": {"disk": "ssd"},
    },
}
SELECTOR = {"matchLabels": {"app": "d"}}
WIDE = ["main,side", "i:1,i:2"]


def test_workloads() -> None:
    spec = {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}
    status = {"replicas": 3, "updatedReplicas": 2, "readyReplicas": 1, "availableReplicas": 1}

    deployment = cells("Deployment", {"spec": spec, "status": status}, "apps")
    replica_set = cells("ReplicaSet", {"spec": spec, "status": status}, "apps")
    stateful_set = cells("StatefulSet", {"spec": spec, "status": status}, "apps")

    assert deployment == ["x", "1/3", 2, 1, "2m3s", *WIDE, "app=d"]
    assert replica_set == ["x", 3, 3, 1, "2m3s", *WIDE, "app=d"]
    assert stateful_set == ["x", "1/3", "2m3s", *WIDE]


def test_a_daemon_set_shows_where_it_runs() -> None:
    status = {
        "desiredNumberScheduled": 5,
        "currentNumberScheduled": 4,
        "numberReady": 3,
        "updatedNumberScheduled": 2,
        "numberAvailable": 1,
    }

    spec = {"selector": SELECTOR, "template": TEMPLATE}

    found = cells("DaemonSet", {"spec": spec, "status": status}, "apps")

    assert found == ["x", 5, 4, 3, 2, 1, "disk=ssd", "2m3s", *WIDE, "app=d"]


def test_a_replication_controller_and_a_pod_template() -> None:
    spec = {"replicas": 1, "selector": {"b": "2", "a": "1"}, "template": TEMPLATE}

    assert cells("ReplicationController", {"spec": spec}) == [
        "x",
        1,
        0,
        0,
        "2m3s",
        *WIDE,
        "a=1,b=2",
    ]
    assert cells("PodTemplate", {"template": TEMPLATE}) == ["x", *WIDE, "a=1,b=2"]


def test_a_selector_of_expressions_is_written_as_kubectl_takes_it() -> None:
    expressions = [
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    spec = {"selector": {"matchLabels": {"app": "d"}, "matchExpressions": expressions}}

    found = cells("ReplicaSet", {"spec": spec}, "apps")

    assert found[-1] == "app=d,!old,tier in (a,b)"


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ({"conditions": [{"type": "Ready", "status": "True"}]}, "Ready,SchedulingDisabled"),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, "NotReady,SchedulingDisabled"),
        ({}, "Unknown,SchedulingDisabled"),
    ],
)
def test_a_node_shows_whether_it_takes_pods(status: Document, shown: str) -> None:
    found = cells("Node", {"spec": {"unschedulable": True}, "status": status})

    assert found[1] == shown


def test_a_node_shows_roles_addresses_and_versions() -> None:
    labels = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/": "",
        "kubernetes.io/role": "edge",
    }
    status = {
        "addresses": [
            {"type": "Hostname", "address": "h"},
            {"type": "InternalIP", "address": "10.1.1.1"},
            {"type": "InternalIP", "address": "10.1.1.2"},
        ],
        "nodeInfo": {"kubeletVersion": "v9", "osImage": "kit", "kernelVersion": "1"},
    }

    found = cells("Node", {"metadata": {"labels": labels}, "status": status})

    assert found[2:] == [
        "edge,worker", "2m3s", "v9", "10.1.1.1", "<none>", "kit", "1", "<unknown>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        (
            {"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": [{"port": 80}]},
            {},
            ["ClusterIP", "10.0.0.1", "<none>", "80/TCP"],
        ),
        (
            {
                "type": "NodePort",
                "clusterIPs": ["10.0.0.1", "fd00::1"],
                "externalIPs": ["1.1.1.1", "2.2.2.2"],
                "ports": [
                    {"port": 80, "nodePort": 30080, "protocol": "TCP"},
                    {"port": 53, "protocol": "UDP"},
                ],
            },
            {},
            ["NodePort", "10.0.0.1", "1.1.1.1,2.2.2.2", "80:30080/TCP,53/UDP"],
        ),
        (
            {"type": "LoadBalancer", "clusterIP": "10.0.0.1"},
            {},
            ["LoadBalancer", "10.0.0.1", "<pending>", "<none>"],
        ),
        (
            {"type": "LoadBalancer", "clusterIP": "10.0.0.1", "externalIPs": ["3.3.3.3"]},
            {"loadBalancer": {"ingress": [{"hostname": "b.test"}, {"ip": "4.4.4.4"}, {}]}},
            ["LoadBalancer", "10.0.0.1", "4.4.4.4,b.test,3.3.3.3", "<none>"],
        ),
        (
            {"type": "ExternalName", "externalName": "x.test"},
            {},
            ["ExternalName", "<none>", "x.test", "<none>"],
        ),
        (
            {"type": "ClusterIP", "clusterIP": "None"},
            {},
            ["ClusterIP", "None", "<none>", "<none>"],
        ),
    ],
)
def test_a_service_shows_its_addresses_and_ports(
    spec: Document, status: Document, shown: list[str]
) -> None:
    found = cells("Service", {"spec": {**spec, "selector": {"app": "d"}}, "status": status})

    assert found == ["x", *shown, "2m3s", "app=d"]


def addresses(*ips: str) -> list[Document]:
    return [{"ip": ip} for ip in ips]


@pytest.mark.parametrize(
    ("subsets", "shown"),
    [
        ([], "<none>"),
        ([{"notReadyAddresses": addresses("1.1.1.1"), "ports": [{"port": 80}]}], ""),
        ([{"addresses": addresses("1.1.1.1", "fd::1")}], "1.1.1.1,fd::1"),
        (
            [{"addresses": addresses("1.1.1.1", "fd::1"), "ports": [{"port": 80}]}],
            "1.1.1.1:80,[fd::1]:80",
        ),
        (
            [{"addresses": addresses("1.1.1.1", "2.2.2.2"), "ports": [{"port": 1}, {"port": 2}]}],
            "1.1.1.1:1,2.2.2.2:1,1.1.1.1:2 + 1 more...",
        ),
    ],
)
def test_endpoints_show_the_first_three_of_all(subsets: list[Document], shown: str) -> None:
    assert cells("Endpoints", {"subsets": subsets}) == ["x", shown, "2m3s"]


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        ({}, ["<unset>", "<unset>"]),
        (
            {
                "ports": [{"port": 80}, {"name": "web"}, {}, {"port": 1}],
                "endpoints": [{"addresses": ["a", "b"]}, {"addresses": ["c", "d", "e"]}],
            },
            ["80,web,* + 1 more...", "a,b,c + 2 more..."],
        ),
    ],
)
def test_an_endpoint_slice_shows_the_first_three_of_all(
    document: Document, shown: list[str]
) -> None:
    found = cells("EndpointSlice", {"addressType": "IPv4", **document}, "discovery.k8s.io")

    assert found == ["x", "IPv4", *shown, "2m3s"]


SEEN = "2027-01-15T07:59:30Z"  # 30 seconds before
MICRO = "2027-01-15T07:59:50.000000Z"  # 10 seconds before


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        (
            {
                "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.x"},
                "reason": "R",
                "message": " m\n",
                "type": "Normal",
                "count": 4,
                "source": {"component": "c", "host": "h"},
                "firstTimestamp": CREATED,
                "lastTimestamp": SEEN,
            },
            ["30s", "Normal", "R", "pod/p", "spec.x", "c, h", "m", "2m3s", 4, "x"],
        ),
        (
            {
                "involvedObject": {"kind": "Pod"},
                "type": "Warning",
                "eventTime": MICRO,
                "reportingComponent": "c",
                "reportingInstance": "i",
            },
            ["10s", "Warning", "", "pod", "", "c, i", "", "10s", 1, "x"],
        ),
        (
            {
                "involvedObject": {"kind": "Pod"},
                "eventTime": CREATED,
                "series": {"count": 7, "lastObservedTime": MICRO},
            },
            ["10s", "", "", "pod", "", "", "", "2m3s", 7, "x"],
        ),
        (
            {
                "regarding": {"kind": "Pod", "name": "p"},
                "note": "n",
                "reportingController": "c",
                "deprecatedFirstTimestamp": CREATED,
                "deprecatedLastTimestamp": SEEN,
                "deprecatedCount": 2,
            },
            ["30s", "", "", "pod/p", "", "c", "n", "2m3s", 2, "x"],
        ),
        ({}, ["<unknown>", "", "", "", "", "", "", "<unknown>", 1, "x"]),
    ],
)
def test_an_event_tells_what_happened_to_whom(document: Document, shown: list[Any]) -> None:
    group = "events.k8s.io" if "regarding" in document else ""

    assert cells("Event", document, group) == shown
