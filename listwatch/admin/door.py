"""The way of a page to the registry: as the user who is signed in, waiting in the page's thread.

The runtime comes with each request. Everything here may raise StatusError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from listwatch.protocol.errors import service_unavailable
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.protocol.selectors import LabelSelector
from listwatch.registry.context import RequestContext
from listwatch.registry.conversions import to_served
from listwatch.registry.users import kubernetes_user

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser
    from django.http import HttpRequest

    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import Deleted, Written
    from listwatch.runtime import Runtime

MANAGER = "listwatch-admin"  # the field manager of what is written here


def runtime_of(request: HttpRequest) -> Runtime:
    """The running server; raises 503 where none runs in this process."""
    scope: dict[str, Any] = getattr(request, "scope", {})  # Any: an ASGI scope
    runtime: Runtime | None = scope.get("listwatch.runtime")
    if runtime is None:
        raise service_unavailable("no server runs in this process: start it by `serve`")
    return runtime


class Door:
    """What one signed-in user can do with the objects of one resource, one call each."""

    def __init__(self, request: HttpRequest, resource: Resource) -> None:
        self._runtime = runtime_of(request)
        self._registry = self._runtime.registry
        self._user = kubernetes_user(cast("AbstractUser", request.user))
        self._resource = resource

    def context(self, key: str, **more: Any) -> RequestContext:  # Any: fields of the context
        """The context of a request for one object, by its key."""
        namespace, name = split_key(self._resource, key)
        return RequestContext(
            self._user, self._resource, namespace=namespace, name=name,
            field_manager=MANAGER, field_validation="Strict", **more,
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
