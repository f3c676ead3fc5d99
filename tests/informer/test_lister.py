"""Reads of a cache."""

from __future__ import annotations

import pytest

from listwatch.informer.errors import NotFoundError
from listwatch.informer.indexer import Indexer
from listwatch.informer.indices import NAMESPACE, by_namespace
from listwatch.informer.lister import Lister
from listwatch.informer.resources import DEPLOYMENTS, NODES, PODS
from listwatch.protocol.label_selectors import LabelSelector
from tests.informer.kit import thing


def filled(*, indexed: bool = True) -> Indexer:
    store = Indexer({NAMESPACE: by_namespace} if indexed else {})
    store.add(thing("a", 1, "blue", labels={"app": "web", "tier": "front"}))
    store.add(thing("b", 1, "blue", labels={"app": "db"}))
    store.add(thing("c", 1, "red", labels={"app": "web"}))
    store.add(thing("d", 1, "red"))
    return store


def names(found: list[dict[str, dict[str, str]]]) -> list[str]:
    return sorted(subject["metadata"]["name"] for subject in found)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", ["a", "b", "c", "d"]),
        ("app=web", ["a", "c"]),
        ("app in (web, db),tier", ["a"]),
        ("!app", ["d"]),
        ("app=nothing", []),
    ],
)
def test_lists_are_what_the_selector_wants(selector: str, expected: list[str]) -> None:
    lister = Lister(filled())

    assert names(lister.list(selector)) == expected
    assert names(lister.list(LabelSelector.parse(selector))) == expected


def test_a_selector_of_nothing_does_not_touch_the_store() -> None:
    class Untouchable(Indexer):
        def list(self) -> list[dict[str, object]]:
            raise AssertionError

    assert Lister(Untouchable()).list(LabelSelector.of(None)) == []


@pytest.mark.parametrize("indexed", [True, False])
def test_a_namespace_is_listed_with_and_without_its_index(indexed: bool) -> None:
    lister = Lister(filled(indexed=indexed))

    assert names(lister.namespaced("blue").list()) == ["a", "b"]
    assert names(lister.namespaced("red").list("app=web")) == ["c"]
    assert names(lister.namespaced("").list()) == ["a", "b", "c", "d"]
    assert lister.namespaced("none").list() == []


def test_a_miss_is_the_error_that_the_server_would_give() -> None:
    lister = Lister(filled(), DEPLOYMENTS)
    with pytest.raises(NotFoundError, match=r'deployments.apps "x" not found') as caught:
        lister.namespaced("blue").get("x")
    assert caught.value.details == {"name": "x", "kind": "deployments"}

    assert lister.get("a", "blue")["metadata"]["name"] == "a"
    assert lister.get_or_none("blue/a") is not None
    assert lister.get_or_none("blue/x") is None
    assert lister.namespaced("red").get_or_none("a") is None


def test_an_object_in_no_namespace_is_got_by_its_name() -> None:
    store = Indexer()
    store.add(thing("node-1", 1))

    assert Lister(store, NODES).get("node-1")["metadata"]["name"] == "node-1"


def test_objects_are_the_cache_s_own_unless_copies_are_asked_for() -> None:
    store = filled()

    assert Lister(store, PODS).get("a", "blue") is store.get_by_key("blue/a")
    copy = Lister(store, PODS, copies=True).get("a", "blue")
    copy["metadata"]["labels"]["app"] = "changed"
    assert names(Lister(store).list("app=web")) == ["a", "c"]


def test_lists_by_an_index() -> None:
    assert names(Lister(filled()).by_index(NAMESPACE, "red")) == ["c", "d"]


def test_paths_of_resources() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("blue", "a", "status") == "/api/v1/namespaces/blue/pods/a/status"
    assert DEPLOYMENTS.path("blue") == "/apis/apps/v1/namespaces/blue/deployments"
    assert NODES.path("ignored", "n/1") == "/api/v1/nodes/n%2F1"
