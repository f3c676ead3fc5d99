"""Faults of questions about access: who is asked about, and what.

Upstream: pkg/apis/authorization/validation. The caller is `reviews`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_value_faults, qualified_name_faults
from listwatch.schemas.validation.faults import forbidden, invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RESOURCE, _PATH = "spec.resourceAttributes", "spec.nonResourceAttributes"


def review_faults(kind: str, review: JSONObject) -> list[Cause]:
    """All faults of a review of access, which is read and has its namespace."""
    spec, local = review.get("spec") or {}, kind == "LocalSubjectAccessReview"
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    faults: list[Cause] = []
    if resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        faults.append(invalid(_PATH, _shown(path), why))
    elif resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        faults.append(invalid(_RESOURCE, None, why))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        faults.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    for name in ("fieldSelector", "labelSelector"):
        selector = (resource or {}).get(name)
        if selector is not None:
            faults += _selector_faults(selector, f"{_RESOURCE}.{name}")
    faults += _metadata_faults(review.get("metadata") or {}, local=local)
    return faults + (_local_faults(review, resource, path) if local else [])


def _metadata_faults(metadata: JSONObject, *, local: bool) -> list[Cause]:
    # A review is no object that anybody could find again.
    given = {name: value for name, value in metadata.items() if value and name != "managedFields"}
    if not given.keys() - ({"namespace"} if local else set()):
        return []
    return [invalid("metadata", given, f"must be empty{' except for namespace' if local else ''}")]


def _local_faults(
    review: JSONObject, resource: JSONObject | None, path: JSONObject | None
) -> list[Cause]:
    faults: list[Cause] = []
    own = (review.get("metadata") or {}).get("namespace") or ""
    asked = (resource or {}).get("namespace") or ""
    if resource is not None and asked != own:
        why = "must match metadata.namespace"
        faults.append(invalid(f"{_RESOURCE}.namespace", asked, why))
    if path is not None:
        faults.append(invalid(_PATH, _shown(path), "disallowed on this kind of request"))
    return faults


def _shown(path: JSONObject) -> JSONObject:
    # Parts are shown with the names that upstream has for them within the server.
    return {"Path": path.get("path") or "", "Verb": path.get("verb") or ""}


def _selector_faults(selector: JSONObject, field: str) -> list[Cause]:
    raw, requirements = selector.get("rawSelector") or "", selector.get("requirements") or []
    if not requirements:
        why = f"when {field} is specified, requirements or rawSelector is required"
        return [] if raw else [required(f"{field}.requirements", why)]
    faults: list[Cause] = []
    if raw:
        why = "may not specified at the same time as requirements"
        faults.append(invalid(f"{field}.rawSelector", raw, why))
    of_labels = field.endswith("labelSelector")
    for index, requirement in enumerate(requirements):
        where = f"{field}.requirements[{index}]"
        key, values = requirement.get("key") or "", requirement.get("values") or []
        if not key and not of_labels:
            faults.append(required(f"{where}.key", "must be specified"))
        faults += _operator_faults(requirement.get("operator") or "", values, f"{where}.values")
        if of_labels:
            faults += _label_faults(key, values, where)
    return faults


def _operator_faults(operator: str, values: list[str], field: str) -> list[Cause]:
    # One that is not known may be of a newer client, and counts for nothing.
    if operator in ("In", "NotIn") and not values:
        return [required(field, "must be specified when `operator` is 'In' or 'NotIn'")]
    if operator in ("Exists", "DoesNotExist") and values:
        why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return [forbidden(field, why)]
    return []


def _label_faults(key: str, values: list[str], field: str) -> list[Cause]:
    faults = [invalid(f"{field}.key", key, why) for why in qualified_name_faults(key)]
    return faults + [
        invalid(f"{field}.values[{place}]", value, why)
        for place, value in enumerate(values)
        for why in label_value_faults(value)
    ]
