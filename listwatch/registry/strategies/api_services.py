"""APIServices: which group version is served where, and with which precedence.

Upstream: kube-aggregator/pkg/apis/apiregistration/validation. Local ones are always available;
what the condition of the others says is found out by `api_services.availability`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy, restore
from listwatch.schemas.validation.faults import invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_HIGHEST_GROUP, _HIGHEST_VERSION = 20000, 1000


@dataclass(frozen=True, slots=True)
class ApiServiceStrategy(Strategy):
    """The status is the server's alone."""

    has_status: bool = True
    unconditional_update: bool = False

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A local one is available from the start."""
        _complete(document)
        document["status"] = {}
        if document["spec"].get("service") is None:
            document["status"] = {"conditions": [local_condition(now)]}

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """The status stays."""
        restore(document, old, "status")
        _complete(document)

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Nothing but the status is taken."""
        restore(document, old, "spec")
        for key in ("labels", "annotations", "ownerReferences", "finalizers"):
            restore(document["metadata"], old["metadata"], key)

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """Its name, its priorities, and how its server is reached."""
        spec, name = document["spec"], document["metadata"].get("name") or ""
        wanted = f"{spec.get('version') or ''}.{spec.get('group') or ''}"
        found: list[Cause] = []
        if name and name != wanted:
            why = f'must be `spec.version+"."+spec.group`: `{wanted}`'
            found.append(invalid("metadata.name", name, why))
        if not spec.get("version"):
            found.append(required("spec.version"))
        for key, most in (
            ("groupPriorityMinimum", _HIGHEST_GROUP),
            ("versionPriority", _HIGHEST_VERSION),
        ):
            given = spec.get(key) or 0
            if not 0 < given <= most:
                why = f"must be positive and less than {most}"
                found.append(invalid(f"spec.{key}", given, why))
        return found + _reach(spec)


def local_condition(now: str) -> JSONObject:
    """What is said of a group version that this server serves itself."""
    return {
        "type": "Available", "status": "True", "lastTransitionTime": now, "reason": "Local",
        "message": "Local APIServices are always available",
    }  # fmt: skip


def _reach(spec: JSONObject) -> list[Cause]:
    service, found = spec.get("service"), []
    if service is None:
        if spec.get("caBundle"):
            why = "local APIServices may not have a caBundle"
            found.append(invalid("spec.caBundle", f"{len(spec['caBundle'])} bytes", why))
        if spec.get("insecureSkipTLSVerify"):
            why = "local APIServices may not have insecureSkipTLSVerify"
            found.append(invalid("spec.insecureSkipTLSVerify", True, why))
        return found
    found += [
        required(f"spec.service.{key}") for key in ("namespace", "name") if not service.get(key)
    ]
    if not 0 < (service.get("port") or 0) < 1 << 16:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        found.append(invalid("spec.service.port", service.get("port"), why))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        why = "may not be true if caBundle is present"
        found.append(invalid("spec.insecureSkipTLSVerify", True, why))
    return found


def _complete(document: JSONObject) -> None:
    service = document.setdefault("spec", {}).get("service")
    if service is not None and not service.get("port"):
        service["port"] = 443
