"""The defaults of the built-in kinds that their schemas do not show.

`CONSTANTS` are values by schema and field; `RULES` are functions for what depends on other fields.
A rule runs after the constants of its object and before those of the objects within.
Read by `defaults` only.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from listwatch.protocol.objects import JSONObject

_CORE = "io.k8s.api.core.v1."
_APPS = "io.k8s.api.apps.v1."
_DISCOVERY = "io.k8s.api.discovery.v1."
_MODE = {"defaultMode": 0o644}  # rw-r--r--
_CONTAINER = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}

CONSTANTS: Mapping[str, Mapping[str, Any]] = {  # Any: JSON values
    f"{_CORE}PodSpec": {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    },
    f"{_CORE}Container": _CONTAINER,
    f"{_CORE}EphemeralContainer": _CONTAINER,
    f"{_CORE}Probe": {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    },
    f"{_CORE}HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    f"{_CORE}ObjectFieldSelector": {"apiVersion": "v1"},
    f"{_CORE}SecretVolumeSource": _MODE,
    f"{_CORE}ConfigMapVolumeSource": _MODE,
    f"{_CORE}DownwardAPIVolumeSource": _MODE,
    f"{_CORE}ProjectedVolumeSource": _MODE,
    f"{_CORE}HostPathVolumeSource": {"type": ""},
    f"{_CORE}ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    f"{_CORE}PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    f"{_CORE}PersistentVolumeClaimStatus": {"phase": "Pending"},
    f"{_CORE}PersistentVolumeSpec": {
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    },
    f"{_CORE}PersistentVolumeStatus": {"phase": "Pending"},
    f"{_CORE}EndpointPort": {"protocol": "TCP"},
    f"{_CORE}NamespaceStatus": {"phase": "Active"},
    f"{_CORE}Secret": {"type": "Opaque"},
    f"{_CORE}ServiceSpec": {"sessionAffinity": "None", "type": "ClusterIP"},
    f"{_APPS}DeploymentSpec": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    f"{_APPS}DeploymentStrategy": {"type": "RollingUpdate"},
    f"{_APPS}RollingUpdateDeployment": {"maxUnavailable": "25%", "maxSurge": "25%"},
    f"{_APPS}ReplicaSetSpec": {"replicas": 1},
    f"{_APPS}DaemonSetSpec": {"revisionHistoryLimit": 10},
    f"{_APPS}DaemonSetUpdateStrategy": {"type": "RollingUpdate"},
    f"{_APPS}RollingUpdateDaemonSet": {"maxUnavailable": 1, "maxSurge": 0},
    f"{_APPS}StatefulSetSpec": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
    },
    f"{_APPS}RollingUpdateStatefulSetStrategy": {"partition": 0},
    f"{_APPS}StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    },
    f"{_DISCOVERY}EndpointPort": {"name": "", "protocol": "TCP"},
}


def _pod(pod: JSONObject) -> None:
    spec = pod["spec"]
    spec.setdefault("enableServiceLinks", True)
    for container in _containers(spec):
        _request_limits(container.get("resources"))
        if spec.get("hostNetwork"):
            for port in container.get("ports", ()):
                if "containerPort" in port:
                    port.setdefault("hostPort", port["containerPort"])


def _containers(spec: JSONObject) -> Iterable[JSONObject]:
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def _request_limits(resources: JSONObject | None) -> None:
    # Who limits a resource and does not say how much of it he wants, wants as much.
    if resources and "limits" in resources:
        resources["requests"] = {**resources["limits"], **resources.get("requests", {})}


def _pod_spec(spec: JSONObject) -> None:
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def _pod_status(status: JSONObject) -> None:
    address = status.get("podIP")
    addresses = status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address and "ip" in addresses[0]:
        status["podIP"] = addresses[0]["ip"]


def _container(container: JSONObject) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))


def _pull_policy(image: str) -> str:
    name, at, _ = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or (not tag and not at) else "IfNotPresent"


def _image_volume(source: JSONObject) -> None:
    if "pullPolicy" not in source:
        source["pullPolicy"] = _pull_policy(source.get("reference", ""))


def _volume(volume: JSONObject) -> None:
    if len(volume) == ("name" in volume):
        volume["emptyDir"] = {}


def _replication_controller(controller: JSONObject) -> None:
    spec = controller["spec"]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        metadata = controller.setdefault("metadata", {})
        if not metadata.get("labels"):
            metadata["labels"] = dict(labels)


def _secret(secret: JSONObject) -> None:
    texts = secret.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        secret["data"] = dict(sorted({**secret.get("data", {}), **encoded}.items()))


def _service_spec(spec: JSONObject) -> None:
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        config.setdefault("timeoutSeconds", 10800)
    kind = spec["type"]
    if kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports", ()):
        if port.get("targetPort") in (None, 0, "") and "port" in port:
            port["targetPort"] = port["port"]


def _node_spec(spec: JSONObject) -> None:
    one, many = spec.get("podCIDR"), spec.get("podCIDRs")
    if one and (not many or many[0] != one):
        # Older clients know of one alone, so where the two differ it is what is meant.
        spec["podCIDRs"] = [one]
    elif many:
        spec["podCIDR"] = many[0]


def _node_status(status: JSONObject) -> None:
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])


def _rolling_update(strategy: JSONObject) -> None:
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" not in strategy:
        strategy["rollingUpdate"] = {}


def _stateful_set_strategy(strategy: JSONObject) -> None:
    # Only who says nothing gets the parameters too.
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})


def _stateful_set_spec(spec: JSONObject) -> None:
    spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("apiVersion", "v1")


RULES: Mapping[str, Callable[[JSONObject], None]] = {
    f"{_CORE}Pod": _pod,
    f"{_CORE}PodSpec": _pod_spec,
    f"{_CORE}PodStatus": _pod_status,
    f"{_CORE}Container": _container,
    f"{_CORE}EphemeralContainer": _container,
    f"{_CORE}ImageVolumeSource": _image_volume,
    f"{_CORE}Volume": _volume,
    f"{_CORE}ReplicationController": _replication_controller,
    f"{_CORE}Secret": _secret,
    f"{_CORE}ServiceSpec": _service_spec,
    f"{_CORE}NodeSpec": _node_spec,
    f"{_CORE}NodeStatus": _node_status,
    f"{_APPS}DeploymentStrategy": _rolling_update,
    f"{_APPS}DaemonSetUpdateStrategy": _rolling_update,
    f"{_APPS}StatefulSetUpdateStrategy": _stateful_set_strategy,
    f"{_APPS}StatefulSetSpec": _stateful_set_spec,
}
