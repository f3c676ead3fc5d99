"""The history of stateful and daemon sets: a ControllerRevision for each template there was.

`kubectl rollout history` and `undo` read them. Upstream: pkg/controller/history.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.claims import Claims
from listwatch.controllers.references import controller_reference
from listwatch.controllers.templates import template_hash
from listwatch.informer.errors import AlreadyExistsError, NotFoundError
from listwatch.informer.resources import CONTROLLER_REVISIONS
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.controller import Controller
    from listwatch.informer import APIResource, SharedIndexInformer
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.selectors import LabelSelector

HASH = "controller-revision-hash"


@dataclass(frozen=True, slots=True)
class Revisions:
    """All revisions of one owner, in order, and the one of its template."""

    every: tuple[JSONObject, ...]
    current: JSONObject

    def named(self, name: str) -> JSONObject | None:
        """The revision of this name."""
        return next((each for each in self.every if each["metadata"]["name"] == name), None)


class History:
    """The revisions of owners of one kind; belongs to one controller."""

    def __init__(self, controller: Controller, owners: SharedIndexInformer) -> None:
        assert owners.resource is not None
        self._controller = controller
        self._owner: APIResource = owners.resource
        self._informer = controller.informer(CONTROLLER_REVISIONS)
        self._claims = Claims(controller, owners, self._informer)

    async def of(self, owner: JSONObject, selector: LabelSelector, key: str) -> Revisions:
        """The revisions of an owner; that of its template is made if it is new.

        One that was there before becomes the newest again: that is a roll-back.
        """
        found = sorted(await self._claims.claim(owner, selector, key), key=_number)
        data = revision_data(owner)
        equal = next((each for each in reversed(found) if each.get("data") == data), None)
        if equal is None:
            made = await self._make(owner, data, _number(found[-1]) + 1 if found else 1)
            self._controller.unseen.wrote(key, self._informer, made)
            return Revisions((*found, made), made)
        if equal is not found[-1]:
            metadata = equal["metadata"]
            patch = {
                "metadata": {"uid": metadata["uid"]}, "revision": _number(found[-1]) + 1,
            }  # fmt: skip
            newest = await self._controller.client.patch(
                CONTROLLER_REVISIONS, metadata["name"], patch, namespace=metadata["namespace"]
            )
            self._controller.unseen.wrote(key, self._informer, newest)
            found = [each for each in found if each is not equal] + [newest]
            equal = newest
        return Revisions(tuple(found), equal)

    async def clean_up(
        self, owner: JSONObject, revisions: Revisions, live: Sequence[str], key: str
    ) -> None:
        """Delete old revisions beyond the limit, but none of a name in `live`."""
        limit = owner["spec"].get("revisionHistoryLimit")
        idle = [
            each
            for each in revisions.every
            if each is not revisions.current and each["metadata"]["name"] not in live
        ]
        for each in idle[: max(len(idle) - (10 if limit is None else limit), 0)]:
            metadata = each["metadata"]
            try:
                await self._controller.client.delete(
                    CONTROLLER_REVISIONS, metadata["name"], namespace=metadata["namespace"],
                    options=DeleteOptions(uid=metadata["uid"]),
                )  # fmt: skip
            except NotFoundError:
                continue
            self._controller.unseen.deleted(key, self._informer, each)

    async def _make(self, owner: JSONObject, data: JSONObject, number: int) -> JSONObject:
        collisions = (owner.get("status") or {}).get("collisionCount") or 0
        template = owner["spec"]["template"]
        while True:
            value = template_hash(template, collisions)
            metadata = owner["metadata"]
            revision = {
                "metadata": {
                    "name": f"{metadata['name']}-{value}",
                    "namespace": metadata["namespace"],
                    "labels": {
                        **((template.get("metadata") or {}).get("labels") or {}), HASH: value,
                    },
                    "annotations": {
                        name: text
                        for name, text in (metadata.get("annotations") or {}).items()
                        if not name.startswith("kubectl.kubernetes.io/last-applied")
                    },
                    "ownerReferences": [controller_reference(self._owner, owner)],
                },
                "data": data,
                "revision": number,
            }  # fmt: skip
            try:
                return await self._controller.client.create(CONTROLLER_REVISIONS, revision)
            except AlreadyExistsError:
                name = f"{metadata['name']}-{value}"
                found = await self._controller.client.get(
                    CONTROLLER_REVISIONS, name, namespace=metadata["namespace"]
                )
                if found.get("data") == data:
                    return found
                collisions += 1


def revision_data(owner: JSONObject) -> JSONObject:
    """What of an owner makes a revision: the patch that brings its template back."""
    template = {"$patch": "replace", **copy.deepcopy(owner["spec"]["template"])}
    return {"spec": {"template": template}}


def template_of(revision: JSONObject) -> JSONObject:
    """The template of a revision."""
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def _number(revision: JSONObject) -> int:
    return int(revision.get("revision") or 0)
