"""Faults of fields as causes, in kube-apiserver's words.

Used by every validator here. Upstream: apimachinery/pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import quoted
from listwatch.schemas.structures import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from listwatch.protocol.objects import JSONObject

IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"


def invalid(field: str, value: Any, why: str) -> Cause:  # Any: a JSON value
    """The field has a value that it cannot have."""
    return Cause("FieldValueInvalid", f"Invalid value: {shown(value)}: {why}", field)


def invalid_structure(field: str, type_: str, value: JSONObject, why: str) -> Cause:
    """The same of a structure as a whole, which is shown as it is within upstream's server."""
    return Cause("FieldValueInvalid", f"Invalid value: {written(type_, value)}: {why}", field)


def required(field: str, why: str = "") -> Cause:
    """The field has no value."""
    return Cause("FieldValueRequired", f"Required value: {why}" if why else "Required value", field)


def duplicate(field: str, value: Any, why: str = "") -> Cause:  # Any: a JSON value
    """Another one has this value already."""
    message = f"Duplicate value: {shown(value)}"
    return Cause("FieldValueDuplicate", f"{message}: {why}" if why else message, field)


def forbidden(field: str, why: str) -> Cause:
    """The field may not be set, or not be changed."""
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def not_found(field: str, value: Any) -> Cause:  # Any: a JSON value
    """What the field names is not there."""
    return Cause("FieldValueNotFound", f"Not found: {shown(value)}", field)


def too_long(field: str, limit: int) -> Cause:
    """The field has more bytes than it may have."""
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} bytes", field)


def too_many(field: str, count: int, limit: int) -> Cause:
    """The list has more elements than it may have."""
    message = f"Too many: {count}: must have at most {limit} items"
    return Cause("FieldValueTooMany", message, field)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> Cause:  # Any: a JSON value
    """The value is none of a few."""
    values = ", ".join(quoted(text) for text in supported)
    message = f"Unsupported value: {shown(value)}: supported values: {values}"
    return Cause("FieldValueNotSupported", message, field)


def shown(value: Any) -> str:  # Any: a JSON value
    """A value as messages show it: text in quotes, anything else as JSON."""
    return quoted(value) if isinstance(value, str) else orjson.dumps(value).decode()


def chosen(value: str | None, field: str, supported: Iterable[str]) -> list[Cause]:
    """Faults of a field that must have one of a few values."""
    if not value:
        return [required(field)]
    return [] if value in supported else [not_supported(field, value, supported)]


def negatives(values: Mapping[str, Any], names: Iterable[str], field: str) -> list[Cause]:
    """Faults of numbers that may be absent but not below zero; Any: JSON values."""
    return [
        invalid(f"{field}.{name}", values[name], NEGATIVE)
        for name in names
        if (values.get(name) or 0) < 0
    ]


def immutable(
    new: Mapping[str, Any], old: Mapping[str, Any], names: Iterable[str], field: str = ""
) -> list[Cause]:
    """Faults of fields that must stay as they were; Any: JSON values."""
    before = f"{field}." if field else ""
    return [
        invalid(f"{before}{name}", new.get(name), IMMUTABLE)
        for name in names
        if _differ(new.get(name), old.get(name))
    ]


def _differ(new: Any, old: Any) -> bool:  # Any: JSON values
    # Within free content Python takes true for 1.
    if new != old or not isinstance(new, (dict, list)):
        return bool(new != old)
    texts = (orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in (new, old))
    return len(set(texts)) > 1
