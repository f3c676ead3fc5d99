"""Which hooks a write concerns: the rules and selectors that webhooks and policies share.

Configurations are read from the caches when they have changed, and kept ready. Used by `webhooks`
and `policies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from listwatch.registry.admission.namespaces import NAMESPACES
from listwatch.registry.authorization.aggregation import label_matches
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource, Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.request import AdmissionRequest
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.registry.resources import ResourceTable

Compiled = TypeVar("Compiled")
_ANY = "*"


class Configurations(Generic[Compiled]):
    """The objects of one resource, compiled again when one of them has changed."""

    def __init__(
        self,
        backend: Backend,
        group_resource: GroupResource,
        compiled: Callable[[list[JSONObject]], list[Compiled]],
    ) -> None:
        self._cacher = backend.caches.cacher(group_resource)
        self._compiled = compiled
        self._seen: tuple[object, int] = (None, -1)
        self._found: list[Compiled] = []

    def now(self) -> list[Compiled]:
        """What holds now, in the order of names."""
        cacher = self._cacher
        seen = (cacher.versions, cacher.received)
        if seen != self._seen and cacher.ready:
            self._seen = seen
            versions = cacher.list(ListRequest()).versions
            self._found = self._compiled([version.decode() for version in versions])
        return self._found


def seen_as(
    rules: Iterable[JSONObject], hook: JSONObject, ctx: RequestContext, operation: str,
    resources: ResourceTable,
) -> Resource | None:  # fmt: skip
    """The resource as which a hook sees this write; None if none of its rules takes it.

    Unless its matchPolicy is Exact, a rule about another version or group of the same objects
    takes it as well, and these are shown as the rule names them.
    """
    if any(rule_matches(rule, ctx, operation) for rule in rules):
        return ctx.resource
    if hook.get("matchPolicy") == "Exact":
        return None
    for other in resources.equivalents(ctx.resource.storage):
        if other is not ctx.resource:
            as_other = replace(ctx, resource=other)
            if any(rule_matches(rule, as_other, operation) for rule in rules):
                return other
    return None


def rule_matches(rule: JSONObject, ctx: RequestContext, operation: str) -> bool:
    """Whether one rule is about this write; a resource name is checked if the rule has some."""
    resource = ctx.resource
    scope = rule.get("scope") or _ANY
    if scope != _ANY and scope != ("Namespaced" if resource.namespaced else "Cluster"):
        return False
    names = rule.get("resourceNames")
    return (
        _among(operation, rule.get("operations"))
        and _among(resource.group, rule.get("apiGroups"))
        and _among(resource.version, rule.get("apiVersions"))
        and any(_is_resource(one, ctx) for one in rule.get("resources") or ())
        and (not names or ctx.name in names)
    )


def selectors_match(hook: JSONObject, request: AdmissionRequest, backend: Backend) -> bool:
    """Whether namespaceSelector and objectSelector of a hook take this write."""
    selector = hook.get("objectSelector") or {}
    if selector and not any(
        label_matches(selector, document["metadata"].get("labels") or {})
        for document in (request.document, request.old)
        if document is not None
    ):
        return False
    selector = hook.get("namespaceSelector") or {}
    if not selector:
        return True
    if request.ctx.resource.storage == NAMESPACES:
        labels = request.either["metadata"].get("labels") or {}
    elif not request.ctx.resource.namespaced:
        return True
    else:
        namespace = backend.cached(NAMESPACES, "", request.ctx.namespace)
        labels = {} if namespace is None else namespace.labels
    return label_matches(selector, labels)


def _among(value: str, listed: Iterable[str] | None) -> bool:
    found = listed or ()
    return value in found or _ANY in found


def _is_resource(pattern: str, ctx: RequestContext) -> bool:
    resource, _, subresource = pattern.partition("/")
    fits = resource in (_ANY, ctx.resource.resource)
    return fits and (subresource == _ANY or subresource == ctx.subresource)
