"""A change of the log as a version of the cache: its labels and selectable fields taken out, once.

The result goes to `watchcache` by the pump, or to a watch that replays the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from listwatch.protocol.custom_kinds import CustomKind
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import Encoded, encode
from listwatch.protocol.versions import Change, ChangeType, Version

logger = logging.getLogger(__name__)

# A field that an object leaves out counts as the zero value of its type, as upstream's
# field functions have it (pkg/registry/core/*/strategy.go); every other one counts as ''.
_ZERO = {
    "spec.hostNetwork": "false",
    "spec.unschedulable": "false",
    "status.replicas": "0",
    "status.successful": "0",
}


def version_of(change: Change, resource: Resource | None) -> Version:
    """The version that a change made; a tombstone if it deleted.

    `resource` says which fields can be selected; None (a kind that is not served) means name and
    namespace alone.
    """
    document = orjson.loads(change.encoded.body)
    metadata = document["metadata"]
    fields = {"metadata.name": change.name, "metadata.namespace": change.namespace}
    encoded = change.encoded
    if resource is not None and resource.custom is not None:
        encoded = _completed(change, document, resource.custom)
        for path in resource.custom.selectable:
            fields[path] = _text(_walk(document, path))
    elif resource is not None:
        for path in resource.selectable_fields:
            fields[path] = field_value(document, path)
    return Version(
        namespace=change.namespace,
        name=change.name,
        uid=change.uid,
        revision=change.revision,
        encoded=encoded,
        stored=change.encoded,
        labels=metadata.get("labels") or {},
        fields=fields,
        deleted=change.type is ChangeType.DELETED,
        committed_at=change.committed_at,
    )


def field_value(document: Mapping[str, Any], path: str) -> str:  # Any: JSON values
    """What a field selector compares with: '' for a field the object lacks."""
    reader = _READERS.get(path)
    value = reader(document) if reader is not None else _walk(document, path)
    return _text(value, _ZERO.get(path, ""))


def again(version: Version, group_resource: GroupResource, resource: Resource | None) -> Version:
    """A version as it is now that its resource is another; itself if that makes no difference."""
    change = Change(
        version.revision, group_resource, version.namespace, version.name, version.uid,
        ChangeType.DELETED if version.deleted else ChangeType.MODIFIED, version.stored, 0,
        version.committed_at,
    )  # fmt: skip
    made = version_of(change, resource)
    same = made.encoded.body == version.encoded.body and made.fields == version.fields
    return version if same else made


def _completed(change: Change, document: dict[str, Any], custom: CustomKind) -> Encoded:
    try:
        return encode(document) if custom.complete(document) else change.encoded
    except Exception:
        # Whatever was stored under another schema must not stop what follows it.
        logger.exception("%s %s cannot be completed", change.group_resource, change.name)
        return change.encoded


def _text(value: Any, missing: str = "") -> str:
    if value is None:
        return missing
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _walk(document: Mapping[str, Any], path: str) -> Any:
    value: Any = document
    for step in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def _event_source(document: Mapping[str, Any]) -> Any:
    # An event written by either of the two event APIs names its source in another place.
    component = (document.get("source") or {}).get("component")
    return component or document.get("reportingComponent")


def _pod_ips(document: Mapping[str, Any]) -> Any:
    addresses = (document.get("status") or {}).get("podIPs") or []
    return ",".join(str(address.get("ip", "")) for address in addresses)


_READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "source": _event_source,
    "spec.host": lambda document: _walk(document, "spec.nodeName"),
    "status.podIPs": _pod_ips,
    "status.successful": lambda document: _walk(document, "status.succeeded"),
}
