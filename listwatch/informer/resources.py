"""Resources as a client addresses them, and the built-in ones by name.

`client` and `list_watch` make paths of them; `discovery` finds those of other groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from listwatch.protocol.kinds import api_version


@dataclass(frozen=True, slots=True)
class APIResource:
    """One resource in one version; `verbs` are known of discovered ones only."""

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool = True
    verbs: frozenset[str] = frozenset()

    @property
    def api_version(self) -> str:
        """`v1`, or `apps/v1`."""
        return api_version(self.group, self.version)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of an object, or of the list of a namespace ('': of all)."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.resource)
        parts += [part for part in (name, subresource) if part]
        return "/" + "/".join(quote(part, safe="") for part in parts)

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


def _core(resource: str, kind: str, *, namespaced: bool = True) -> APIResource:
    return APIResource("", "v1", resource, kind, namespaced)


def _apps(resource: str, kind: str) -> APIResource:
    return APIResource("apps", "v1", resource, kind)


BINDINGS = _core("bindings", "Binding")
CONFIG_MAPS = _core("configmaps", "ConfigMap")
ENDPOINTS = _core("endpoints", "Endpoints")
EVENTS = _core("events", "Event")
LIMIT_RANGES = _core("limitranges", "LimitRange")
NAMESPACES = _core("namespaces", "Namespace", namespaced=False)
NODES = _core("nodes", "Node", namespaced=False)
PERSISTENT_VOLUMES = _core("persistentvolumes", "PersistentVolume", namespaced=False)
PERSISTENT_VOLUME_CLAIMS = _core("persistentvolumeclaims", "PersistentVolumeClaim")
PODS = _core("pods", "Pod")
REPLICATION_CONTROLLERS = _core("replicationcontrollers", "ReplicationController")
RESOURCE_QUOTAS = _core("resourcequotas", "ResourceQuota")
SECRETS = _core("secrets", "Secret")
SERVICES = _core("services", "Service")
SERVICE_ACCOUNTS = _core("serviceaccounts", "ServiceAccount")

CONTROLLER_REVISIONS = _apps("controllerrevisions", "ControllerRevision")
DAEMON_SETS = _apps("daemonsets", "DaemonSet")
DEPLOYMENTS = _apps("deployments", "Deployment")
REPLICA_SETS = _apps("replicasets", "ReplicaSet")
STATEFUL_SETS = _apps("statefulsets", "StatefulSet")

CRON_JOBS = APIResource("batch", "v1", "cronjobs", "CronJob")
CUSTOM_RESOURCE_DEFINITIONS = APIResource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
    namespaced=False,
)  # fmt: skip
ENDPOINT_SLICES = APIResource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
JOBS = APIResource("batch", "v1", "jobs", "Job")
LEASES = APIResource("coordination.k8s.io", "v1", "leases", "Lease")
POD_DISRUPTION_BUDGETS = APIResource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
STORAGE_CLASSES = APIResource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False
)
