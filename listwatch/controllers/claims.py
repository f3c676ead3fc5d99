"""Children of an owner: those it controls, adopted when its selector wants them, released when not.

Used by the controllers of workloads at the beginning of every look; upstream:
controller_ref_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.references import (
    CONTROLLER,
    controller_of,
    controller_reference,
    orphans_of,
    owner_references,
)
from listwatch.informer.errors import ApiError
from listwatch.protocol.objects import JSONObject, labels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.controllers.controller import Controller
    from listwatch.informer import APIResource, SharedIndexInformer
    from listwatch.protocol.selectors import LabelSelector


class Claims:
    """The children of one kind that owners of one kind control; belongs to one controller."""

    def __init__(
        self, controller: Controller, owners: SharedIndexInformer, children: SharedIndexInformer
    ) -> None:
        assert owners.resource is not None
        assert children.resource is not None
        self._controller = controller
        self._owners = owners
        self._owner: APIResource = owners.resource
        self._children = children
        self._child: APIResource = children.resource

    def listen(
        self,
        selector_of: Callable[[JSONObject], LabelSelector | None],
        enqueue: Callable[[str], None],
    ) -> None:
        """A change of a child is a reason to look at its owner; of an orphan, at all that want it.

        `selector_of` an owner: what it wants.
        """

        def told(child: JSONObject) -> None:
            reference = controller_of(child)
            if reference is not None:
                key = self._owner_key(child, reference)
                if key:
                    enqueue(key)
                return
            namespace, labels = child["metadata"].get("namespace") or "", labels_of(child)
            for owner in self._owners.lister.in_namespace(namespace):
                selector = selector_of(owner)
                if selector is not None and not selector.empty and selector.matches(labels):
                    enqueue(f"{namespace}/{owner['metadata']['name']}")

        def updated(old: JSONObject, new: JSONObject) -> None:
            before, after = controller_of(old), controller_of(new)
            if before is not None and (after is None or before["uid"] != after["uid"]):
                key = self._owner_key(old, before)
                if key:
                    enqueue(key)
            if after is not None or before is not None or labels_of(old) != labels_of(new):
                told(new)

        def gone(child: JSONObject | None) -> None:
            reference = None if child is None else controller_of(child)
            if child is not None and reference is not None:
                key = self._owner_key(child, reference)
                if key:
                    enqueue(key)

        self._children.add_handler(
            on_add=lambda child, _: told(child),
            on_update=updated,
            on_delete=lambda deleted: gone(deleted.object),
        )

    def owned(self, owner: JSONObject) -> list[JSONObject]:
        """The children that the owner controls now."""
        return self._children.lister.by_index(CONTROLLER, owner["metadata"]["uid"])

    async def claim(self, owner: JSONObject, selector: LabelSelector, key: str) -> list[JSONObject]:
        """The children it controls and wants, after adopting and releasing."""
        claimed: list[JSONObject] = []
        namespace = owner["metadata"]["namespace"]
        for child in self.owned(owner):
            if child["metadata"].get("namespace") != namespace:
                continue
            if selector.matches(labels_of(child)):
                claimed.append(child)
            elif "deletionTimestamp" not in owner["metadata"]:
                await self._release(owner, child, key)
        if "deletionTimestamp" in owner["metadata"] or selector.empty:
            return claimed
        for child in self._children.lister.by_index(CONTROLLER, orphans_of(namespace)):
            if "deletionTimestamp" in child["metadata"]:
                continue
            if selector.matches(labels_of(child)):
                adopted = await self._adopt(owner, child, key)
                if adopted is not None:
                    claimed.append(adopted)
        return claimed

    async def _adopt(self, owner: JSONObject, child: JSONObject, key: str) -> JSONObject | None:
        references = [*owner_references(child), controller_reference(self._owner, owner)]
        return await self._set_references(child, references, key)

    async def _release(self, owner: JSONObject, child: JSONObject, key: str) -> None:
        uid = owner["metadata"]["uid"]
        references = [one for one in owner_references(child) if one["uid"] != uid]
        await self._set_references(child, references, key)

    async def _set_references(
        self, child: JSONObject, references: list[JSONObject], key: str
    ) -> JSONObject | None:
        metadata = child["metadata"]
        patch = {
            "metadata": {
                "uid": metadata["uid"],
                # The list is replaced whole: only if nobody else has changed it meanwhile.
                "resourceVersion": metadata["resourceVersion"],
                "ownerReferences": references or None,
            }
        }
        try:
            answer = await self._controller.client.patch(
                self._child, metadata["name"], patch, namespace=metadata.get("namespace") or ""
            )
        except ApiError as error:
            if error.code not in (404, 422):
                raise
            return None  # it is gone, or another object has its name
        self._controller.unseen.wrote(key, self._children, answer)
        return answer

    def _owner_key(self, child: JSONObject, reference: JSONObject) -> str:
        group = reference.get("apiVersion", "").rpartition("/")[0]
        if reference.get("kind") != self._owner.kind or group != self._owner.group:
            return ""
        namespace = child["metadata"].get("namespace") or ""
        return f"{namespace}/{reference['name']}"
