"""Who may see the dashboard, and who may attach a watcher: the one place that decides.

Whoever is signed in and active sees the pages, which show statistics and the names of objects.
An attached watcher shows whole objects: the API's authorizer is asked as for any watch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from listwatch.api.permissions import RoleAuthorizer, refusal
from listwatch.api.request_info import RequestInfo
from listwatch.api.sessions import session_user
from listwatch.protocol.errors import StatusError
from listwatch.registry.users import kubernetes_user

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AbstractUser, AnonymousUser

    from listwatch.protocol.kinds import Resource
    from listwatch.registry.context import UserInfo
    from listwatch.runtime import Runtime

    Visitor = AbstractBaseUser | AnonymousUser

Parameters = ParamSpec("Parameters")
View = Callable[Concatenate[HttpRequest, Parameters], Coroutine[Any, Any, HttpResponseBase]]


def may_see(user: Visitor | None) -> bool:
    """Whether this user may open the pages and their socket."""
    return user is not None and user.is_authenticated and user.is_active


async def still_signed_in(runtime: Runtime, session_key: str) -> bool:
    """Whether the session of an open page goes on: not signed out, not expired, its user active."""
    return await runtime.readers.run(session_user, session_key) is not None


async def watching_user(
    runtime: Runtime, visitor: Visitor, resource: Resource, namespace: str
) -> UserInfo:
    """The visitor as a Kubernetes user; raises 403 if that user may not watch this resource."""
    user: UserInfo = await runtime.readers.run(kubernetes_user, cast("AbstractUser", visitor))
    prefix = f"/apis/{resource.group}" if resource.group else "/api"
    info = RequestInfo(
        path=f"{prefix}/{resource.version}/{resource.resource}",
        verb="watch",
        is_resource=True,
        group=resource.group,
        version=resource.version,
        namespace=namespace,
        resource=resource.resource,
    )
    if not RoleAuthorizer(runtime.registry.authorizer).allows(user, info):
        raise refusal(user, info)
    return user


async def kubernetes_visitor(runtime: Runtime, visitor: Visitor) -> UserInfo:
    """The visitor as a Kubernetes user."""
    user: UserInfo = await runtime.readers.run(kubernetes_user, cast("AbstractUser", visitor))
    return user


async def asking_user(runtime: Runtime, visitor: Visitor, verb: str, path: str) -> UserInfo:
    """The visitor as a Kubernetes user; raises 403 if that user may not ask for this path."""
    user: UserInfo = await runtime.readers.run(kubernetes_user, cast("AbstractUser", visitor))
    info = RequestInfo(path, verb)
    if not RoleAuthorizer(runtime.registry.authorizer).allows(user, info):
        raise refusal(user, info)
    return user


async def may_ask(runtime: Runtime, visitor: Visitor, verb: str, path: str) -> bool:
    """Whether the visitor may."""
    try:
        await asking_user(runtime, visitor, verb, path)
    except StatusError:
        return False
    return True


def signed_in(view: View[Parameters]) -> View[Parameters]:
    """A page only for those who may see it: others go to the login page, `.json` answers 401."""

    @functools.wraps(view)
    async def guarded(
        request: HttpRequest, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> HttpResponseBase:
        user: Any = await request.auser()  # Any: whatever user model the project has
        if may_see(user):
            return await view(request, *args, **kwargs)
        if request.path.endswith(".json"):
            return HttpResponse("Unauthorized\n", status=401, content_type="text/plain")
        query = urlencode({"next": request.get_full_path()})
        return HttpResponseRedirect(f"{reverse('dashboard:login')}?{query}")

    return guarded
