"""ValidatingAdmissionPolicies: rules in CEL that are objects themselves, bound where they hold.

Upstream: apiserver/pkg/admission/plugin/policy/validating. Without the extra `cel` a policy counts
as one that cannot be evaluated: its failurePolicy decides, and says what to install.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.errors import Cause, StatusError, forbidden
from listwatch.protocol.kinds import GroupResource, GroupVersionKind, split_api_version
from listwatch.registry.admission.expressions import (
    VARIABLES,
    ExpressionError,
    Expressions,
    variables_of,
)
from listwatch.registry.admission.hooks import Configurations, rule_matches, selectors_match
from listwatch.registry.admission.namespaces import NAMESPACES
from listwatch.registry.admission.request import AdmissionRequest, Plugin
from listwatch.registry.authorization.aggregation import label_matches
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from typing import Any

    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard

GROUP = "admissionregistration.k8s.io"
POLICIES = GroupResource(GROUP, "validatingadmissionpolicies")
BINDINGS = GroupResource(GROUP, "validatingadmissionpolicybindings")
_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}


class _Failure(NamedTuple):
    """One validation that does not hold, or could not be evaluated."""

    message: str
    reason: str


class PolicyPlugin(Plugin):
    """Evaluates the policies that are bound."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._expressions = Expressions(VARIABLES)
        self._policies = Configurations(backend, POLICIES, _as_they_are)
        self._bindings = Configurations(backend, BINDINGS, _as_they_are)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whether any policy that is bound takes such writes."""
        return bool(self._bindings.now()) and any(
            _constrains(policy["spec"].get("matchConstraints") or {}, ctx, operation)
            for policy in self._policies.now()
        )

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Raise what a policy denies with; others only warn."""
        for policy in self._policies.now():
            spec = policy["spec"]
            constraints = spec.get("matchConstraints") or {}
            if not self._matches(constraints, request):
                continue
            name = policy["metadata"]["name"]
            for binding in self._bindings.now():
                bound = binding["spec"]
                if bound.get("policyName") != name:
                    continue
                resources = bound.get("matchResources")
                if resources and not self._matches(resources, request):
                    continue
                there = binding["metadata"]["name"]
                where = f"ValidatingAdmissionPolicy '{name}' with binding '{there}'"
                for failure in self._failures(spec, bound, request):
                    self._act(failure, where, bound.get("validationActions") or [], request)
        return None

    def _matches(self, constraints: JSONObject, request: AdmissionRequest) -> bool:
        return _constrains(constraints, request.ctx, request.operation) and selectors_match(
            constraints, request, self._backend
        )

    def _act(
        self, failure: _Failure, where: str, actions: list[str], request: AdmissionRequest
    ) -> None:
        if "Warn" in actions:
            warning = f"Validation failed for {where}: {failure.message}"
            if warning not in request.ctx.warnings:
                request.ctx.warnings.append(warning)
        if "Deny" in actions:
            why = f"{where} denied request: {failure.message}"
            refused = forbidden(request.ctx.resource.group_resource, request.name, why)
            reason = failure.reason or "Invalid"
            raise StatusError(
                _CODES.get(reason, 422), reason, refused.message,
                details=refused.details, causes=(Cause("", why),),
            )  # fmt: skip

    def _failures(
        self, spec: JSONObject, bound: JSONObject, request: AdmissionRequest
    ) -> Iterator[_Failure]:
        ignores = spec.get("failurePolicy") == "Ignore"
        try:
            for params in self._params(spec, bound, request):
                yield from self._evaluated(spec, params, request, ignores=ignores)
        except ExpressionError as error:
            if not ignores:
                yield _Failure(str(error), "")

    def _evaluated(
        self,
        spec: JSONObject,
        params: JSONObject | None,
        request: AdmissionRequest,
        *,
        ignores: bool,
    ) -> Iterator[_Failure]:
        namespace = self._backend.cached(NAMESPACES, "", request.ctx.namespace)
        data = variables_of(
            request, params=params, namespace=None if namespace is None else namespace.decode()
        )
        for condition in spec.get("matchConditions") or ():
            if not self._expressions.holds(condition["expression"], data):
                return
        for variable in spec.get("variables") or ():
            # One that has no value fails whoever uses it, and nobody else.
            try:
                value = self._expressions.value(variable["expression"], data)
            except ExpressionError:
                continue
            data["variables"][variable["name"]] = value
        for validation in spec.get("validations") or ():
            expression = validation["expression"]
            try:
                if self._expressions.holds(expression, data):
                    continue
                yield _Failure(self._message(validation, data), validation.get("reason") or "")
            except ExpressionError as error:
                if not ignores:
                    yield _Failure(f"expression '{expression}' resulted in error: {error}", "")

    def _message(self, validation: JSONObject, data: dict[str, Any]) -> str:  # Any: JSON values
        computed = validation.get("messageExpression")
        if computed:
            try:
                text = self._expressions.value(computed, data)
            except ExpressionError:
                text = ""
            if isinstance(text, str) and text.strip() and "\n" not in text:
                return text.strip()
        plain = (validation.get("message") or "").strip()
        return plain or f"failed expression: {validation['expression'].strip()}"

    def _params(
        self, spec: JSONObject, bound: JSONObject, request: AdmissionRequest
    ) -> list[JSONObject | None]:
        kind, reference = spec.get("paramKind"), bound.get("paramRef")
        if not kind or not reference:
            return [None]
        group, version = split_api_version(kind.get("apiVersion") or "")
        gvk = GroupVersionKind(group, version, kind.get("kind") or "")
        resource = self._backend.resources.by_kind(gvk)
        if resource is None:
            raise ExpressionError(
                f"failed to find resource referenced by paramKind: '{kind.get('apiVersion')}, "
                f"Kind={gvk.kind}'"
            )
        namespace = ""
        if resource.namespaced:
            namespace = reference.get("namespace") or request.ctx.namespace
        cacher = self._backend.caches.cacher(resource.storage)
        if reference.get("name"):
            version_found = cacher.get(namespace, reference["name"])
            found = [] if version_found is None else [version_found]
        else:
            selector = reference.get("selector") or {}
            listed = cacher.list(ListRequest(namespace=namespace)).versions
            found = [one for one in listed if label_matches(selector, one.labels)]
        if found:
            return [one.decode() for one in found]
        if reference.get("parameterNotFoundAction") == "Allow":
            return []
        raise ExpressionError(
            "no params found for policy binding with `Deny` parameterNotFoundAction"
        )


def _as_they_are(documents: list[JSONObject]) -> list[JSONObject]:
    return documents


def _constrains(constraints: JSONObject, ctx: RequestContext, operation: str) -> bool:
    rules = constraints.get("resourceRules")
    if any(rule_matches(r, ctx, operation) for r in constraints.get("excludeResourceRules") or ()):
        return False
    return not rules or any(rule_matches(rule, ctx, operation) for rule in rules)
