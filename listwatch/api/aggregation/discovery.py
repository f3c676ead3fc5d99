"""What an aggregated server says that it serves, in the form of the aggregated document.

Used by `discovery_documents`; the list of one group version is the server's own answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.protocol.objects import JSONObject


def merged(entries: Sequence[JSONObject]) -> list[JSONObject]:
    """Entries of an APIResourceList, each resource with its subresources."""
    resources: dict[str, JSONObject] = {}
    for entry in entries:
        if "/" not in entry["name"]:
            resources[entry["name"]] = _resource(entry)
    for entry in entries:
        name, slash, part = entry["name"].partition("/")
        if slash and name in resources:
            found = {
                "subresource": part, "responseKind": _kind(entry),
                "verbs": entry.get("verbs") or [],
            }  # fmt: skip
            resources[name].setdefault("subresources", []).append(found)
    return list(resources.values())


def _resource(entry: JSONObject) -> JSONObject:
    made = {
        "resource": entry["name"],
        "responseKind": _kind(entry),
        "scope": "Namespaced" if entry.get("namespaced") else "Cluster",
        "singularResource": entry.get("singularName") or "",
        "verbs": entry.get("verbs") or [],
    }
    for key in ("shortNames", "categories"):
        if entry.get(key):
            made[key] = entry[key]
    return made


def _kind(entry: JSONObject) -> JSONObject:
    return {
        "group": entry.get("group") or "", "version": entry.get("version") or "",
        "kind": entry.get("kind") or "",
    }  # fmt: skip
