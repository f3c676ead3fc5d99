"""`/metrics`: Prometheus' text, made of the statistics of every part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.renderers import TextRenderer
from listwatch.api.responses import KubernetesResponse
from listwatch.api.views import KubernetesView

if TYPE_CHECKING:
    from rest_framework.request import Request

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsView(KubernetesView):
    """The metrics, for whoever may see them."""

    renderer_classes = (TextRenderer,)

    async def get(self, request: Request) -> KubernetesResponse:
        """All metrics of this process."""
        from listwatch.metrics import render  # at the first scrape: it loads prometheus_client

        text = render(self.plain.services.runtime.statistics())
        return KubernetesResponse(text, content_type=CONTENT_TYPE)
