"""The volumes of a pod that waits for a node: bound ones say where it can go, others are asked for.

Upstream: pkg/scheduler/framework/plugins/volumebinding. Used by `controller`; `volumes.binder`
does the binding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.volumes import matching
from listwatch.controllers.volumes.protection import claim_keys
from listwatch.informer.errors import ConflictError
from listwatch.informer.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)

if TYPE_CHECKING:
    from listwatch.informer import APIResource, Client, SharedIndexInformer
    from listwatch.protocol.objects import JSONObject

SECONDS = 60.0  # that a claim may take to be bound once its node is chosen


class VolumesNotBoundError(Exception):
    """A claim was not bound in time: the pod waits again."""


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What the claims of one pod say, at one moment."""

    why: str = ""  # no node can take the pod: for this reason
    bound: tuple[JSONObject, ...] = ()  # volumes
    delayed: tuple[tuple[JSONObject, bool], ...] = ()  # claims, and whether a volume can be made

    @property
    def matter(self) -> bool:
        """Whether nodes have to be asked."""
        return bool(self.bound or self.delayed)


class Volumes:
    """Answers from caches; `bind` writes. One event loop. `changed` is told of each claim."""

    def __init__(
        self,
        client: Client,
        informer: Callable[[APIResource], SharedIndexInformer],
        changed: Callable[[str], None],
    ) -> None:
        self._client = client
        self._claims = informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = informer(PERSISTENT_VOLUMES)
        self._classes = informer(STORAGE_CLASSES)
        self._changed = changed
        self._moved = asyncio.Event()
        self._claims.add_handler(
            on_add=lambda claim, _: self._claim_changed(claim),
            on_update=lambda _, claim: self._claim_changed(claim),
        )
        self._volumes.add_handler(on_add=lambda *_: changed(""), on_update=self._volume_changed)

    def of(self, pod: JSONObject) -> PodVolumes:
        """What the claims of a pod say."""
        if not pod["spec"].get("volumes"):
            return PodVolumes()
        bound: list[JSONObject] = []
        delayed: list[tuple[JSONObject, bool]] = []
        for key in claim_keys(pod):
            name = key.rpartition("/")[2]
            claim = self._claims.lister.get_or_none(key)
            if claim is None:
                return PodVolumes(f'persistentvolumeclaim "{name}" not found')
            if "deletionTimestamp" in claim["metadata"]:
                return PodVolumes(f'persistentvolumeclaim "{name}" is being deleted')
            if matching.is_bound(claim):
                volume = self._volumes.lister.get_or_none(claim["spec"]["volumeName"])
                if volume is None:
                    lost = claim["spec"]["volumeName"]
                    return PodVolumes(
                        f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume '
                        f'"{lost}"'
                    )
                bound.append(volume)
                continue
            found = self._classes.lister.get_or_none(matching.class_of(claim) or "-")
            if not matching.is_delayed(claim, found):
                return PodVolumes("pod has unbound immediate PersistentVolumeClaims")
            made = found is not None and found.get("provisioner") != matching.NO_PROVISIONER
            delayed.append((claim, made))
        return PodVolumes("", tuple(bound), tuple(delayed))

    def refusal(self, wanted: PodVolumes, node: JSONObject) -> str:
        """Why the volumes speak against a node; '' if they do not."""
        if not all(matching.reaches(volume, node) for volume in wanted.bound):
            return "node(s) didn't match PersistentVolume's node affinity"
        for claim, can_be_made in wanted.delayed:
            if can_be_made:
                continue
            if matching.best(self._volumes.lister.list(), claim, node) is None:
                return "node(s) didn't find available persistent volumes to bind"
        return ""

    async def bind(self, wanted: PodVolumes, node: str) -> None:
        """Say for which node the claims are, and wait until they are bound; may raise ApiError."""
        waiting: list[str] = []
        for claim, _ in wanted.delayed:
            metadata = claim["metadata"]
            key = f"{metadata['namespace']}/{metadata['name']}"
            waiting.append(key)
            current = self._claims.lister.get_or_none(key) or claim
            if matching.annotation(current, matching.SELECTED_NODE):
                continue
            patch = {
                "metadata": {
                    "uid": metadata["uid"], "annotations": {matching.SELECTED_NODE: node},
                }
            }  # fmt: skip
            try:
                await self._client.patch(
                    PERSISTENT_VOLUME_CLAIMS, metadata["name"], patch,
                    namespace=metadata["namespace"],
                )  # fmt: skip
            except ConflictError as error:
                raise VolumesNotBoundError(str(error)) from error
        try:
            async with asyncio.timeout(SECONDS):
                while not all(map(self._is_bound, waiting)):
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise VolumesNotBoundError(f"not bound within {SECONDS:g} s: {waiting}") from None

    def _is_bound(self, key: str) -> bool:
        claim = self._claims.lister.get_or_none(key)
        return claim is not None and matching.is_bound(claim)

    def _claim_changed(self, claim: JSONObject) -> None:
        self._moved.set()
        metadata = claim["metadata"]
        self._changed(f"{metadata['namespace']}/{metadata['name']}")

    def _volume_changed(self, old: JSONObject, new: JSONObject) -> None:
        if (old.get("status") or {}).get("phase") != (new.get("status") or {}).get("phase"):
            self._changed("")
