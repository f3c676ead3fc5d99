"""The way of a form to the registry: as the user who is signed in, waiting in the form's thread.

Everything here may raise StatusError. Used by `form`; the admin and the dashboard open the doors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.protocol.selectors import LabelSelector
from listwatch.registry.context import RequestContext
from listwatch.registry.conversions import to_served

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import Deleted, UserInfo, Written
    from listwatch.runtime import Runtime


class Door:
    """What one user can do with the objects of one resource, one call each.

    `manager` is the field manager of what is written. Whoever opens a door has asked for what its
    user may do through it; called in any thread but that of the event loop.
    """

    def __init__(
        self, runtime: Runtime, user: UserInfo, resource: Resource, *, manager: str
    ) -> None:
        self._runtime = runtime
        self._registry = runtime.registry
        self._user = user
        self._resource = resource
        self._manager = manager

    def context(self, key: str, **more: Any) -> RequestContext:  # Any: fields of the context
        """The context of a request for one object, by its key."""
        namespace, name = split_key(self._resource, key)
        return RequestContext(
            self._user, self._resource, namespace=namespace, name=name,
            field_manager=self._manager, field_validation="Strict", **more,
        )  # fmt: skip

    def get(self, key: str) -> JSONObject:
        """The object as it is now; raises 404."""
        version = self._runtime.call(self._registry.get(self.context(key)))
        return to_served(self._resource, version.decode())

    def keys(self, selector: LabelSelector) -> list[str]:
        """The keys of all objects whose labels match."""
        ctx = RequestContext(self._user, self._resource)
        options = ListOptions(label_selector=selector)
        found = self._runtime.call(self._registry.list(ctx, options))
        return [version.key for version in found.versions]

    def create(self, ctx: RequestContext, document: JSONObject) -> Written:
        """Make an object; the document is used up."""
        return self._runtime.call(self._registry.create(ctx, document))

    def update(self, ctx: RequestContext, document: JSONObject) -> Written:
        """Replace an object; the document is used up."""
        return self._runtime.call(self._registry.update(ctx, document))

    def delete(self, key: str, options: DeleteOptions) -> Deleted:
        """Delete an object, or begin to."""
        return self._runtime.call(self._registry.delete(self.context(key), options))


def split_key(resource: Resource, key: str) -> tuple[str, str]:
    """Namespace and name of a key."""
    if not resource.namespaced:
        return "", key
    namespace, _, name = key.partition("/")
    return namespace, name
