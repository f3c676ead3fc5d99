"""Which strategy each kind has: those with rules of their own, and a plain one for all others."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.strategies.api_services import ApiServiceStrategy
from listwatch.registry.strategies.batch import JobStrategy
from listwatch.registry.strategies.certificates import SigningRequestStrategy
from listwatch.registry.strategies.custom import CustomStrategy
from listwatch.registry.strategies.definitions import DefinitionStrategy
from listwatch.registry.strategies.namespaces import NamespaceStrategy
from listwatch.registry.strategies.others import (
    NewEventStrategy,
    NodeStrategy,
    ServiceAccountStrategy,
)
from listwatch.registry.strategies.pods import PodStrategy
from listwatch.registry.strategies.services import ServiceStrategy
from listwatch.registry.strategies.storage import ClaimStrategy, VolumeStrategy
from listwatch.registry.strategies.strategy import Strategy
from listwatch.registry.strategies.workloads import (
    DaemonSetStrategy,
    DeploymentStrategy,
    EndpointSliceStrategy,
)

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

_EVENT = Strategy(create_on_update=True, collects_garbage=False)
_WORKLOAD = Strategy(has_status=True, counts_generations=True)
_COUNTED = Strategy(counts_generations=True)
_GUARDED = Strategy(counts_generations=True, unconditional_update=False)
_BOUND = Strategy(create_on_update=True)
_ANSWERED = Strategy(answers_deleted_object=True)
_ADMISSION, _RBAC = "admissionregistration.k8s.io", "rbac.authorization.k8s.io"
_STORAGE, _RESOURCE = "storage.k8s.io", "resource.k8s.io"
_STRATEGIES = {
    GroupResource("apiextensions.k8s.io", "customresourcedefinitions"): DefinitionStrategy(),
    GroupResource("apiregistration.k8s.io", "apiservices"): ApiServiceStrategy(),
    GroupResource("", "namespaces"): NamespaceStrategy(),
    GroupResource("", "nodes"): NodeStrategy(),
    GroupResource("", "pods"): PodStrategy(),
    GroupResource("", "services"): ServiceStrategy(),
    GroupResource("", "serviceaccounts"): ServiceAccountStrategy(),
    GroupResource("", "endpoints"): Strategy(create_on_update=True),
    GroupResource("", "events"): _EVENT,
    GroupResource("events.k8s.io", "events"): NewEventStrategy(),
    GroupResource("", "podtemplates"): Strategy(
        counts_generations=True, answers_deleted_object=True
    ),
    GroupResource("", "replicationcontrollers"): Strategy(
        has_status=True, counts_generations=True, orphans_by_default=True
    ),
    GroupResource("apps", "deployments"): DeploymentStrategy(),
    GroupResource("apps", "replicasets"): _WORKLOAD,
    GroupResource("apps", "statefulsets"): _WORKLOAD,
    GroupResource("apps", "daemonsets"): DaemonSetStrategy(),
    GroupResource("discovery.k8s.io", "endpointslices"): EndpointSliceStrategy(),
    GroupResource("coordination.k8s.io", "leases"): Strategy(
        unconditional_update=False, create_on_update=True
    ),
    GroupResource("", "limitranges"): Strategy(create_on_update=True),
    GroupResource("", "resourcequotas"): Strategy(has_status=True, answers_deleted_object=True),
    GroupResource("", "persistentvolumes"): VolumeStrategy(),
    GroupResource("", "persistentvolumeclaims"): ClaimStrategy(),
    GroupResource("batch", "jobs"): JobStrategy(),
    GroupResource("batch", "cronjobs"): _WORKLOAD,
    GroupResource("policy", "poddisruptionbudgets"): Strategy(
        has_status=True, counts_generations=True, unconditional_update=False
    ),
    GroupResource("networking.k8s.io", "ingresses"): _WORKLOAD,
    GroupResource("networking.k8s.io", "ingressclasses"): _COUNTED,
    GroupResource("networking.k8s.io", "networkpolicies"): _COUNTED,
    GroupResource("scheduling.k8s.io", "priorityclasses"): _COUNTED,
    GroupResource("node.k8s.io", "runtimeclasses"): Strategy(
        unconditional_update=False, create_on_update=True
    ),
    GroupResource("certificates.k8s.io", "certificatesigningrequests"): SigningRequestStrategy(),
    GroupResource("flowcontrol.apiserver.k8s.io", "flowschemas"): _WORKLOAD,
    GroupResource("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): _WORKLOAD,
    **{
        GroupResource(_RBAC, name): _BOUND
        for name in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    },
    **{
        GroupResource(_ADMISSION, name): _GUARDED
        for name in (
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicybindings",
            "validatingwebhookconfigurations",
        )
    },
    GroupResource(_ADMISSION, "validatingadmissionpolicies"): Strategy(
        has_status=True, counts_generations=True, unconditional_update=False
    ),
    GroupResource(_STORAGE, "storageclasses"): _ANSWERED,
    GroupResource(_STORAGE, "volumeattributesclasses"): _ANSWERED,
    **{
        GroupResource(_STORAGE, name): Strategy(
            unconditional_update=False, answers_deleted_object=True
        )
        for name in ("csidrivers", "csinodes", "csistoragecapacities")
    },
    GroupResource(_STORAGE, "volumeattachments"): Strategy(
        has_status=True, unconditional_update=False, answers_deleted_object=True
    ),
    GroupResource(_RESOURCE, "resourceclaims"): Strategy(
        has_status=True, answers_deleted_object=True
    ),
    GroupResource(_RESOURCE, "resourceclaimtemplates"): _ANSWERED,
    GroupResource(_RESOURCE, "deviceclasses"): Strategy(
        counts_generations=True, answers_deleted_object=True
    ),
    GroupResource(_RESOURCE, "resourceslices"): Strategy(
        counts_generations=True, answers_deleted_object=True
    ),
}


@lru_cache(1024)
def strategy_of(resource: Resource) -> Strategy:
    """The rules for the objects of a resource."""
    if resource.custom is not None:
        return CustomStrategy(has_status=resource.custom.has_status)
    known = _STRATEGIES.get(resource.group_resource)
    if known is not None:
        return known
    return Strategy(has_status=resource.subresource("status") is not None)
