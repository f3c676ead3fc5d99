"""Who owns whom among all objects, by uid: plain data, kept and asked by `controller`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from listwatch.controllers.references import owner_references
from listwatch.informer import APIResource
from listwatch.protocol.objects import JSONObject

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


class Owner(NamedTuple):
    """A reference to an owner."""

    uid: str
    kind: str
    api_version: str
    name: str
    blocks: bool  # its foreground deletion waits for the one that refers to it


@dataclass(slots=True)
class Node:
    """One object; `virtual` if nobody has seen it but others refer to it."""

    uid: str
    resource: APIResource | None = None
    namespace: str = ""
    name: str = ""
    version: str = ""  # resourceVersion of the state below
    owners: tuple[Owner, ...] = ()
    finalizers: tuple[str, ...] = ()
    deleting: bool = False
    virtual: bool = True
    dependents: set[str] = field(default_factory=set)

    @property
    def deletes_dependents(self) -> bool:
        """Whether it waits in foreground for its dependents to go."""
        return self.deleting and FOREGROUND in self.finalizers

    @property
    def orphans_dependents(self) -> bool:
        """Whether its dependents are to be let go."""
        return self.deleting and ORPHAN in self.finalizers


class Graph:
    """All nodes. One event loop."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def put(self, resource: APIResource, subject: JSONObject) -> tuple[Node, set[str]]:
        """An object is as it is now: its node, and uids of owners that it blocks no more."""
        metadata = subject["metadata"]
        uid = str(metadata["uid"])
        node = self.nodes.get(uid)
        if node is None:
            node = self.nodes[uid] = Node(uid)
        before = {owner.uid for owner in node.owners}
        blocked = {owner.uid for owner in node.owners if owner.blocks}
        node.resource, node.virtual = resource, False
        node.namespace, node.name = metadata.get("namespace") or "", metadata["name"]
        node.version = str(metadata.get("resourceVersion") or "")
        node.owners = owners_of(subject)
        node.finalizers = tuple(metadata.get("finalizers") or ())
        node.deleting = "deletionTimestamp" in metadata
        after = {owner.uid for owner in node.owners}
        for gone in before - after:
            self._forget(gone, uid)
        for new in after - before:
            owner_node = self.nodes.get(new)
            if owner_node is None:
                owner_node = self.nodes[new] = Node(new)
            owner_node.dependents.add(uid)
        return node, blocked - {owner.uid for owner in node.owners if owner.blocks}

    def remove(self, uid: str) -> Node | None:
        """An object is gone; its node, with the dependents that it leaves behind."""
        node = self.nodes.get(uid)
        if node is None:
            return None
        for owner in node.owners:
            self._forget(owner.uid, uid)
        if node.dependents:
            # They may go on to refer to it: it is known as one that nobody has seen.
            self.nodes[uid] = Node(uid, dependents=set(node.dependents))
        else:
            del self.nodes[uid]
        return node

    def dependents_of(self, uid: str) -> list[Node]:
        """The objects that refer to it as an owner."""
        node = self.nodes.get(uid)
        found = (self.nodes.get(each) for each in (node.dependents if node else ()))
        return [each for each in found if each is not None and not each.virtual]

    def blocking(self, uid: str) -> list[Node]:
        """Those of them that it has to wait for."""
        return [
            each
            for each in self.dependents_of(uid)
            if any(owner.uid == uid and owner.blocks for owner in each.owners)
        ]

    def __len__(self) -> int:
        return len(self.nodes)

    def _forget(self, owner: str, dependent: str) -> None:
        node = self.nodes.get(owner)
        if node is not None:
            node.dependents.discard(dependent)
            if node.virtual and not node.dependents:
                del self.nodes[owner]


def owners_of(subject: JSONObject) -> tuple[Owner, ...]:
    """The references of an object, as values."""
    return tuple(
        Owner(
            str(each.get("uid")), str(each.get("kind")), str(each.get("apiVersion")),
            str(each.get("name")), bool(each.get("blockOwnerDeletion")),
        )
        for each in owner_references(subject)
    )  # fmt: skip
