"""Claims stay while a pod uses them, and volumes while they are bound: then their finalizers go.

Upstream: pkg/controller/volume/pvcprotection and pvprotection. The server puts the finalizers on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from listwatch.controllers.controller import Controller
from listwatch.controllers.pods import is_finished
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource, Deleted
    from listwatch.protocol.objects import JSONObject

BY_CLAIM = "claim"  # the name of an index of pods


def claim_keys(pod: JSONObject) -> list[str]:
    """An index function: the keys of the claims that a pod names."""
    namespace = pod["metadata"].get("namespace") or ""
    found = []
    for volume in pod["spec"].get("volumes") or ():
        source = volume.get("persistentVolumeClaim")
        if source:
            found.append(f"{namespace}/{source['claimName']}")
        elif volume.get("ephemeral"):
            found.append(f"{namespace}/{pod['metadata']['name']}-{volume['name']}")
    return found


class _Protection(Controller):
    resource: ClassVar[APIResource]
    finalizer: ClassVar[str]
    workers = 2

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.held = self.informer(self.resource)
        self.follow(self.held)

    def in_use(self, key: str, subject: JSONObject) -> bool:
        """Whether it must stay."""
        raise NotImplementedError

    async def reconcile(self, key: str) -> None:
        """Take the finalizer off what was deleted and is not in use."""
        subject = self.held.lister.get_or_none(key)
        if subject is None:
            self.unseen.forget(key)
            return
        metadata = subject["metadata"]
        finalizers = metadata.get("finalizers") or []
        if "deletionTimestamp" not in metadata or self.finalizer not in finalizers:
            return
        if self.in_use(key, subject):
            return
        patch = {
            "metadata": {
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
                "finalizers": [each for each in finalizers if each != self.finalizer] or None,
            }
        }
        namespace = metadata.get("namespace") or ""
        try:
            await self.client.patch(self.resource, metadata["name"], patch, namespace=namespace)
        except NotFoundError:
            return


class ClaimProtection(_Protection):
    """A claim stays while a pod that has not ended names it."""

    name = "persistentvolumeclaim-protection-controller"
    resource = PERSISTENT_VOLUME_CLAIMS
    finalizer = "kubernetes.io/pvc-protection"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.pods = environment.informer(PODS, indexers={BY_CLAIM: claim_keys})
        self.informer(PODS)  # waited for
        self.pods.add_handler(on_update=self._pod_changed, on_delete=self._pod_gone)

    def in_use(self, key: str, subject: JSONObject) -> bool:
        """Whether a pod on a node uses it; one that waits for a node does not yet."""
        pods = self.pods.lister.by_index(BY_CLAIM, key)
        return any(pod["spec"].get("nodeName") and not is_finished(pod) for pod in pods)

    def _pod_changed(self, _: JSONObject, pod: JSONObject) -> None:
        if is_finished(pod):
            for key in claim_keys(pod):
                self.queue.add(key)

    def _pod_gone(self, gone: Deleted) -> None:
        if gone.object is not None:
            for key in claim_keys(gone.object):
                self.queue.add(key)


class VolumeProtection(_Protection):
    """A volume stays while it is bound."""

    name = "persistentvolume-protection-controller"
    resource = PERSISTENT_VOLUMES
    finalizer = "kubernetes.io/pv-protection"

    def in_use(self, key: str, subject: JSONObject) -> bool:
        """Whether its phase says so."""
        return (subject.get("status") or {}).get("phase") == "Bound"
