"""The variables that admission's expressions see: the objects and the request.

Evaluation is in `schemas.expressions`. Used by `webhooks` for match conditions and by `policies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.registry.admission.reviewing import review_of
from listwatch.registry.authorization.attributes import Attributes
from listwatch.registry.context import UserInfo
from listwatch.schemas.expressions import ExpressionError, Expressions
from listwatch.schemas.validation.expressions import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.schemas.structural.cel_authorization import Decide

__all__ = ["VARIABLES", "ExpressionError", "Expressions", "decider", "variables_of"]


def variables_of(
    request: AdmissionRequest,
    seen: Resource,
    *,
    params: JSONObject | None = None,
    namespace: JSONObject | None = None,
) -> dict[str, Any]:  # Any: JSON values
    """What stands for each variable; `variables` is empty, and filled as they are computed."""
    asked = review_of(request, seen)["request"]
    return {
        "object": asked.pop("object"),
        "oldObject": asked.pop("oldObject"),
        "request": asked,
        "params": params,
        "namespaceObject": namespace,
        "variables": {},
        "authorizer": _authorizer(request),
    }


def decider(authorizer: Authorizer) -> Decide:
    """Who answers `authorizer....check(verb)` in expressions: the roles, as they are now."""

    def decide(asked: Mapping[str, str]) -> tuple[bool, str]:
        user = UserInfo(asked["user"], groups=tuple(asked["groups"].split("\n")))
        wanted = Attributes(
            asked["verb"], asked.get("group", ""), asked.get("resource", ""),
            asked.get("subresource", ""), asked.get("namespace", ""), asked.get("name", ""),
            asked.get("path", ""),
        )  # fmt: skip
        decision = authorizer.decide(user, wanted)
        return decision.allowed, decision.reason

    return decide


def _authorizer(request: AdmissionRequest) -> JSONObject:
    ctx = request.ctx
    user = {"user": ctx.user.name, "groups": "\n".join(ctx.user.groups)}
    wanted = {
        **user,
        "group": ctx.resource.group,
        "resource": ctx.resource.resource,
        "subresource": ctx.subresource,
        "namespace": ctx.namespace,
        "name": request.name,
    }
    return {**user, "requestResource": wanted}
