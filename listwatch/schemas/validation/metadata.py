"""Faults of metadata: names, labels, annotations, owners, finalizers, what no update may change.

Upstream: apimachinery/pkg/api/validation/objectmeta.go. The caller is `validate`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from listwatch.protocol.kinds import split_api_version
from listwatch.protocol.names import label_name_faults, label_value_faults, qualified_name_faults
from listwatch.schemas import facts
from listwatch.schemas.validation.faults import (
    IMMUTABLE,
    NEGATIVE,
    forbidden,
    invalid,
    required,
    too_long,
)
from listwatch.schemas.validation.names import name_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject

ANNOTATIONS_LIMIT = 256 * 1024
_LENIENT = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_IMMUTABLE = (
    "name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip


def metadata_faults(gvk: GroupVersionKind, metadata: JSONObject) -> list[Cause]:
    """Faults of an object's metadata by itself."""
    faults: list[Cause] = []
    base, name = metadata.get("generateName"), metadata.get("name")
    if base:
        faults += [
            invalid("metadata.generateName", base, why)
            for why in name_faults(gvk.group, gvk.kind, base, prefix=True)
        ]
    if not name:
        faults.append(required("metadata.name", "name or generateName is required"))
    elif not _name_fits(gvk.group, gvk.kind, name):
        faults += [
            invalid("metadata.name", name, why) for why in name_faults(gvk.group, gvk.kind, name)
        ]
    namespace = metadata.get("namespace")
    if namespace and not _namespace_fits(namespace):
        faults += [
            invalid("metadata.namespace", namespace, why) for why in label_name_faults(namespace)
        ]
    if metadata.get("generation", 0) < 0:
        faults.append(invalid("metadata.generation", metadata["generation"], NEGATIVE))
    faults += _shared(metadata)
    if "finalizers" in metadata:
        faults += _finalizers(metadata["finalizers"], strict=_is_strict(gvk))
    return faults


def metadata_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of metadata as the change of another."""
    faults: list[Cause] = []
    if old.get("deletionTimestamp"):
        added = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if added:
            listed = ", ".join(f'"{name}"' for name in added)
            why = (
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{listed}}}"
            )
            faults.append(forbidden("metadata.finalizers", why))
    if new.get("generation", 0) < old.get("generation", 0):
        faults.append(
            invalid("metadata.generation", new.get("generation", 0), "must not be decremented")
        )
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            empty = "" if field in ("name", "namespace", "uid") else None
            faults.append(invalid(f"metadata.{field}", new.get(field, empty), IMMUTABLE))
    return faults + _shared(new)


def _shared(metadata: JSONObject) -> list[Cause]:
    # What is looked at on create, and twice more on update.
    faults: list[Cause] = []
    if "labels" in metadata:
        faults += label_faults(metadata["labels"], "metadata.labels")
    if "annotations" in metadata:
        faults += _annotations(metadata["annotations"], "metadata.annotations")
    if "ownerReferences" in metadata:
        faults += _owners(metadata["ownerReferences"])
    return faults


def label_faults(labels: Mapping[str, str], field: str) -> list[Cause]:
    """Faults of a map of labels, wherever it stands."""
    faults: list[Cause] = []
    for key, value in labels.items():
        if not _key_fits(key):
            faults += [invalid(field, key, why) for why in qualified_name_faults(key)]
        if not _value_fits(value):
            faults += [invalid(field, value, why) for why in label_value_faults(value)]
    return faults


def template_metadata_faults(metadata: JSONObject, field: str) -> list[Cause]:
    """Faults of the metadata that a template gives to what is made by it."""
    faults = _annotations(metadata.get("annotations") or {}, f"{field}.annotations")
    return faults + label_faults(metadata.get("labels") or {}, f"{field}.labels")


def _annotations(annotations: Mapping[str, str], field: str) -> list[Cause]:
    faults, size = [], 0
    for key, value in annotations.items():
        if not _key_fits(key):
            # Upper case may stand anywhere in the key of an annotation.
            faults += [invalid(field, key, why) for why in qualified_name_faults(key.lower())]
        size += len(key) + len(value)
        if not value.isascii():
            size += len(value.encode()) - len(value)
    if size > ANNOTATIONS_LIMIT:
        faults.append(too_long(field, ANNOTATIONS_LIMIT))
    return faults


def _owners(owners: list[JSONObject]) -> list[Cause]:
    field, faults, controller = "metadata.ownerReferences", [], ""
    for owner in owners:
        version = owner.get("apiVersion", "")
        if not split_api_version(version)[1]:
            faults.append(invalid(f"{field}.apiVersion", version, "version must not be empty"))
        faults += [
            invalid(f"{field}.{part}", "", "must not be empty")
            for part in ("kind", "name", "uid")
            if not owner.get(part)
        ]
        if (version, owner.get("kind")) == ("v1", "Event"):
            why = "/v1, Kind=Event is disallowed from being an owner"
            faults.append(invalid(field, owner, why))
        if owner.get("controller"):
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                why = (
                    "Only one reference can have Controller set to true. Found "
                    f'"true" in references for {controller} and {this}'
                )
                faults.append(invalid(field, owners, why))
            controller = controller or this
    return faults


def _is_strict(gvk: GroupVersionKind) -> bool:
    # Upstream's servers of extensions and of custom objects take any qualified name.
    return gvk.group not in _LENIENT and facts.schema_name(gvk) is not None


def _finalizers(finalizers: list[str], *, strict: bool) -> list[Cause]:
    faults: list[Cause] = []
    for index, name in enumerate(finalizers):
        field = f"metadata.finalizers[{index}]"
        faults += [invalid(field, name, why) for why in qualified_name_faults(name)]
        if strict and "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            faults.append(invalid(field, name, why))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        faults.append(invalid("metadata.finalizers", finalizers, why))
    return faults


# The same few keys and values stand on most objects, so what fits is remembered.
@lru_cache(4096)
def _key_fits(key: str) -> bool:
    return not qualified_name_faults(key)


@lru_cache(4096)
def _value_fits(value: str) -> bool:
    return not label_value_faults(value)


@lru_cache(1024)
def _namespace_fits(name: str) -> bool:
    return not label_name_faults(name)


@lru_cache(1024)
def _name_fits(group: str, kind: str, name: str) -> bool:
    return not name_faults(group, kind, name)
