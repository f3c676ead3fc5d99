"""Cluster addresses and node ports of services: handed out so that no two services have the same.

What is taken is read from the cache; a guard makes sure, in the transaction of the write, that no
service has changed since, else it is decided again. So there is no second book to keep true.
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orjson import dumps

from listwatch.protocol.errors import Cause, StatusError, internal_error
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.backend import DecideAgain
from listwatch.registry.strategies.services import (
    HEADLESS,
    needs_cluster_ip,
    needs_health_port,
    needs_node_ports,
)
from listwatch.store import reads
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.store.writes import Guard, Transaction
    from listwatch.watchcache.caches import Caches

SERVICES = GroupResource("", "services")
NETWORK = ipaddress.IPv4Network("10.96.0.0/12")
FIRST_PORT, LAST_PORT = 30_000, 32_767
# Its ends, and the address of the API server itself, which is the first one.
_RESERVED = frozenset((str(NETWORK[0]), str(NETWORK[1]), str(NETWORK[-1])))

_Choose = Callable[[int, int], int]


class ServiceAllocator:
    """Gives a service the addresses and ports that its type has, and refuses those it cannot have.

    Called inside a transform, which is run again when the guard finds the view outdated.
    """

    def __init__(self, caches: Caches, choose: _Choose | None = None) -> None:
        self._caches = caches
        self._book = _Book()
        self._choose = choose or random.SystemRandom().randint

    def allocate(
        self, document: JSONObject, old: JSONObject | None
    ) -> tuple[Guard | None, list[Cause]]:
        """Fill in what is missing; a guard if anything new was taken, and what is refused."""
        spec = document.setdefault("spec", {})
        _families(spec)
        causes = _family_faults(spec)
        if old is not None and not causes and _has_all(spec, old.get("spec") or {}):
            return None, []
        view = _View(self._caches, self._book, document)
        if not causes and needs_cluster_ip(spec):
            causes += self._address(spec, view)
        if not causes and needs_node_ports(spec):
            causes += self._node_ports(spec, view)
        if not causes and needs_health_port(spec) and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = self._free_port(view)
        return (view.guard if view.taken else None), causes

    def _address(self, spec: JSONObject, view: _View) -> list[Cause]:
        address = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
        if address == HEADLESS:
            spec["clusterIP"], spec["clusterIPs"] = HEADLESS, [HEADLESS]
            return []
        if address and address not in view.own_addresses:
            why = _address_fault(address, view)
            if why:
                given = dumps(spec.get("clusterIPs") or [address]).decode()
                message = f"Invalid value: {given}: failed to allocate IP {address}: {why}"
                return [Cause("FieldValueInvalid", message, "spec.clusterIPs")]
            view.taken = True
        while not address:
            candidate = str(NETWORK[self._choose(2, NETWORK.num_addresses - 2)])
            if candidate not in view.addresses:
                address = candidate
                view.taken = True
        spec["clusterIP"] = address
        if not spec.get("clusterIPs"):
            spec["clusterIPs"] = [address]
        return []

    def _node_ports(self, spec: JSONObject, view: _View) -> list[Cause]:
        causes = []
        mine: dict[int, set[str]] = {}  # one number may serve several protocols of one service
        ports = spec.get("ports") or []
        for index, port in enumerate(ports):
            number = port.get("nodePort")
            if not number:
                continue
            if number not in view.own_ports and number not in mine:
                why = _port_fault(number, view)
                if why:
                    message = f"Invalid value: {number}: {why}"
                    where = f"spec.ports[{index}].nodePort"
                    causes.append(Cause("FieldValueInvalid", message, where))
                view.taken = True
            mine.setdefault(number, set()).add(port.get("protocol", "TCP"))
        view.ports |= mine.keys()
        for port in ports:
            if not causes and not port.get("nodePort"):
                port["nodePort"] = self._free_port(view)
        return causes

    def _free_port(self, view: _View) -> int:
        view.taken = True
        if len(view.ports) > LAST_PORT - FIRST_PORT:
            raise _exhausted()
        while True:
            number = self._choose(FIRST_PORT, LAST_PORT)
            if number not in view.ports:
                view.ports.add(number)
                return number


class _View:
    """What all services have taken, as of one revision."""

    def __init__(self, caches: Caches, book: _Book, document: JSONObject) -> None:
        metadata = document["metadata"]
        own = (metadata.get("namespace", ""), metadata.get("name", ""))
        self.revision = caches.progress.applied
        self.taken = False
        self.addresses: set[str] = set(_RESERVED)
        self.ports: set[int] = set()
        self.own_addresses: frozenset[str] = frozenset()
        self.own_ports: frozenset[int] = frozenset()
        for version in caches.cacher(SERVICES).list(ListRequest()).versions:
            addresses, ports = book.entry(version)
            if (version.namespace, version.name) == own:
                self.own_addresses, self.own_ports = addresses, ports
            else:
                self.addresses |= addresses
                self.ports |= ports

    def guard(self, transaction: Transaction) -> None:
        """Refuse if any service was written after this view."""
        try:
            later = reads.changes(self.revision, 1, SERVICES)
        except reads.Compacted:
            raise DecideAgain from None
        if later:
            raise DecideAgain


class _Book:
    """What each version of a service has taken, read once."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, frozenset[str], frozenset[int]]] = {}

    def entry(self, version: Version) -> tuple[frozenset[str], frozenset[int]]:
        """The addresses and the ports of one version."""
        known = self._entries.get(version.key)
        if known is None or known[0] != version.revision:
            spec = version.decode().get("spec") or {}
            addresses = frozenset(spec.get("clusterIPs") or ())
            known = (version.revision, addresses, frozenset(_numbers(spec)))
            self._entries[version.key] = known
        return known[1], known[2]


def _numbers(spec: JSONObject) -> list[int]:
    ports: list[dict[str, Any]] = spec.get("ports") or []  # Any: JSON values
    numbers = [port.get("nodePort") for port in ports] + [spec.get("healthCheckNodePort")]
    return [number for number in numbers if number]


def _has_all(spec: JSONObject, old: JSONObject) -> bool:
    if needs_cluster_ip(spec) and (
        not spec.get("clusterIPs") or spec.get("clusterIPs") != old.get("clusterIPs")
    ):
        return False
    if needs_node_ports(spec) and not all(port.get("nodePort") for port in spec.get("ports") or ()):
        return False
    if needs_health_port(spec) and not spec.get("healthCheckNodePort"):
        return False
    return set(_numbers(spec)) <= set(_numbers(old))


def _without_selector(spec: JSONObject) -> bool:
    address = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
    return address == HEADLESS and not spec.get("selector")


def _families(spec: JSONObject) -> None:
    # A service without address and selector is for whoever writes its endpoints: any family.
    if not needs_cluster_ip(spec):
        return
    free = _without_selector(spec)
    if not spec.get("ipFamilyPolicy"):
        both = free or len(spec.get("ipFamilies") or ()) > 1
        spec["ipFamilyPolicy"] = "RequireDualStack" if both else "SingleStack"
    if not spec.get("ipFamilies"):
        both = free and spec["ipFamilyPolicy"] != "SingleStack"
        spec["ipFamilies"] = ["IPv4", "IPv6"] if both else ["IPv4"]


def _family_faults(spec: JSONObject) -> list[Cause]:
    if not needs_cluster_ip(spec) or _without_selector(spec):
        return []
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        why = (
            'Invalid value: "RequireDualStack": '
            "this cluster is not configured for dual-stack services"
        )
        return [Cause("FieldValueInvalid", why, "spec.ipFamilyPolicy")]
    return [
        Cause(
            "FieldValueInvalid",
            f"Invalid value: {dumps(family).decode()}: not configured on this cluster",
            f"spec.ipFamilies[{index}]",
        )
        for index, family in enumerate(spec.get("ipFamilies") or ())
        if family != "IPv4"
    ]


def _address_fault(address: str, view: _View) -> str:
    try:
        valid = ipaddress.IPv4Address(address) in NETWORK
    except ValueError:
        valid = False
    if not valid:
        return f"the provided network does not match the current range: {NETWORK}"
    return "provided IP is already allocated" if address in view.addresses else ""


def _port_fault(number: int, view: _View) -> str:
    if not FIRST_PORT <= number <= LAST_PORT:
        return (
            "provided port is not in the valid range. The range of valid ports is "
            f"{FIRST_PORT}-{LAST_PORT}"
        )
    return "provided port is already allocated" if number in view.ports else ""


def _exhausted() -> StatusError:
    return internal_error("failed to allocate a nodePort: range is full")
