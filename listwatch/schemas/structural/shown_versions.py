"""Versions of a definition as upstream shows them in a message: what all share stands elsewhere.

The caller is `definition_faults`.
"""

from __future__ import annotations

from typing import Any

_SHARED = {
    "Schema": "schema",
    "Subresources": "subresources",
    "AdditionalPrinterColumns": "additionalPrinterColumns",
    "SelectableFields": "selectableFields",
}


def shown_versions(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The versions in the structure that they have within the server."""
    shared = {
        key
        for key in _SHARED.values()
        if all(one.get(key) == versions[0].get(key) for one in versions)
    }
    return [
        {
            "Name": one.get("name") or "",
            "Served": bool(one.get("served")),
            "Storage": bool(one.get("storage")),
            "Deprecated": bool(one.get("deprecated")),
            "DeprecationWarning": one.get("deprecationWarning"),
            **{name: None if key in shared else one.get(key) for name, key in _SHARED.items()},
        }
        for one in versions
    ]
