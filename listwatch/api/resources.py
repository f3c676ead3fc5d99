"""Objects over HTTP: list, get, create, update, patch, delete, and the subresources.

Each view finds the resource of its path, reads the options and the body, has the registry do the
work and answers what that returns. What a write means is decided in `registry`.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import MethodNotAllowed

from listwatch.api import negotiation
from listwatch.api.answers import ListAnswer, ObjectAnswer
from listwatch.api.exceptions import PageNotFoundError
from listwatch.api.parsers import (
    ApplyPatchParser,
    Body,
    JSONPatchParser,
    MergePatchParser,
    StrategicMergePatchParser,
)
from listwatch.api.renderers import JSONRenderer, TransformRenderer, YAMLRenderer
from listwatch.api.responses import KubernetesResponse, TextResponse
from listwatch.api.views import NEGOTIATION, KubernetesView
from listwatch.api.warnings import DEPRECATIONS
from listwatch.api.watch import watch_response
from listwatch.protocol.continue_tokens import ContinueToken
from listwatch.protocol.errors import method_not_served, not_found, resource_not_found
from listwatch.protocol.options import (
    FIELD_MANAGER_LENGTH,
    DeleteOptions,
    GetOptions,
    ListOptions,
    WriteOptions,
)
from listwatch.registry.context import RequestContext
from listwatch.registry.pod_logs import LogOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rest_framework.parsers import BaseParser
    from rest_framework.request import Request

    from listwatch.protocol.kinds import Resource, Subresource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import Deleted, Written

    _Verb = Callable[[RequestContext, JSONObject], Awaitable[Written]]

_PATCH_PARSERS: list[BaseParser] = [
    JSONPatchParser(),
    MergePatchParser(),
    StrategicMergePatchParser(),
    ApplyPatchParser(),
]


class ResourceView(KubernetesView):
    """What all views of objects share: the resource of the path, and the registry's context."""

    transforms = negotiation.OBJECTS
    renderer_classes = (JSONRenderer, YAMLRenderer, TransformRenderer)
    resource: Resource = None  # type: ignore[assignment]  # until `resolve` has found it
    subresource: Subresource | None = None
    asked: RequestContext | None = None

    def resolve(self, request: Request) -> None:
        """Find the resource; raises 404 for a path that has none, 405 for a verb it has not."""
        info = self.plain.info
        resources = self.plain.services.runtime.resources
        found = resources.find(info.group, info.version, info.resource)
        if found is None or not _fits(found, info.namespace, info.name):
            if resources.is_built_in(info.group):
                raise resource_not_found()
            raise PageNotFoundError
        self.resource = found
        verbs = self.allowed()
        if info.verb not in verbs or self.plain.method == "HEAD":
            raise method_not_served()

    def allowed(self) -> frozenset[str]:
        """The verbs that this path has."""
        return self.resource.verbs

    def finish(self, request: Request, response: KubernetesResponse) -> KubernetesResponse:
        """Warn of a deprecated resource, and of the body, whatever came of the request."""
        if self.asked is not None and not response.warnings:
            response.warnings = list(self.asked.warnings)
        if self.resource is not None:
            custom = self.resource.custom
            deprecation = DEPRECATIONS.get(self.resource.gvk) if custom is None else custom.warning
            if deprecation:
                response.warnings = [deprecation, *response.warnings]
        return super().finish(request, response)

    def context(self, request: Request, options: WriteOptions | None = None) -> RequestContext:
        """Who asks for what, for the registry."""
        info, user = self.plain.info, request.user
        ctx = RequestContext(
            user=user,  # type: ignore[arg-type]
            resource=self.resource,
            subresource=info.subresource,
            namespace=info.namespace if self.resource.namespaced else "",
            name=info.name,
        )
        if options is not None:
            ctx.dry_run = options.dry_run
            ctx.field_manager = options.field_manager or _manager(self.plain.agent)
            ctx.field_validation = options.field_validation
        self.asked = ctx
        return ctx

    def body(self, request: Request) -> Any:  # Any: a Body, or a patch
        """What the parser makes of the body, also of an empty one; raises 400 or 415."""
        # As DRF's `request.data`, which takes an empty body for none, and its time for all others.
        parser = NEGOTIATION.select_parser(request, self.get_parsers())
        return parser.parse(io.BytesIO(self.plain.whole), request.content_type, {})

    def document(self, request: Request, ctx: RequestContext) -> dict[str, Any]:  # Any: JSON
        """The object that was sent."""
        body: Body = self.body(request)
        ctx.duplicates, ctx.members = body.duplicates, body.members
        return body.document

    async def write(self, request: Request, kind: str, verb: _Verb) -> KubernetesResponse:
        """Hand a whole object to a verb of the registry; `kind` is that of the options."""
        options = WriteOptions.from_query(self.plain.query, kind)
        ctx = self.context(request, options)
        return self.written(ctx, await verb(ctx, self.document(request, ctx)))

    def written(self, ctx: RequestContext, written: Written) -> KubernetesResponse:
        """The answer to a write."""
        response = KubernetesResponse(
            ObjectAnswer(self.resource, written.encoded, written.revision),
            status=201 if written.created else 200,
        )
        response.warnings = ctx.warnings
        return response


class CollectionView(ResourceView):
    """All objects of a resource, in one namespace or in all."""

    def allowed(self) -> frozenset[str]:
        """Of a namespaced resource, all namespaces together can only be looked at."""
        verbs = super().allowed()
        if self.resource.namespaced and not self.plain.info.namespace:
            return verbs & {"list", "watch"}
        return verbs

    async def get(self, request: Request) -> KubernetesResponse:
        """List, or watch."""
        services = self.plain.services
        options = ListOptions.from_query(
            self.plain.query, streaming_lists=services.runtime.options.streaming_lists
        )
        ctx = self.context(request)
        if options.watch:
            return await watch_response(self.plain, ctx, options)
        result = await services.runtime.registry.list(ctx, options)
        token = ""
        if result.next_key is not None:
            token = ContinueToken.after(result.next_key, ctx.namespace, result.revision).encode()
        return KubernetesResponse(
            ListAnswer(self.resource, result.versions, result.revision, token, result.remaining)
        )

    async def post(self, request: Request) -> KubernetesResponse:
        """Create."""
        registry = self.plain.services.runtime.registry
        return await self.write(request, "CreateOptions", registry.create)

    async def delete(self, request: Request) -> KubernetesResponse:
        """Delete whatever the selectors match."""
        selection = ListOptions.from_query(self.plain.query)
        options = self.delete_options(request)
        ctx = self.context(request)
        ctx.dry_run = options.dry_run
        registry = self.plain.services.runtime.registry
        versions = await registry.delete_collection(ctx, options, selection)
        revision = self.plain.services.runtime.caches.progress.applied
        return KubernetesResponse(ListAnswer(self.resource, versions, revision))

    def delete_options(self, request: Request) -> DeleteOptions:
        """The options of the body, or of the query if there is none."""
        return _delete_options(self, request)


class ObjectView(ResourceView):
    """One object by its name."""

    def get_parsers(self) -> list[BaseParser]:
        """A patch has parsers of its own."""
        return _PATCH_PARSERS if self.plain.method == "PATCH" else super().get_parsers()

    async def get(self, request: Request) -> KubernetesResponse:
        """Get."""
        options = GetOptions.from_query(self.plain.query)
        ctx = self.context(request)
        version = await self.plain.services.runtime.registry.get(ctx, options.resource_version)
        return KubernetesResponse(ObjectAnswer.of(self.resource, version))

    async def put(self, request: Request) -> KubernetesResponse:
        """Update."""
        registry = self.plain.services.runtime.registry
        return await self.write(request, "UpdateOptions", registry.update)

    async def patch(self, request: Request) -> KubernetesResponse:
        """Patch, by the kind of patch that the Content-Type names."""
        given = (request.content_type or "").partition(";")[0].strip().lower()
        parser = NEGOTIATION.select_parser(request, self.get_parsers())
        options = WriteOptions.from_query(self.plain.query, "PatchOptions", patch_type=given)
        ctx = self.context(request, options)
        ctx.force = bool(options.force)
        patch = self.body(request)
        if isinstance(patch, Body):
            patch, ctx.duplicates, ctx.members = patch
        registry = self.plain.services.runtime.registry
        written = await registry.patch(ctx, parser.media_type or "", patch)
        return self.written(ctx, written)

    async def delete(self, request: Request) -> KubernetesResponse:
        """Delete, at once or gracefully."""
        options = _delete_options(self, request)
        ctx = self.context(request)
        ctx.dry_run = options.dry_run
        deleted = await self.plain.services.runtime.registry.delete(ctx, options)
        waits = not deleted.gone and options.orphan_dependents is False
        response = KubernetesResponse(self._deleted(deleted), status=202 if waits else 200)
        response.warnings = ctx.warnings
        return response

    def _deleted(self, deleted: Deleted) -> Any:  # Any: an object, or a Status
        if deleted.encoded is not None:
            return ObjectAnswer(self.resource, deleted.encoded, deleted.revision)
        details = {
            "name": self.plain.info.name,
            "group": self.resource.group,
            "kind": self.resource.resource,
            "uid": deleted.uid,
        }
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {key: value for key, value in details.items() if value},
        }


class SubresourceView(ObjectView):
    """A part of an object with a path of its own: status, scale, binding, finalize."""

    def allowed(self) -> frozenset[str]:
        """The verbs of the subresource; raises 404 if the resource has no such one."""
        info = self.plain.info
        self.subresource = self.resource.subresource(info.subresource)
        if self.subresource is None and self.resource.custom is not None:
            raise not_found(self.resource.group_resource, info.name)
        if self.subresource is None or info.rest:
            raise resource_not_found()
        return frozenset(self.subresource.verbs)

    async def post(self, request: Request) -> KubernetesResponse:
        """Create a subresource that is an action, such as a binding."""
        options = WriteOptions.from_query(self.plain.query, "CreateOptions")
        ctx = self.context(request, options)
        document = self.document(request, ctx)
        written = await self.plain.services.runtime.registry.create(ctx, document)
        return self.written(ctx, written)

    async def delete(self, request: Request) -> KubernetesResponse:
        """No subresource can be deleted."""
        raise MethodNotAllowed("DELETE")


class LogView(SubresourceView):
    """What a container wrote: text, which cannot be turned into another kind."""

    transforms = negotiation.NOTHING

    async def get(self, request: Request) -> KubernetesResponse:
        """Get."""
        ctx = self.context(request)
        options = LogOptions.from_query(self.plain.query, ctx.name)
        return TextResponse(await self.plain.services.runtime.registry.log(ctx, options))


class StreamView(SubresourceView):
    """Into a container, and out of it: whatever is sent is for a kubelet, none of it is read."""

    async def get(self, request: Request) -> KubernetesResponse:
        """Say why there is no stream; raises 400, 404, 503."""
        await self.plain.services.runtime.registry.get(self.context(request))
        raise method_not_served()

    post = put = patch = delete = get


class DeprecatedWatchView(ResourceView):
    """The /watch/ paths: a watch whatever the query says, of a collection or of one object."""

    def resolve(self, request: Request) -> None:
        """Find the resource; raises 404 or 405."""
        super().resolve(request)
        if self.plain.info.subresource:
            raise resource_not_found()

    async def get(self, request: Request) -> KubernetesResponse:
        """Watch."""
        streaming = self.plain.services.runtime.options.streaming_lists
        options = ListOptions.from_query(
            self.plain.query, forced_watch=True, streaming_lists=streaming
        )
        ctx = self.context(request)
        return await watch_response(self.plain, ctx, options)


def _delete_options(view: ResourceView, request: Request) -> DeleteOptions:
    if view.plain.META["CONTENT_LENGTH"] == "0":
        return DeleteOptions.from_query(view.plain.query)
    body: Body = view.body(request)
    return DeleteOptions.from_document(body.document)


def _fits(resource: Resource, namespace: str, name: str) -> bool:
    if resource.namespaced:
        return bool(namespace) or not name
    # A Namespace object's path looks like that of something within itself.
    return not namespace or (resource.resource == "namespaces" and name == namespace)


def _manager(agent: str) -> str:
    # As upstream: whoever names no field manager is known by the first word of its user agent.
    name = "".join(c for c in agent.partition("/")[0] if c.isprintable())
    return name.encode()[:FIELD_MANAGER_LENGTH].decode(errors="ignore")
