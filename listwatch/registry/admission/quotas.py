"""ResourceQuotas: no write may take a namespace over what it is given.

Decided from the caches and again inside the transaction of the write, where whatever was committed
since counts, too: two writes at once cannot both take the last place. What is used is counted
from the objects themselves, never from the quota's status, which a controller keeps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import orjson

from listwatch.protocol.errors import StatusError, forbidden
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.quantities import Quantity
from listwatch.protocol.versions import ChangeType
from listwatch.registry.admission.request import CREATE, DELETE, AdmissionRequest, Plugin
from listwatch.registry.backend import DecideAgain
from listwatch.schemas import amounts
from listwatch.schemas.amounts import Amounts
from listwatch.schemas.quota_usage import (
    CLAIMS,
    PODS,
    SERVICES,
    counts_only,
    fits,
    must_say,
    usage,
)
from listwatch.store import reads
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard, Transaction

QUOTAS = GroupResource("", "resourcequotas")
_GROWING = frozenset((SERVICES, CLAIMS))  # what an update can make use more
_AT_ONCE = 10_000  # changes of one kind between a decision and its write, at most
_NONE = Quantity.of(0)


class _Quota(NamedTuple):
    """One quota, as far as it is about one kind."""

    name: str
    hard: Amounts
    document: JSONObject

    def takes(self, resource: GroupResource, document: JSONObject) -> bool:
        """Whether the object counts here."""
        return fits(self.document, resource, document)

    def used(self, resource: GroupResource, document: JSONObject) -> Amounts:
        """What an object uses of it."""
        return self._own(resource, document, usage(resource, document))

    def used_by(self, resource: GroupResource, body: bytes) -> Amounts:
        """The same of a stored object."""
        return self._own(resource, *_read(resource, body))

    def _own(self, resource: GroupResource, document: JSONObject, used: Amounts) -> Amounts:
        if not self.takes(resource, document):
            return {}
        return {name: amount for name, amount in used.items() if name in self.hard}


@lru_cache(maxsize=4096)  # the same objects are added up at every write
def _read(resource: GroupResource, body: bytes) -> tuple[JSONObject, Amounts]:
    document: JSONObject = orjson.loads(body)
    return document, usage(resource, document)


class QuotaPlugin(Plugin):
    """Refuses what would exceed a quota of the namespace."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._quotas = backend.caches.cacher(QUOTAS)

    def concerns(self, ctx: RequestContext, operation: str, document: JSONObject | None) -> bool:
        """Where the namespace has a quota, whatever can use more of it."""
        if not len(self._quotas.versions) or operation == DELETE or not ctx.resource.namespaced:
            return False
        if operation == CREATE:
            grows = not ctx.subresource
        elif ctx.resource.storage == PODS:
            grows = ctx.subresource == "resize"
        else:
            grows = not ctx.subresource and ctx.resource.storage in _GROWING
        return grows and bool(self._quotas.list(ListRequest(namespace=ctx.namespace)).versions)

    async def check(self, request: AdmissionRequest) -> Guard | None:
        """Raise 403 if a quota is exceeded; the guard raises likewise."""
        assert request.document is not None
        resource, namespace = request.ctx.resource.storage, request.ctx.namespace
        checks = [
            check
            for quota in self._of(namespace)
            if (check := self._checked(request, quota)) is not None
        ]
        if not checks:
            return None
        since, documents = self._documents(resource, namespace, checks)

        def guard(transaction: Transaction) -> None:
            now = dict(documents)
            counted = 0
            if any(check.by_count for check in checks):
                counted = transaction.count(resource, namespace)
            if not all(check.by_count for check in checks):
                _follow(now, since, resource, namespace)
            for check in checks:
                check.refuse_if_exceeded(now, counted)

        count = len(documents)
        if any(check.by_count for check in checks):
            listed = ListRequest(namespace=namespace)
            count = len(self._backend.caches.cacher(resource).list(listed).versions)
        for check in checks:
            check.refuse_if_exceeded(documents, count)
        return None if request.ctx.dry_run else guard

    def _of(self, namespace: str) -> list[_Quota]:
        quotas = []
        for version in self._quotas.list(ListRequest(namespace=namespace)).versions:
            document = version.decode()
            hard = amounts.read((document.get("spec") or {}).get("hard"))
            quotas.append(_Quota(version.name, hard, document))
        return quotas

    def _checked(self, request: AdmissionRequest, quota: _Quota) -> _Check | None:
        assert request.document is not None
        resource = request.ctx.resource.storage
        if resource == PODS and request.operation == CREATE:
            if not quota.takes(resource, request.document):
                return None
            missing = must_say(set(quota.hard), request.document.get("spec") or {})
            if missing:
                told = "; ".join(f"{name} for: {','.join(who)}" for name, who in missing.items())
                why = f"failed quota: {quota.name}: must specify {told}"
                raise forbidden(request.ctx.resource.group_resource, request.name, why)
        new = quota.used(resource, request.document)
        old = {} if request.old is None else quota.used(resource, request.old)
        more = {
            name: new[name] - old.get(name, _NONE)
            for name in new
            if old.get(name, _NONE) < new[name]
        }
        return _Check(request, quota, more) if more else None

    def _documents(
        self, resource: GroupResource, namespace: str, checks: list[_Check]
    ) -> tuple[int, dict[str, bytes]]:
        applied = self._backend.caches.progress.applied
        if all(check.by_count for check in checks):
            return applied, {}
        listed = ListRequest(namespace=namespace)
        versions = self._backend.caches.cacher(resource).list(listed).versions
        return applied, {version.name: version.encoded.body for version in versions}


class _Check:
    """Whether one quota can take what one write wants more of it."""

    def __init__(self, request: AdmissionRequest, quota: _Quota, more: Amounts) -> None:
        self._resource = request.ctx.resource.storage
        self._shown = request.ctx.resource.group_resource
        self._name = request.name
        self._quota = quota
        self._more = more
        has_scopes = bool(quota.document["spec"].get("scopes"))
        has_scopes = has_scopes or bool(quota.document["spec"].get("scopeSelector"))
        self.by_count = counts_only(self._resource, set(more)) and not has_scopes

    def refuse_if_exceeded(self, documents: dict[str, bytes], counted: int) -> None:
        """Raise 403 if these objects and this write together use more than there is."""
        used = self._used(documents, counted)
        exceeded = [
            name
            for name, amount in self._more.items()
            if self._quota.hard[name] < used.get(name, _NONE) + amount
        ]
        if exceeded:
            raise self._refusal(exceeded, used)

    def _used(self, documents: dict[str, bytes], counted: int) -> Amounts:
        if self.by_count:
            return dict.fromkeys(self._more, Quantity.of(counted))
        used: Amounts = {}
        for body in documents.values():
            used = amounts.add(used, self._quota.used_by(self._resource, body))
        return used

    def _refusal(self, exceeded: list[str], used: Amounts) -> StatusError:
        why = (
            f"exceeded quota: {self._quota.name}, "
            f"requested: {amounts.text(self._more, exceeded)}, "
            f"used: {amounts.text(used, exceeded)}, "
            f"limited: {amounts.text(self._quota.hard, exceeded)}"
        )
        return forbidden(self._shown, self._name, why)


def _follow(
    documents: dict[str, bytes], since: int, resource: GroupResource, namespace: str
) -> None:
    # The log is locked: what it holds now is all that there is before this write.
    try:
        later = reads.changes(since, _AT_ONCE, resource)
    except reads.Compacted:
        raise DecideAgain from None
    if len(later) >= _AT_ONCE:
        raise DecideAgain
    for change in later:
        if change.namespace != namespace:
            continue
        if change.type is ChangeType.DELETED:
            documents.pop(change.name, None)
        else:
            documents[change.name] = change.encoded.body
