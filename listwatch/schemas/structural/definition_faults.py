"""What is wrong with a definition: its names, versions, schemas, columns, and what may not change.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation. The caller is the strategy of
`registry.custom_resources`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import subdomain_faults
from listwatch.schemas.structural.field_paths import FieldPathError, follow
from listwatch.schemas.structural.schema_faults import schema_faults
from listwatch.schemas.structural.shown_versions import shown_versions
from listwatch.schemas.validation.admissions import client_faults
from listwatch.schemas.validation.faults import (
    IMMUTABLE,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from listwatch.schemas.validation.names import label_1035_faults

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_SCOPES = ("Cluster", "Namespaced")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = (
    "byte", "date", "date-time", "double", "float", "int32", "int64", "password",
)  # fmt: skip
_NO_PATH = "must be a simple json path starting with ."
_LONGEST_WARNING = 256
_MOST_SELECTABLE = 8
_NOT_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings "
    "with formats are allowed."
)
_PROTECTED = ("k8s.io", "kubernetes.io")
_APPROVED = "api-approved.kubernetes.io"


def definition_faults(document: JSONObject, old: JSONObject | None) -> list[Cause]:
    """The faults of a definition, or of the change from `old` to it."""
    spec = document.get("spec") or {}
    found = _name(document, spec) + _spec(document, spec)
    stored = (document.get("status") or {}).get("storedVersions")
    names = [version.get("name") for version in spec.get("versions") or ()]
    if not stored:
        why = "must have at least one stored version"
        found.append(invalid("status.storedVersions", stored or None, why))
    found += [
        invalid("status.storedVersions", stored, f"must have the storage version {name}")
        for name in (one.get("name") for one in spec.get("versions") or () if one.get("storage"))
        if stored and name not in stored
    ]
    for index, version in enumerate(stored or ()):
        if version not in names:
            why = (
                f"missing from spec.versions; {version} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {version} and removes {version} from status.storedVersions"
            )
            found.append(invalid(f"status.storedVersions[{index}]", version, why))
    before = (old or {}).get("spec") or {}
    if spec.get("preserveUnknownFields") and not before.get("preserveUnknownFields"):
        why = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        found.append(invalid("spec.preserveUnknownFields", True, why))
    if old is not None:
        found += _changes(spec, old)
    return found


def _name(document: JSONObject, spec: JSONObject) -> list[Cause]:
    name = document["metadata"].get("name") or ""
    wanted = f"{(spec.get('names') or {}).get('plural')}.{spec.get('group')}"
    if name and name != wanted:
        return [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]
    return []


def _spec(document: JSONObject, spec: JSONObject) -> list[Cause]:
    found: list[Cause] = []
    group: str = spec.get("group") or ""
    scope: str = spec.get("scope") or ""
    if not group:
        found.append(required("spec.group"))
    else:
        found += [invalid("spec.group", group, why) for why in subdomain_faults(group)]
        if "." not in group:
            found.append(invalid("spec.group", group, "should be a domain with at least one dot"))
    if not scope:
        found.append(required("spec.scope"))
    elif scope not in _SCOPES:
        found.append(not_supported("spec.scope", scope, _SCOPES))
    found += _protected(document, group)
    found += _versions(spec, spec.get("versions") or [])
    found += _names(spec.get("names") or {})
    found += _conversion(spec)
    return found


def _protected(document: JSONObject, group: str) -> list[Cause]:
    if not any(group == one or group.endswith(f".{one}") for one in _PROTECTED):
        return []
    approval = (document["metadata"].get("annotations") or {}).get(_APPROVED) or ""
    field = f"metadata.annotations[{_APPROVED}]"
    if not approval:
        why = (
            f'protected groups must have approval annotation "{_APPROVED}", see '
            "https://github.com/kubernetes/enhancements/pull/1111"
        )
        return [required(field, why)]
    if approval.startswith("unapproved") or _is_address(approval):
        return []
    why = (
        f'protected groups must have approval annotation "{_APPROVED}" with either a URL or a '
        'reason starting with "unapproved", see '
        "https://github.com/kubernetes/enhancements/pull/1111"
    )
    return [invalid(field, approval, why)]


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)


def _versions(spec: JSONObject, versions: list[JSONObject]) -> list[Cause]:
    found: list[Cause] = []
    names = [version.get("name") or "" for version in versions]
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        name = version.get("name") or ""
        found += [invalid(f"{path}.name", name, why) for why in label_1035_faults(name)]
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            found.append(required(f"{path}.schema.openAPIV3Schema"))
        elif not (index and _same_schema(versions)):
            # As upstream: what all versions share is told of once, at a place of its own.
            shared = _same_schema(versions)
            root = "spec.validation" if shared else f"{path}.schema"
            found += schema_faults(schema, f"{root}.openAPIV3Schema")
        for key, rule in (("additionalPrinterColumns", _columns), ("subresources", _subresources)):
            if not _same(versions, key):
                found += rule(version, path)
            elif not index:
                found += rule(version, "spec")
        found += _deprecation(version, path)
        if not (_same(versions, "selectableFields") and _same_schema(versions)):
            found += _selectable(version, path)
        elif not index:
            found += _selectable(version, "spec")
    if len(set(names)) < len(names):
        why = "must contain unique version names"
        found.append(invalid("spec.versions", shown_versions(versions), why))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        found.append(invalid("spec.versions", shown_versions(versions), why))
    if names and names[0]:
        # Upstream keeps the first one's name beside the versions, too.
        found += [invalid("spec.version", names[0], why) for why in label_1035_faults(names[0])]
    return found


def _same(versions: list[JSONObject], key: str) -> bool:
    return all(version.get(key) == versions[0].get(key) for version in versions)


def _same_schema(versions: list[JSONObject]) -> bool:
    return _same(versions, "schema")


def _deprecation(version: JSONObject, path: str) -> list[Cause]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    # Shown as JSON, as what need not be there is.
    field, text = f"{path}.deprecationWarning", orjson.dumps(warning).decode()
    return [
        Cause("FieldValueInvalid", f"Invalid value: {text}: {why}", field)
        for why in _warning_faults(warning, deprecated=bool(version.get("deprecated")))
    ]


def _warning_faults(warning: str, *, deprecated: bool) -> list[str]:
    if not deprecated:
        return ["can only be set for deprecated versions"]
    found = []
    if len(warning.encode()) > _LONGEST_WARNING:
        found.append(f"must be <= {_LONGEST_WARNING} characters long")
    if not warning:
        found.append("must not be an empty string")
    odd = next((place for place, one in enumerate(warning) if not one.isprintable()), None)
    if odd is not None:
        found.append(
            "must only contain printable UTF-8 characters; non-printable character found at index "
            f"{len(warning[:odd].encode())}"
        )
    return found


def _names(names: JSONObject) -> list[Cause]:
    found: list[Cause] = []
    keys = ("plural", "singular", "kind", "listKind")
    found += [required(f"spec.names.{key}") for key in keys if not names.get(key)]
    for key in keys:
        name = names.get(key) or ""
        mixed = key in ("kind", "listKind")
        why = "may have mixed case, but should otherwise match: " if mixed else ""
        rule = label_1035_faults(name.lower() if mixed else name) if name else []
        found += [invalid(f"spec.names.{key}", name, why + fault) for fault in rule]
    for key in ("shortNames", "categories"):
        for index, name in enumerate(names.get(key) or ()):
            field = f"spec.names.{key}[{index}]"
            found += [invalid(field, name, fault) for fault in label_1035_faults(name)]
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        why = "kind and listKind may not be the same"
        found.append(invalid("spec.names.listKind", names["listKind"], why))
    return found


def _conversion(spec: JSONObject) -> list[Cause]:
    conversion = spec.get("conversion") or {}
    strategy = conversion.get("strategy") or ""
    if not strategy:
        return [required("spec.conversion.strategy")]
    if strategy not in ("None", "Webhook"):
        return [not_supported("spec.conversion.strategy", strategy, ("None", "Webhook"))]
    webhook = conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    path, at = "spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"
    if strategy == "None":
        why = "should not be set when strategy is not set to Webhook"
        given = ((path, client is not None), (at, bool(versions)))
        return [forbidden(field, why) for field, is_set in given if is_set]
    if client is None:
        found = [required(path, "required when strategy is set to Webhook")]
    else:
        found = client_faults(client, path, plain=True)
    return found + _review_versions(versions, at)


def _review_versions(versions: list[str], field: str) -> list[Cause]:
    if not versions:
        return [required(field)]
    found: list[Cause] = []
    for index, version in enumerate(versions):
        where = f"{field}[{index}]"
        if version in versions[:index]:
            found.append(invalid(where, version, "duplicate version"))
            continue
        found += [invalid(where, version, why) for why in label_1035_faults(version)]
    if not set(versions) & {"v1", "v1beta1"}:
        found.append(invalid(field, versions, "must include at least one of v1, v1beta1"))
    return found


def _columns(version: JSONObject, path: str) -> list[Cause]:
    found: list[Cause] = []
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        field = f"{path}.additionalPrinterColumns[{index}]"
        if not column.get("name"):
            found.append(required(f"{field}.name"))
        kind, text = column.get("type") or "", column.get("jsonPath") or ""
        why = f"must be one of {','.join(_COLUMN_TYPES)}"
        if not kind:
            found.append(required(f"{field}.type", why))
        elif kind not in _COLUMN_TYPES:
            found.append(invalid(f"{field}.type", kind, why))
        given = column.get("format") or ""
        if given and given not in _COLUMN_FORMATS:
            why = f"must be one of {','.join(_COLUMN_FORMATS)}"
            found.append(invalid(f"{field}.format", given, why))
        if not text:
            found.append(required(f"{field}.JSONPath"))
        elif not text.startswith("."):
            found.append(invalid(f"{field}.JSONPath", text, _NO_PATH))
    return found


def _subresources(version: JSONObject, path: str) -> list[Cause]:
    scale = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return []
    found: list[Cause] = []
    for key, part in (("specReplicasPath", "spec"), ("statusReplicasPath", "status")):
        text, field = scale.get(key) or "", f"{path}.subresources.scale.{key}"
        if not text:
            found.append(required(field))
        elif not text.startswith("."):
            found.append(invalid(field, text, _NO_PATH))
        elif not text.startswith(f".{part}."):
            found.append(invalid(field, text, f"should be a json path under .{part}"))
    text = scale.get("labelSelectorPath") or ""
    field = f"{path}.subresources.scale.labelSelectorPath"
    if text and not text.startswith("."):
        found.append(invalid(field, text, _NO_PATH))
    elif text and not text.startswith((".spec.", ".status.")):
        found.append(invalid(field, text, "should be a json path under either .spec or .status"))
    return found


def _selectable(version: JSONObject, path: str) -> list[Cause]:
    found: list[Cause] = []
    seen: set[str] = set()
    root: Any = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    for index, entry in enumerate(version.get("selectableFields") or ()):
        field, text = f"{path}.selectableFields[{index}].jsonPath", entry.get("jsonPath") or ""
        if not text:
            found.append(required(field))
            continue
        try:
            parts, schema = follow(text, root, arrays=False)
        except FieldPathError as error:
            found.append(invalid(field, text, f"is an invalid path: {error}"))
            continue
        if parts[0] == "metadata":
            found.append(invalid(field, text, "must not point to fields in metadata"))
        if schema.get("type") not in ("string", "boolean", "integer"):
            found.append(invalid(field, text, _NOT_SELECTABLE))
        if text in seen:
            found.append(duplicate(field, text))
        seen.add(text)
    if len(seen) > _MOST_SELECTABLE:
        found.append(too_many(f"{path}.selectableFields", len(seen), _MOST_SELECTABLE))
    return found


def _changes(spec: JSONObject, old: JSONObject) -> list[Cause]:
    before, found = old.get("spec") or {}, []
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(
        one.get("type") == "Established" and one.get("status") == "True" for one in conditions
    )
    names, old_names = spec.get("names") or {}, before.get("names") or {}
    pairs = [
        ("group", spec, before, "spec.group"),
        ("plural", names, old_names, "spec.names.plural"),
    ]
    if established:
        pairs.append(("scope", spec, before, "spec.scope"))
        pairs.append(("kind", names, old_names, "spec.names.kind"))
    for key, new, was, field in pairs:
        if new.get(key) != was.get(key):
            found.append(invalid(field, new.get(key), IMMUTABLE))
    return found
