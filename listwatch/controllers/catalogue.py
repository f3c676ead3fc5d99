"""All controllers by the names that `--controllers` knows them by; a line for each.

Read by `manager`, and by `manage.py controllers --help`.
"""

from __future__ import annotations

from listwatch.controllers.controller import Controller
from listwatch.controllers.daemon_sets import DaemonSets
from listwatch.controllers.deployments.controller import Deployments
from listwatch.controllers.disruption_budgets import DisruptionBudgets
from listwatch.controllers.endpoints.controller import EndpointsController
from listwatch.controllers.endpoints.slices import EndpointSlices
from listwatch.controllers.garbage.controller import GarbageCollector
from listwatch.controllers.jobs.controller import Jobs
from listwatch.controllers.jobs.cron_jobs import CronJobs
from listwatch.controllers.jobs.finished import FinishedJobs
from listwatch.controllers.kubelet.controller import Kubelets
from listwatch.controllers.namespace_contents import RootCAPublisher, ServiceAccounts
from listwatch.controllers.namespaces import Namespaces
from listwatch.controllers.node_lifecycle import NodeLifecycle
from listwatch.controllers.pod_gc import PodGarbage
from listwatch.controllers.quotas.controller import ResourceQuotas
from listwatch.controllers.replica_sets import ReplicaSets, ReplicationControllers
from listwatch.controllers.scheduler.controller import Scheduler
from listwatch.controllers.stateful_sets import StatefulSets
from listwatch.controllers.volumes.binder import VolumeBinder
from listwatch.controllers.volumes.ephemeral import EphemeralVolumes
from listwatch.controllers.volumes.protection import ClaimProtection, VolumeProtection

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
    StatefulSets,
    DaemonSets,
    Jobs,
    CronJobs,
    FinishedJobs,
    EndpointsController,
    EndpointSlices,
    VolumeBinder,
    EphemeralVolumes,
    ClaimProtection,
    VolumeProtection,
    ResourceQuotas,
    DisruptionBudgets,
    PodGarbage,
    GarbageCollector,
)
CONTROLLERS: dict[str, type[Controller]] = {each.name: each for each in _ALL}
