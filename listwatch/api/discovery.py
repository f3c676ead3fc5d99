"""What is served, as clients ask for it: groups, versions, resources; each alone, or all at once.

`kubectl` and client-go ask for the aggregated form first, and find it by its Content-Type; they
fall back to the single documents.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from listwatch.api.discovery_documents import AGGREGATED
from listwatch.api.exceptions import PageNotFoundError
from listwatch.api.negotiation import Form
from listwatch.api.renderers import Context, JSONRenderer, KubernetesRenderer, YAMLRenderer
from listwatch.api.responses import EmptyResponse, KubernetesResponse
from listwatch.api.views import KubernetesView
from listwatch.protocol.errors import resource_not_found

if TYPE_CHECKING:
    from rest_framework.request import Request

AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class AggregatedRenderer(KubernetesRenderer):
    """The aggregated document, whose Content-Type says so."""

    kinds = frozenset({AGGREGATED[2]})

    def writes(self, form: Form) -> bool:
        """Whether it was asked for."""
        return form.kind in self.kinds

    def content_type(self, context: Context) -> str:
        """The type that client-go decides by."""
        return AGGREGATED_TYPE


class RootView(KubernetesView):
    """`/api` and `/apis`: the groups there are, or everything in one document."""

    transforms = frozenset({AGGREGATED})
    renderer_classes = (JSONRenderer, YAMLRenderer, AggregatedRenderer)

    async def get(self, request: Request) -> KubernetesResponse:
        """The document that was negotiated."""
        core, documents = self.plain.path.strip("/") == "api", self.plain.services.discovery
        if self.plain.form.kind:
            return self._aggregated(documents.aggregated(core=core))
        if not core:
            return KubernetesResponse(documents.group_list())
        address = f"{self.plain.META['SERVER_NAME']}:{self.plain.META['SERVER_PORT']}"
        where = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
        versions = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": where}
        return KubernetesResponse(versions)

    def _aggregated(self, document: bytes) -> KubernetesResponse:
        tag = f'"{hashlib.sha512(document).hexdigest().upper()}"'
        same = tag in self.plain.META.get("HTTP_IF_NONE_MATCH", "")
        response = EmptyResponse(status=304) if same else KubernetesResponse(document)
        response["ETag"] = tag
        response["Vary"] = "Accept"
        response["Cache-Control"] = "public"
        return response


class GroupView(KubernetesView):
    """`/apis/{group}`: the versions of one group."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The group."""
        name = self.plain.path.strip("/").split("/")[1]
        document = self.plain.services.discovery.group(name)
        if document is None:
            raise PageNotFoundError
        return KubernetesResponse(document)


class VersionResourcesView(KubernetesView):
    """`/api/v1` and `/apis/{group}/{version}`: the resources of one version."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The resources."""
        *group, version = self.plain.path.strip("/").split("/")[1:]
        name = "/".join(group)
        document = self.plain.services.discovery.resources(name, version)
        if document is None:
            if name and not self.plain.services.runtime.resources.is_built_in(name):
                raise PageNotFoundError
            raise resource_not_found()
        return KubernetesResponse(document)
