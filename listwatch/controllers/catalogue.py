"""All controllers by the names that `--controllers` knows them by; a line for each.

Read by `manager`, and by `manage.py controllers --help`.
"""

from __future__ import annotations

from listwatch.controllers.controller import Controller
from listwatch.controllers.deployments.controller import Deployments
from listwatch.controllers.kubelet.controller import Kubelets
from listwatch.controllers.node_lifecycle import NodeLifecycle
from listwatch.controllers.replica_sets import ReplicaSets, ReplicationControllers
from listwatch.controllers.scheduler.controller import Scheduler

CONTROLLERS: dict[str, type[Controller]] = {
    cls.name: cls
    for cls in (
        Kubelets,
        NodeLifecycle,
        Scheduler,
        Deployments,
        ReplicaSets,
        ReplicationControllers,
    )
}
