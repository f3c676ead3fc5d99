"""Faults of volumes, claims, and of what provides them.

Upstream: pkg/apis/core/validation/validation.go, pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.names import qualified_name_faults, subdomain_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.structures import CLAIM_SPEC, VOLUME_SOURCE, difference
from listwatch.schemas.validation.claims import (
    claim_spec_faults,
    class_faults,
    mode_faults,
    volume_mode_faults,
)
from listwatch.schemas.validation.faults import (
    NEGATIVE,
    chosen,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from listwatch.schemas.validation.pod_placement import node_selector_faults
from listwatch.schemas.validation.selectors import selector_faults
from listwatch.schemas.validation.topologies import topologies_faults
from listwatch.schemas.validation.volumes import host_path_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RECLAIM = ("Delete", "Recycle", "Retain")
_LONGEST_NODE = 256
_BINDING = ("Immediate", "WaitForFirstConsumer")
_NOT_SOURCES = frozenset((
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity",
    "persistentVolumeReclaimPolicy", "storageClassName", "volumeAttributesClassName", "volumeMode",
))  # fmt: skip
_ZERO = Quantity.parse("0")


def volume_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PersistentVolume by itself."""
    spec = document.get("spec") or {}
    faults = mode_faults(spec.get("accessModes") or [], "spec")
    if not spec.get("accessModes"):
        faults.append(required("spec.accessModes"))
    capacity = spec.get("capacity") or {}
    if not capacity:
        faults.append(required("spec.capacity"))
    if set(capacity) != {"storage"}:
        faults.append(not_supported("spec.capacity", capacity or None, ("storage",)))
    faults += [
        invalid(f"spec.capacity[{name}]", amount, "must be greater than zero")
        for name, amount in capacity.items()
        if Quantity.parse(amount) <= _ZERO
    ]
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM:
        faults.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM))
    if "local" in spec and "nodeAffinity" not in spec:
        why = "Local volume requires node affinity"
        faults.append(required("spec.nodeAffinity", why))
    sources = [name for name in spec if name not in _NOT_SOURCES]
    if not sources:
        faults.append(required("spec", "must specify a volume type"))
    faults += [
        forbidden(f"spec.{name}", "may not specify more than 1 volume type") for name in sources[1:]
    ]
    path = (spec.get("hostPath") or {}).get("path")
    if path == "/" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        faults.append(forbidden("spec.persistentVolumeReclaimPolicy", why))
    faults += _place_faults(spec)
    return faults + class_faults(spec, "spec") + volume_mode_faults(spec, "spec")


def _place_faults(spec: JSONObject) -> list[Cause]:
    faults: list[Cause] = []
    if "hostPath" in spec:
        faults += host_path_faults(spec["hostPath"], "spec.hostPath")
    affinity = spec.get("nodeAffinity")
    if affinity is None:
        return faults
    if affinity.get("required") is None:
        why = "must specify required node constraints"
        return [*faults, required("spec.nodeAffinity.required", why)]
    return faults + node_selector_faults(affinity["required"], "spec.nodeAffinity.required")


def volume_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Where the data of a volume is stays the same."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    faults: list[Cause] = []
    if _sources(spec) != _sources(before):
        why = "spec.persistentvolumesource is immutable after creation\n"
        why += difference(VOLUME_SOURCE, before, spec)
        faults.append(forbidden("spec.persistentvolumesource", why))
    faults += immutable(spec, before, ("volumeMode",))
    if before.get("nodeAffinity") is not None:
        faults += immutable(spec, before, ("nodeAffinity",), "spec")
    return faults


def _sources(spec: JSONObject) -> dict[str, Any]:  # Any: JSON
    return {name: value for name, value in spec.items() if name not in _NOT_SOURCES}


def claim_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PersistentVolumeClaim by itself."""
    return claim_spec_faults(document.get("spec") or {}, "spec")


def claim_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Of a claim only the size may change, once it is bound, and how it is bound before."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    faults: list[Cause] = []
    bound = (new.get("status") or {}).get("phase") == "Bound"
    fixed = _with_free_parts_of(before, spec, bound=bound)
    if fixed != before:
        why = (
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims\n"
        ) + difference(CLAIM_SPEC, before, fixed)
        faults.append(forbidden("spec", why))
    size, was = _size(spec), _size(before)
    actual = ((old.get("status") or {}).get("capacity") or {}).get("storage")
    if size < was and size <= (Quantity.parse(actual) if actual else _ZERO):
        where = "spec.resources.requests.storage"
        faults.append(forbidden(where, "field can not be less than status.capacity"))
    return faults + immutable(spec, before, ("volumeMode",))


def _with_free_parts_of(before: JSONObject, spec: JSONObject, *, bound: bool) -> JSONObject:
    """A spec with what may change as it was: whatever still differs may not."""
    free = [] if before.get("volumeName") else ["volumeName"]
    if before.get("storageClassName") is None:
        free.append("storageClassName")
    if bound:
        free.append("volumeAttributesClassName")
    fixed = {name: value for name, value in spec.items() if name not in free}
    fixed |= {name: before[name] for name in free if name in before}
    requests = (spec.get("resources") or {}).get("requests")
    if bound and requests:
        was = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        fixed["resources"] = {**spec["resources"], "requests": {**requests, "storage": was}}
    return fixed


def _size(spec: JSONObject) -> Quantity:
    amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    return Quantity.parse(amount) if amount else _ZERO


_MOST_PARAMETERS = 512
_PARAMETERS_LIMIT = 256 * 1024


def storage_class_faults(document: JSONObject) -> list[Cause]:
    """Faults of a StorageClass by itself."""
    provisioner = document.get("provisioner") or ""
    faults: list[Cause] = []
    if not provisioner:
        faults.append(required("provisioner"))
    else:
        why = qualified_name_faults(provisioner.lower())
        faults += [invalid("provisioner", provisioner, text) for text in why]
    parameters = document.get("parameters") or {}
    if len(parameters) > _MOST_PARAMETERS:
        faults.append(too_long("parameters", _MOST_PARAMETERS))
    elif sum(len(key) + len(value) for key, value in parameters.items()) > _PARAMETERS_LIMIT:
        faults.append(too_long("parameters", _PARAMETERS_LIMIT))
    if "" in parameters:
        faults.append(invalid("parameters", "", "field can not be empty."))
    policy = document.get("reclaimPolicy")
    if policy and policy not in ("Delete", "Retain"):
        faults.append(not_supported("reclaimPolicy", policy, ("Delete", "Retain")))
    mode = document.get("volumeBindingMode")
    faults += chosen(mode, "volumeBindingMode", _BINDING)
    return faults + topologies_faults(document.get("allowedTopologies") or [], "allowedTopologies")


def storage_class_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """How a class provides volumes stays the same."""
    names = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
    return immutable(new, old, names)


def attributes_class_faults(document: JSONObject) -> list[Cause]:
    """Faults of a VolumeAttributesClass by itself."""
    faults = _driver_faults(document.get("driverName") or "", "driverName")
    if not document.get("parameters"):
        why = "must contain at least one key/value pair"
        faults.append(required("parameters", why))
    return faults


def attributes_class_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a class stands for stays the same."""
    return [
        forbidden(name, f"updates to {name} are forbidden.")
        for name in ("driverName", "parameters")
        if new.get(name) != old.get(name)
    ]


def _driver_faults(name: str, field: str) -> list[Cause]:
    if not name:
        return [required(field)]
    faults = [too_long(field, 63)] if len(name) > 63 else []
    return faults + [invalid(field, name, why) for why in subdomain_faults(name.lower())]


_LIFECYCLES = ("Ephemeral", "Persistent")
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")


def driver_faults(document: JSONObject) -> list[Cause]:
    """Faults of a CSIDriver by itself."""
    name, spec = (document.get("metadata") or {}).get("name") or "", document.get("spec") or {}
    faults = _driver_faults(name, "metadata.name") if len(name) > 63 else []
    faults += [
        required(f"spec.{field}") for field in ("attachRequired", "podInfoOnMount")
        if spec.get(field) is None
    ]  # fmt: skip
    audiences: set[str] = set()
    for index, request in enumerate(spec.get("tokenRequests") or ()):
        audience = request.get("audience") or ""
        if audience in audiences:
            faults.append(duplicate(f"spec.tokenRequests[{index}].audience", audience))
        audiences.add(audience)
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _GROUP_POLICIES:
        faults.append(not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
    return faults + [
        not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        for mode in spec.get("volumeLifecycleModes") or ()
        if mode not in _LIFECYCLES
    ]


def driver_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a driver can do stays the same."""
    names = ("attachRequired", "volumeLifecycleModes")
    return immutable(new.get("spec") or {}, old.get("spec") or {}, names, "spec")


def storage_node_faults(document: JSONObject) -> list[Cause]:
    """Faults of a CSINode by itself."""
    faults: list[Cause] = []
    names: set[str] = set()
    for index, driver in enumerate((document.get("spec") or {}).get("drivers") or ()):
        field, name = f"spec.drivers[{index}]", driver.get("name") or ""
        faults += _driver_faults(name, f"{field}.name")
        if not driver.get("nodeID"):
            faults.append(required(f"{field}.nodeID", driver.get("nodeID") or ""))
        elif len(driver["nodeID"]) > _LONGEST_NODE:
            why = f"must be {_LONGEST_NODE} characters or less"
            faults.append(invalid(f"{field}.nodeID", driver["nodeID"], why))
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            faults.append(invalid(f"{field}.allocatable.count", count, NEGATIVE))
        keys: set[str] = set()
        for key in driver.get("topologyKeys") or ():
            if key in keys:
                faults.append(duplicate(field, key))
            keys.add(key)
            faults += [invalid(field, key, why) for why in qualified_name_faults(key)]
        if name in names:
            faults.append(duplicate(f"{field}.name", name))
        names.add(name)
    return faults


def attachment_faults(document: JSONObject) -> list[Cause]:
    """Faults of a VolumeAttachment by itself."""
    spec = document.get("spec") or {}
    faults = _driver_faults(spec.get("attacher") or "", "spec.attacher")
    source = spec.get("source") or {}
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        faults.append(required("spec.source", why))
    elif inline is not None and name is not None:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        faults.append(forbidden("spec.source", why))
    elif name == "":
        why = "must specify non empty persistentVolumeName"
        faults.append(required("spec.source.persistentVolumeName", why))
    elif name is not None:
        where = "spec.source.persistentVolumeName"
        faults += [invalid(where, name, why) for why in subdomain_faults(name)]
    node = spec.get("nodeName") or ""
    return faults + [invalid("spec.nodeName", node, why) for why in subdomain_faults(node)]


def attachment_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What is attached where stays the same."""
    return immutable(new, old, ("spec",))


def capacity_faults(document: JSONObject) -> list[Cause]:
    """Faults of a CSIStorageCapacity by itself."""
    name = document.get("storageClassName") or ""
    faults = [invalid("storageClassName", name, why) for why in subdomain_faults(name)]
    amount = document.get("capacity")
    if amount is not None and Quantity.parse(amount) < _ZERO:
        faults.append(invalid("capacity", amount, "must be greater than or equal to 0"))
    if document.get("nodeTopology") is not None:
        faults += selector_faults(document["nodeTopology"], "nodeTopology")
    return faults


def capacity_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Which storage it is about stays the same."""
    return immutable(new, old, ("nodeTopology", "storageClassName"))
