from __future__ import annotations

import pytest

from listwatch.api.request_info import RequestInfo, parse


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/pods", ("list", "", "v1", "", "pods", "", "")),
        ("GET", "/api/v1/pods/", ("list", "", "v1", "", "pods", "", "")),
        ("GET", "/api/v1/nodes/n", ("get", "", "v1", "", "nodes", "n", "")),
        ("POST", "/api/v1/namespaces/x/pods", ("create", "", "v1", "x", "pods", "", "")),
        ("DELETE", "/api/v1/namespaces/x/pods",
         ("deletecollection", "", "v1", "x", "pods", "", "")),
        ("DELETE", "/api/v1/namespaces/x/pods/p", ("delete", "", "v1", "x", "pods", "p", "")),
        ("PUT", "/api/v1/namespaces/x/pods/p/status",
         ("update", "", "v1", "x", "pods", "p", "status")),
        ("GET", "/api/v1/namespaces/x", ("get", "", "v1", "x", "namespaces", "x", "")),
        ("PUT", "/api/v1/namespaces/x/finalize",
         ("update", "", "v1", "x", "namespaces", "x", "finalize")),
        ("PATCH", "/apis/apps/v1/namespaces/x/deployments/d",
         ("patch", "apps", "v1", "x", "deployments", "d", "")),
        ("GET", "/api/v1/watch/namespaces/x/pods/p", ("watch", "", "v1", "x", "pods", "p", "")),
        ("GET", "/apis/apps/v1/watch/deployments",
         ("watch", "apps", "v1", "", "deployments", "", "")),
    ],
)  # fmt: skip
def test_a_resource_path_is_split_as_kube_apiserver_does(
    method: str, path: str, expected: tuple[str, ...]
) -> None:
    info = parse(method, path)

    assert info.is_resource
    assert expected == (
        info.verb, info.group, info.version, info.namespace, info.resource, info.name,
        info.subresource,
    )  # fmt: skip


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps/v1", "/version", "/x/y/z/a"])
def test_other_paths_are_authorized_by_method_and_path(path: str) -> None:
    assert RequestInfo(path, "post") == parse("POST", path)


def test_the_query_decides_between_list_and_watch_only_for_collections() -> None:
    assert parse("GET", "/api/v1/pods", watch=True).verb == "watch"
    assert parse("GET", "/api/v1/nodes/n", watch=True).verb == "get"


def test_deprecated_watch_paths_are_marked() -> None:
    assert parse("GET", "/api/v1/watch/pods").forced_watch
    assert not parse("GET", "/api/v1/pods", watch=True).forced_watch


def test_what_follows_a_subresource_is_kept() -> None:
    assert parse("GET", "/api/v1/namespaces/x/pods/p/proxy/a/b").rest == ("a", "b")
