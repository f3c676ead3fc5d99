"""What the garbage collector does: delete dependents without owners, wait in foreground, let go.

Keys of its queue are uids. Upstream: pkg/controller/garbagecollector/garbagecollector.go.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.garbage.graph import FOREGROUND, ORPHAN, Graph, Node, Owner
from listwatch.controllers.garbage.monitors import Monitors
from listwatch.informer.errors import ConflictError, NotFoundError
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource, Deleted
    from listwatch.protocol.objects import JSONObject

ASK_AGAIN = 5.0  # seconds until an owner that no cache shows is asked for again
ABSENT = 500  # owners that are remembered as not there


@dataclass(frozen=True, slots=True)
class GarbageStatistics:
    """The collector at one moment; counts since it was made."""

    objects: int  # in the graph
    kinds: int  # that are followed
    deleted: int  # dependents deleted
    orphaned: int  # dependents let go
    asked: int  # owners that had to be asked for, since no cache knew them


class GarbageCollector(Controller):
    """Deletes an object only in the very state that made it garbage."""

    name = "garbage-collector-controller"
    workers = 20

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.graph = Graph()
        self.monitors = Monitors(
            environment, self._changed, self._gone, came=self._look_at_unplaced, lost=self._lost
        )
        self._unplaced: set[str] = set()  # uids of objects with an owner of a kind that is unknown
        self._absent: dict[str, None] = {}
        self._deleted = self._orphaned = self._asked = 0

    async def prepare(self) -> None:
        """Nothing is garbage before all is known."""
        await self.monitors.start()

    def background(self) -> list[asyncio.Task[None]]:
        """Looks for kinds that are served later."""
        return [asyncio.create_task(self.monitors.keep(), name="garbage monitors")]

    def collecting(self) -> GarbageStatistics:
        """A record of now."""
        return GarbageStatistics(
            len(self.graph), self.monitors.kinds, self._deleted, self._orphaned, self._asked
        )

    # What happens

    def _changed(self, resource: APIResource, subject: JSONObject) -> None:
        node, freed = self.graph.put(resource, subject)
        self._absent.pop(node.uid, None)
        if node.deletes_dependents or node.orphans_dependents or node.owners:
            self.queue.add(node.uid)
        for uid in freed:
            owner = self.graph.nodes.get(uid)
            if owner is not None and owner.deletes_dependents:
                self.queue.add(uid)

    def _gone(self, _: APIResource, deleted: Deleted) -> None:
        if deleted.object is None:
            return
        node = self.graph.remove(deleted.object["metadata"]["uid"])
        if node is None:
            return
        self._remember_absent(node.uid)
        for uid in node.dependents:
            self.queue.add(uid)
        for owner in node.owners:
            above = self.graph.nodes.get(owner.uid)
            if above is not None and above.deletes_dependents:
                self.queue.add(owner.uid)

    def _lost(self, subject: JSONObject) -> None:
        # Not gone for certain: whoever serves the kind may be away. What it owns stays meanwhile.
        node = self.graph.remove(subject["metadata"]["uid"])
        self._unplaced |= node.dependents if node is not None else set()

    def _look_at_unplaced(self) -> None:
        unplaced, self._unplaced = self._unplaced, set()
        for uid in unplaced:
            self.queue.add(uid)

    # What is due

    async def reconcile(self, key: str) -> None:
        """Do for one object what its owners, or its own deletion, ask for."""
        node = self.graph.nodes.get(key)
        if node is None or node.virtual or node.resource is None:
            return
        if node.orphans_dependents:
            await self._orphan(node)
            return
        if node.deletes_dependents:
            await self._wait_for_dependents(node)
            return
        if node.deleting or not node.owners:
            return
        await self._judge(node)

    async def _judge(self, node: Node) -> None:
        solid: list[Owner] = []
        dangling: list[Owner] = []
        waiting: list[Owner] = []
        for owner in node.owners:
            state = await self._state_of(owner, node)
            {"solid": solid, "dangling": dangling, "waiting": waiting}[state].append(owner)
        if solid:
            if dangling or waiting:
                await self._drop_owners(node, {each.uid for each in (*dangling, *waiting)})
            return
        if waiting and node.dependents:
            if any(each.deletes_dependents for each in self.graph.dependents_of(node.uid)):
                await self._unblock(node)  # a circle: nobody may wait for anybody
            await self._delete(node, "Foreground")
            return
        policy = "Background"
        if ORPHAN in node.finalizers:
            policy = "Orphan"
        elif FOREGROUND in node.finalizers:
            policy = "Foreground"
        await self._delete(node, policy)

    async def _state_of(self, owner: Owner, node: Node) -> str:
        known = self.graph.nodes.get(owner.uid)
        if known is not None and not known.virtual:
            # Owners stand in the same namespace or in none; another one's counts as not there.
            if known.namespace and known.namespace != node.namespace:
                return "dangling"
            return "waiting" if known.deletes_dependents and owner.blocks else "solid"
        if owner.uid in self._absent:
            return "dangling"
        return await self._ask(owner, node)

    async def _ask(self, owner: Owner, node: Node) -> str:
        self._asked += 1
        resource = self.monitors.resource_of(owner.api_version, owner.kind)
        if resource is None:
            self._unplaced.add(node.uid)  # looked at again when more kinds are known
            return "solid"  # of a kind that nobody knows: better kept than lost
        if resource.namespaced and not node.namespace:
            return "solid"  # a fault in the reference: nothing can be asked for
        namespace = node.namespace if resource.namespaced else ""
        try:
            found = await self.client.get(resource, owner.name, namespace=namespace)
        except NotFoundError:
            found = None
        if found is None or found["metadata"]["uid"] != owner.uid:
            self._remember_absent(owner.uid)
            return "dangling"
        # No event will tell of its end before its kind is followed: ask again.
        self.queue.add_after(node.uid, ASK_AGAIN)
        metadata = found["metadata"]
        going = "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())
        return "waiting" if going and owner.blocks else "solid"

    async def _wait_for_dependents(self, node: Node) -> None:
        blocking = self.graph.blocking(node.uid)
        if not blocking:
            await self._drop_finalizer(node, FOREGROUND)
            return
        for each in blocking:
            if not each.deletes_dependents:
                self.queue.add(each.uid)

    async def _orphan(self, node: Node) -> None:
        for each in self.graph.dependents_of(node.uid):
            await self._drop_owners(each, {node.uid})
            self._orphaned += 1
        await self._drop_finalizer(node, ORPHAN)

    # Writes

    async def _delete(self, node: Node, policy: str) -> None:
        assert node.resource is not None
        options = DeleteOptions(
            uid=node.uid, resource_version=node.version, propagation_policy=policy
        )
        try:
            await self.client.delete(
                node.resource, node.name, namespace=node.namespace, options=options
            )
        except NotFoundError:
            return
        except ConflictError:
            # It has changed since: what it is now is on its way, but look again in any case.
            self.queue.add_rate_limited(node.uid)
            return
        self._deleted += 1

    async def _drop_owners(self, node: Node, uids: set[str]) -> None:
        def drop(metadata: JSONObject) -> bool:
            before = metadata.get("ownerReferences") or []
            after = [each for each in before if each["uid"] not in uids]
            metadata["ownerReferences"] = after
            return len(after) != len(before)

        await self._change(node, drop, "ownerReferences")

    async def _unblock(self, node: Node) -> None:
        def unblock(metadata: JSONObject) -> bool:
            references = metadata.get("ownerReferences") or []
            blocks = [each for each in references if each.get("blockOwnerDeletion")]
            metadata["ownerReferences"] = [
                {**each, "blockOwnerDeletion": False} if each in blocks else each
                for each in references
            ]
            return bool(blocks)

        await self._change(node, unblock, "ownerReferences")

    async def _drop_finalizer(self, node: Node, name: str) -> None:
        def drop(metadata: JSONObject) -> bool:
            before = metadata.get("finalizers") or []
            metadata["finalizers"] = [each for each in before if each != name]
            return name in before

        await self._change(node, drop, "finalizers")

    async def _change(self, node: Node, change: Callable[[JSONObject], bool], field: str) -> None:
        """Change one field of an object's metadata, in its newest state; nothing if it is gone."""
        assert node.resource is not None
        try:
            found = await self.client.get(node.resource, node.name, namespace=node.namespace)
            metadata = found["metadata"]
            if metadata["uid"] != node.uid or not change(metadata):
                return
            patch = {
                "metadata": {
                    "uid": node.uid,
                    "resourceVersion": metadata["resourceVersion"],
                    field: metadata[field] or None,
                }
            }
            answer = await self.client.patch(
                node.resource, node.name, patch, namespace=node.namespace
            )
        except NotFoundError:
            return
        if node.uid in self.graph.nodes and "deletionTimestamp" not in answer["metadata"]:
            self._changed(node.resource, answer)

    def _remember_absent(self, uid: str) -> None:
        self._absent[uid] = None
        while len(self._absent) > ABSENT:
            del self._absent[next(iter(self._absent))]
