"""Claims of volumes that live as long as their pod. Upstream: pkg/controller/volume/ephemeral.

The pod owns the claim, so that the garbage collector takes it away; `binder` binds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.controllers.pods import is_terminating
from listwatch.controllers.references import controller_of, controller_reference
from listwatch.informer.errors import AlreadyExistsError
from listwatch.informer.resources import PERSISTENT_VOLUME_CLAIMS, PODS

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.protocol.objects import JSONObject


class EphemeralVolumes(Controller):
    """Makes the claims that pods bring the template of; another's by that name is left alone."""

    name = "ephemeral-volume-controller"
    workers = 2

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.claims = self.informer(PERSISTENT_VOLUME_CLAIMS)
        self.pods = self.informer(PODS)
        self.pods.add_handler(on_add=lambda pod, _: self._pod_came(pod))

    async def reconcile(self, key: str) -> None:
        """Make what is missing."""
        pod = self.pods.lister.get_or_none(key)
        if pod is None:
            self.unseen.forget(key)
            return
        if is_terminating(pod):
            return
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("ephemeral"):
                await self._make(pod, volume, key)

    async def _make(self, pod: JSONObject, volume: JSONObject, key: str) -> None:
        metadata = pod["metadata"]
        name = f"{metadata['name']}-{volume['name']}"
        there = self.claims.lister.get_or_none(f"{metadata['namespace']}/{name}")
        if there is None:
            template = volume["ephemeral"].get("volumeClaimTemplate") or {}
            given = template.get("metadata") or {}
            wanted = {
                "metadata": {
                    "name": name,
                    "namespace": metadata["namespace"],
                    "labels": given.get("labels") or {},
                    "annotations": given.get("annotations") or {},
                    "ownerReferences": [controller_reference(PODS, pod)],
                },
                "spec": template.get("spec") or {},
            }
            try:
                made = await self.client.create(PERSISTENT_VOLUME_CLAIMS, wanted)
            except AlreadyExistsError:
                there = await self.client.get(
                    PERSISTENT_VOLUME_CLAIMS, name, namespace=metadata["namespace"]
                )
            else:
                self.unseen.wrote(key, self.claims, made)
                return
        owner = controller_of(there)
        if owner is None or owner["uid"] != metadata["uid"]:
            message = f"PVC {metadata['namespace']}/{name} was not created for the pod"
            self.events.record(PODS, pod, "FailedBinding", message, kind=WARNING)

    def _pod_came(self, pod: JSONObject) -> None:
        if any(volume.get("ephemeral") for volume in pod["spec"].get("volumes") or ()):
            self.enqueue(pod)
