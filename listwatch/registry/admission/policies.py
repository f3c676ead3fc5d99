"""What the two kinds of admission policies share: which are bound to a write, and what they see.

Upstream: apiserver/pkg/admission/plugin/policy/generic. Without the extra `cel` a policy counts as
one that cannot be evaluated: its failurePolicy decides, and says what to install.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.protocol.kinds import GroupResource, GroupVersionKind, split_api_version
from listwatch.registry.admission.expressions import (
    VARIABLES,
    ExpressionError,
    Expressions,
    decider,
    variables_of,
)
from listwatch.registry.admission.hooks import (
    Configurations,
    rule_matches,
    seen_as,
    selectors_match,
)
from listwatch.registry.admission.namespaces import NAMESPACES
from listwatch.registry.admission.request import AdmissionRequest, Plugin
from listwatch.registry.authorization.aggregation import label_matches
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext

GROUP = "admissionregistration.k8s.io"


class Bound(NamedTuple):
    """A policy with a binding that takes a write; `seen` is the resource as the policy names it."""

    policy: JSONObject
    binding: JSONObject
    seen: Resource

    @property
    def spec(self) -> JSONObject:
        """The spec of the policy."""
        found: JSONObject = self.policy["spec"]
        return found

    @property
    def ignores_failures(self) -> bool:
        """Whether a write goes on if an expression has no value."""
        return self.spec.get("failurePolicy") == "Ignore"

    @property
    def where(self) -> str:
        """Policy and binding, as refusals name them."""
        name, there = (one["metadata"]["name"] for one in (self.policy, self.binding))
        return f"'{name}' with binding '{there}'"


class Policies(Plugin):
    """The policies of one kind with their bindings."""

    def __init__(
        self, backend: Backend, authorizer: Authorizer, policies: str, bindings: str
    ) -> None:
        self.backend = backend
        self.expressions = Expressions(VARIABLES, decider(authorizer))
        self._policies = Configurations(backend, GroupResource(GROUP, policies), _as_they_are)
        self._bindings = Configurations(backend, GroupResource(GROUP, bindings), _as_they_are)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Whether any policy that is bound takes such writes."""
        return bool(self._bindings.now()) and any(
            self._seen_by(policy["spec"].get("matchConstraints") or {}, ctx, operation)
            for policy in self._policies.now()
        )

    def bound(self, request: AdmissionRequest) -> Iterator[Bound]:
        """The policies that take a write, each with each of its bindings that does."""
        for policy in self._policies.now():
            seen = self._matching(policy["spec"].get("matchConstraints") or {}, request)
            if seen is None:
                continue
            for binding in self._bindings.now():
                if binding["spec"].get("policyName") != policy["metadata"]["name"]:
                    continue
                resources = binding["spec"].get("matchResources")
                if not resources or self._matching(resources, request):
                    yield Bound(policy, binding, seen)

    def variables(
        self, bound: Bound, params: JSONObject | None, request: AdmissionRequest
    ) -> dict[str, Any] | None:  # Any: JSON values
        """What its expressions see; None if its conditions leave the write out.

        Raises ExpressionError.
        """
        namespace = None
        if request.ctx.resource.namespaced:
            version = self.backend.cached(NAMESPACES, "", request.ctx.namespace)
            namespace = None if version is None else version.decode()
        data = variables_of(request, bound.seen, params=params, namespace=namespace)
        spec = bound.spec
        for condition in spec.get("matchConditions") or ():
            if not self.expressions.holds(condition["expression"], data):
                return None
        for variable in spec.get("variables") or ():
            # One that has no value fails whoever uses it, and nobody else.
            try:
                value = self.expressions.value(variable["expression"], data)
            except ExpressionError:
                continue
            data["variables"][variable["name"]] = value
        return data

    def params(self, bound: Bound, request: AdmissionRequest) -> list[JSONObject | None]:
        """The parameters of a binding, one or several; raises ExpressionError if there are none."""
        kind, reference = bound.spec.get("paramKind"), bound.binding["spec"].get("paramRef")
        if not kind or not reference:
            return [None]
        group, version = split_api_version(kind.get("apiVersion") or "")
        gvk = GroupVersionKind(group, version, kind.get("kind") or "")
        resource = self.backend.resources.by_kind(gvk)
        if resource is None:
            raise ExpressionError(
                f"failed to find resource referenced by paramKind: '{kind.get('apiVersion')}, "
                f"Kind={gvk.kind}'"
            )
        namespace = ""
        if resource.namespaced:
            namespace = reference.get("namespace") or request.ctx.namespace
        cacher = self.backend.caches.cacher(resource.storage)
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

    def _matching(self, constraints: JSONObject, request: AdmissionRequest) -> Resource | None:
        if not selectors_match(constraints, request, self.backend):
            return None
        return self._seen_by(constraints, request.ctx, request.operation)

    def _seen_by(
        self, constraints: JSONObject, ctx: RequestContext, operation: str
    ) -> Resource | None:
        excluded = constraints.get("excludeResourceRules") or ()
        if any(rule_matches(rule, ctx, operation) for rule in excluded):
            return None
        rules = constraints.get("resourceRules")
        if not rules:
            return ctx.resource
        return seen_as(rules, constraints, ctx, operation, self.backend.resources)


def _as_they_are(documents: list[JSONObject]) -> list[JSONObject]:
    return documents
