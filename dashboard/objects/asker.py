"""Who asks: the signed-in visitor as a Kubernetes user, and what the roles let that user do.

Every view of this room begins here, and nothing of an object is shown before `require` passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dashboard.pages import runtime_of
from listwatch.editing.door import Door
from listwatch.protocol.options import DeleteOptions
from listwatch.registry.authorization.attributes import Attributes, refusal
from listwatch.registry.context import RequestContext
from listwatch.registry.conversions import to_served
from listwatch.registry.users import kubernetes_user
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser
    from django.http import HttpRequest

    from dashboard.access import Visitor
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import Deleted, UserInfo, Written
    from listwatch.runtime import Runtime

MANAGER = "listwatch-dashboard"  # the field manager of what is written here
NAMESPACES = 500  # asked about at most, where a user may not see all of them


class Asker:
    """One user before one server; answers come from memory and never wait."""

    def __init__(self, runtime: Runtime, user: UserInfo) -> None:
        self.runtime = runtime
        self.user = user

    def may(
        self, verb: str, resource: Resource, namespace: str = "", name: str = "", part: str = ""
    ) -> bool:
        """Whether the user may do this, as far as the resource can; `part` is a subresource."""
        if not part and verb not in resource.verbs:
            return False
        wanted = Attributes(verb, resource.group, resource.resource, part, namespace, name)
        return self.runtime.registry.authorizer.decide(self.user, wanted).allowed

    def require(
        self, verb: str, resource: Resource, namespace: str = "", name: str = "", part: str = ""
    ) -> None:
        """Nothing, or the 403 that the API would answer."""
        wanted = Attributes(verb, resource.group, resource.resource, part, namespace, name)
        if not self.runtime.registry.authorizer.decide(self.user, wanted).allowed:
            raise refusal(self.user.name, wanted)

    def places(self, verb: str, resource: Resource) -> list[str]:
        """Where the user may do this: [''] everywhere, else the namespaces, perhaps none."""
        if self.may(verb, resource):
            return [""]
        if not resource.namespaced:
            return []
        found = [each for each in self.namespaces() if self.may(verb, resource, each)]
        return found[:NAMESPACES]

    def namespaces(self) -> list[str]:
        """The names of all namespaces, for choosing among those the user may look into."""
        resource = self.runtime.resources.find("", "v1", "namespaces")
        if resource is None:
            return []
        found = self.runtime.caches.cacher(resource.storage).list(ListRequest())
        return [version.name for version in found.versions]

    def context(
        self, resource: Resource, namespace: str = "", name: str = "", **more: Any
    ) -> RequestContext:
        """The registry's context (Any: its other fields)."""
        return RequestContext(
            self.user, resource, namespace=namespace, name=name,
            field_manager=MANAGER, field_validation="Strict", **more,
        )  # fmt: skip

    async def get(self, resource: Resource, namespace: str, name: str) -> JSONObject:
        """An object as it is now, in the form that is served; raises 403, 404."""
        self.require("get", resource, namespace, name)
        version = await self.runtime.registry.get(self.context(resource, namespace, name))
        return to_served(resource, version.decode())

    def door(self, resource: Resource) -> Door:
        """For forms: every call asks first."""
        return GuardedDoor(self, resource)


class GuardedDoor(Door):
    """A door that asks the authorizer before each call, as the API does before each request."""

    def __init__(self, asker: Asker, resource: Resource) -> None:
        super().__init__(asker.runtime, asker.user, resource, manager=MANAGER)
        self._asker = asker
        self._resource = resource

    def get(self, key: str) -> JSONObject:
        """See `Door`; raises 403, too."""
        ctx = self.context(key)
        self._asker.require("get", self._resource, ctx.namespace, ctx.name)
        return super().get(key)

    def create(self, ctx: RequestContext, document: JSONObject) -> Written:
        """See `Door`; raises 403, too."""
        self._asker.require("create", self._resource, ctx.namespace)
        return super().create(ctx, document)

    def update(self, ctx: RequestContext, document: JSONObject) -> Written:
        """See `Door`; raises 403, too."""
        self._asker.require("update", self._resource, ctx.namespace, ctx.name, ctx.subresource)
        return super().update(ctx, document)

    def delete(self, key: str, options: DeleteOptions) -> Deleted:
        """See `Door`; raises 403, too."""
        ctx = self.context(key)
        self._asker.require("delete", self._resource, ctx.namespace, ctx.name)
        return super().delete(key, options)


async def asker_of(request: HttpRequest) -> Asker:
    """Who sent this request."""
    return await asker_for(runtime_of(request), await request.auser())


async def asker_for(runtime: Runtime, visitor: Visitor) -> Asker:
    """A visitor of pages or of their socket."""
    user: UserInfo = await runtime.readers.run(kubernetes_user, cast("AbstractUser", visitor))
    await runtime.registry.catch_up()  # or a role that was just granted would not count
    return Asker(runtime, user)
