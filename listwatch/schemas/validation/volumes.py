"""Faults of a pod's volumes: a name each, and one source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.claims import claim_spec_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.paths import backstep_faults, descending_path_faults
from listwatch.schemas.validation.references import (
    field_reference_faults,
    resource_reference_faults,
)

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

# What of each source cannot be left out.
_NEEDED = {
    "configMap": ("name",),
    "secret": ("secretName",),
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
    "cinder": ("volumeID",),
    "storageos": ("volumeName",),
    "rbd": ("monitors", "image"),
    "cephfs": ("monitors",),
    "scaleIO": ("gateway", "system", "volumeName"),
}
_HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
    "Socket",
)  # fmt: skip
_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_LONGEST_DRIVER = 63
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_DOWNWARD = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid",
)  # fmt: skip


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
    kind, source = sources[0], volume[sources[0]] or {}
    where = f"{field}.{kind}"
    faults += [
        required(f"{where}.{name}") for name in _NEEDED.get(kind, ()) if not source.get(name)
    ]
    rule = _RULES.get(kind)
    return faults if rule is None else faults + rule(source, where)


def _files(source: JSONObject, field: str) -> list[Cause]:
    faults = _mode(source.get("defaultMode"), f"{field}.defaultMode")
    return faults + _items(source, field)


def _items(source: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for index, item in enumerate(source.get("items") or ()):
        where, path = f"{field}.items[{index}]", item.get("path") or ""
        if not item.get("key"):
            faults.append(required(f"{where}.key"))
        if not path:
            faults.append(required(f"{where}.path"))
        faults += _file_path(path, f"{where}.path")
        faults += _mode(item.get("mode"), f"{where}.mode")
    return faults


def _file_path(path: str, field: str) -> list[Cause]:
    faults = descending_path_faults(path, field)
    # Where a volume is written anew without anybody's seeing it half done.
    if path.startswith("..") and not path.startswith("../"):
        faults.append(invalid(field, path, "must not start with '..'"))
    return faults


def _mode(mode: int | None, field: str) -> list[Cause]:
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(field, mode, _MODE)]


def _empty_directory(source: JSONObject, field: str) -> list[Cause]:
    limit = source.get("sizeLimit")
    if limit is None or Quantity.parse(limit) >= Quantity.of(0):
        return []
    return [forbidden(f"{field}.sizeLimit", "SizeLimit field must be a valid resource quantity")]


def host_path_faults(source: JSONObject, field: str) -> list[Cause]:
    """Faults of a path on the node."""
    path = source.get("path") or ""
    faults = backstep_faults(path, f"{field}.path") if path else [required(f"{field}.path")]
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        faults.append(not_supported(f"{field}.type", kind, _HOST_PATH_TYPES))
    return faults


def _nfs(source: JSONObject, field: str) -> list[Cause]:
    path = source.get("path") or ""
    return [] if path.startswith("/") else [
        invalid(f"{field}.path", path, "must be an absolute path")
    ]  # fmt: skip


def _csi(source: JSONObject, field: str) -> list[Cause]:
    driver, faults = source.get("driver") or "", []
    if len(driver) > _LONGEST_DRIVER:
        why = f"may not be more than {_LONGEST_DRIVER} bytes"
        faults.append(invalid(f"{field}.driver", driver, why))
    if driver:
        found = subdomain_faults(driver.lower())
        faults += [invalid(f"{field}.driver", driver, why) for why in found]
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return faults
    name = secret.get("name")
    if not name:
        return [*faults, required(f"{field}.nodePublishSecretRef.name")]
    # Upstream tells of a bad name as one of the source.
    return faults + [invalid(f"{field}.name", name, why) for why in subdomain_faults(name)]


def _secret(source: JSONObject, field: str) -> list[Cause]:
    secret = source.get("secretRef")
    unnamed = secret is not None and not secret.get("name")
    return [required(f"{field}.secretRef.name")] if unnamed else []


def _projected(source: JSONObject, field: str) -> list[Cause]:
    faults = _mode(source.get("defaultMode"), f"{field}.defaultMode")
    # Files of all sources stand in one directory.
    taken: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        where = f"{field}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if part.get(kind) is not None:
                name = part[kind].get("name") or ""
                if not name:
                    faults.append(required(f"{where}.{kind}.name"))
                faults += _items(part[kind], f"{where}.{kind}")
                paths = [(item.get("path"), name) for item in part[kind].get("items") or ()]
                faults += _collisions(paths, taken, field)
        if part.get("downwardAPI") is not None:
            faults += _downward_items(part["downwardAPI"], f"{where}.downwardAPI")
            files = [item.get("path") or "" for item in part["downwardAPI"].get("items") or ()]
            faults += _collisions([(path, path) for path in files], taken, field)
        token = part.get("serviceAccountToken")
        if token is not None:
            # Upstream tells of its path as one of the volume.
            faults += _token(token, f"{where}.serviceAccountToken", f"{field}.path")
        for kind, names in _SIGNED_PATHS.items():
            files = [(part.get(kind) or {}).get(name) or "" for name in names]
            faults += _collisions([(path, path) for path in files], taken, field)
        if len(part) > 1:
            faults.append(forbidden(where, "may not specify more than 1 volume type per source"))
    return faults


_SIGNED_PATHS = {
    "clusterTrustBundle": ("path",),
    "podCertificate": ("credentialBundlePath", "keyPath", "certificateChainPath"),
}


def _collisions(
    paths: Iterable[tuple[str | None, str]], taken: set[str], field: str
) -> list[Cause]:
    # Each path with what is shown where it is taken; it is the token's alone that may be.
    faults: list[Cause] = []
    for path, shown in paths:
        if path and path in taken:
            faults.append(invalid(field, shown, "conflicting duplicate paths"))
        taken.add(path or "")
    return faults


def token_faults(volumes: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a pod that wants a token and has no service account."""
    why = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"{field}[{index}].projected.sources[{place}].serviceAccountToken", why)
        for index, volume in enumerate(volumes)
        for place, part in enumerate((volume.get("projected") or {}).get("sources") or ())
        if part.get("serviceAccountToken") is not None
    ]


def _token(token: JSONObject, field: str, path_field: str) -> list[Cause]:
    seconds, path = token.get("expirationSeconds", 3600), token.get("path") or ""
    faults = []
    if seconds < 600:
        why = "may not specify a duration less than 10 minutes"
        faults.append(invalid(f"{field}.expirationSeconds", seconds, why))
    if seconds > 1 << 32:
        why = "may not specify a duration larger than 2^32 seconds"
        faults.append(invalid(f"{field}.expirationSeconds", seconds, why))
    if not path:
        return [*faults, required(path_field)]
    return faults + _file_path(path, path_field)


def _downward(source: JSONObject, field: str) -> list[Cause]:
    return _mode(source.get("defaultMode"), f"{field}.defaultMode") + _downward_items(source, field)


def _downward_items(source: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for item in source.get("items") or ():
        path = item.get("path") or ""
        faults += _file_path(path, f"{field}.path") if path else [required(f"{field}.path")]
        of_pod, of_container = item.get("fieldRef"), item.get("resourceFieldRef")
        if of_pod is not None:
            where = f"{field}.fieldRef"
            faults += field_reference_faults(of_pod, where, _DOWNWARD)
            if of_container is not None:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                faults.append(invalid(field, "resource", why))
        elif of_container is not None:
            where = f"{field}.resourceFieldRef"
            faults += resource_reference_faults(of_container, where, volume=True)
        else:
            faults.append(required(field, "one of fieldRef and resourceFieldRef is required"))
        faults += _mode(item.get("mode"), f"{field}.mode")
    return faults


def _unit(number: int | None, field: str) -> list[Cause]:
    if number is None or 0 <= number <= 255:
        return []
    return [invalid(field, number, "must be between 0 and 255, inclusive")]


def _iscsi(source: JSONObject, field: str) -> list[Cause]:
    name, faults = source.get("iqn") or "", []
    if name and not name.startswith(("iqn", "eui", "naa")):
        why = "must be valid format starting with iqn, eui, or naa"
        faults.append(invalid(f"{field}.iqn", name, why))
    faults += _unit(source.get("lun"), f"{field}.lun")
    asks = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if asks and source.get("secretRef") is None:
        faults.append(required(f"{field}.secretRef"))
    return faults


def _fibre_channel(source: JSONObject, field: str) -> list[Cause]:
    names, other = source.get("targetWWNs") or (), source.get("wwids") or ()
    faults = []
    if bool(names) == bool(other):
        why = "must specify either targetWWNs or wwids, but not both"
        name = f"{field}.targetWWNs"
        faults.append(invalid(name, names, why) if names else required(name, why))
    if names and source.get("lun") is None:
        faults.append(required(f"{field}.lun", "lun is required if targetWWNs is specified"))
    return faults + (_unit(source.get("lun"), f"{field}.lun") if names else [])


def _ephemeral(source: JSONObject, field: str) -> list[Cause]:
    template, where = source.get("volumeClaimTemplate"), f"{field}.volumeClaimTemplate"
    if template is None:
        return [required(where)]
    return claim_spec_faults(template.get("spec") or {}, f"{where}.spec")


def _image(source: JSONObject, field: str) -> list[Cause]:
    faults = [] if source.get("reference") else [required(f"{field}.reference")]
    policy = source.get("pullPolicy")
    if policy is not None and policy not in _PULL_POLICIES:
        faults.append(not_supported(f"{field}.pullPolicy", policy, _PULL_POLICIES))
    return faults


_RULES: dict[str, Callable[[JSONObject, str], list[Cause]]] = {
    "configMap": _files,
    "secret": _files,
    "emptyDir": _empty_directory,
    "hostPath": host_path_faults,
    "nfs": _nfs,
    "csi": _csi,
    "cinder": _secret,
    "storageos": _secret,
    "projected": _projected,
    "downwardAPI": _downward,
    "iscsi": _iscsi,
    "fc": _fibre_channel,
    "image": _image,
    "ephemeral": _ephemeral,
}
