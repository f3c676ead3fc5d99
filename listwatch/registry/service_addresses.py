"""Where a Service can be reached from this machine, on which there is no cluster network.

Through its endpoints, or under the name of an ExternalName service. For whoever calls other
servers: webhooks and aggregated APIs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.protocol.versions import Version

SERVICES = GroupResource("", "services")
ENDPOINTS = GroupResource("", "endpoints")
Cached = Callable[[GroupResource, str, str], "Version | None"]


class AddressError(Exception):
    """The service cannot be reached; `reason` is one word of an APIService's condition for why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Address(NamedTuple):
    """`host:port`, and the service's port that leads there."""

    netloc: str
    port: dict[str, Any]  # Any: JSON values


def address_of(cached: Cached, namespace: str, name: str, port: int) -> Address:
    """Where a service's port is served; raises AddressError."""
    found = cached(SERVICES, namespace, name)
    if found is None:
        raise AddressError("ServiceNotFound", f'service "{name}" not found')
    spec = found.decode().get("spec") or {}
    ports = spec.get("ports") or ()
    wanted = next((one for one in ports if one.get("port") == port), None)
    if spec.get("type") == "ExternalName":
        return Address(f"{spec.get('externalName')}:{port}", wanted or {"port": port})
    if wanted is None:
        raise AddressError("ServicePortError", f'no service port {port} found for service "{name}"')
    netloc = _endpoint(cached, namespace, name, wanted.get("name") or "")
    if not netloc:
        raise AddressError("MissingEndpoints", f'no endpoints available for service "{name}"')
    return Address(netloc, wanted)


def _endpoint(cached: Cached, namespace: str, name: str, port: str) -> str:
    found = cached(ENDPOINTS, namespace, name)
    subsets = [] if found is None else found.decode().get("subsets") or []
    for subset in subsets:
        numbers = [p["port"] for p in subset.get("ports") or () if (p.get("name") or "") == port]
        for address in subset.get("addresses") or ():
            if numbers:
                ip = address["ip"]
                return f"[{ip}]:{numbers[0]}" if ":" in ip else f"{ip}:{numbers[0]}"
    return ""
