"""Faults of ConfigMaps and Secrets: keys, size, what a type needs, what immutable means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from listwatch.schemas import scalars
from listwatch.schemas.validation.faults import (
    IMMUTABLE,
    forbidden,
    invalid,
    required,
    too_long,
)
from listwatch.schemas.validation.names import config_key_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

SIZE_LIMIT = 1024 * 1024
_IMMUTABLE = "field is immutable when `immutable` is set"
_REDACTED = "<secret contents redacted>"


def config_map_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ConfigMap by itself."""
    faults, size = [], 0
    data, binary = document.get("data") or {}, document.get("binaryData") or {}
    for key, value in data.items():
        faults += _key_faults("data", key)
        if key in binary:
            faults.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        size += len(value) if value.isascii() else len(value.encode())
    for key, value in binary.items():
        faults += _key_faults("binaryData", key)
        size += scalars.base64_length(value)
    if size > SIZE_LIMIT:
        faults.append(too_long("[]", SIZE_LIMIT))
    return faults


def config_map_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of a ConfigMap as the change of another."""
    return _immutable_faults(new, old, "data", "binaryData") if old.get("immutable") else []


def secret_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Secret by itself."""
    faults, size = [], 0
    data = document.get("data") or {}
    for key, value in data.items():
        faults += _key_faults("data", key)
        size += scalars.base64_length(value)
    if size > SIZE_LIMIT:
        faults.append(too_long("data", SIZE_LIMIT))
    return faults + _type_faults(document, data)


def secret_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of a Secret as the change of another."""
    faults = []
    if new.get("type") != old.get("type"):
        faults.append(invalid("type", new.get("type", ""), IMMUTABLE))
    return faults + (_immutable_faults(new, old, "data") if old.get("immutable") else [])


def _key_faults(field: str, key: str) -> list[Cause]:
    return [invalid(f"{field}[{key}]", key, why) for why in config_key_faults(key)]


def _immutable_faults(new: JSONObject, old: JSONObject, *fields: str) -> list[Cause]:
    faults = []
    if not new.get("immutable"):
        faults.append(forbidden("immutable", _IMMUTABLE))
    faults += [
        forbidden(field, _IMMUTABLE)
        for field in fields
        if (new.get(field) or {}) != (old.get(field) or {})
    ]
    return faults


_DOCKER = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
_ACCOUNT = "kubernetes.io/service-account.name"


def _type_faults(document: JSONObject, data: Mapping[str, str]) -> list[Cause]:
    match document.get("type"):
        case "kubernetes.io/service-account-token":
            annotations = document.get("metadata", {}).get("annotations") or {}
            missing = not annotations.get(_ACCOUNT)
            return [required(f"metadata.annotations[{_ACCOUNT}]")] if missing else []
        case "kubernetes.io/dockercfg" | "kubernetes.io/dockerconfigjson" as kind:
            return _docker_faults(_DOCKER[kind], data)
        case "kubernetes.io/basic-auth":
            keys = ("username", "password")
            return [] if any(key in data for key in keys) else _missing(keys)
        case "kubernetes.io/ssh-auth":
            return [] if data.get("ssh-privatekey") else _missing(["ssh-privatekey"])
        case "kubernetes.io/tls":
            return _missing([key for key in ("tls.crt", "tls.key") if key not in data])
    return []


def _missing(keys: list[str] | tuple[str, ...]) -> list[Cause]:
    return [required(f"data[{key}]") for key in keys]


def _docker_faults(key: str, data: Mapping[str, str]) -> list[Cause]:
    if key not in data:
        return _missing([key])
    try:
        parsed = json.loads(scalars.base64_bytes(data[key]))
    except (ValueError, RecursionError):
        return [
            invalid(f"data[{key}]", _REDACTED, "invalid character looking for beginning of value")
        ]
    if isinstance(parsed, dict):
        return []
    why = "json: cannot unmarshal into Go value of type map[string]interface {}"
    return [invalid(f"data[{key}]", _REDACTED, why)]
