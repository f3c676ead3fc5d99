"""Roles and bindings: nobody grants what they do not have. The rules are in `authorization`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.registry.admission.request import DELETE, AdmissionRequest, Plugin
from listwatch.registry.authorization.authorizer import MASTERS

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.authorization.escalation import Check
    from listwatch.registry.context import RequestContext


class EscalationPlugin(Plugin):
    """Asks one of the checks of `authorization.escalation`."""

    def __init__(self, authorizer: Authorizer, check: Check) -> None:
        self._authorizer = authorizer
        self._check = check

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whoever may do everything may grant everything."""
        return operation != DELETE and MASTERS not in ctx.user.groups

    async def mutate(self, request: AdmissionRequest) -> None:
        """Raise 403 if more would be granted than the user has."""
        assert request.document is not None
        self._check(self._authorizer, request.ctx, request.document, request.old)
