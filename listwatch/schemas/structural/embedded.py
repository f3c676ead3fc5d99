"""Metadata of custom objects and of objects within them: read as that of every kind is.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta. The caller is `kinds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.kinds import GroupVersionKind, split_api_version
from listwatch.schemas.decoding import DecodeError, decode_as
from listwatch.schemas.validation.faults import required
from listwatch.schemas.validation.metadata import metadata_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject
    from listwatch.schemas.structural.nodes import Node

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def read_metadata(document: JSONObject) -> list[str]:
    """Bring an object's metadata into normal form: the paths of what it may not have.

    Raises ValueError if it is none.
    """
    metadata = document.get("metadata")
    if metadata is None:
        return []
    if isinstance(metadata, dict) and metadata.get("creationTimestamp", "") is None:
        del metadata["creationTimestamp"]
    try:
        document["metadata"], unknown = decode_as(_OBJECT_META, metadata)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    return [f"metadata.{path}" for path in unknown]


def read_embedded(value: Any, node: Node | None, path: str = "") -> list[str]:  # Any: JSON
    """The same for every object within that is a resource of its own.

    What cannot be read is left for the validation to refuse.
    """
    if node is None:
        return []
    unknown: list[str] = []
    if isinstance(value, dict):
        if node.embedded and isinstance(value.get("metadata"), dict):
            try:
                unknown += [f"{path}.{found}" for found in read_metadata(value)]
            except ValueError:
                del value["metadata"]
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                unknown += read_embedded(inner, node.child(key), f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            unknown += read_embedded(inner, node.items, f"{path}[{index}]")
    return unknown


def embedded_faults(value: Any, node: Node | None, path: str = "") -> list[Cause]:  # Any: JSON
    """Faults of the kind, version and metadata of every object within."""
    if node is None:
        return []
    found: list[Cause] = []
    if isinstance(value, dict):
        if node.embedded:
            found += _object_faults(value, path)
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                found += embedded_faults(inner, node.child(key), f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += embedded_faults(inner, node.items, f"{path}[{index}]")
    return found


def _object_faults(value: JSONObject, path: str) -> list[Cause]:
    found = [
        required(f"{path}.{key}", "must not be empty")
        for key in ("apiVersion", "kind")
        if not value.get(key) or not isinstance(value[key], str)
    ]
    metadata = value.get("metadata")
    if not found and isinstance(metadata, dict):
        group, version = split_api_version(value["apiVersion"])
        gvk = GroupVersionKind(group, version, value["kind"])
        # An object within has no name as long as nobody made it.
        named = {"name": "any", **{k: v for k, v in metadata.items() if v}}
        found += [
            type(fault)(fault.reason, fault.message, f"{path}.{fault.field}")
            for fault in metadata_faults(gvk, named)
        ]
    return found
