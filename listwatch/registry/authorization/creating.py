"""Whether somebody who was let in to update or to patch may create what is not there.

Asked by `update` and `apply` before they go on to `create`, as upstream asks there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.registry.authorization.attributes import Attributes, refusal
from listwatch.registry.users import MASTERS

if TYPE_CHECKING:
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.context import RequestContext


def check_may_create(authorizer: Authorizer | None, ctx: RequestContext) -> None:
    """Raise 403 if the user may not create this object."""
    if authorizer is None or MASTERS in ctx.user.groups:
        return
    resource = ctx.resource
    wanted = Attributes(
        "create", resource.group, resource.resource, namespace=ctx.namespace, name=ctx.name
    )
    decision = authorizer.decide(ctx.user, wanted)
    if not decision.allowed:
        raise refusal(ctx.user.name, wanted, decision.reason)
