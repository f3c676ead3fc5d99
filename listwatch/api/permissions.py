"""What a user may do: one question to one authorizer for every request.

The authorizer here knows only the rules that hold before any role is defined; one that reads
roles takes its place behind the same protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from rest_framework.permissions import BasePermission

from listwatch.api.authentication import AUTHENTICATED
from listwatch.api.wrapping import plain
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.users import MASTERS

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

    from listwatch.api.request_info import RequestInfo
    from listwatch.registry.context import UserInfo

_PUBLIC = ("/healthz", "/livez", "/readyz", "/version")
_DISCOVERY = ("/api", "/apis", "/openapi")


class Authorizer(Protocol):
    """Says yes or no."""

    def allows(self, user: UserInfo, info: RequestInfo) -> bool:
        """Whether the user may make this request; from memory, never waiting."""


class GroupAuthorizer:
    """system:masters may all, the authenticated discover, anybody sees health and version."""

    def allows(self, user: UserInfo, info: RequestInfo) -> bool:
        """Whether the user may make this request."""
        if MASTERS in user.groups:
            return True
        if info.is_resource or info.verb not in ("get", "head"):
            return False
        if _under(info.path, _PUBLIC):
            return True
        return AUTHENTICATED in user.groups and _under(info.path, _DISCOVERY)


class AuthorizerPermission(BasePermission):
    """DRF's permission that asks the server's authorizer."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or 403 in kube-apiserver's words."""
        ours = plain(request)
        info, user = ours.info, cast("UserInfo", request.user)
        if ours.services.authorizer.allows(user, info):
            return True
        raise refusal(user, info)


def refusal(user: UserInfo, info: RequestInfo) -> StatusError:
    """403 that names user, verb and what was asked for."""
    if not info.is_resource:
        message = f'forbidden: User "{user.name}" cannot {info.verb} path "{info.path}"'
        return StatusError(403, "Forbidden", message, details={})
    resource = GroupResource(info.group, info.resource)
    what = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    where = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    name = info.name or info.selected
    named = f'{resource} "{name}"' if name else str(resource)
    message = (
        f'{named} is forbidden: User "{user.name}" cannot {info.verb} resource "{what}" '
        f'in API group "{info.group}" {where}'
    )
    details = {"name": name, "group": info.group, "kind": info.resource}
    details = {key: value for key, value in details.items() if value}
    return StatusError(403, "Forbidden", message, details=details)


def _under(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes)
