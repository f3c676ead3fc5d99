"""Public reports on pages, and on what selectors mean."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cases.place import Place
from tests.servers import running


# kubernetes/kubernetes#59684, kubernetes/client-go#366
def test_a_list_at_revision_0_has_everything_each_time_and_one_without_pages(place: Place) -> None:
    for name in "abc":
        place.config_map(name)

    for _ in range(3):
        whole = place.get(f"{place.config_maps}?limit=1&resourceVersion=0")
        assert len(whole["items"]) == 3
        assert "continue" not in whole["metadata"]
        page = place.get(f"{place.config_maps}?limit=1")
        assert (len(page["items"]), bool(page["metadata"]["continue"])) == (1, True)


# kubernetes/kubernetes PR #108569
@pytest.mark.timeout(120)
def test_a_rare_match_among_many_is_found_in_one_quick_request(place: Place) -> None:
    for number in range(600):
        labels = {"rare": "yes"} if number % 100 == 7 else {}
        place.config_map(f"c{number:04}", labels=labels)

    began = time.monotonic()
    page = place.get(f"{place.config_maps}?limit=500&labelSelector=rare%3Dyes")
    assert time.monotonic() - began < 2
    assert len(page["items"]) == 6
    assert "continue" not in page["metadata"]


# kubernetes/kubernetes PR #75993, kubernetes/apiserver#89
def test_the_number_that_remains_is_told_unless_there_is_a_selector(place: Place) -> None:
    for name in "abcde":
        place.config_map(name, labels={"a": "b"})

    def metadata(query: str) -> dict[str, object]:
        found: dict[str, object] = place.get(f"{place.config_maps}?{query}")["metadata"]
        return found

    assert metadata("limit=1")["remainingItemCount"] == 4
    assert "remainingItemCount" not in metadata("limit=1&labelSelector=a%3Db")
    assert metadata("limit=1&labelSelector=a%3Db")["continue"]
    assert not {"remainingItemCount", "continue"} & set(metadata("limit=10"))


# cloud-custodian/cloud-custodian PR #11081
def test_pages_can_be_forced_on_clients_that_do_not_ask_for_them(tmp_path: Path) -> None:
    with running(tmp_path, LISTWATCH_PAGE_LIMIT="2") as server:
        place = Place(server, "default")
        for name in "abcde":
            place.config_map(name)
        first = place.get(place.config_maps)
        assert len(first["items"]) == 2

        seen, token = list(first["items"]), first["metadata"]["continue"]
        while token:
            page = place.get(f"{place.config_maps}?continue={token}")
            seen += page["items"]
            token = page["metadata"].get("continue", "")
    assert [each["metadata"]["name"] for each in seen][:5] == list("abcde")


# metal3-io/baremetal-operator#779, derailed/k9s#4060, kubernetes/kubernetes#79233
def test_a_declared_field_of_a_custom_kind_selects_and_any_other_is_named_in_a_400(
    place: Place,
) -> None:
    place.widget("a", {"size": 3, "online": True})
    place.widget("b", {"size": 4, "online": False})

    assert place.names(place.widgets, fieldSelector="spec.size=3") == ["a"]
    assert place.names(place.widgets, fieldSelector="spec.online=false") == ["b"]
    status, answer = place.answer("GET", f"{place.widgets}?fieldSelector=spec.colour%3Dred")
    assert (status, "spec.colour" in answer["message"]) == (400, True)


# fabric8io/kubernetes-client#3819, #3573
@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("status.phase=Running", ["running"]),
        ("status.phase!=Running", ["waiting"]),
        ("status.podIP=192.0.2.7", ["running"]),
        ("spec.nodeName=", ["running", "waiting"]),
    ],
)
def test_pods_are_selected_by_their_fields(place: Place, selector: str, names: list[str]) -> None:
    pods = f"/api/v1/namespaces/{place.namespace}/pods"
    for name in ("running", "waiting"):
        place.server.json("POST", pods, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        })  # fmt: skip
    pod = place.get(f"{pods}/running")
    pod["status"] |= {"phase": "Running", "podIP": "192.0.2.7", "podIPs": [{"ip": "192.0.2.7"}]}
    place.put(f"{pods}/running/status", pod)

    assert place.names(pods, fieldSelector=selector) == names


# fabric8io/kubernetes-client#3573
def test_events_are_selected_by_their_reason(place: Place) -> None:
    events = f"/api/v1/namespaces/{place.namespace}/events"
    for reason in ("Started", "Killed"):
        place.server.json("POST", events, {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": reason.lower()},
            "involvedObject": {"namespace": place.namespace}, "reason": reason,
        })  # fmt: skip

    assert place.names(events, fieldSelector="reason=Started") == ["started"]


# kubernetes/kubernetes#81149, jumpstarter-dev/jumpstarter PR #721
@pytest.mark.parametrize(
    ("selector", "names"),
    [("env notin (prod)", ["bare"]), ("env!=prod", ["bare"]), ("env,env!=prod", [])],
)
def test_a_label_that_is_absent_is_not_equal(place: Place, selector: str, names: list[str]) -> None:
    place.widget("bare")

    assert place.names(place.widgets, labelSelector=selector) == names


# ansible-collections/kubernetes.core#526, kubernetes/apimachinery#145
@pytest.mark.parametrize(
    ("selector", "names"),
    [("rel notin (1.1.0)", ["none"]), ("!rel", ["none"]), ("rel in (1.1.0)", ["some"]),
     ("rel=1.1.0", ["some"])],
)  # fmt: skip
def test_values_like_versions_are_values(place: Place, selector: str, names: list[str]) -> None:
    place.widget("some", labels={"rel": "1.1.0"})
    place.widget("none")

    assert place.names(place.widgets, labelSelector=selector) == names


# ansible-collections/kubernetes.core#526, kubernetes/kubernetes#142211
@pytest.mark.parametrize(
    "selector",
    ["rel%20notin%20(%221.1.0%22)", "rel%20DoesNotExist", "rel=gr%C3%B6%C3%9Fe",
     "rel=%E5%A4%89%E6%9B%B4", "rel=" + "a" * 64],
)  # fmt: skip
def test_what_is_no_selector_is_400_with_a_reason(place: Place, selector: str) -> None:
    status, answer = place.answer("GET", f"{place.widgets}?labelSelector={selector}")

    assert (status, answer["reason"]) == (400, "BadRequest")


# ansible-collections/kubernetes.core#526
def test_a_label_value_that_could_not_be_selected_cannot_be_written(place: Place) -> None:
    status, answer = place.answer("POST", place.widgets, {
        "apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "labels": {"rel": "größe"}},
    })  # fmt: skip

    assert (status, answer["reason"]) == (422, "Invalid")
