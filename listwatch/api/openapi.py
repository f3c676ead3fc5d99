"""`/openapi/v2` and `/openapi/v3`: the schemas of what is served.

By them kubectl knows that the server validates. The documents are made by `schemas.openapi`; v3 is
one document a group version, found through a root whose URLs carry a hash, so that clients may
keep them for a year.
"""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

from listwatch.api.index import NOT_FOUND
from listwatch.api.renderers import JSONRenderer, OpenAPIRenderer, TextRenderer, YAMLRenderer
from listwatch.api.responses import EmptyResponse, KubernetesResponse, TextResponse
from listwatch.api.views import KubernetesView
from listwatch.protocol.kinds import api_version
from listwatch.protocol.options import first
from listwatch.schemas import openapi as documents

if TYPE_CHECKING:
    from rest_framework.request import Request

    from listwatch.schemas.openapi import Document

_YEAR = 365 * 24 * 3600


class OpenAPIView(KubernetesView):
    """What the three share: a document that a client may have already."""

    def document(self, document: Document) -> KubernetesResponse:
        """The document with its tag, or 304."""
        tag = f'"{document.etag}"'
        if tag in self.plain.META.get("HTTP_IF_NONE_MATCH", ""):
            response: KubernetesResponse = EmptyResponse(status=304)
        else:
            response = KubernetesResponse(document.body)
        response["ETag"] = tag
        response["Vary"] = "Accept"
        return response


class OpenAPIV2View(OpenAPIView):
    """`/openapi/v2`: everything in one document."""

    renderer_classes = (JSONRenderer, YAMLRenderer, OpenAPIRenderer)

    async def get(self, request: Request) -> KubernetesResponse:
        """The document, as JSON or in the form that kubectl asks for."""
        runtime = self.plain.services.runtime
        served, others = runtime.resources.served(), runtime.aggregator.remotes.openapi_v2()
        if isinstance(request.accepted_renderer, OpenAPIRenderer):
            return self.document(documents.openapi_v2_protobuf(served, others))
        return self.document(documents.openapi_v2(served, others))

    head = get


class OpenAPIV3RootView(KubernetesView):
    """`/openapi/v3`: where each group version's document is."""

    renderer_classes = (TextRenderer,)  # upstream's Content-Type

    async def get(self, request: Request) -> KubernetesResponse:
        """The paths, each with the hash of its document."""
        runtime = self.plain.services.runtime
        others = runtime.aggregator.remotes.openapi_v3()
        index = documents.openapi_v3_index(runtime.resources.served(), others)
        return KubernetesResponse(index.body.decode())


class OpenAPIV3View(OpenAPIView):
    """`/openapi/v3/api/v1` and the like: one group version."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The document; under an old hash, the way to the new one."""
        served = self.plain.services.runtime.resources.served()
        parts = self.plain.path.strip("/").split("/")[2:]
        match parts:
            case ["api", version]:
                document = documents.openapi_v3(version, served)
            case ["apis", group, version]:
                document = documents.openapi_v3(api_version(group, version), served)
            case _:
                document = None
        if document is None:
            return TextResponse(NOT_FOUND, status=404)
        given = first(self.plain.query, "hash")
        if given and given != document.etag:
            response: KubernetesResponse = EmptyResponse(status=301)
            response["Location"] = f"{self.plain.path}?hash={document.etag}"
            return response
        response = self.document(document)
        if given:
            response["Cache-Control"] = "public, immutable"
            now = self.plain.services.runtime.clock.now()
            response["Expires"] = formatdate(now + _YEAR, usegmt=True)
        return response
