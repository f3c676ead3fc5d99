"""Which of its names a definition may have: those that no other of its group has already.

Upstream: apiextensions-apiserver/pkg/controller/status/naming_controller.go. For `lifecycle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.registry.custom_resources.resources_of import condition
from listwatch.registry.strategies.definitions import with_condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from listwatch.protocol.objects import JSONObject

_KEYS = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


def accept(definition: JSONObject, others: Iterable[JSONObject], now: str) -> JSONObject:
    """The status of a definition beside the names that others of its group have."""
    status = definition.get("status") or {}
    accepted = dict(status.get("acceptedNames") or {})
    resources, kinds = _taken(others)
    names, conflict = definition["spec"]["names"], None
    for key, reason, taken in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        clash = [name for name in _listed(names.get(key)) if name in taken]
        if clash:
            listed = ", ".join(f'"{name}"' for name in clash)
            verb = "are" if len(clash) > 1 else "is"
            conflict = conflict or (reason, f"{listed} {verb} already in use")
        else:
            accepted[key] = names.get(key)
    accepted["categories"] = names.get("categories")
    conditions = with_condition(status.get("conditions") or [], _names_accepted(conflict, now))
    established = condition(definition, "Established")
    if not established:
        conditions = with_condition(conditions, _established(conflict is None, now))
    found: JSONObject = {
        **status,
        "conditions": conditions,
        "acceptedNames": {key: accepted[key] for key in _KEYS if accepted.get(key)},
    }
    return {
        key: found[key] for key in ("conditions", "acceptedNames", "storedVersions") if key in found
    }


def _taken(others: Iterable[JSONObject]) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for names in others:
        for key in ("plural", "singular", "shortNames"):
            resources.update(_listed(names.get(key)))
        for key in ("kind", "listKind"):
            kinds.update(_listed(names.get(key)))
    return resources, kinds


def _listed(value: Any) -> list[str]:  # Any: a name, several, or none
    if isinstance(value, list):
        return value
    return [value] if value else []


def _names_accepted(conflict: tuple[str, str] | None, now: str) -> JSONObject:
    reason, message = conflict or ("NoConflicts", "no conflicts found")
    return {
        "type": "NamesAccepted", "status": "False" if conflict else "True",
        "lastTransitionTime": now, "reason": reason, "message": message,
    }  # fmt: skip


def _established(accepted: bool, now: str) -> JSONObject:
    if accepted:
        reason, message = "InitialNamesAccepted", "the initial names have been accepted"
    else:
        reason, message = "NotAccepted", "not all names are accepted"
    return {
        "type": "Established", "status": "True" if accepted else "False",
        "lastTransitionTime": now, "reason": reason, "message": message,
    }  # fmt: skip
