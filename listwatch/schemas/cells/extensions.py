"""The cells of APIServices: who answers a group version, and whether it is there."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import age, name_of


def api_service(document: JSONObject, now: float) -> list[Any]:  # Any: JSON scalars
    """Name, service, availability, age."""
    service = (document.get("spec") or {}).get("service")
    where = "Local"
    if service is not None:
        where = f"{service.get('namespace') or ''}/{service.get('name') or ''}"
    conditions = (document.get("status") or {}).get("conditions") or ()
    available = next((one for one in conditions if one.get("type") == "Available"), None)
    said = "Unknown"
    if available is not None:
        said = available.get("status") or ""
        if said != "True" and available.get("reason"):
            said = f"{said} ({available['reason']})"
    return [name_of(document), where, said, age(document, now)]
