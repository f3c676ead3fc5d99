"""Webhooks: other people's programs that change objects, or refuse them.

Upstream: apiserver/pkg/admission/plugin/webhook. Mutating ones are asked one after the other, in
the order of their names, validating ones all at once. Whoever cannot be asked counts as its
failurePolicy says.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from listwatch.patches import json_patch
from listwatch.protocol.errors import StatusError, bad_request, internal_error
from listwatch.protocol.kinds import GroupResource
from listwatch.registry.admission.expressions import (
    VARIABLES,
    ExpressionError,
    Expressions,
    decider,
    variables_of,
)
from listwatch.registry.admission.hooks import Configurations, seen_as, selectors_match
from listwatch.registry.admission.request import DELETE, AdmissionRequest, Plugin
from listwatch.registry.admission.reviewing import Verdict, refusal, review_of, shown, verdict_of
from listwatch.registry.admission.web_client import CallError, WebClient
from listwatch.registry.conversions import to_stored
from listwatch.registry.object_rules import apply_defaults, decode
from listwatch.schemas.decoding import DecodeError

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

GROUP = "admissionregistration.k8s.io"
MUTATING = GroupResource(GROUP, "mutatingwebhookconfigurations")
VALIDATING = GroupResource(GROUP, "validatingwebhookconfigurations")
_SECONDS = 10  # how long a webhook may think if it does not say
_HARMLESS = ("None", "NoneOnDryRun")


class Webhook(NamedTuple):
    """One webhook of one configuration."""

    name: str
    hook: JSONObject

    @property
    def ignores_failures(self) -> bool:
        """Whether a write goes on if this one cannot be asked."""
        return self.hook.get("failurePolicy") == "Ignore"


class _Webhooks(Plugin):
    """What both kinds share: which are concerned, and the call."""

    def __init__(
        self, backend: Backend, authorizer: Authorizer, group_resource: GroupResource
    ) -> None:
        self._backend = backend
        self._client = WebClient(backend)
        self._expressions = Expressions(VARIABLES, decider(authorizer))
        self._configurations = Configurations(backend, group_resource, _compiled)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whether the rules of any webhook take this write."""
        found = self._configurations.now()
        return bool(found) and any(self._seen_by(one, ctx, operation) for one in found)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _concerned(self, request: AdmissionRequest) -> list[tuple[Webhook, Resource]]:
        return [
            (one, seen)
            for one in self._configurations.now()
            if (seen := self._seen_by(one, request.ctx, request.operation))
            and selectors_match(one.hook, request, self._backend)
            and self._conditions_hold(one, request, seen)
        ]

    def _seen_by(self, webhook: Webhook, ctx: RequestContext, operation: str) -> Resource | None:
        hook = webhook.hook
        return seen_as(hook.get("rules") or (), hook, ctx, operation, self._backend.resources)

    def _conditions_hold(self, webhook: Webhook, request: AdmissionRequest, seen: Resource) -> bool:
        conditions = webhook.hook.get("matchConditions") or ()
        if not conditions:
            return True
        try:
            variables = variables_of(request, seen)
            # One that says no is enough, whatever is wrong with the others.
            values, failed = [], None
            for condition in conditions:
                try:
                    values.append(self._expressions.holds(condition["expression"], variables))
                except ExpressionError as error:
                    failed = failed or error
            if not all(values):
                return False
            if failed is not None:
                raise failed
        except ExpressionError as error:
            if webhook.ignores_failures:
                return False
            raise _failed(webhook, f"match conditions: {error}") from None
        return True

    async def _ask(
        self, webhook: Webhook, request: AdmissionRequest, seen: Resource
    ) -> Verdict | None:
        """Its verdict; None if it could not be asked and need not be."""
        hook = webhook.hook
        if request.ctx.dry_run and hook.get("sideEffects") not in _HARMLESS:
            raise bad_request(f'admission webhook "{webhook.name}" does not support dry run')
        seconds = float(hook.get("timeoutSeconds") or _SECONDS)
        review = review_of(request, seen)
        try:
            if "v1" not in (hook.get("admissionReviewVersions") or ("v1",)):
                raise CallError("the webhook does not accept v1 AdmissionReviews")
            async with asyncio.timeout(seconds + 1):
                answer = await self._client.post(hook.get("clientConfig") or {}, review, seconds)
            verdict = verdict_of(review, answer)
        except (CallError, TimeoutError) as error:
            if webhook.ignores_failures:
                return None
            raise _failed(webhook, str(error)) from None
        for warning in verdict.warnings:
            if warning not in request.ctx.warnings:
                request.ctx.warnings.append(warning)
        if not verdict.allowed:
            raise refusal(webhook.name, verdict.status)
        return verdict


class MutatingWebhooks(_Webhooks):
    """Those that change objects."""

    def __init__(self, backend: Backend, authorizer: Authorizer) -> None:
        super().__init__(backend, authorizer, MUTATING)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Ask each, and again those that want to see what the others have changed."""
        again: list[tuple[Webhook, Resource]] = []
        for webhook, seen in self._concerned(request):
            if await self._mutate_by(webhook, request, seen):
                reinvoked, again = again, []
                for earlier in reinvoked:
                    await self._mutate_by(earlier[0], request, earlier[1])
            if webhook.hook.get("reinvocationPolicy") == "IfNeeded":
                again.append((webhook, seen))

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Deletions have nothing to change, but can be refused here as well."""
        if request.operation == DELETE:
            for webhook, seen in self._concerned(request):
                await self._ask(webhook, request, seen)
        return None

    async def _mutate_by(self, webhook: Webhook, request: AdmissionRequest, seen: Resource) -> bool:
        verdict = await self._ask(webhook, request, seen)
        if verdict is None or verdict.patch is None:
            return False
        assert request.document is not None
        try:
            document = json_patch.apply(shown(request, request.document, seen), verdict.patch)
            document, _ = decode(seen, request.shape or seen.gvk, document)
        except (StatusError, DecodeError) as error:
            raise internal_error(f'webhook "{webhook.name}": {error}') from None
        if request.shape is None:
            document = to_stored(seen, document)
            apply_defaults(request.ctx.resource, document)
        differs = document != request.document
        request.document = document
        return differs


class ValidatingWebhooks(_Webhooks):
    """Those that say yes or no."""

    def __init__(self, backend: Backend, authorizer: Authorizer) -> None:
        super().__init__(backend, authorizer, VALIDATING)

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Ask all at once; the first refusal, in the order of names, is the answer."""
        asked = [self._ask(webhook, request, seen) for webhook, seen in self._concerned(request)]
        for result in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
        return None


def _compiled(configurations: list[JSONObject]) -> list[Webhook]:
    return [
        Webhook(hook.get("name", ""), hook)
        for configuration in configurations
        for hook in configuration.get("webhooks") or ()
    ]


def _failed(webhook: Webhook, why: str) -> StatusError:
    return internal_error(f'failed calling webhook "{webhook.name}": failed to call webhook: {why}')
