"""Public reports on connections that come, go, and come back, of Django's projects and others."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cases.place import STREAMING_LIST, Place, event, revision_of
from tests.servers import Server, running
from tests.wire.streams import Stream


# django/channels#818, #492; fanout/django-eventstream#158
def test_what_was_saved_while_nobody_was_connected_arrives_by_the_last_revision(
    place: Place,
) -> None:
    seen = place.config_map("a")
    with place.watch(place.config_maps, "watch=1") as stream:
        event(stream)
    missed = place.config_map("b")

    query = f"watch=1&resourceVersion={revision_of(seen)}"
    with place.watch(place.config_maps, query) as stream:
        assert event(stream) == ("ADDED", missed)
    # A page that was loaded anew remembers no revision, and needs none.
    with place.watch(place.config_maps, STREAMING_LIST) as stream:
        assert [event(stream)[1]["metadata"].get("name") for _ in range(3)] == ["a", "b", None]


# fanout/django-eventstream PR #159
def test_every_event_carries_its_revision(place: Place) -> None:
    with place.watch(place.config_maps, "watch=1&allowWatchBookmarks=true") as stream:
        made = place.config_map("a")
        place.put(f"{place.config_maps}/a", {**made, "data": {"a": "b"}})
        place.delete(f"{place.config_maps}/a")
        revisions = [revision_of(event(stream)[1]) for _ in range(3)]

    assert revisions == sorted(set(revisions))


# NilCoalescing/djangochannelsrestframework#17, #16; danihodovic/django-webhook#23
def test_a_get_caused_by_an_event_is_never_older_than_the_event(place: Place) -> None:
    document = place.config_map("a")
    query = f"watch=1&resourceVersion={revision_of(document)}"
    with place.watch(place.config_maps, query) as stream:
        for number in range(40):
            document["data"] = {"n": str(number)}
            document = place.put(f"{place.config_maps}/a", document)
            told = revision_of(event(stream)[1])
            assert revision_of(place.get(f"{place.config_maps}/a")) >= told
            assert int(place.revision(place.config_maps)) >= told


# fanout/django-eventstream#57, django/daphne#413, #484
def test_a_client_that_takes_gzip_still_gets_each_event_at_once(place: Place) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", place.server.port, timeout=20)
    headers = {"Authorization": f"Bearer {place.server.token}", "Accept-Encoding": "gzip"}
    connection.request("GET", f"{place.config_maps}?watch=1", headers=headers)
    answer = connection.getresponse()
    try:
        for name in ("a", "b", "c"):
            place.config_map(name, {"text": "a" * 200_000})
            assert json.loads(answer.readline())["object"]["metadata"]["name"] == name
    finally:
        connection.close()


# kubernetes/kubernetes#70207
def test_watches_whose_clients_never_read_and_died_leave_nothing_behind(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        place = Place(server, "default")
        place.config_map("first")
        before = open_watches(server)
        streams = [
            place.watch(place.config_maps, f"watch=1&resourceVersion=0&fieldManager={number}")
            for number in range(100)
        ]
        assert open_watches(server) >= before + 100
        for number in range(100):
            place.config_map(f"c{number}", {"text": "a" * 10_000})
        for stream in streams:
            stream.close()

        deadline = time.monotonic() + 20
        while open_watches(server) > before:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def open_watches(server: Server) -> int:
    lines = server.get("/metrics")[1].decode().splitlines()
    counted = [each for each in lines if each.startswith("apiserver_longrunning_requests{")]
    return int(sum(float(each.rpartition(" ")[2]) for each in counted))


# openyurtio/openyurt PR #2745
def test_a_server_without_streaming_lists_says_so_before_any_200(tmp_path: Path) -> None:
    with running(tmp_path, LISTWATCH_STREAMING_LISTS="no") as server:
        place = Place(server, "default")
        status, answer = place.answer("GET", f"{place.config_maps}?{STREAMING_LIST}")
        assert (status, answer["reason"]) == (422, "Invalid")

        revision = place.revision(place.config_maps)
        with place.watch(place.config_maps, f"watch=1&resourceVersion={revision}") as stream:
            place.config_map("a")
            assert event(stream)[0] == "ADDED"


# kubernetes-client/python#2527, #2145; kubernetes-client/javascript#596
def test_a_quiet_watch_is_told_bookmarks_so_that_silence_means_something(tmp_path: Path) -> None:
    with running(tmp_path, LISTWATCH_BOOKMARK_PERIOD="1") as server:
        place = Place(server, "default")
        with place.watch(place.config_maps, "watch=1&allowWatchBookmarks=true") as stream:
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "elsewhere"}}
            made = server.json("POST", "/api/v1/namespaces/default/secrets", secret)
            while True:
                kind, bookmark = event(stream)
                if kind == "BOOKMARK" and revision_of(bookmark) >= revision_of(made):
                    break


# fanout/django-eventstream#174
@pytest.mark.parametrize("idle", [300, pytest.param(2000, marks=pytest.mark.full)])
@pytest.mark.timeout(180)
def test_new_watches_among_many_idle_ones_are_told_as_soon_as_the_first(
    tmp_path: Path, idle: int
) -> None:
    with running(tmp_path) as server, ExitStack() as stack:
        place = Place(server, "default")
        place.config_map("a")
        query = f"watch=1&resourceVersion={place.revision(place.config_maps)}"

        def opened(count: int) -> list[Stream]:
            path = f"{place.config_maps}?{query}"
            streams = [stack.enter_context(Stream(server, path)) for _ in range(count)]
            for stream in streams:
                assert stream.headers()[":status"] == "200"
            return streams

        opened(idle)
        begun = time.monotonic()
        new = opened(100)
        # None of them is asked about when another comes: a hundred cost what they cost alone.
        assert time.monotonic() - begun < 10
        begun = time.monotonic()
        place.config_map("saved")
        for stream in new:
            kind, document = event(stream)
            assert (kind, document["metadata"]["name"]) == ("ADDED", "saved")
        # Read one after the other by this process, on a machine that does other things as well.
        assert time.monotonic() - begun < 5
