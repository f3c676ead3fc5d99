"""Public reports on streaming lists and bookmarks, tried on a live server."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cases.place import STREAMING_LIST, Place, event, revision_of
from tests.servers import running

END = {"k8s.io/initial-events-end": "true"}


# kubernetes/kubernetes#140890, antrea-io/antrea#8123
@pytest.mark.parametrize("count", [0, 3])
def test_the_state_ends_with_a_bookmark_that_says_so_and_the_stream_stays_open(
    place: Place, count: int
) -> None:
    made = [place.widget(f"w{number}") for number in range(count)]

    with place.watch(place.widgets, STREAMING_LIST) as stream:
        added = [event(stream) for _ in range(count)]
        kind, bookmark = event(stream)
        place.widget("later")
        after = event(stream)

    assert [(k, o["metadata"]["name"]) for k, o in added] == [
        ("ADDED", each["metadata"]["name"]) for each in made
    ]
    assert kind == "BOOKMARK"
    assert bookmark["metadata"]["annotations"] == END
    assert revision_of(bookmark) >= max(map(revision_of, made), default=1)
    assert (bookmark["kind"], bookmark["apiVersion"]) == ("Widget", "demo.example.com/v1")
    assert (after[0], after[1]["metadata"]["name"]) == ("ADDED", "later")


# kubernetes/kubernetes#140890
@pytest.mark.parametrize(
    "path",
    ["/api/v1/replicationcontrollers", "/apis/apps/v1/daemonsets", "/api/v1/podtemplates",
     "/apis/node.k8s.io/v1/runtimeclasses"],
)  # fmt: skip
def test_a_kind_without_any_object_ends_its_empty_state_at_once(place: Place, path: str) -> None:
    began = time.monotonic()
    with place.watch(path, STREAMING_LIST) as stream:
        kind, bookmark = event(stream)

    assert (kind, bookmark["metadata"]["annotations"]) == ("BOOKMARK", END)
    assert time.monotonic() - began < 5


# kubernetes/kubernetes#140890
def test_a_selector_that_matches_nothing_ends_its_empty_state_at_once(place: Place) -> None:
    place.widget("w")
    with place.watch(place.widgets, STREAMING_LIST + "&labelSelector=no=such") as stream:
        kind, bookmark = event(stream)

    assert (kind, bookmark["metadata"]["annotations"]) == ("BOOKMARK", END)


# kubernetes-client/c#203
@pytest.mark.parametrize(
    "query", ["watch=1&sendInitialEvents=false", "watch=1&sendInitialEvents=true",
              "sendInitialEvents=true"],
)  # fmt: skip
def test_initial_events_without_a_match_are_refused_in_a_status(place: Place, query: str) -> None:
    status, answer = place.answer("GET", f"{place.widgets}?{query}")

    assert (status, answer["reason"], answer["details"]["kind"]) == (422, "Invalid", "ListOptions")
    assert {cause["reason"] for cause in answer["details"]["causes"]} == {"FieldValueForbidden"}


# kubernetes-client/python#1404
@pytest.mark.parametrize(
    "path", ["/apis/batch/v1/namespaces/{}/jobs", "/api/v1/namespaces/{}/pods", "widgets"]
)
def test_a_bookmark_has_kind_version_and_revision_and_no_empty_parts(
    place: Place, path: str
) -> None:
    path = place.widgets if path == "widgets" else path.format(place.namespace)
    with place.watch(path, STREAMING_LIST) as stream:
        kind, bookmark = event(stream)

    assert kind == "BOOKMARK"
    assert set(bookmark) == {"kind", "apiVersion", "metadata"}
    assert set(bookmark["metadata"]) <= {"resourceVersion", "annotations", "creationTimestamp"}
    assert all(value is not None for value in bookmark["metadata"].values())


# kubernetes/minikube#2585, kube-rs/kube#1615
def test_writes_of_another_kind_do_not_push_out_the_history_of_a_quiet_one(
    tmp_path: Path,
) -> None:
    with running(tmp_path, LISTWATCH_RING_MINIMUM="10", LISTWATCH_HISTORY_WINDOW="0") as server:
        path = "/api/v1/namespaces/default/secrets"
        revision = server.json("GET", path)["metadata"]["resourceVersion"]
        place = Place(server, "default")
        for number in range(40):
            place.config_map(f"c{number}")
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        server.json("POST", path, secret)

        with place.watch(path, f"watch=1&resourceVersion={revision}") as stream:
            kind, seen = event(stream)

    assert (kind, seen["metadata"]["name"]) == ("ADDED", "s"), json.dumps(seen)
