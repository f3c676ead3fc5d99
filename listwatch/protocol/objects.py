"""Objects as JSON: encoded once, their resourceVersion spliced in wherever they go.

A stored body carries no resourceVersion, since the revision is the number of the write itself.
The encoder lays every object out as `{"kind":K,"apiVersion":V,"metadata":{` and records the place
behind it. The place is recorded, never searched for: user data may contain any text.
The result goes to `store`, and from there, in versions, to `watchcache`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

JSONObject = dict[str, Any]  # Any: an object of whatever kind, as JSON has it


class Encoded(NamedTuple):
    """A body without resourceVersion; `splice` is the offset just behind `"metadata":{`."""

    body: bytes
    splice: int


def encode(document: JSONObject) -> Encoded:
    """Encode an object that has kind, apiVersion and a metadata that is not empty.

    Its metadata.resourceVersion is left out; all other keys keep their order.
    """
    metadata = {k: v for k, v in document["metadata"].items() if k != "resourceVersion"}
    if not metadata:
        raise ValueError("an object without any metadata cannot be stored")
    head = orjson.dumps({"kind": document["kind"], "apiVersion": document["apiVersion"]})
    rest = {k: v for k, v in document.items() if k not in ("kind", "apiVersion", "metadata")}
    prefix = head[:-1] + b',"metadata":{'
    tail = orjson.dumps(metadata)[1:]
    body = prefix + tail
    body += b"," + orjson.dumps(rest)[1:] if rest else b"}"
    return Encoded(body, len(prefix))


def splice(encoded: Encoded, revision: int) -> bytes:
    """The whole object, with its resourceVersion."""
    body, at = encoded
    return b'%b"resourceVersion":"%d",%b' % (body[:at], revision, body[at:])


def splice_item(encoded: Encoded, revision: int) -> bytes:
    """The object as an item of a typed list: without kind and apiVersion."""
    body, at = encoded
    return b'{"metadata":{"resourceVersion":"%d",%b' % (revision, body[at:])


def splice_as(encoded: Encoded, revision: int, header: bytes) -> bytes:
    """The object under another kind and apiVersion: `header` is `{"kind":K,"apiVersion":V,`."""
    body, at = encoded
    return b'%b"metadata":{"resourceVersion":"%d",%b' % (header, revision, body[at:])


def decode(encoded: Encoded, revision: int) -> JSONObject:
    """The object as a new dict, its resourceVersion in place (first key of metadata)."""
    document: JSONObject = orjson.loads(encoded.body)
    document["metadata"] = {"resourceVersion": str(revision), **document["metadata"]}
    return document


def copied(document: JSONObject) -> JSONObject:
    """An object of its own with the same values: several times as quick as a deep copy."""
    copy: JSONObject = orjson.loads(orjson.dumps(document))
    return copy


def header(kind: str, api_version: str) -> bytes:
    """`{"kind":K,"apiVersion":V,` as every encoded object begins."""
    return orjson.dumps({"kind": kind, "apiVersion": api_version})[:-1] + b","


def key_of(namespace: str, name: str) -> str:
    """The sort key of an object: `namespace/name`, or `name` if it stands in no namespace."""
    return f"{namespace}/{name}" if namespace else name


def metadata_of(document: JSONObject) -> JSONObject:
    """The metadata of an object as it stands in it; made if there is none."""
    metadata: JSONObject = document.setdefault("metadata", {})
    return metadata


def labels_of(document: JSONObject) -> dict[str, str]:
    """The labels of an object, or an empty dict."""
    return document.get("metadata", {}).get("labels") or {}
