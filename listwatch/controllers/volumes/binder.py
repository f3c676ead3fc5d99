"""Binds claims to volumes, makes those of our own class, and releases volumes without a claim.

Upstream: pkg/controller/volume/persistentvolume/pv_controller.go. Bound claims go to `scheduler`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.controllers.status import write_status
from listwatch.controllers.volumes import matching
from listwatch.controllers.volumes.classes import (
    PROVISIONED_BY,
    PROVISIONER,
    STANDARD,
    is_default,
    reference_to,
    volume_for,
)
from listwatch.informer import object_key
from listwatch.informer.errors import AlreadyExistsError, NotFoundError
from listwatch.informer.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted
    from listwatch.protocol.objects import JSONObject


class VolumeBinder(Controller):
    """A claim has one volume and a volume one claim. Keys: `namespace/name` of claims, `/name`.

    The volume is written first: whoever dies in between finds its own claim on it.
    """

    name = "persistentvolume-binder-controller"
    component = "persistentvolume-controller"
    workers = 8

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.claims = self.informer(PERSISTENT_VOLUME_CLAIMS)
        self.volumes = self.informer(PERSISTENT_VOLUMES)
        self.classes = self.informer(STORAGE_CLASSES)
        self.nodes = self.informer(NODES)
        self.follow(self.claims)
        self.claims.add_handler(on_delete=self._claim_gone)
        self.volumes.add_handler(
            on_add=lambda volume, _: self._volume_changed(volume),
            on_update=lambda _, volume: self._volume_changed(volume),
            on_delete=self._volume_gone,
        )
        self.classes.add_handler(on_add=lambda *_: self._look_at_waiting())

    async def prepare(self) -> None:
        """A cluster without any class gets the one that everything works with."""
        if not self.classes.lister.list():
            try:
                await self.client.create(STORAGE_CLASSES, STANDARD)
            except AlreadyExistsError:
                return

    async def reconcile(self, key: str) -> None:
        """Look at a claim or a volume, and take the step that is due."""
        if key.startswith("/"):
            volume = self.volumes.lister.get_or_none(key[1:])
            if volume is None:
                self.unseen.forget(key)
            elif "deletionTimestamp" not in volume["metadata"]:
                await self._see_to_volume(volume, key)
            return
        claim = self.claims.lister.get_or_none(key)
        if claim is None:
            self.unseen.forget(key)
        elif "deletionTimestamp" not in claim["metadata"]:
            await self._see_to_claim(claim, key)

    # Claims

    async def _see_to_claim(self, claim: JSONObject, key: str) -> None:
        name = claim["spec"].get("volumeName")
        volume = self.volumes.lister.get_or_none(name) if name else None
        if matching.is_bound(claim):
            if volume is None:
                await self._lost(claim, key)
            elif matching.is_for(volume, claim):
                await self._bind(claim, await self._grown(volume, claim, key), key)
            return
        if name:
            # Its owner chose: it waits for this one, whatever else there is.
            if volume is None:
                return
            if not volume["spec"].get("claimRef") or matching.is_for(volume, claim):
                await self._bind(claim, volume, key)
                return
            message = f'volume "{name}" already bound to a different claim.'
            self._tell(claim, "FailedBinding", message, WARNING)
            return
        await self._find(claim, key)

    async def _find(self, claim: JSONObject, key: str) -> None:
        if claim["spec"].get("storageClassName") is None and await self._gave_class(claim, key):
            return  # which brings the next look
        storage_class = self.classes.lister.get_or_none(matching.class_of(claim) or "-")
        selected = matching.annotation(claim, matching.SELECTED_NODE)
        delayed = matching.is_delayed(claim, storage_class) and not selected
        node = self.nodes.lister.get_or_none(selected) if selected else None
        volumes = self.volumes.lister.list()
        if delayed:
            volumes = [each for each in volumes if matching.is_for(each, claim)]
        volume = matching.best(volumes, claim, node)
        if volume is not None:
            await self._bind(claim, volume, key)
        elif delayed:
            message = "waiting for first consumer to be created before binding"
            self._tell(claim, "WaitForFirstConsumer", message)
        elif storage_class is None:
            named = matching.class_of(claim)
            if named:
                message = f'storageclass.storage.k8s.io "{named}" not found'
                self._tell(claim, "ProvisioningFailed", message, WARNING)
            else:
                message = (
                    "no persistent volumes available for this claim and no storage class is set"
                )
                self._tell(claim, "FailedBinding", message)
        else:
            await self._provision(claim, storage_class, key)

    async def _gave_class(self, claim: JSONObject, key: str) -> bool:
        """A claim that was there before any default class gets it now."""
        found = [each["metadata"] for each in self.classes.lister.list() if is_default(each)]
        if not found:
            return False
        newest = max(found, key=lambda each: str(each["creationTimestamp"]))
        metadata = claim["metadata"]
        patch = {
            "metadata": {"uid": metadata["uid"]},
            "spec": {"storageClassName": newest["name"]},
        }
        answer = await self.client.patch(
            PERSISTENT_VOLUME_CLAIMS, metadata["name"], patch, namespace=metadata["namespace"]
        )
        self.unseen.wrote(key, self.claims, answer)
        return True

    async def _provision(self, claim: JSONObject, storage_class: JSONObject, key: str) -> None:
        provisioner = storage_class.get("provisioner")
        if provisioner == matching.NO_PROVISIONER:
            message = "no persistent volumes available for this claim and no storage class is set"
            self._tell(claim, "FailedBinding", message)
            return
        if provisioner != PROVISIONER:
            message = (
                f"Waiting for a volume to be created either by the external provisioner "
                f"'{provisioner}' or manually by the system administrator. If volume creation is "
                "delayed, please verify that the provisioner is running and correctly registered."
            )
            self._tell(claim, "ExternalProvisioning", message)
            return
        wanted = volume_for(claim, storage_class)
        try:
            made = await self.client.create(PERSISTENT_VOLUMES, wanted)
        except AlreadyExistsError:
            made = await self.client.get(PERSISTENT_VOLUMES, wanted["metadata"]["name"])
        self.unseen.wrote(key, self.volumes, made)
        message = f"Successfully provisioned volume {made['metadata']['name']}"
        self._tell(claim, "ProvisioningSucceeded", message)
        await self._bind(claim, made, key)

    async def _bind(self, claim: JSONObject, volume: JSONObject, key: str) -> None:
        """Write what is missing on either side; nothing if nothing is."""
        metadata, name = claim["metadata"], volume["metadata"]["name"]
        reference = volume["spec"].get("claimRef") or {}
        if reference.get("uid") != metadata["uid"]:
            patch: JSONObject = {
                "metadata": {"resourceVersion": volume["metadata"]["resourceVersion"]},
                "spec": {"claimRef": reference_to(claim)},
            }
            if not reference:
                patch["metadata"]["annotations"] = {matching.BOUND_BY_CONTROLLER: "yes"}
            volume = await self.client.patch(PERSISTENT_VOLUMES, name, patch)
            self.unseen.wrote(key, self.volumes, volume)
        await self._set_phase(volume, "Bound", key)
        if not matching.is_bound(claim):
            notes = {matching.BIND_COMPLETED: "yes"}
            if not claim["spec"].get("volumeName"):
                notes[matching.BOUND_BY_CONTROLLER] = "yes"
            patch = {
                "metadata": {"uid": metadata["uid"], "annotations": notes},
                "spec": {"volumeName": name},
            }
            claim = await self.client.patch(
                PERSISTENT_VOLUME_CLAIMS, metadata["name"], patch, namespace=metadata["namespace"]
            )
            self.unseen.wrote(key, self.claims, claim)
        status = {
            **(claim.get("status") or {}),
            "phase": "Bound",
            "accessModes": volume["spec"].get("accessModes"),
            "capacity": volume["spec"].get("capacity"),
        }
        answer = await write_status(self.client, PERSISTENT_VOLUME_CLAIMS, claim, status)
        if answer is not None:
            self.unseen.wrote(key, self.claims, answer)

    async def _grown(self, volume: JSONObject, claim: JSONObject, key: str) -> JSONObject:
        """A volume of our own grows with its claim; admission asked the class whether it may."""
        ours = matching.annotation(volume, PROVISIONED_BY) == PROVISIONER
        if not ours or matching.size_of(volume) >= matching.request_of(claim):
            return volume
        size = claim["spec"]["resources"]["requests"]["storage"]
        patch = {
            "metadata": {"resourceVersion": volume["metadata"]["resourceVersion"]},
            "spec": {"capacity": {"storage": size}},
        }
        name = volume["metadata"]["name"]
        answer = await self.client.patch(PERSISTENT_VOLUMES, name, patch)
        self.unseen.wrote(key, self.volumes, answer)
        self._tell(claim, "VolumeResizeSuccessful", "ExpandVolume succeeded for the volume")
        return answer

    async def _lost(self, claim: JSONObject, key: str) -> None:
        status = {**(claim.get("status") or {}), "phase": "Lost"}
        answer = await write_status(self.client, PERSISTENT_VOLUME_CLAIMS, claim, status)
        if answer is not None:
            self.unseen.wrote(key, self.claims, answer)
            message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            self._tell(claim, "ClaimLost", message, WARNING)

    # Volumes

    async def _see_to_volume(self, volume: JSONObject, key: str) -> None:
        reference = volume["spec"].get("claimRef")
        if not reference or not reference.get("uid"):
            await self._set_phase(volume, "Available", key)
            return
        claim = await self._claim_of(reference)
        if claim is None:
            await self._release(volume, key)
        elif claim["spec"].get("volumeName") == volume["metadata"]["name"]:
            await self._set_phase(volume, "Bound", key)
        elif not claim["spec"].get("volumeName"):
            self.queue.add(object_key(claim))
        elif matching.annotation(volume, PROVISIONED_BY) == PROVISIONER:
            await self._delete(volume, key)
        elif matching.annotation(volume, matching.BOUND_BY_CONTROLLER):
            patch = {
                "metadata": {
                    "resourceVersion": volume["metadata"]["resourceVersion"],
                    "annotations": {matching.BOUND_BY_CONTROLLER: None},
                },
                "spec": {"claimRef": None},
            }
            name = volume["metadata"]["name"]
            answer = await self.client.patch(PERSISTENT_VOLUMES, name, patch)
            self.unseen.wrote(key, self.volumes, answer)

    async def _claim_of(self, reference: JSONObject) -> JSONObject | None:
        namespace, name = reference.get("namespace") or "", reference.get("name") or ""
        claim = self.claims.lister.get_or_none(f"{namespace}/{name}")
        if claim is None:
            # The cache may be behind, and what is released is lost: ask.
            try:
                claim = await self.client.get(PERSISTENT_VOLUME_CLAIMS, name, namespace=namespace)
            except NotFoundError:
                return None
        return claim if claim["metadata"]["uid"] == reference["uid"] else None

    async def _release(self, volume: JSONObject, key: str) -> None:
        volume = await self._set_phase(volume, "Released", key)
        ours = matching.annotation(volume, PROVISIONED_BY) == PROVISIONER
        if ours and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            await self._delete(volume, key)

    async def _delete(self, volume: JSONObject, key: str) -> None:
        metadata = volume["metadata"]
        options = DeleteOptions(uid=metadata["uid"])
        try:
            await self.client.delete(PERSISTENT_VOLUMES, metadata["name"], options=options)
        except NotFoundError:
            return
        self.unseen.deleted(key, self.volumes, volume)

    async def _set_phase(self, volume: JSONObject, phase: str, key: str) -> JSONObject:
        status = {**(volume.get("status") or {}), "phase": phase}
        if (volume.get("status") or {}).get("phase") == phase:
            return volume
        answer = await write_status(self.client, PERSISTENT_VOLUMES, volume, status)
        if answer is None:
            return volume
        self.unseen.wrote(key, self.volumes, answer)
        return answer

    # What happens

    def _tell(self, claim: JSONObject, reason: str, message: str, kind: str = "Normal") -> None:
        self.events.record(PERSISTENT_VOLUME_CLAIMS, claim, reason, message, kind=kind)

    def _claim_gone(self, gone: Deleted) -> None:
        if gone.object is not None and gone.object["spec"].get("volumeName"):
            self.queue.add(f"/{gone.object['spec']['volumeName']}")

    def _volume_changed(self, volume: JSONObject) -> None:
        self.queue.add(f"/{volume['metadata']['name']}")
        reference = volume["spec"].get("claimRef")
        if reference:
            self.queue.add(f"{reference.get('namespace')}/{reference.get('name')}")
        elif (volume.get("status") or {}).get("phase") == "Available":
            self._look_at_waiting()

    def _volume_gone(self, gone: Deleted) -> None:
        reference = None if gone.object is None else gone.object["spec"].get("claimRef")
        if reference:
            self.queue.add(f"{reference.get('namespace')}/{reference.get('name')}")

    def _look_at_waiting(self) -> None:
        """Something came that claims may have waited for."""
        for claim in self.claims.lister.list():
            if not matching.is_bound(claim):
                self.enqueue(claim)
