"""What no resource answers: the list of paths, and the plain 404 of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.renderers import TextRenderer
from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView
from listwatch.protocol.errors import resource_not_found

if TYPE_CHECKING:
    from rest_framework.request import Request

NOT_FOUND = "404 page not found\n"  # Go's own text, which clients know


class IndexView(KubernetesView):
    """`/`: every path there is, as JSON."""

    async def get(self, request: Request) -> KubernetesResponse:
        """The paths, sorted."""
        table = self.plain.services.runtime.resources
        paths = {"/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3"}
        paths |= {"/readyz", "/version"}
        for group, versions in table.groups().items():
            if group:
                paths.add(f"/apis/{group}")
            paths |= {f"/apis/{group}/{v}" if group else f"/api/{v}" for v in versions}
        return KubernetesResponse({"paths": sorted(paths)})


class NotFoundView(KubernetesView):
    """A path under a served prefix that names nothing."""

    def resolve(self, request: Request) -> None:
        """Always 404."""
        raise resource_not_found()


class PageNotFoundView(KubernetesView):
    """Any other path, whatever the method."""

    renderer_classes = (TextRenderer,)

    async def get(self, request: Request) -> KubernetesResponse:
        """404 as text."""
        return KubernetesResponse(NOT_FOUND, status=404)

    head = post = put = patch = delete = options = get  # type: ignore[assignment]
