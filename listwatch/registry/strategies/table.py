"""Which strategy each kind has: those with rules of their own, and a plain one for all others."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.strategies.namespaces import NamespaceStrategy
from listwatch.registry.strategies.others import (
    NewEventStrategy,
    NodeStrategy,
    ServiceAccountStrategy,
)
from listwatch.registry.strategies.pods import PodStrategy
from listwatch.registry.strategies.services import ServiceStrategy
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
_STRATEGIES = {
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
}


@cache
def strategy_of(resource: Resource) -> Strategy:
    """The rules for the objects of a resource."""
    known = _STRATEGIES.get(resource.group_resource)
    if known is not None:
        return known
    return Strategy(has_status=resource.subresource("status") is not None)
