"""Pods from templates, and the hash that tells one template from another.

Used by the controllers of workloads; the hash goes into labels and names as upstream's does.
"""

from __future__ import annotations

import copy
import hashlib

import orjson

from listwatch.controllers.references import controller_reference
from listwatch.informer import APIResource
from listwatch.protocol.objects import JSONObject

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: no words


def pod_from(
    template: JSONObject, owner: JSONObject, resource: APIResource, *, name: str = ""
) -> JSONObject:
    """A new pod of a template, controlled by `owner`; without a name it gets a generated one."""
    given = template.get("metadata") or {}
    metadata: JSONObject = {
        "namespace": owner["metadata"]["namespace"],
        "labels": dict(given.get("labels") or {}),
        "ownerReferences": [controller_reference(resource, owner)],
    }
    for key in ("annotations", "finalizers"):
        if given.get(key):
            metadata[key] = copy.copy(given[key])
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = _prefix(owner["metadata"]["name"])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template.get("spec") or {}),
    }


def template_hash(template: JSONObject, collisions: int = 0) -> str:
    """A short name of a template's content, other for every count of collisions."""
    text = orjson.dumps(template, option=orjson.OPT_SORT_KEYS)
    if collisions:
        text += str(collisions).encode()
    number = int.from_bytes(hashlib.sha256(text).digest()[:4], "big")
    return safe_encoded(str(number))


def safe_encoded(text: str) -> str:
    """A text in letters and digits that make no words; upstream: rand.SafeEncodeString."""
    return "".join(_ALPHABET[ord(letter) % len(_ALPHABET)] for letter in text)


def _prefix(name: str) -> str:
    # Names have room for five random letters behind at most 58.
    return f"{name[:57]}-"
