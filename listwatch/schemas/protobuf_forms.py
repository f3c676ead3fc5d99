"""Messages that are something else than an object in JSON.

Each form takes the fields of a message, as read, and gives the JSON value, or raises ValueError.
Used by `protobuf` only.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.objects import JSONObject

_META = "k8s.io.apimachinery.pkg.apis.meta.v1."
_EXTENSIONS = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(message: JSONObject) -> datetime:
    seconds, nanos = message.get("seconds", 0), message.get("nanos", 0)
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise ValueError("time out of range") from None


def _time(message: JSONObject) -> str | None:
    if not message:
        return None  # the zero time, which has no bytes at all
    return _moment(message).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _micro_time(message: JSONObject) -> str | None:
    if not message:
        return None
    return _moment(message).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _int_or_string(message: JSONObject) -> int | str:
    value: int | str
    value = message.get("strVal", "") if message.get("type") else message.get("intVal", 0)
    return value


def _quantity(message: JSONObject) -> str:
    return str(message.get("string") or "0")


def _embedded(name: str) -> Callable[[JSONObject], Any]:
    def form(message: JSONObject) -> Any:
        raw = message.get(name)
        return orjson.loads(raw) if raw else None

    return form


def _items(message: JSONObject) -> list[Any]:
    items: list[Any] = message.get("items", [])
    return items


def _or_list(name: str) -> Callable[[JSONObject], Any]:
    def form(message: JSONObject) -> Any:
        return message[name] if message.get(name) else message.get("schema")

    return form


def _or_bool(message: JSONObject) -> Any:
    return message["schema"] if "schema" in message else message.get("allows", False)


_UNITS = (("h", 3_600_000_000_000), ("m", 60_000_000_000))


def _duration(message: JSONObject) -> str:
    """As Go writes a time.Duration: `1h0m0s`, `1.5s`, `2ms`, `0s`."""
    nanos = message.get("duration", 0)
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    if nanos < 1_000_000_000:
        for unit, size in (("ms", 1_000_000), ("µs", 1000), ("ns", 1)):  # Go's own letter
            if nanos >= size:
                return f"{sign}{_decimal(nanos, size)}{unit}"
        return "0s"
    text = ""
    for unit, size in _UNITS:
        count, nanos = divmod(nanos, size)
        if count or text:
            text += f"{count}{unit}"
    return f"{sign}{text}{_decimal(nanos, 1_000_000_000)}s"


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0")


FORMS: dict[str, Callable[[JSONObject], Any]] = {  # Any: a JSON value
    f"{_META}Time": _time,
    f"{_META}MicroTime": _micro_time,
    f"{_META}Duration": _duration,
    f"{_META}FieldsV1": _embedded("Raw"),
    f"{_META}Verbs": _items,
    "k8s.io.apimachinery.pkg.runtime.RawExtension": _embedded("raw"),
    "k8s.io.apimachinery.pkg.api.resource.Quantity": _quantity,
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": _int_or_string,
    "k8s.io.api.authentication.v1.ExtraValue": _items,
    "k8s.io.api.authorization.v1.ExtraValue": _items,
    "k8s.io.api.certificates.v1.ExtraValue": _items,
    f"{_EXTENSIONS}JSON": _embedded("raw"),
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": _or_list("jSONSchemas"),
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": _or_list("property"),
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": _or_bool,
}
