"""The registry: one door for every read and write of an object, API and admin alike.

Each verb is in a file of its own; this one knows which of them a request means. Refusals are
StatusErrors. Writes go on to `store`, reads come from `watchcache`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from listwatch.protocol.errors import method_not_allowed
from listwatch.protocol.options import APPLY_PATCH
from listwatch.registry import binding, bootstrapping, eviction, pod_logs, reads, scale
from listwatch.registry.admission.chain import Admission
from listwatch.registry.allocation import SERVICES, ServiceAllocator
from listwatch.registry.apply import apply
from listwatch.registry.authorization.authorizer import Authorizer
from listwatch.registry.authorization.bootstrap import make_roles
from listwatch.registry.authorization.index import RoleIndex
from listwatch.registry.backend import Backend
from listwatch.registry.conversions import by_webhook
from listwatch.registry.create import create
from listwatch.registry.custom_resources.conversion import Converter
from listwatch.registry.delete import delete, delete_collection
from listwatch.registry.history import Revision, history
from listwatch.registry.json_web_tokens import SigningKey
from listwatch.registry.patch import patch
from listwatch.registry.reviews import GROUPS as REVIEW_GROUPS
from listwatch.registry.reviews import Reviews
from listwatch.registry.service_accounts import ServiceAccountTokens
from listwatch.registry.update import update

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.options import DeleteOptions, ListOptions
    from listwatch.protocol.representations import Representation
    from listwatch.protocol.versions import Version
    from listwatch.registry.context import Deleted, RequestContext, Written
    from listwatch.registry.pod_logs import LogOptions
    from listwatch.watchcache.requests import ClientInfo, ListResult
    from listwatch.watchcache.watcher import CacheWatcher

# What has the form of the whole object, of which it changes a part.
_PARTS = ("status", "approval", "ephemeralcontainers", "resize")


class Registry:
    """What can be done with objects.

    Promises: a write that returned is durable, and every consistent read that begins after it
    sees it, whoever asks; a refused write left nothing behind. A request must be authorized
    before, and its options read and valid. Documents that are handed over are used up. Owned by
    one event loop; no method blocks it.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.resources = backend.resources
        self.options = backend.options
        self.authorizer = Authorizer(RoleIndex(backend.caches))
        self.converter = Converter(backend)
        backend.allocators[SERVICES] = ServiceAllocator(backend.caches)
        backend.authorizer = self.authorizer
        self.admission = backend.admission = Admission(backend, self.authorizer)
        key = SigningKey(self.options.data / "service-account.key")
        self.accounts = ServiceAccountTokens(backend, key)
        self.reviews = Reviews(backend, self.authorizer, self.accounts)

    async def get(self, ctx: RequestContext, revision: str = "") -> Version:
        """One object, not older than a revision; a Scale if that was asked for.

        Raises 404, 504.
        """
        if ctx.subresource in pod_logs.STREAMS:
            raise await pod_logs.refuse_stream(self._backend, ctx)
        version = await reads.get(self._backend, ctx, revision)
        [version] = await self.converter.versions(ctx.resource, [version])
        return scale.scale_version(ctx, version) if ctx.subresource == "scale" else version

    async def log(self, ctx: RequestContext, options: LogOptions) -> str:
        """What a container of a pod wrote, as far as it was recorded; raises 400, 404."""
        return await pod_logs.read_log(self._backend, ctx, options)

    async def list(self, ctx: RequestContext, options: ListOptions) -> ListResult:
        """Objects in key order, as they stood at one revision; raises 400, 410, 504."""
        found = await reads.list_objects(self._backend, ctx, options)
        if by_webhook(ctx.resource):
            versions = await self.converter.versions(ctx.resource, found.versions)
            found = found._replace(versions=versions)
        return found

    async def watch(
        self,
        ctx: RequestContext,
        options: ListOptions,
        representation: Representation,
        client: ClientInfo,
    ) -> CacheWatcher:
        """A stream of events; raises 400, 504."""
        return await reads.watch(self._backend, ctx, options, representation, client)

    async def history(self, ctx: RequestContext, limit: int) -> Sequence[Revision]:
        """The revisions of one object that the log still holds, newest first."""
        return await history(self._backend, self.converter, ctx, limit)

    async def create(self, ctx: RequestContext, document: JSONObject) -> Written:
        """Make an object, bind or evict a pod; raises 400, 403, 404, 409, 422, 429."""
        if ctx.resource.group in REVIEW_GROUPS:
            return await self.reviews.create(ctx, document)
        if ctx.subresource == "token":
            return await self.accounts.request(ctx, document)
        if ctx.subresource == "binding":
            return await binding.bind(self._backend, ctx, document)
        if ctx.resource.gvk == binding.BINDING:
            return await binding.bind_named(self._backend, ctx, document)
        if ctx.subresource == "eviction":
            return await eviction.evict(self._backend, ctx, document)
        await self._refuse_stream(ctx)
        self._refuse_subresource(ctx, "create")
        return await self._converted(ctx, lambda: create(self._backend, ctx, document))

    async def update(self, ctx: RequestContext, document: JSONObject) -> Written:
        """Replace an object, its status, its scale or its finalizers; raises 400, 404, 409, 422."""
        if ctx.subresource == "scale":
            return await scale.update_scale(self._backend, ctx, document)
        await self._refuse_stream(ctx)
        self._refuse_subresource(ctx, "update", *_PARTS, "finalize")
        return await self._converted(ctx, lambda: update(self._backend, ctx, document))

    async def patch(self, ctx: RequestContext, patch_type: str, document: Any) -> Written:
        """Change an object, its status or its scale by a patch (Any: JSON), or apply it.

        Raises 400, 404, 409, 415, 422.
        """
        if ctx.subresource == "scale" and patch_type == APPLY_PATCH:
            return await scale.apply_scale(self._backend, ctx, document)
        if ctx.subresource == "scale":
            return await scale.patch_scale(self._backend, ctx, patch_type, document)
        await self._refuse_stream(ctx)
        self._refuse_subresource(ctx, "patch", *_PARTS)
        if patch_type == APPLY_PATCH:
            return await self._converted(ctx, lambda: apply(self._backend, ctx, document))
        return await self._converted(ctx, lambda: patch(self._backend, ctx, patch_type, document))

    async def delete(self, ctx: RequestContext, options: DeleteOptions) -> Deleted:
        """Delete an object, or begin to; raises 403, 404, 409."""
        await self._refuse_stream(ctx)
        self._refuse_subresource(ctx, "delete")
        deleted = await delete(self._backend, ctx, options)
        if deleted.encoded is None or not by_webhook(ctx.resource):
            return deleted
        return deleted._replace(
            encoded=await self.converter.encoded(ctx.resource, deleted.encoded, deleted.revision)
        )

    async def delete_collection(
        self, ctx: RequestContext, options: DeleteOptions, selected: ListOptions
    ) -> Sequence[Version]:
        """Delete one by one what a list finds, and give that list; raises what these raise."""
        found = await delete_collection(self._backend, ctx, options, selected)
        return await self.converter.versions(ctx.resource, found)

    async def close(self) -> None:
        """Let go of the connections to webhooks."""
        await self.admission.close()
        await self.converter.close()

    async def catch_up(self) -> None:
        """Wait until every answer from memory counts what was committed before this call."""
        await self._backend.fresh()

    async def bootstrap(self) -> None:
        """Make what every cluster has, where it is missing: before the first request."""
        await bootstrapping.make_namespaces(self)
        await bootstrapping.make_priorities(self)
        await bootstrapping.make_flow_control(self, self._backend.clock.now())
        await make_roles(self)

    async def _converted(
        self, ctx: RequestContext, work: Callable[[], Awaitable[Written]]
    ) -> Written:
        """What a write answers, in the version that was asked for."""
        if not by_webhook(ctx.resource):
            return await work()
        written = await self.converter.run(work)
        encoded = await self.converter.encoded(ctx.resource, written.encoded, written.revision)
        return written._replace(encoded=encoded)

    async def _refuse_stream(self, ctx: RequestContext) -> None:
        if ctx.subresource in pod_logs.STREAMS:
            raise await pod_logs.refuse_stream(self._backend, ctx)

    def _refuse_subresource(self, ctx: RequestContext, verb: str, *known: str) -> None:
        if ctx.subresource and ctx.subresource not in known:
            raise method_not_allowed(ctx.resource.group_resource, verb)
