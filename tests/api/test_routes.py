from __future__ import annotations

import pytest

from listwatch.api import urls
from listwatch.api.authentication import (
    AnonymousAuthentication,
    BearerAuthentication,
    BrowserAuthentication,
)
from listwatch.api.exceptions import exception_handler
from listwatch.api.negotiation import KubernetesNegotiation
from listwatch.api.permissions import AuthorizerPermission
from listwatch.api.request_info import parse
from listwatch.api.throttling import InFlightThrottle
from listwatch.api.views import KubernetesView
from tests.api.asking import Face, config_map

PATHS = {
    "/": "IndexView",
    "/index.html": "IndexView",
    "/api": "RootView",
    "/apis/": "RootView",
    "/apis/apps": "GroupView",
    "/apis/apps/v1": "VersionResourcesView",
    "/api/v1/": "VersionResourcesView",
    "/api/v1/pods": "CollectionView",
    "/api/v1/namespaces/x/pods/p": "ObjectView",
    "/api/v1/namespaces/x/pods/p/status": "SubresourceView",
    "/api/v1/watch/pods": "DeprecatedWatchView",
    "/api/v1/proxy/pods/x": "NotFoundView",
    "/version": "VersionView",
    "/metrics": "MetricsView",
    "/healthz": "HealthView",
    "/readyz/ping": "HealthView",
    "/.well-known/openid-configuration": "OpenIDConfigurationView",
    "/openid/v1/jwks": "KeysView",
    "/debug/faults": "FaultsView",
    "/debug/faults/3": "FaultView",
    "/debug/faults/3/more": "PageNotFoundView",
    "/openapi/v2": "OpenAPIV2View",
    "/openapi/v3": "OpenAPIV3RootView",
    "/openapi/v3/apis/apps/v1": "OpenAPIV3View",
    "/none": "PageNotFoundView",
}


@pytest.mark.parametrize(("path", "view"), PATHS.items())
def test_a_path_has_its_view(path: str, view: str) -> None:
    assert urls.view_of(parse("GET", path)).__name__ == view


def test_every_view_is_on_some_path() -> None:
    assert {view.__name__ for view in urls.ROUTES} == set(PATHS.values())


@pytest.mark.parametrize("view", urls.ROUTES, ids=lambda view: view.__name__)
def test_every_route_goes_through_the_parts_of_rest_framework(view: type[KubernetesView]) -> None:
    assert view.dispatch is KubernetesView.dispatch
    assert view.admit is KubernetesView.admit
    assert list(view.authentication_classes) == [
        BearerAuthentication, BrowserAuthentication, AnonymousAuthentication,
    ]  # fmt: skip
    assert list(view.permission_classes) == [AuthorizerPermission]
    assert list(view.throttle_classes) == [InFlightThrottle]
    assert view.content_negotiation_class is KubernetesNegotiation
    assert view.parser_classes
    assert view.renderer_classes
    assert view().get_exception_handler() is exception_handler


@pytest.mark.parametrize(
    "path",
    ["/api/v2", "/api/v1/none", "/apis/apps/v1/none", "/api/v1/namespaces/x/none",
     "/api/v1/namespaces/x/pods/p/none", "/api/v1/pods/p", "/api/v1/namespaces/x/nodes",
     "/api/v1/Pods", "/api/v1/pod", "/api/v1/proxy/pods/x",
     "/api/v1/namespaces/x/pods/p/status/more", "/api/v1/namespaces/x/namespaces/y"],
)  # fmt: skip
async def test_a_path_under_a_served_prefix_that_names_nothing_is_a_status(path: str) -> None:
    answer = await Face().ask("GET", path)

    assert answer.status == 404
    assert answer.json["message"] == "the server could not find the requested resource"
    assert answer.json["details"] == {}


async def test_a_group_that_nobody_serves_has_no_status() -> None:
    answer = await Face().ask("GET", "/apis/none/v1/x")

    assert (answer.status, answer.body) == (404, b"404 page not found\n")


async def test_any_other_path_is_text() -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = await Face().ask(method, "/none")

        assert (answer.status, answer.body) == (404, b"404 page not found\n")
        assert answer.header("content-type") == ["text/plain; charset=utf-8"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/configmaps"),
        ("POST", "/api/v1/namespaces/ns/configmaps/a"),
        ("PUT", "/api/v1/namespaces/ns/configmaps"),
        ("PATCH", "/api/v1/namespaces/ns/configmaps"),
        ("HEAD", "/api/v1/namespaces/ns/configmaps"),
        ("HEAD", "/api/v1/namespaces/ns/configmaps/a"),
        ("OPTIONS", "/api/v1/namespaces/ns/configmaps/a"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", "/api/v1/namespaces/ns/pods/p/status"),
        ("GET", "/api/v1/namespaces/ns/pods/p/binding"),
        ("POST", "/api"),
    ],
)
async def test_a_method_that_a_path_has_not_is_405(method: str, path: str) -> None:
    answer = await Face().ask(method, path)

    assert answer.status == 405
    assert answer.header("content-type") == ["application/json"]
    if method != "HEAD":
        assert answer.json["message"] == (
            "the server does not allow this method on the requested resource"
        )


async def test_the_name_in_a_watch_parameter_of_an_object_is_a_plain_get() -> None:
    face = Face()
    face.registry.put(config_map("a"), 5)

    answer = await face.ask("GET", "/api/v1/namespaces/ns/configmaps/a?watch=1")

    assert answer.json["metadata"]["name"] == "a"


async def test_a_namespace_is_found_without_a_namespace() -> None:
    face = Face()
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "x"}}
    face.registry.put(namespace, 3)

    assert (await face.ask("GET", "/api/v1/namespaces/x")).status == 200
    assert face.registry.asked[0][1].namespace == ""
