"""One object as its page shows it: the YAML with managedFields folded, conditions, facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.objects.tables import moment
from listwatch.editing.texts import dump

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

JSON = dict[str, Any]  # Any: JSON values

_PHASES = ("phase", "state")


def detail(document: JSONObject) -> JSON:
    """All that the first view tells; the twin has the object itself, too."""
    metadata = dict(document["metadata"])
    managed = metadata.pop("managedFields", None) or []
    return {
        "yaml": dump({**document, "metadata": metadata}),
        "managed": dump({"managedFields": managed}) if managed else "",
        "managers": [
            {
                "manager": each.get("manager", ""),
                "operation": each.get("operation", ""),
                "part": each.get("subresource", ""),
                "at": moment(each.get("time")),
            }
            for each in managed
        ],
        "conditions": conditions(document),
        "facts": _facts(document),
        "object": document,
    }


def conditions(document: JSONObject) -> list[JSON]:
    """The conditions of the status, as they stand; `state` says how each is to be taken."""
    status = document.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(found, list):
        return []
    return [
        {
            "type": str(each.get("type", "")),
            "status": str(each.get("status", "")),
            "reason": str(each.get("reason") or ""),
            "message": str(each.get("message") or ""),
            "at": moment(each.get("lastTransitionTime")),
        }
        for each in found
        if isinstance(each, dict)
    ]


def _facts(document: JSONObject) -> JSON:
    metadata = document["metadata"]
    status = document.get("status")
    status = status if isinstance(status, dict) else {}
    return {
        "uid": metadata.get("uid", ""),
        "revision": metadata.get("resourceVersion", ""),
        "generation": metadata.get("generation"),
        "observed": status.get("observedGeneration"),
        "created": moment(metadata.get("creationTimestamp")),
        "deleting": moment(metadata.get("deletionTimestamp")),
        "phase": next((str(status[p]) for p in _PHASES if isinstance(status.get(p), str)), ""),
        "finalizers": list(metadata.get("finalizers") or []),
        "labels": dict(sorted((metadata.get("labels") or {}).items())),
        "annotations": dict(sorted((metadata.get("annotations") or {}).items())),
    }
