"""What the form of a new object begins with: the least of each kind that is worth having."""

from __future__ import annotations

from typing import Any

from listwatch.editing.examples import EXAMPLES, NAMES
from listwatch.editing.texts import dump
from listwatch.protocol.kinds import Resource
from listwatch.protocol.objects import JSONObject

_CONTAINERS = [{"name": "main", "image": "registry.example/app:1"}]
_LABELS = {"app": "example"}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": {"containers": _CONTAINERS}}
_WORKLOAD = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_POD = {"kind": "Pod", "name": "example", "namespace": "default"}

_SPECS: dict[str, JSONObject] = {
    "ConfigMap": {"data": {"key": "value"}},
    "DaemonSet": {"spec": _WORKLOAD},
    "Deployment": {"spec": {"replicas": 1, **_WORKLOAD}},
    "EndpointSlice": {
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["192.0.2.1"]}],
    },
    "Endpoints": {
        "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "http", "port": 80}]}]
    },
    "Event": {
        "type": "Normal", "reason": "Example", "message": "Something happened.",
        "involvedObject": _POD, "source": {"component": "admin"},
    },
    "Lease": {"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 15}},
    "Node": {"spec": {}},
    "Pod": {"spec": {"containers": _CONTAINERS}},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicaSet": {"spec": {"replicas": 1, **_WORKLOAD}},
    "ReplicationController": {"spec": {"replicas": 1, "selector": _LABELS, "template": _TEMPLATE}},
    "Secret": {"type": "Opaque", "stringData": {"key": "value"}},
    "Service": {
        "spec": {"selector": _LABELS, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}
    },
    "StatefulSet": {"spec": {"replicas": 1, "serviceName": "example", **_WORKLOAD}},
}  # fmt: skip
_EVENTS_GROUP = {
    "type": "Normal", "reason": "Example", "note": "Something happened.", "action": "Watching",
    "regarding": _POD, "reportingController": "example.test/admin", "reportingInstance": "admin",
    "eventTime": "2026-01-01T00:00:00.000000Z",
}  # fmt: skip


def skeleton(resource: Resource, namespace: str) -> str:
    """The text of a new object."""
    metadata: dict[str, Any] = {"name": NAMES.get(resource.kind, "example")}  # Any: JSON
    if resource.namespaced:
        metadata["namespace"] = namespace or "default"
    rest = _SPECS.get(resource.kind) or EXAMPLES.get(resource.kind, {})
    if resource.group == "events.k8s.io":
        rest = _EVENTS_GROUP
    return dump(
        {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **rest}
    )
