"""Service discovery as Dubbo does it: instances from Endpoints, by bare watch and by informer.

A client of an API server like any other, on `listwatch.informer`. `Registrar` is the provider's
half; `InformerDiscovery` and `WatchDiscovery` are two consumers' halves with one interface,
`ServiceDiscovery`, of which the second is here to be compared with.
"""

from __future__ import annotations

from listwatch.servicediscovery.by_informer import InformerDiscovery
from listwatch.servicediscovery.by_watch import WatchDiscovery
from listwatch.servicediscovery.discovery import DiscoveryStatistics, ServiceDiscovery
from listwatch.servicediscovery.instances import Instance, Service, instances_of
from listwatch.servicediscovery.registrar import Registrar
from listwatch.servicediscovery.subscriptions import (
    ServiceInstancesChangedEvent,
    Subscription,
)

__all__ = [
    "DiscoveryStatistics",
    "InformerDiscovery",
    "Instance",
    "Registrar",
    "Service",
    "ServiceDiscovery",
    "ServiceInstancesChangedEvent",
    "Subscription",
    "WatchDiscovery",
    "instances_of",
]
