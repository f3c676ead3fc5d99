"""Writing a status: one merge patch with what differs, and none when nothing does.

Used by every controller at the end of a look at its object.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from listwatch.protocol.objects import JSONObject

if TYPE_CHECKING:
    from listwatch.informer import APIResource, Client


def difference(old: JSONObject, new: JSONObject) -> JSONObject:
    """The merge patch that makes `new` of `old`; lists are replaced whole."""
    patch: JSONObject = {key: None for key in old if key not in new}
    for key, value in new.items():
        before: Any = old.get(key)  # Any: a JSON value
        if before == value and key in old:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            patch[key] = difference(before, value)
        else:
            patch[key] = value
    return patch


async def write_status(
    client: Client,
    resource: APIResource,
    subject: JSONObject,
    status: JSONObject,
    *,
    keep: Container[str] = (),
) -> JSONObject | None:
    """Make this the status of the object; its new state, or None if it was so before.

    What is zero or empty is left out as the kinds of the API do it, but for the fields to `keep`.
    """
    old = subject.get("status") or {}
    new = {key: value for key, value in status.items() if value or key in keep}
    patch = difference(old, new)
    if not patch:
        return None
    metadata = subject["metadata"]
    return await client.patch(
        resource,
        metadata["name"],
        {"metadata": {"uid": metadata["uid"]}, "status": patch},
        namespace=metadata.get("namespace") or "",
        subresource="status",
    )
