"""Get, list and watch: which revision a request means, and who has it.

The table is upstream's (KEP 2340, 3157, 4988): consistent, any, not older than, exact, continued.
Versions come from `watchcache` in the stored form; `api` writes them as they are asked for.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from listwatch.protocol import continue_tokens
from listwatch.protocol.continue_tokens import NEWEST, ContinueToken
from listwatch.protocol.errors import StatusError, bad_request, expired, not_found
from listwatch.protocol.options import EXACT, parse_revision
from listwatch.protocol.selectors import FieldSelector, Selector
from listwatch.registry.conversions import by_webhook
from listwatch.schemas.kinds import stored_field
from listwatch.watchcache.requests import ListRequest, WatchRequest

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.options import ListOptions
    from listwatch.protocol.representations import Representation
    from listwatch.protocol.versions import Version
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.requests import ClientInfo, ListResult
    from listwatch.watchcache.watcher import CacheWatcher

_LIST_TOO_OLD = "The resourceVersion for the provided list is too old."
_CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


async def get(backend: Backend, ctx: RequestContext, revision: str = "") -> Version:
    """One object: the newest (''), any ('0') or not older than a revision; raises 404, 504."""
    number = parse_revision(revision, prefix="")
    if not revision:
        await backend.fresh()
    elif number:
        await backend.reached(number)
    version = backend.cached(ctx.resource.storage, ctx.namespace, ctx.name)
    if version is None:
        raise not_found(ctx.resource.group_resource, ctx.name)
    return version


async def list_objects(backend: Backend, ctx: RequestContext, options: ListOptions) -> ListResult:
    """A page of objects in key order; raises 400, 410, 504.

    A 410 of a continued list carries a token to go on with, at whatever is newest.
    """
    cacher = backend.caches.cacher(ctx.resource.storage)
    selector = selector_of(ctx, options)
    if options.continue_token:
        return await _continued(backend, ctx, options, selector)
    request = ListRequest(
        namespace=ctx.namespace,
        name=selector.fields.requires("metadata.name") or "",
        selector=selector,
        limit=_limit(backend, options),
    )
    number = parse_revision(options.resource_version)
    if not options.resource_version:
        await backend.fresh()
        return cacher.list(request)
    if number == 0:
        # Upstream's cache gives everything here, whatever the limit; reflectors count on it.
        return cacher.list(_unlimited(request))
    await backend.reached(number)
    exact = options.resource_version_match == EXACT
    if exact or (options.limit and not options.resource_version_match):
        return await _exact(cacher, number, request)
    return cacher.list(request)


async def watch(
    backend: Backend,
    ctx: RequestContext,
    options: ListOptions,
    representation: Representation,
    client: ClientInfo,
) -> CacheWatcher:
    """A stream of events; raises 400, or 504 where it shall begin with a state not reached yet.

    It begins with the state for sendInitialEvents, and for the deprecated paths that never say;
    else with what follows the revision.
    """
    text, number = options.resource_version, parse_revision(options.resource_version, prefix="")
    initial = options.send_initial_events
    if initial is None:
        initial = number == 0
        revision = number or None
    else:
        revision = await backend.freshness() if not text else number or None
    selector = selector_of(ctx, options)
    cacher = backend.caches.cacher(ctx.resource.storage)
    return await cacher.watch(
        WatchRequest(
            representation=representation,
            namespace=ctx.namespace,
            name=selector.fields.requires("metadata.name") or "",
            selector=selector,
            revision=revision,
            initial_events=initial,
            bookmarks=options.allow_watch_bookmarks,
            timeout=_timeout(backend, options),
            client=client,
        )
    )


def selector_of(ctx: RequestContext, options: ListOptions) -> Selector:
    """What the options select, under the names that versions know; raises 400."""
    fields = options.field_selector
    if not fields.empty:
        resource = ctx.resource
        fields = fields.check(
            resource.selectable_fields,
            namespaced=resource.namespaced,
            custom=resource.custom is not None,
        )
        _check_stored_fields(resource, fields)
        if resource.storage != resource.group_resource:
            fields = FieldSelector(
                tuple(term._replace(key=stored_field(resource, term.key)) for term in fields.terms)
            )
    return Selector(options.label_selector, fields)


def _check_stored_fields(resource: Resource, fields: FieldSelector) -> None:
    # Versions in the cache know the fields of the form that is kept: one that a webhook makes up
    # would be missing from each, and the answer would look as if nothing had been found.
    custom = resource.custom
    if custom is None or resource.version == custom.stored_version or not by_webhook(resource):
        return
    for term in fields.terms:
        if not term.key.startswith("metadata.") and term.key not in custom.stored_selectable:
            why = f"a webhook makes it of {custom.stored_version}, where it cannot be selected"
            raise bad_request(f"field label not supported: {term.key}: {why}")


async def _continued(
    backend: Backend, ctx: RequestContext, options: ListOptions, selector: Selector
) -> ListResult:
    if parse_revision(options.resource_version):
        raise bad_request("specifying resource version is not allowed when using continue")
    token = continue_tokens.decode(options.continue_token)
    cacher = backend.caches.cacher(ctx.resource.storage)
    request = ListRequest(
        namespace=ctx.namespace,
        selector=selector,
        start_key=token.start_key(ctx.namespace),
        # As without a token: where any version will do, there are no pages.
        limit=0 if options.resource_version == "0" else _limit(backend, options),
    )
    if token.revision < 0:
        await backend.fresh()
        return cacher.list(request)
    await backend.reached(token.revision)
    try:
        return await cacher.list_at(token.revision, request)
    except StatusError as error:
        if error.code != 410:
            raise
        again = ContinueToken(token.start, NEWEST).encode()
        raise expired(_CONTINUE_TOO_OLD, continue_token=again) from None


async def _exact(cacher: Cacher, revision: int, request: ListRequest) -> ListResult:
    try:
        return await cacher.list_at(revision, request)
    except StatusError as error:
        if error.code != 410:
            raise
        raise expired(_LIST_TOO_OLD) from None


def _limit(backend: Backend, options: ListOptions) -> int:
    most = backend.options.page_limit
    return min(options.limit or most, most) if most else options.limit


def _unlimited(request: ListRequest) -> ListRequest:
    return ListRequest(request.namespace, request.name, request.selector)


def _timeout(backend: Backend, options: ListOptions) -> float:
    if options.timeout_seconds:
        return max(float(options.timeout_seconds), 0.0)
    # Spread, so that the watches of one moment do not all come back in one moment.
    shortest = backend.options.watch_timeout
    return random.uniform(shortest, 2 * shortest)  # noqa: S311 (no secret)
