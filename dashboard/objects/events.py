"""The Event objects about one object, newest first: what `kubectl describe` ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.objects.tables import moment
from listwatch.protocol.objects import decode
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.objects import JSONObject

JSON = dict[str, Any]  # Any: JSON values

SHOWN = 100


def events_about(asker: Asker, document: JSONObject) -> JSON:
    """Rows; `allowed` is False where the user may not list events there."""
    metadata = document["metadata"]
    namespace = metadata.get("namespace") or "default"
    resource = asker.runtime.resources.find("", "v1", "events")
    if resource is None or not asker.may("list", resource, namespace):
        return {"rows": [], "allowed": False}
    uid = metadata.get("uid", "")
    found = asker.runtime.caches.cacher(resource.storage).list(ListRequest(namespace=namespace))
    rows = [
        _row(decode(version.encoded, version.revision))
        for version in found.versions
        if version.fields.get("involvedObject.uid") == uid
    ]
    rows.sort(key=lambda row: row["last"] or 0.0, reverse=True)
    return {"rows": rows[:SHOWN], "allowed": True}


def _row(event: JSONObject) -> JSON:
    """As kubectl's columns: LAST SEEN, TYPE, REASON, FROM, MESSAGE."""
    series = event.get("series") or {}
    last = (
        series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )  # fmt: skip
    source = event.get("source") or {}
    return {
        "id": event["metadata"]["name"],
        "type": event.get("type", ""),
        "reason": event.get("reason", ""),
        "from": source.get("component") or event.get("reportingComponent", ""),
        "message": event.get("message", ""),
        "count": series.get("count") or event.get("count") or 1,
        "last": moment(last),
    }
