"""What controllers of workloads share: an owner, the children its selector wants, their deletion.

Base of `replica_sets`, `deployments`, `stateful_sets`, `daemon_sets` and `jobs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from listwatch.controllers.batches import at_once
from listwatch.controllers.claims import Claims
from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.informer.errors import ApiError, NotFoundError
from listwatch.informer.resources import PODS
from listwatch.protocol.options import DeleteOptions
from listwatch.protocol.selectors import LabelSelector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource
    from listwatch.protocol.objects import JSONObject


class Workloads(Controller):
    """Looks at an owner whenever it, or one of its children, changes; subclasses reconcile."""

    resource: ClassVar[APIResource]  # of the owners
    child: ClassVar[APIResource] = PODS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.owners = self.informer(self.resource)
        self.children = self.informer(self.child)
        self.claims = Claims(self, self.owners, self.children)
        self.follow(self.owners)
        self.claims.listen(self.selector_of, self.enqueue_owner)

    def selector_of(self, owner: JSONObject) -> LabelSelector | None:
        """Which children an owner wants."""
        return LabelSelector.of(owner["spec"].get("selector"))

    def enqueue_owner(self, key: str) -> None:
        """A child of this owner has changed."""
        self.queue.add(key)

    def owner_of(self, key: str) -> tuple[JSONObject, LabelSelector] | None:
        """The owner of a key and what it wants; None if it is gone, or wants nothing."""
        owner = self.owners.lister.get_or_none(key)
        if owner is None:
            self.unseen.forget(key)
            return None
        selector = self.selector_of(owner)
        return None if selector is None or selector.empty else (owner, selector)

    async def delete_child(self, child: JSONObject, key: str) -> bool:
        """Delete exactly this one; False if it was gone."""
        metadata = child["metadata"]
        try:
            await self.client.delete(
                self.child, metadata["name"], namespace=metadata["namespace"],
                options=DeleteOptions(uid=metadata["uid"]),
            )  # fmt: skip
        except NotFoundError:
            return False
        self.unseen.deleted(key, self.children, child)
        return True

    async def delete_pods(
        self, owner: JSONObject, doomed: Sequence[JSONObject], key: str
    ) -> Exception | None:
        """Delete these, each with an event of the owner; the first failure, if any."""

        async def delete(pod: JSONObject) -> None:
            await self.delete_pod(owner, pod, key)

        return (await at_once(doomed, delete))[1]

    async def delete_pod(self, owner: JSONObject, pod: JSONObject, key: str) -> None:
        """Delete exactly this one, with an event of the owner."""
        if await self.delete_child(pod, key):
            message = f"Deleted pod: {pod['metadata']['name']}"
            self.events.record(self.resource, owner, "SuccessfulDelete", message)

    def tell_created(
        self, owner: JSONObject, pods: Sequence[JSONObject], error: Exception | None, key: str
    ) -> None:
        """Remember these as written, with an event each, and one for what failed."""
        for pod in pods:
            self.unseen.wrote(key, self.children, pod)
            message = f"Created pod: {pod['metadata']['name']}"
            self.events.record(self.resource, owner, "SuccessfulCreate", message)
        if error is not None and not namespace_is_going(error):
            why = f"Error creating: {text_of(error)}"
            self.events.record(self.resource, owner, "FailedCreate", why, kind=WARNING)


def namespace_is_going(error: Exception) -> bool:
    """Whether nothing can be made here any more."""
    return (
        isinstance(error, ApiError)
        and error.code == 403
        and any(cause.reason == "NamespaceTerminating" for cause in error.causes)
    )


def text_of(error: Exception) -> str:
    """What a person is told of it."""
    return error.message if isinstance(error, ApiError) else str(error)
