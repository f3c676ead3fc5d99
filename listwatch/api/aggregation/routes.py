"""Which paths another server answers: those of a group version that an APIService gives to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.aggregation.proxy import ProxyView

if TYPE_CHECKING:
    from listwatch.api.request import KubernetesRequest
    from listwatch.registry.api_services.remotes import Remote


def proxied(request: KubernetesRequest) -> ProxyView | None:
    """The view that hands a request on; None if it is answered here."""
    remotes = request.services.runtime.aggregator.remotes
    if not remotes.all():
        return None
    parts = request.path.strip("/").split("/")
    remote: Remote | None = None
    match parts:
        case ["apis", group, version, *_] | ["openapi", "v3", "apis", group, version]:
            remote = remotes.find(group, version)
    if remote is None:
        return None
    view = ProxyView()
    view.remote = remote
    return view
