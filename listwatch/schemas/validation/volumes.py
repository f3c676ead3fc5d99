"""Faults of a pod's volumes: a name each, and one source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults
from listwatch.schemas.validation.faults import duplicate, forbidden, invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

# What of each source cannot be left out.
_NEEDED = {
    "configMap": ("name",),
    "secret": ("secretName",),
    "hostPath": ("path",),
    "persistentVolumeClaim": ("claimName",),
    "nfs": ("server", "path"),
    "csi": ("driver",),
    "iscsi": ("targetPortal", "iqn"),
    "gitRepo": ("repository",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "azureFile": ("secretName", "shareName"),
    "flexVolume": ("driver",),
    "glusterfs": ("endpoints", "path"),
}


def volume_faults(volumes: list[JSONObject], field: str) -> tuple[list[Cause], set[str]]:
    """Faults of a list of volumes, and the names that can be mounted."""
    faults: list[Cause] = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{field}[{index}]"
        faults += _source_faults(volume, where)
        name = volume.get("name")
        if not name:
            faults.append(required(f"{where}.name"))
            continue
        why = label_name_faults(name)
        faults += [invalid(f"{where}.name", name, text) for text in why]
        if not why and name in names:
            faults.append(duplicate(f"{where}.name", name))
        names.add(name)
    return faults, names


def _source_faults(volume: JSONObject, field: str) -> list[Cause]:
    sources = [name for name in volume if name != "name"]
    if not sources:
        return [required(field, "must specify a volume type")]
    faults = [
        forbidden(f"{field}.{name}", "may not specify more than 1 volume type")
        for name in sources[1:]
    ]
    source = volume[sources[0]] or {}
    faults += [
        required(f"{field}.{sources[0]}.{name}")
        for name in _NEEDED.get(sources[0], ())
        if not source.get(name)
    ]
    return faults
