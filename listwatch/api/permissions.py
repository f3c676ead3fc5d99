"""What a user may do: one question to one authorizer for every request.

The rules are in `registry.authorization`; here a path becomes the question, and a no a 403.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from rest_framework.permissions import BasePermission

from listwatch.api.wrapping import plain
from listwatch.registry.authorization import attributes
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.users import MASTERS

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

    from listwatch.api.request_info import RequestInfo
    from listwatch.protocol.errors import StatusError
    from listwatch.registry.authorization import authorizer
    from listwatch.registry.context import UserInfo


# kube-apiserver's own default: whoever removes a role must not make the server look dead.
ALWAYS_ALLOWED = frozenset({"/healthz", "/livez", "/readyz"})


class Authorizer(Protocol):
    """Says yes or no."""

    def allows(self, user: UserInfo, info: RequestInfo) -> bool:
        """Whether the user may make this request; from memory, never waiting."""


class RoleAuthorizer:
    """Roles and bindings decide."""

    def __init__(self, roles: authorizer.Authorizer) -> None:
        self._roles = roles

    def allows(self, user: UserInfo, info: RequestInfo) -> bool:
        """Whether the user may make this request."""
        if info.path in ALWAYS_ALLOWED:
            return True
        return MASTERS in user.groups or self._roles.decide(user, wanted(info)).allowed


class AuthorizerPermission(BasePermission):
    """DRF's permission that asks the server's authorizer."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """True, or 403 in kube-apiserver's words."""
        ours = plain(request)
        info, user = ours.info, cast("UserInfo", request.user)
        if ours.services.authorizer.allows(user, info):
            return True
        raise refusal(user, info)


def wanted(info: RequestInfo) -> Attributes:
    """The question that a request is."""
    if not info.is_resource:
        return Attributes(info.verb, path=info.path)
    return Attributes(
        info.verb, info.group, info.resource, info.subresource, info.namespace,
        info.name or info.selected, info.path,
    )  # fmt: skip


def refusal(user: UserInfo, info: RequestInfo) -> StatusError:
    """403 that names user, verb and what was asked for."""
    return attributes.refusal(user.name, wanted(info))
