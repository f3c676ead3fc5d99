"""The entries of `metadata.managedFields`: read, written, in order, and not too many.

An entry says what one manager set by one kind of operation. What the entries become in a write is
`server_side_apply`'s; `registry` stores what comes out here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.patches.field_sets import elements
from listwatch.patches.field_sets.sets import FieldSet, union
from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.names import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.objects import JSONObject

APPLY, UPDATE = "Apply", "Update"
MAXIMUM_UPDATERS = 10  # upstream's: an object that everybody writes must not grow for ever
ANCIENT = "ancient-changes"  # whose what is beyond them becomes
BEFORE_FIRST_APPLY = "before-first-apply"  # whose is what was there when nobody was tracked


class Manager(NamedTuple):
    """Whose an entry is. `api_version` is '' of those who apply: they have one entry in all."""

    name: str
    operation: str
    api_version: str
    subresource: str


class Entry(NamedTuple):
    """What a manager owns. The set is in terms of `api_version`; `time` '': not known."""

    api_version: str
    fields: FieldSet
    time: str


Managers = dict[Manager, Entry]


def manager(name: str, operation: str, api_version: str, subresource: str) -> Manager:
    """The manager that a write of this kind is by."""
    return Manager(name, operation, "" if operation == APPLY else api_version, subresource)


def load(entries: list[JSONObject]) -> Managers:
    """What this module wrote, without another look at it."""
    return {
        manager(
            entry.get("manager", ""), entry["operation"], entry["apiVersion"],
            entry.get("subresource", ""),
        ): Entry(entry["apiVersion"], entry.get("fieldsV1", {}), entry.get("time") or "")
        for entry in entries
    }  # fmt: skip


def read(entries: list[Any]) -> Managers:  # Any: what somebody sent as managedFields
    """What a client wrote; raises ValueError, upstream's text, if an entry cannot be understood."""
    found: Managers = {}
    for index, sent in enumerate(entries):
        entry = _texts(sent)
        if entry["operation"] not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry["apiVersion"]:
            raise ValueError("apiVersion must not be empty")
        kind = entry["fieldsType"]
        if kind != "FieldsV1":
            what = f"invalid fieldsType {quoted(kind)}" if kind else "missing fieldsType"
            raise ValueError(f"{what} in managed fields entry {index}")
        if entry["time"]:
            parse_rfc3339(entry["time"])
        key = manager(
            entry["manager"], entry["operation"], entry["apiVersion"], entry["subresource"]
        )
        fields = elements.read(sent.get("fieldsV1") or {})
        found[key] = Entry(entry["apiVersion"], fields, entry["time"])
    return found


_TEXTS = ("manager", "operation", "apiVersion", "time", "fieldsType", "subresource")


def _texts(entry: Any) -> dict[str, str]:  # Any: whatever was sent as an entry
    if not isinstance(entry, dict):
        raise ValueError("an entry must be an object")
    texts = {name: entry.get(name) or "" for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("an entry must be of texts")
    return texts


def is_reset(entries: Any) -> bool:  # Any: what somebody sent as managedFields
    """Whether a client wants all of it to be forgotten: an empty list, or one empty entry."""
    return isinstance(entries, list) and (not entries or entries == [{}])


def keep_reset(document: Any) -> None:  # Any: a body before it is decoded
    """Write an empty list as one empty entry, which means the same: decoding would lose it."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        metadata["managedFields"] = [{}]


def dump(managers: Managers) -> list[JSONObject]:
    """The entries in the order and the form in which they are stored."""
    if len(managers) == 1:
        return [_entry(*each) for each in managers.items()]
    return [_entry(*each) for each in sorted(managers.items(), key=_rank)]


def _rank(item: tuple[Manager, Entry]) -> tuple[str, ...]:
    key, entry = item
    return key.operation, entry.time, key.name, entry.api_version, key.subresource


def _entry(key: Manager, entry: Entry) -> JSONObject:
    written: JSONObject = {
        "manager": key.name,
        "operation": key.operation,
        "apiVersion": entry.api_version,
        "time": entry.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": entry.fields,
        "subresource": key.subresource,
    }
    for name in ("manager", "time", "subresource"):
        if not written[name]:
            del written[name]
    return written


def capped(managers: Managers) -> Managers:
    """The same with the oldest updates put together, if there are too many of them."""
    updaters = [key for key in managers if key.operation == UPDATE]
    surplus = len(updaters) - MAXIMUM_UPDATERS
    if surplus <= 0:
        return managers
    result = dict(managers)
    updaters.sort(key=lambda key: (managers[key].time, _identifier(key)))
    first: dict[str, Manager] = {}
    for key in updaters:
        if surplus <= 0:
            break
        version = managers[key].api_version
        if version not in first:
            first[version] = key
            continue
        bucket = Manager(ANCIENT, UPDATE, version, "")
        if bucket not in result:
            result[bucket] = result.pop(first[version])
        entry = result.pop(key)
        fields = elements.arranged(union(entry.fields, result[bucket].fields))
        result[bucket] = Entry(version, fields, entry.time)  # the more recent of their times
        surplus -= 1
    return result


def _identifier(key: Manager) -> bytes:
    # Upstream breaks ties by the text that it knows a manager by.
    fields: Mapping[str, str] = {
        "manager": key.name,
        "operation": key.operation,
        "apiVersion": key.api_version,
        "subresource": key.subresource,
    }
    return orjson.dumps({name: value for name, value in fields.items() if value})
