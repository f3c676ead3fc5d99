"""All controllers by the names that `--controllers` knows them by; a line for each.

Read by `manager`, and by `manage.py controllers --help`.
"""

from __future__ import annotations

from listwatch.controllers.controller import Controller
from listwatch.controllers.deployments.controller import Deployments
from listwatch.controllers.garbage.controller import GarbageCollector
from listwatch.controllers.kubelet.controller import Kubelets
from listwatch.controllers.namespace_contents import RootCAPublisher, ServiceAccounts
from listwatch.controllers.namespaces import Namespaces
from listwatch.controllers.node_lifecycle import NodeLifecycle
from listwatch.controllers.replica_sets import ReplicaSets, ReplicationControllers
from listwatch.controllers.scheduler.controller import Scheduler

_ALL: tuple[type[Controller], ...] = (
    Kubelets,
    NodeLifecycle,
    Scheduler,
    Namespaces,
    ServiceAccounts,
    RootCAPublisher,
    Deployments,
    ReplicaSets,
    ReplicationControllers,
    GarbageCollector,
)
CONTROLLERS: dict[str, type[Controller]] = {each.name: each for each in _ALL}
