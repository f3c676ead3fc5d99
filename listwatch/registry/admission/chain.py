"""Which plugins a write concerns, in upstream's order.

Made once by `registry`. Most writes concern none: then `review` costs a few lookups, and the verbs
go on without waiting for anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.admission.accounts import ServiceAccountPlugin
from listwatch.registry.admission.classes import PriorityPlugin, StorageClassPlugin
from listwatch.registry.admission.escalation import EscalationPlugin
from listwatch.registry.admission.expansion import ClaimExpansionPlugin
from listwatch.registry.admission.limits import LimitRangePlugin
from listwatch.registry.admission.mutating_policies import MutatingPolicyPlugin
from listwatch.registry.admission.namespaces import both
from listwatch.registry.admission.quotas import QuotaPlugin
from listwatch.registry.admission.request import CREATE, AdmissionRequest, Plugin
from listwatch.registry.admission.validating_policies import ValidatingPolicyPlugin
from listwatch.registry.admission.webhooks import MutatingWebhooks, ValidatingWebhooks
from listwatch.registry.authorization.escalation import CHECKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

PODS = GroupResource("", "pods")
CLAIMS = GroupResource("", "persistentvolumeclaims")
# What decides about writes is not decided about by itself, or nobody could repair it.
_EXEMPT = "admissionregistration.k8s.io"


class Admission:
    """The plugins of one server. Owned by the registry's event loop."""

    def __init__(self, backend: Backend, authorizer: Authorizer) -> None:
        self.mutating = MutatingWebhooks(backend, authorizer)
        self.validating = ValidatingWebhooks(backend, authorizer)
        limits, quotas = LimitRangePlugin(backend), QuotaPlugin(backend)
        self._everywhere: tuple[Plugin, ...] = (
            MutatingPolicyPlugin(backend, authorizer), self.mutating,
            ValidatingPolicyPlugin(backend, authorizer), self.validating, quotas,
        )  # fmt: skip
        self._plugins: dict[GroupResource, tuple[Plugin, ...]] = {
            PODS: (
                limits, ServiceAccountPlugin(backend), PriorityPlugin(backend), *self._everywhere,
            ),
            CLAIMS: (
                limits, StorageClassPlugin(backend), ClaimExpansionPlugin(backend),
                *self._everywhere,
            ),
            **{
                resource: (EscalationPlugin(authorizer, check), *self._everywhere)
                for resource, check in CHECKS.items()
            },
        }  # fmt: skip

    def review(
        self, ctx: RequestContext, operation: str, document: JSONObject | None,
        shape: GroupVersionKind | None = None,
    ) -> Review | None:  # fmt: skip
        """What is to be done about a write; None if nothing is."""
        resource = ctx.resource
        if resource.group == _EXEMPT or ctx.admitted:
            return None
        plugins = self._plugins.get(resource.storage, self._everywhere)
        concerned = [one for one in plugins if one.concerns(ctx, operation, document)]
        return Review(ctx, operation, concerned, shape) if concerned else None

    async def admit(
        self, ctx: RequestContext, document: JSONObject, shape: GroupVersionKind
    ) -> JSONObject:
        """What is posted to be done and not to be stored, as the plugins make it; or a refusal."""
        review = self.review(ctx, CREATE, document, shape)
        if review is None:
            return document
        document = await review.mutate(document, None)
        await review.check(document, None)
        return document

    async def close(self) -> None:
        """Let go of connections."""
        await self.mutating.close()
        await self.validating.close()


class Review:
    """What the concerned plugins have to say about one write."""

    def __init__(
        self, ctx: RequestContext, operation: str, plugins: Sequence[Plugin],
        shape: GroupVersionKind | None,
    ) -> None:  # fmt: skip
        self._ctx = ctx
        self._operation = operation
        self._plugins = plugins
        self._shape = shape

    async def mutate(self, document: JSONObject, old: JSONObject | None) -> JSONObject:
        """The defaulted object as the plugins make it; raises what refuses it before validation."""
        request = AdmissionRequest(self._ctx, self._operation, document, old, self._shape)
        for plugin in self._plugins:
            await plugin.mutate(request)
        assert request.document is not None
        return request.document

    async def check(self, document: JSONObject | None, old: JSONObject | None) -> Guard | None:
        """Refuse the valid object, or say what must still hold inside the transaction."""
        request = AdmissionRequest(self._ctx, self._operation, document, old, self._shape)
        guard: Guard | None = None
        for plugin in self._plugins:
            guard = both(guard, await plugin.check(request))
        return guard
