"""Cells of volumes, claims, storage classes and drivers."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import NONE, UNSET, age, items, name_of, number, part, text

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS = "volume.beta.kubernetes.io/storage-class"  # older than the field
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def persistent_volume(document: JSONObject, now: float) -> list[Any]:
    """Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, and others."""
    spec, claim = part(document, "spec"), part(document, "spec").get("claimRef")
    return [
        name_of(document),
        text(spec, "capacity", "storage") or "0",
        _modes(items(spec, "accessModes")),
        text(spec, "persistentVolumeReclaimPolicy"),
        _phase(document),
        "" if claim is None else f"{text(claim, 'namespace')}/{text(claim, 'name')}",
        _class(document),
        _or_unset(spec, "volumeAttributesClassName"),
        text(document, "status", "reason"),
        age(document, now),
        _or_unset(spec, "volumeMode"),
    ]


def persistent_volume_claim(document: JSONObject, now: float) -> list[Any]:
    """Name, Status, Volume, Capacity, Access Modes, StorageClass, and others."""
    spec, status = part(document, "spec"), part(document, "status")
    volume = text(spec, "volumeName")
    return [
        name_of(document),
        _phase(document),
        volume,
        (text(status, "capacity", "storage") or "0") if volume else "",
        _modes(items(status, "accessModes")) if volume else "",
        _class(document),
        _or_unset(spec, "volumeAttributesClassName"),
        age(document, now),
        _or_unset(spec, "volumeMode"),
    ]


def _phase(document: JSONObject) -> str:
    deleting = text(document, "metadata", "deletionTimestamp")
    return "Terminating" if deleting else text(document, "status", "phase")


def _modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _class(document: JSONObject) -> str:
    notes = part(document, "metadata", "annotations")
    name: str = notes[_CLASS] if _CLASS in notes else text(document, "spec", "storageClassName")
    return name


def _or_unset(spec: JSONObject, field: str) -> str:
    value = spec.get(field)
    return UNSET if value is None else str(value)


def storage_class(document: JSONObject, now: float) -> list[Any]:
    """Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age."""
    notes = part(document, "metadata", "annotations")
    default = any(notes.get(name) == "true" for name in _DEFAULT_CLASS)
    return [
        f"{name_of(document)} (default)" if default else name_of(document),
        text(document, "provisioner"),
        document.get("reclaimPolicy") or "Delete",
        document.get("volumeBindingMode") or "Immediate",
        bool(document.get("allowVolumeExpansion")),
        age(document, now),
    ]


def volume_attributes_class(document: JSONObject, now: float) -> list[Any]:
    """Name, DriverName, Age."""
    return [name_of(document), text(document, "driverName"), age(document, now)]


def csi_driver(document: JSONObject, now: float) -> list[Any]:
    """Name, AttachRequired, PodInfoOnMount, StorageCapacity, TokenRequests, and others."""
    spec = part(document, "spec")
    audiences = [text(request, "audience") for request in items(spec, "tokenRequests")]
    return [
        name_of(document),
        spec.get("attachRequired") is not False,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(audiences) if "tokenRequests" in spec else UNSET,
        bool(spec.get("requiresRepublish")),
        ",".join(items(spec, "volumeLifecycleModes")) or NONE,
        age(document, now),
    ]


def csi_node(document: JSONObject, now: float) -> list[Any]:
    """Name, Drivers, Age."""
    return [name_of(document), len(items(document, "spec", "drivers")), age(document, now)]


def volume_attachment(document: JSONObject, now: float) -> list[Any]:
    """Name, Attacher, PV, Node, Attached, Age."""
    spec = part(document, "spec")
    return [
        name_of(document),
        text(spec, "attacher"),
        text(spec, "source", "persistentVolumeName"),
        text(spec, "nodeName"),
        bool(part(document, "status").get("attached")),
        age(document, now),
    ]


def device_class(document: JSONObject, now: float) -> list[Any]:
    """Name, Age."""
    return [name_of(document), age(document, now)]


def resource_claim(document: JSONObject, now: float) -> list[Any]:
    """Name, State, Age."""
    status, deleting = part(document, "status"), text(document, "metadata", "deletionTimestamp")
    states = ["deleted"] if deleting else []
    if "allocation" in status:
        states.append("allocated")
        states += ["reserved"] if items(status, "reservedFor") else []
    elif not deleting:
        states.append("pending")
    return [name_of(document), ",".join(states), age(document, now)]


def resource_slice(document: JSONObject, now: float) -> list[Any]:
    """Name, Node, Driver, Pool, Age."""
    spec = part(document, "spec")
    return [
        name_of(document),
        text(spec, "nodeName"),
        text(spec, "driver"),
        text(spec, "pool", "name"),
        age(document, now),
    ]


def priority_class(document: JSONObject, now: float) -> list[Any]:
    """Name, Value, Global-Default, Age, PreemptionPolicy."""
    return [
        name_of(document),
        number(document, "value"),
        bool(document.get("globalDefault")),
        age(document, now),
        text(document, "preemptionPolicy"),
    ]


def runtime_class(document: JSONObject, now: float) -> list[Any]:
    """Name, Handler, Age."""
    return [name_of(document), text(document, "handler"), age(document, now)]
