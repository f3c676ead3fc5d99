"""The cells of an object's row in a Table: what `kubectl get` prints, kind by kind.

One function a kind, in the order of the kind's columns (which are facts, in `schemas.kinds`).
Every function bears an empty object, since a bookmark is a row too. `api.tables` puts the cells
into rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells import events, network, nodes, plain, pods, workloads
from listwatch.schemas.cells.texts import created, name_of

Cells = list[Any]  # Any: texts and numbers, null

_CELLS: dict[tuple[str, str], Callable[[JSONObject, float], Cells]] = {
    ("", "ConfigMap"): plain.config_map,
    ("", "Endpoints"): network.endpoints,
    ("", "Event"): events.event,
    ("", "Namespace"): plain.namespace,
    ("", "Node"): nodes.node,
    ("", "Pod"): pods.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "Secret"): plain.secret,
    ("", "Service"): network.service,
    ("", "ServiceAccount"): plain.service_account,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("coordination.k8s.io", "Lease"): plain.lease,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("events.k8s.io", "Event"): events.event,
}


def row_cells(gvk: GroupVersionKind, document: JSONObject, now: float) -> Cells:
    """The cells of an object; `now` is wall time, from which ages are told.

    A kind that is not known here has its name and the time it was created.
    """
    cells = _CELLS.get((gvk.group, gvk.kind))
    if cells is None:
        return [name_of(document), created(document)]
    return cells(document, now)
