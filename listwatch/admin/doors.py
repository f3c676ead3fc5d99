"""A door to the registry for the user who is signed in: every write of the admin goes through one.

The runtime comes with each request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from listwatch.editing.door import Door
from listwatch.protocol.errors import service_unavailable
from listwatch.registry.users import kubernetes_user

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser
    from django.http import HttpRequest

    from listwatch.protocol.kinds import Resource
    from listwatch.runtime import Runtime

MANAGER = "listwatch-admin"


def runtime_of(request: HttpRequest) -> Runtime:
    """The running server; raises 503 where none runs in this process."""
    scope: dict[str, Any] = getattr(request, "scope", {})  # Any: an ASGI scope
    runtime: Runtime | None = scope.get("listwatch.runtime")
    if runtime is None:
        raise service_unavailable('no server runs in this process: start it by "serve"')
    return runtime


def door_of(request: HttpRequest, resource: Resource) -> Door:
    """The door of one request to one resource; raises 503 where no server runs here."""
    user = kubernetes_user(cast("AbstractUser", request.user))
    return Door(runtime_of(request), user, resource, manager=MANAGER)
