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
    variables_of,
)
from listwatch.registry.admission.hooks import Configurations, rule_matches, selectors_match
from listwatch.registry.admission.request import DELETE, AdmissionRequest, Plugin
from listwatch.registry.admission.reviewing import Verdict, refusal, review_of, verdict_of
from listwatch.registry.admission.web_client import CallError, WebClient
from listwatch.registry.conversions import to_served, to_stored
from listwatch.registry.object_rules import apply_defaults, decode
from listwatch.schemas.decoding import DecodeError

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
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

    def __init__(self, backend: Backend, group_resource: GroupResource) -> None:
        self._backend = backend
        self._client = WebClient(backend)
        self._expressions = Expressions(VARIABLES)
        self._configurations = Configurations(backend, group_resource, _compiled)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whether the rules of any webhook take this write."""
        found = self._configurations.now()
        return bool(found) and any(_has_rule(one, ctx, operation) for one in found)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _concerned(self, request: AdmissionRequest) -> list[Webhook]:
        return [
            one
            for one in self._configurations.now()
            if _has_rule(one, request.ctx, request.operation)
            and selectors_match(one.hook, request, self._backend)
            and self._conditions_hold(one, request)
        ]

    def _conditions_hold(self, webhook: Webhook, request: AdmissionRequest) -> bool:
        conditions = webhook.hook.get("matchConditions") or ()
        if not conditions:
            return True
        try:
            variables = variables_of(request)
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

    async def _ask(self, webhook: Webhook, request: AdmissionRequest) -> Verdict | None:
        """Its verdict; None if it could not be asked and need not be."""
        hook = webhook.hook
        if request.ctx.dry_run and hook.get("sideEffects") not in _HARMLESS:
            raise bad_request(f'admission webhook "{webhook.name}" does not support dry run')
        seconds = float(hook.get("timeoutSeconds") or _SECONDS)
        review = review_of(request)
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

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, MUTATING)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Ask each, and again those that want to see what the others have changed."""
        again: list[Webhook] = []
        for webhook in self._concerned(request):
            if await self._mutate_by(webhook, request):
                reinvoked, again = again, []
                for earlier in reinvoked:
                    await self._mutate_by(earlier, request)
            if webhook.hook.get("reinvocationPolicy") == "IfNeeded":
                again.append(webhook)

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Deletions have nothing to change, but can be refused here as well."""
        if request.operation == DELETE:
            for webhook in self._concerned(request):
                await self._ask(webhook, request)
        return None

    async def _mutate_by(self, webhook: Webhook, request: AdmissionRequest) -> bool:
        verdict = await self._ask(webhook, request)
        if verdict is None or verdict.patch is None:
            return False
        resource = request.ctx.resource
        assert request.document is not None
        try:
            changed = json_patch.apply(to_served(resource, request.document), verdict.patch)
            changed, _ = decode(resource, resource.gvk, changed)
        except (StatusError, DecodeError) as error:
            raise internal_error(f'webhook "{webhook.name}": {error}') from None
        document = to_stored(resource, changed)
        apply_defaults(resource, document)
        differs = document != request.document
        request.document = document
        return differs


class ValidatingWebhooks(_Webhooks):
    """Those that say yes or no."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, VALIDATING)

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Ask all at once; the first refusal, in the order of names, is the answer."""
        asked = [self._ask(webhook, request) for webhook in self._concerned(request)]
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


def _has_rule(webhook: Webhook, ctx: RequestContext, operation: str) -> bool:
    return any(rule_matches(rule, ctx, operation) for rule in webhook.hook.get("rules") or ())


def _failed(webhook: Webhook, why: str) -> StatusError:
    return internal_error(f'failed calling webhook "{webhook.name}": failed to call webhook: {why}')
