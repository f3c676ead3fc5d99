"""Public reports on what a resourceVersion means, and on the stream that begins at one."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator

import pytest

from tests.cases.place import STREAMING_LIST, Place, event, revision_of
from tests.fuzz.wire import Asked, ask
from tests.servers import Server, running

ODD = ("-1", "cool", "string", "1.5", "18446744073709551616", "%20", "0x10")


@pytest.fixture(scope="module")
def short_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that keeps ten events a kind and, after `compact`, nothing older."""
    options = {"LISTWATCH_RING_MINIMUM": "10", "LISTWATCH_RING_MAXIMUM": "10",
               "LISTWATCH_HISTORY_WINDOW": "0", "LISTWATCH_COMPACTION_AGE": "0",
               "LISTWATCH_COMPACTION_INTERVAL": "0.2"}  # fmt: skip
    with running(tmp_path_factory.mktemp("short"), **options) as made:
        yield made


def forgotten(place: Place) -> str:
    """A revision that the server has had and no longer knows anything of."""
    revision = str(revision_of(place.config_map(f"old-{time.monotonic_ns()}")))
    for number in range(30):
        place.config_map(f"c{number}-{revision}")
    deadline = time.monotonic() + 20
    while (
        place.answer(
            "GET", f"{place.config_maps}?resourceVersion={revision}&resourceVersionMatch=Exact"
        )[0]
        != 410
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return revision


@pytest.fixture(scope="module")
def stale(short_memory: Server) -> tuple[Place, str]:
    place = Place(short_memory, "default")
    return place, forgotten(place)


# kubernetes/kubernetes#25151, kubernetes-client/python#1192, k3s-io/kine PR #238
def test_a_watch_that_is_too_old_is_one_error_in_a_chunked_stream_that_ends(
    stale: tuple[Place, str],
) -> None:
    place, revision = stale
    with place.watch(place.config_maps, f"watch=1&resourceVersion={revision}") as stream:
        kind, status = event(stream)
        assert stream.event() is None

    assert kind == "ERROR"
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")


# kubernetes-client/csharp#740
def test_a_watch_of_one_object_from_its_own_old_revision_is_told_what_was_asked_and_what_is_left(
    stale: tuple[Place, str],
) -> None:
    place, revision = stale
    query = f"watch=1&fieldSelector=metadata.name=some&resourceVersion={revision}"
    with place.watch(place.config_maps, query) as stream:
        kind, status = event(stream)

    assert (kind, status["code"]) == ("ERROR", 410)
    assert f"too old resource version: {revision} (" in status["message"]


# kubernetes/kubernetes#104171, fabric8io/kubernetes-client#7896
def test_a_stale_watch_of_events_says_410_and_does_not_just_end(stale: tuple[Place, str]) -> None:
    place, _ = stale
    events = "/api/v1/namespaces/default/events"
    for number in range(30):
        place.server.json("POST", events, {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{number}"},
            "involvedObject": {"namespace": "default"}, "reason": "Started",
        })  # fmt: skip
    with place.watch(events, "watch=1&resourceVersion=1") as stream:
        kind, status = event(stream)

    assert (kind, status["code"]) == ("ERROR", 410)


# kubernetes/kubernetes#86356
def test_watches_that_were_too_old_are_counted_in_the_metrics(stale: tuple[Place, str]) -> None:
    place, revision = stale
    with place.watch(place.config_maps, f"watch=1&resourceVersion={revision}") as stream:
        event(stream)
        assert stream.event() is None

    metrics = place.server.get("/metrics")[1].decode()
    lines = metrics.splitlines()
    counted = [each for each in lines if each.startswith("listwatch_watch_too_old")]
    counted = [each for each in counted if '"configmaps"' in each]
    assert any(float(line.rpartition(" ")[2]) >= 1 for line in counted), counted


# kubernetes/kubernetes PR #67284, folio-pro/kdashboard#70, kubernetes-client/python#953
def test_an_expired_page_comes_with_a_token_that_goes_on_at_the_same_key(
    short_memory: Server,
) -> None:
    place = Place(short_memory, "default")
    secrets = "/api/v1/namespaces/default/secrets"
    for name in "abcdef":
        short_memory.json("POST", secrets, {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}})  # fmt: skip
    token = place.get(f"{secrets}?limit=2")["metadata"]["continue"]
    forgotten(place)

    status, answer = place.answer("GET", f"{secrets}?limit=2&continue={token}")
    assert (status, answer["reason"]) == (410, "Expired")
    assert place.names(secrets, **{"continue": answer["metadata"]["continue"]}) == list("cdef")
    assert place.answer("GET", f"{secrets}?limit=2&continue={token[:-9]}x")[0] == 400


# kubernetes/kubernetes#139485, #101350, #113939
@pytest.mark.parametrize("revision", ODD)
@pytest.mark.parametrize("query", ["watch=true&", "", "limit=1&"])
def test_what_is_no_revision_is_refused_with_a_reason(
    place: Place, revision: str, query: str
) -> None:
    status, answer = place.answer("GET", f"{place.widgets}?{query}resourceVersion={revision}")

    assert status in (400, 422), answer
    assert answer["reason"]


# kubernetes/kubernetes#139485, minikube#13966
@pytest.mark.parametrize("query", ["watch=1&timeoutSeconds=0.1s", "limit=ten"])
def test_what_is_no_number_is_refused_with_a_reason(place: Place, query: str) -> None:
    status, answer = place.answer("GET", f"{place.widgets}?{query}")

    assert status in (400, 422)
    assert answer["reason"]


# kubernetes/kubernetes PR #49992
def test_a_watch_from_the_revision_of_a_list_misses_nothing_at_any_boundary(place: Place) -> None:
    first = revision_of(place.widget("w0"))
    made = [revision_of(place.widget(f"w{number}")) for number in range(1, 4)]

    for start in (first, *made[:2]):
        with place.watch(place.widgets, f"watch=1&resourceVersion={start}") as stream:
            later = [each for each in made if each > start]
            assert [revision_of(event(stream)[1]) for _ in later] == later


# kubernetes/kubernetes#59848
def test_a_list_without_a_revision_never_goes_back_in_time(place: Place) -> None:
    for number in range(30):
        made = revision_of(place.widget(f"w{number}"))
        assert int(place.revision(place.widgets)) >= made
        place.delete(f"{place.widgets}/w{number}")
        assert place.names(place.widgets) == []


# kubernetes-sigs/headlamp#6745
def test_revisions_are_strings_wherever_they_stand(place: Place) -> None:
    place.widget("w")
    listing = place.get(place.widgets)
    with place.watch(place.widgets, STREAMING_LIST) as stream:
        added, bookmark = event(stream)[1], event(stream)[1]

    for document in (listing, listing["items"][0], added, bookmark):
        assert isinstance(document["metadata"]["resourceVersion"], str)


# kubernetes/kubernetes#75837
def test_a_quiet_watch_has_its_headers_at_once(place: Place) -> None:
    revision = place.revision(place.widgets)
    place.watch(place.widgets, f"watch=1&resourceVersion={revision}").close()  # the first is slower
    began = time.monotonic()
    place.watch(place.widgets, f"watch=1&resourceVersion={revision}").close()

    assert time.monotonic() - began < 2


# charmed-kubernetes/bundle#172
def test_the_old_watch_path_works_and_asks_proxies_not_to_hold_it_back(place: Place) -> None:
    place.config_map("x")
    place.config_map("y")
    path = f"/api/v1/watch/namespaces/{place.namespace}/configmaps"
    with place.watch(path, "fieldSelector=metadata.name%3Dy&resourceVersion=0") as stream:
        assert event(stream)[1]["metadata"]["name"] == "y"
    from tests.wire.streams import Stream

    with Stream(place.server, path) as plain:
        assert plain.headers()["x-accel-buffering"] == "no"


# kubernetes-client/python#2087, #1325; apache/apisix#8144
def test_a_line_of_many_characters_of_many_bytes_comes_whole(place: Place) -> None:
    note = "a" * 2040 + "変更" * 50 + "😀" * 20_000
    with place.watch(place.config_maps, "watch=1") as stream:
        place.config_map("note", {"note": note})

        assert event(stream)[1]["data"]["note"] == note


# kubernetes/kubernetes#57073
@pytest.mark.parametrize("size", [1_400_000, 1_572_864, 2_900_000])
def test_whatever_could_be_written_can_be_watched(place: Place, size: int) -> None:
    with place.watch(place.config_maps, "watch=1") as stream:
        status, answer = place.answer("POST", place.config_maps, {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
            "data": {"a": "a" * size},
        })  # fmt: skip
        if status == 201:
            assert len(event(stream)[1]["data"]["a"]) == size
        else:
            assert (status, answer["reason"]) in {(413, "RequestEntityTooLarge"), (422, "Invalid")}
        place.config_map("small")
        assert event(stream)[1]["metadata"]["name"] == "small"


# kubernetes/kubernetes#57073
def test_what_is_larger_than_a_request_may_be_is_413(place: Place) -> None:
    headers = ((b"Authorization", b"Bearer " + place.server.token.encode()),)
    body = b'{"data":{"a":"' + b"a" * 3_200_000 + b'"}}'
    asked = Asked("POST", place.config_maps.encode(), headers, body, b"application/json")
    answer = ask(place.server.port, asked)

    assert answer.status == 413
    assert json.loads(answer.body)["reason"] == "RequestEntityTooLarge"


@pytest.mark.parametrize("size", [3_200_000, 9_000_000])
def test_a_client_that_sends_all_before_it_reads_is_told_413_too(place: Place, size: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", place.server.port, timeout=30)
    headers = {
        "Authorization": f"Bearer {place.server.token}", "Content-Type": "application/json",
    }  # fmt: skip
    connection.request("POST", place.config_maps, b"a" * size, headers)
    response = connection.getresponse()

    assert (response.status, json.loads(response.read())["code"]) == (413, 413)
    connection.close()
