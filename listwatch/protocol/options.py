"""What a request asks for beyond its path: the options of list, watch, get, delete and writes.

Read from query parameters as kube-apiserver reads them (the first value counts, and only `0` and
`false` are false), defaulted and validated. Built once in `api`, handed down to `registry`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from listwatch.protocol.errors import Cause, bad_request, go_word, invalid
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.names import quoted
from listwatch.protocol.selectors import FieldSelector, LabelSelector

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

Query = Mapping[str, Sequence[str]]  # every parameter with all of its values, decoded

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
FIELD_MANAGER_LENGTH = 128
APPLY_PATCH = "application/apply-patch+yaml"
_META = "meta.k8s.io"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DIGITS = re.compile(r"[0-9]+")


def first(query: Query, name: str) -> str:
    """The first value of a parameter; '' if it is not given."""
    values = query.get(name)
    return values[0] if values else ""


def boolean(query: Query, name: str) -> bool:
    """A flag: given, and neither `0` nor `false` in any case (`?watch`, `?watch=no` are true)."""
    values = query.get(name)
    return values is not None and bool(values) and values[0].lower() not in ("0", "false")


def integer(query: Query, name: str) -> int | None:
    """A number, None if it is not given; raises 400 for anything but a 64 bit decimal."""
    values = query.get(name)
    if not values:
        return None
    if not _INTEGER.fullmatch(values[0]):
        raise bad_request(f"strconv.ParseInt: parsing {quoted(values[0])}: invalid syntax")
    number = int(values[0])
    if not -(1 << 63) <= number < 1 << 63:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(values[0])}: value out of range")
    return number


def parse_revision(text: str, prefix: str = "invalid resource version: ") -> int:
    """A resourceVersion as a number, 0 for ''; raises 400 for anything but a uint64."""
    if not text:
        return 0
    why = ""
    if not _DIGITS.fullmatch(text):
        why = "invalid syntax"
    elif int(text) >= 1 << 64:
        why = "value out of range"
    if why:
        value = quoted(text)
        raise bad_request(
            f"{prefix}resourceVersion: Invalid value: {value}: "
            f"strconv.ParseUint: parsing {value}: {why}"
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The options of list, watch and deletecollection, defaulted and valid.

    `resource_version` is text ('' and '0' mean different things); `parse_revision` reads it.
    `limit` 0 means all. `send_initial_events` None means that the request did not say.
    """

    label_selector: LabelSelector = field(default_factory=lambda: LabelSelector.parse(""))
    field_selector: FieldSelector = field(default_factory=lambda: FieldSelector.parse(""))
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    watch: bool = False
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout_seconds: int | None = None

    @classmethod
    def from_query(
        cls, query: Query, *, forced_watch: bool = False, streaming_lists: bool = True
    ) -> ListOptions:
        """Read, default and validate; raises 400 or 422.

        `forced_watch` is a deprecated /watch/ path: it is defaulted and validated by what the
        query says, as upstream does, and a watch all the same. `streaming_lists` off refuses
        sendInitialEvents, so that clients fall back to list and watch.
        """
        options = cls(
            label_selector=LabelSelector.parse(first(query, "labelSelector")),
            field_selector=FieldSelector.parse(first(query, "fieldSelector")),
            resource_version=first(query, "resourceVersion"),
            resource_version_match=first(query, "resourceVersionMatch"),
            # Of two numbers that are none upstream tells of the time first.
            timeout_seconds=integer(query, "timeoutSeconds"),
            limit=max(integer(query, "limit") or 0, 0),
            continue_token=first(query, "continue"),
            watch=boolean(query, "watch"),
            allow_watch_bookmarks=boolean(query, "allowWatchBookmarks"),
            send_initial_events=(
                boolean(query, "sendInitialEvents") if query.get("sendInitialEvents") else None
            ),
        )
        if streaming_lists and options._starts_with_state():
            options = replace(
                options, send_initial_events=True, resource_version_match=NOT_OLDER_THAN
            )
        causes = _watch_faults(options, streaming_lists) if options.watch else _list_faults(options)
        _refuse("ListOptions", causes)
        return replace(options, watch=True) if forced_watch else options

    def _starts_with_state(self) -> bool:
        return (
            self.watch
            and self.resource_version in ("", "0")
            and self.send_initial_events is None
            and not self.resource_version_match
        )


@dataclass(frozen=True, slots=True)
class GetOptions:
    """The options of a get: `resource_version` '' is consistent, '0' whatever the cache has."""

    resource_version: str = ""

    @classmethod
    def from_query(cls, query: Query) -> GetOptions:
        """Read and validate; raises 400."""
        if boolean(query, "export"):
            raise bad_request(
                "the export parameter, deprecated since v1.14, is no longer supported"
            )
        return cls(first(query, "resourceVersion"))


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of create, update and patch. `force` None: not given (apply patches only)."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None

    @classmethod
    def from_query(cls, query: Query, kind: str, *, patch_type: str = "") -> WriteOptions:
        """Read and validate; `kind` (CreateOptions, ...) is named in a refusal (422)."""
        causes: list[Cause] = []
        dry_run = list(query.get("dryRun") or ())
        manager = first(query, "fieldManager")
        validation = first(query, "fieldValidation")
        force = boolean(query, "force") if query.get("force") else None
        if kind == "PatchOptions":
            causes += _patch_faults(manager, force, patch_type)
        causes += _manager_faults(manager) + _dry_run_faults(dry_run)
        levels = ("", "Ignore", "Strict", "Warn")
        if validation not in levels:
            causes.append(_unsupported("fieldValidation", validation, levels))
        _refuse(kind, causes)
        return cls(bool(dry_run), manager, validation or "Warn", force)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of delete and deletecollection, from the body, or the query if there is none."""

    grace_period_seconds: int | None = None
    uid: str = ""  # precondition: the object's uid must be this
    resource_version: str = ""  # precondition: and its resourceVersion this
    orphan_dependents: bool | None = None
    propagation_policy: str = ""  # Foreground, Background, Orphan; '': the kind's default
    dry_run: bool = False

    @classmethod
    def from_query(cls, query: Query) -> DeleteOptions:
        """Read and validate; raises 400 or 422."""
        orphan = boolean(query, "orphanDependents") if query.get("orphanDependents") else None
        dry_run = list(query.get("dryRun") or ())
        options = cls(
            grace_period_seconds=integer(query, "gracePeriodSeconds"),
            orphan_dependents=orphan,
            propagation_policy=first(query, "propagationPolicy"),
            dry_run=bool(dry_run),
        )
        options._validate(dry_run)
        return options

    @classmethod
    def from_document(cls, document: JSONObject) -> DeleteOptions:
        """Read a request body; raises 400 if it is another kind or a field is of another type."""
        kind, version = document.get("kind") or "", document.get("apiVersion") or ""
        if kind not in ("", "DeleteOptions"):
            raise bad_request(
                f'no kind "{kind}" is registered for version "{version}" in scheme '
                '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
            )
        preconditions = _typed(document, "preconditions", dict) or {}
        dry_run = _typed(document, "dryRun", list) or []
        options = cls(
            grace_period_seconds=_typed(document, "gracePeriodSeconds", int),
            uid=_typed(preconditions, "uid", str) or "",
            resource_version=_typed(preconditions, "resourceVersion", str) or "",
            orphan_dependents=_typed(document, "orphanDependents", bool),
            propagation_policy=_typed(document, "propagationPolicy", str) or "",
            dry_run=bool(dry_run),
        )
        options._validate(dry_run)
        return options

    def _validate(self, dry_run: list[str]) -> None:
        causes, policy = [], self.propagation_policy
        if policy and self.orphan_dependents is not None:
            why = "orphanDependents and deletionPropagation cannot be both set"
            causes.append(_invalid_value("propagationPolicy", policy, why))
        elif policy not in ("", "Foreground", "Background", "Orphan"):
            supported = ("Foreground", "Background", "Orphan", "nil")
            causes.append(_unsupported("propagationPolicy", policy, supported))
        _refuse("DeleteOptions", causes + _dry_run_faults(dry_run))


_GO_TYPES = {
    "gracePeriodSeconds": "int64",
    "orphanDependents": "bool",
    "propagationPolicy": "v1.DeletionPropagation",
}


def _typed(document: JSONObject, name: str, kind: type) -> Any:  # Any: a value of that type
    value = document.get(name)
    if value is None or (isinstance(value, kind) and isinstance(value, bool) == (kind is bool)):
        return value
    where = f"DeleteOptions.{name} of type {_GO_TYPES.get(name, kind.__name__)}"
    raise bad_request(f"json: cannot unmarshal {go_word(value)} into Go struct field {where}")


def _patch_faults(manager: str, force: bool | None, patch_type: str) -> list[Cause]:
    if patch_type != APPLY_PATCH:
        if force is None:
            return []
        return [_forbidden("force", "may not be specified for non-apply patch")]
    if manager:
        return []
    why = "Required value: is required for apply patch"
    return [Cause("FieldValueRequired", why, "fieldManager")]


def _manager_faults(manager: str) -> list[Cause]:
    causes = []
    if len(manager.encode()) > FIELD_MANAGER_LENGTH:
        why = f"Too long: may not be more than {FIELD_MANAGER_LENGTH} bytes"
        causes.append(Cause("FieldValueTooLong", why, "fieldManager"))
    position = 0  # in bytes, as Go counts
    for character in manager:
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {position})"
            causes.append(_invalid_value("fieldManager", manager, why))
        position += len(character.encode())
    return causes


def _dry_run_faults(values: Sequence[str]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    return [_unsupported("dryRun", list(values), ("All",))]


def _forbidden(name: str, why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", name)


def _invalid_value(name: str, value: str, why: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {quoted(value)}: {why}", name)


def _unsupported(name: str, value: str | list[str], supported: Sequence[str]) -> Cause:
    given = orjson.dumps(value).decode()
    known = ", ".join(f'"{one}"' for one in supported)
    return Cause(
        "FieldValueNotSupported", f"Unsupported value: {given}: supported values: {known}", name
    )


def _refuse(kind: str, causes: list[Cause]) -> None:
    if causes:
        raise invalid(GroupVersionKind(_META, "v1", kind), "", tuple(causes))


def _list_faults(options: ListOptions) -> list[Cause]:
    match, causes = options.resource_version_match, []
    if match:
        if not options.resource_version:
            causes.append(
                _forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                )
            )
        causes += _match_with_continue(options)
        if match not in (EXACT, NOT_OLDER_THAN):
            causes.append(_unsupported("resourceVersionMatch", match, (EXACT, NOT_OLDER_THAN, "")))
        if match == EXACT and options.resource_version == "0":
            causes.append(
                _forbidden(
                    "resourceVersionMatch",
                    'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
                )
            )
    if options.send_initial_events is not None:
        causes.append(_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_faults(options: ListOptions, streaming_lists: bool) -> list[Cause]:
    match, causes = options.resource_version_match, []
    if options.send_initial_events is not None:
        if match != NOT_OLDER_THAN:
            causes.append(
                _forbidden(
                    "resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                )
            )
        if not streaming_lists:
            causes.append(
                _forbidden(
                    "sendInitialEvents",
                    "sendInitialEvents is forbidden for watch unless the WatchList feature "
                    "gate is enabled",
                )
            )
    elif match:
        causes.append(
            _forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            )
        )
    if match:
        if match != NOT_OLDER_THAN:
            causes.append(_unsupported("resourceVersionMatch", match, (NOT_OLDER_THAN,)))
        causes += _match_with_continue(options)
    return causes


def _match_with_continue(options: ListOptions) -> list[Cause]:
    if not options.continue_token:
        return []
    why = "resourceVersionMatch is forbidden when continue is provided"
    return [_forbidden("resourceVersionMatch", why)]
