"""The quality of service class of a pod, from the requests and limits of its containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.quantities import Quantity

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_COUNTED = ("cpu", "memory")


def quality_of_service(spec: JSONObject) -> str:
    """`BestEffort` without requests, `Guaranteed` where they equal the limits, else `Burstable`.

    Guaranteed needs limits of cpu and memory on every container, or on the pod as a whole.
    """
    if spec.get("resources"):
        parts = [spec["resources"]]
    else:
        containers = (spec.get("containers") or []) + (spec.get("initContainers") or [])
        parts = [container.get("resources") or {} for container in containers]
    asked = [(_amounts(part, "requests"), _amounts(part, "limits")) for part in parts]
    if not any(requests or limits for requests, limits in asked):
        return "BestEffort"
    guaranteed = all(
        len(limits) == len(_COUNTED) and (requests or limits) == limits
        for requests, limits in asked
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _amounts(resources: JSONObject, kind: str) -> dict[str, Quantity]:
    given = resources.get(kind) or {}
    amounts = {name: Quantity.of(given[name]) for name in _COUNTED if name in given}
    return {name: amount for name, amount in amounts.items() if amount.nano > 0}
