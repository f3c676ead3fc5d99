"""The storage class that is there from the start, and the volumes that it stands for.

As the class `standard` of kind and minikube: claims that name none get it, and are bound when the
first pod wants them. Its volumes are there on every node, and hold nothing: no container runs.
"""

from __future__ import annotations

from listwatch.protocol.objects import JSONObject

PROVISIONER = "volumes.listwatch.dev/stand-in"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
FOLDER = "/var/lib/listwatch/volumes"
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
STANDARD: JSONObject = {
    "metadata": {"name": "standard", "annotations": {IS_DEFAULT: "true"}},
    "provisioner": PROVISIONER,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
    "allowVolumeExpansion": True,
}


def is_default(storage_class: JSONObject) -> bool:
    """Whether claims that name no class get this one."""
    annotations = storage_class["metadata"].get("annotations") or {}
    return bool(annotations.get(IS_DEFAULT) == "true")


def volume_for(claim: JSONObject, storage_class: JSONObject) -> JSONObject:
    """A new volume that suits a claim and is kept for it."""
    metadata, spec = claim["metadata"], claim["spec"]
    name = f"pvc-{metadata['uid']}"
    requests = (spec.get("resources") or {}).get("requests") or {}
    wanted: JSONObject = {
        "capacity": {"storage": requests.get("storage") or "0"},
        "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
        "volumeMode": spec.get("volumeMode") or "Filesystem",
        "storageClassName": storage_class["metadata"]["name"],
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "mountOptions": storage_class.get("mountOptions") or None,
        "hostPath": {"path": f"{FOLDER}/{name}", "type": "DirectoryOrCreate"},
        "claimRef": reference_to(claim),
    }
    return {
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {key: value for key, value in wanted.items() if value is not None},
    }


def reference_to(claim: JSONObject) -> JSONObject:
    """The reference by which a volume is kept for a claim."""
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": metadata["namespace"],
        "name": metadata["name"], "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    }  # fmt: skip
