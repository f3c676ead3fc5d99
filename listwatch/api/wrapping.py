"""The way from DRF's request to the one it wraps, which is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rest_framework.request import Request

    from listwatch.api.request import KubernetesRequest


def plain(request: Request) -> KubernetesRequest:
    """The request that `handler` made."""
    return request._request  # type: ignore[return-value]  # noqa: SLF001 (DRF has no other way)
