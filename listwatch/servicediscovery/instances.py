"""Services, their instances, and how instances stand in an Endpoints object.

What a provider knows of itself beyond its address stands in an annotation of the object, so that
one object tells all: the original reads the Service and lists the Pods besides, for every event.
Written by `registrar`, read by both discoveries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from listwatch.informer.objects import JSONObject

METADATA = "io.dubbo/metadata"  # the original's annotation, there on each Pod
TCP = "TCP"


class Service(NamedTuple):
    """A service by its whole name: two namespaces may hold the same short one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Instance:
    """One address of a service that takes requests."""

    service: Service
    host: str
    port: int
    port_name: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """`host:port`, which is unique in a service."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def instances_of(service: Service, endpoints: JSONObject | None) -> tuple[Instance, ...]:
    """The ready instances in an Endpoints object, by address; none if there is no object.

    Never raises: subsets, addresses, ports and metadata may be missing, null or broken.
    """
    if endpoints is None:
        return ()
    described = _described(endpoints)
    found: dict[str, Instance] = {}
    for subset in endpoints.get("subsets") or ():
        # The ports of a subset belong to its own addresses, not to those of the next.
        for host in _hosts(subset):
            for port in subset.get("ports") or ():
                instance = Instance(service, host, int(port["port"]), str(port.get("name") or ""))
                metadata = described.get(instance.address, {})
                found[instance.address] = Instance(
                    service, host, instance.port, instance.port_name, metadata
                )
    return tuple(found[address] for address in sorted(found))


def with_instance(endpoints: JSONObject, instance: Instance) -> JSONObject:
    """The Endpoints object with this instance in place of whatever has its address."""
    changed = without_address(endpoints, instance)
    subsets: list[JSONObject] = changed["subsets"]
    port = {"port": instance.port, "protocol": TCP}
    if instance.port_name:
        port["name"] = instance.port_name
    for subset in subsets:
        if subset.get("ports") == [port]:
            subset["addresses"] = [*(subset.get("addresses") or ()), {"ip": instance.host}]
            break
    else:
        subsets.append({"addresses": [{"ip": instance.host}], "ports": [port]})
    if instance.metadata:
        described = {**_described(changed), instance.address: dict(instance.metadata)}
        _describe(changed, described)
    return changed


def without_address(endpoints: JSONObject, instance: Instance) -> JSONObject:
    """The Endpoints object without what has this instance's address and port."""
    subsets = []
    for subset in endpoints.get("subsets") or ():
        ports = [port.get("port") for port in subset.get("ports") or ()]
        if ports != [instance.port]:
            subsets.append(dict(subset))  # another port's, or one of several: not a registrar's
            continue
        kept = {
            kind: [each for each in subset.get(kind) or () if each.get("ip") != instance.host]
            for kind in ("addresses", "notReadyAddresses")
        }
        if any(kept.values()):
            rest = {name: value for name, value in subset.items() if name not in kept}
            subsets.append({**rest, **{kind: each for kind, each in kept.items() if each}})
    changed = {**endpoints, "subsets": subsets, "metadata": dict(endpoints["metadata"])}
    described = dict(_described(changed))
    if described.pop(instance.address, None) is not None:
        _describe(changed, described)
    return changed


def _hosts(subset: JSONObject) -> Iterator[str]:
    for address in subset.get("addresses") or ():
        if address and address.get("ip"):
            yield str(address["ip"])


def _described(endpoints: JSONObject) -> Mapping[str, Mapping[str, str]]:
    text = (endpoints["metadata"].get("annotations") or {}).get(METADATA)
    try:
        found: Any = json.loads(text) if text else {}  # Any: whatever somebody wrote there
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {address: each for address, each in found.items() if isinstance(each, dict)}


def _describe(endpoints: JSONObject, described: Mapping[str, Mapping[str, str]]) -> None:
    annotations = dict(endpoints["metadata"].get("annotations") or {})
    if described:
        annotations[METADATA] = json.dumps(described, sort_keys=True, ensure_ascii=False)
    else:
        annotations.pop(METADATA, None)
    endpoints["metadata"]["annotations"] = annotations
