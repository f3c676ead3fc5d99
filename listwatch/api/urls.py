"""Which view answers a path: by its shape alone, so that kinds come and go without URLs.

What a path names is looked up by the view, after the request was authorized.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.api.discovery import GroupView, RootView, VersionResourcesView
from listwatch.api.faults import FaultsView, FaultView
from listwatch.api.health import CHECKS, HealthView
from listwatch.api.index import IndexView, NotFoundView, PageNotFoundView
from listwatch.api.metrics import MetricsView
from listwatch.api.openapi import OpenAPIV2View, OpenAPIV3RootView, OpenAPIV3View
from listwatch.api.openid import KeysView, OpenIDConfigurationView
from listwatch.api.resources import (
    CollectionView,
    DeprecatedWatchView,
    LogView,
    ObjectView,
    StreamView,
    SubresourceView,
)
from listwatch.api.version import VersionView
from listwatch.registry.pod_logs import STREAMS

if TYPE_CHECKING:
    from listwatch.api.request_info import RequestInfo
    from listwatch.api.views import KubernetesView

ROUTES: tuple[type[KubernetesView], ...] = (
    CollectionView, DeprecatedWatchView, FaultView, FaultsView, GroupView, HealthView, IndexView,
    KeysView, MetricsView, NotFoundView, ObjectView, OpenAPIV2View, OpenAPIV3RootView,
    OpenAPIV3View, OpenIDConfigurationView, PageNotFoundView,
    RootView, SubresourceView, VersionResourcesView, VersionView,
)  # fmt: skip


def view_of(info: RequestInfo) -> type[KubernetesView]:  # noqa: C901 (a table of paths)
    """The view of a path."""
    if info.is_resource:
        return _of_resource(info)
    parts = info.path.strip("/").split("/")
    match parts:
        case [""] | ["index.html"]:
            return IndexView
        case ["api"] | ["apis"]:
            return RootView
        case ["apis", _]:
            return GroupView
        case ["api", _] | ["apis", _, _]:
            return VersionResourcesView
        case ["version"]:
            return VersionView
        case [".well-known", "openid-configuration"]:
            return OpenIDConfigurationView
        case ["openid", "v1", "jwks"]:
            return KeysView
        case ["metrics"]:
            return MetricsView
        case ["debug", "faults", *name] if len(name) < 2:
            return FaultView if name else FaultsView
        case ["openapi", "v2"]:
            return OpenAPIV2View
        case ["openapi", "v3"]:
            return OpenAPIV3RootView
        case ["openapi", "v3", *_]:
            return OpenAPIV3View
        case [root, *_] if root in CHECKS:
            return HealthView
    return PageNotFoundView


def _of_resource(info: RequestInfo) -> type[KubernetesView]:
    if info.verb == "proxy" or not info.resource:
        return NotFoundView
    if info.forced_watch:
        return DeprecatedWatchView
    if info.subresource == "log":
        return LogView
    if info.subresource in STREAMS:
        return StreamView
    if info.subresource:
        return SubresourceView
    return ObjectView if info.name else CollectionView
