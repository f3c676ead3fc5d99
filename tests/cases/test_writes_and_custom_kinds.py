"""Public reports on custom kinds, on patches, and on writes that must be refused or do nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cases.place import Document, Place, event, revision_of, widget_definition
from tests.servers import Server, running

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APPLY = "application/apply-patch+yaml"


def served(place: Place, path: str, status: int = 200) -> None:
    deadline = time.monotonic() + 15
    while place.server.get(path)[0] != status:  # the 404 of a kind that is not served is text
        assert time.monotonic() < deadline
        time.sleep(0.05)


# kubernetes/kubernetes#74105
def test_a_watch_ends_with_its_custom_kind_after_its_objects_and_a_new_one_sees_the_new_kind(
    place: Place,
) -> None:
    group = f"{place.namespace}.example.com"
    path = f"/apis/{group}/v1/namespaces/{place.namespace}/gears"
    gear = {"apiVersion": f"{group}/v1", "kind": "Gear", "metadata": {"name": "g"}}
    for round_ in range(2):
        place.server.json("POST", DEFINITIONS, widget_definition("gears", "Gear", group))
        served(place, path)
        with place.watch(path, "watch=1") as stream:
            place.server.json("POST", path, gear)
            assert event(stream)[0] == "ADDED", round_
            place.delete(f"{DEFINITIONS}/gears.{group}")
            kinds = []
            while (found := stream.event()) is not None:
                kinds.append(found["type"])
        assert kinds[-1:] == ["DELETED"], kinds
        served(place, path, 404)
        served(place, f"{DEFINITIONS}/gears.{group}", 404)


# kubernetes/kubernetes#74105
def test_a_new_schema_ends_the_watch_or_serves_it_on_and_a_new_watch_has_the_new_fields(
    place: Place,
) -> None:
    group = f"{place.namespace}.example.com"
    path = f"/apis/{group}/v1/namespaces/{place.namespace}/cogs"
    place.server.json("POST", DEFINITIONS, widget_definition("cogs", "Cog", group))
    served(place, path)
    definition = place.get(f"{DEFINITIONS}/cogs.{group}")
    version = definition["spec"]["versions"][0]
    with place.watch(path, "watch=1") as stream:
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["teeth"] = {
            "type": "integer"
        }
        place.put(f"{DEFINITIONS}/cogs.{group}", definition)
        assert stream.event() is None
    deadline = time.monotonic() + 10
    number = 0
    while True:
        number += 1
        cog = {"apiVersion": f"{group}/v1", "kind": "Cog", "metadata": {"name": f"c{number}"},
               "spec": {"teeth": 9}}  # fmt: skip
        with place.watch(path, "watch=1&resourceVersion=" + place.revision(path)) as stream:
            place.server.json("POST", path, cog)
            if event(stream)[1]["spec"].get("teeth") == 9:
                return
        assert time.monotonic() < deadline


# k3s-io/kine#311, #289
def test_a_server_whose_every_object_is_older_than_its_log_starts_again(tmp_path: Path) -> None:
    options = {"LISTWATCH_COMPACTION_AGE": "0", "LISTWATCH_COMPACTION_INTERVAL": "0.2"}
    with running(tmp_path, **options) as server:
        place = Place(server, "default")
        first = place.config_map("a")
        changing = place.config_map("b")
        for number in range(60):
            changing["data"] = {"n": str(number)}
            changing = place.put(f"{place.config_maps}/b", changing)
        place.delete(f"{place.config_maps}/b")
        oldest = f"{place.config_maps}?resourceVersionMatch=Exact&resourceVersion="
        deadline = time.monotonic() + 20
        while place.answer("GET", oldest + str(revision_of(first)))[0] != 410:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        before = int(place.revision(place.config_maps))

        server.stop()
        server.start()

        assert "a" in place.names(place.config_maps)
        assert int(place.revision(place.config_maps)) >= before
        assert revision_of(place.config_map("c")) > before


# k3s-io/kine PR #238
@pytest.mark.timeout(120)
def test_a_burst_of_writes_arrives_whole_and_in_order(place: Place) -> None:
    with place.watch(place.config_maps, "watch=1") as stream:
        made = [revision_of(place.config_map(f"c{number}")) for number in range(300)]

        assert [revision_of(event(stream)[1]) for _ in made] == made


PATCHES = {
    "application/json": '{"metadata":{"labels":{"a":"b"}}}',
    "application/json-patch+json": '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]',
    "application/merge-patch+json": '{"metadata":{"labels":{"a":"b"}}}',
    "application/strategic-merge-patch+json": '{"metadata":{"labels":{"a":"b"}}}',
}
NOT_TAKEN = {
    "widgets": {"application/json", "application/strategic-merge-patch+json"},
    "configmaps": {"application/json"},
}


# kubernetes-client/python#866, kubernetes-client/javascript#862, kubernetes/kubernetes#61103
@pytest.mark.parametrize("resource", ["widgets", "configmaps"])
@pytest.mark.parametrize("kind", PATCHES)
def test_a_patch_is_taken_by_its_content_type_or_refused_with_those_that_are(
    place: Place, resource: str, kind: str
) -> None:
    path = place.widgets if resource == "widgets" else place.config_maps
    (place.widget if resource == "widgets" else place.config_map)("a")

    status, answer = place.answer("PATCH", f"{path}/a", PATCHES[kind].encode(), Content_Type=kind)
    if kind in NOT_TAKEN[resource]:
        assert (status, answer["reason"]) == (415, "UnsupportedMediaType")
        assert "application/merge-patch+json" in answer["message"]
    else:
        assert (status, answer["metadata"]["labels"]) == (200, {"a": "b"})


# kubernetes-client/python#866
def test_a_json_patch_that_is_no_array_is_400(place: Place) -> None:
    place.widget("a")
    status, _ = place.answer(
        "PATCH", f"{place.widgets}/a", {"op": "add"}, Content_Type="application/json-patch+json"
    )
    assert status == 400


# kubernetes-client/python#419, fabric8io/kubernetes-client#767
@pytest.mark.parametrize("how", ["patch", "put", "status"])
def test_a_write_of_an_old_revision_is_a_conflict(place: Place, how: str) -> None:
    old = place.widget("a")
    place.put(f"{place.widgets}/a", {**old, "spec": {"size": 2}})
    if how == "patch":
        revision = old["metadata"]["resourceVersion"]
        status, answer = place.answer(
            "PATCH", f"{place.widgets}/a",
            {"metadata": {"resourceVersion": revision, "annotations": {"k": "v"}}},
            Content_Type="application/merge-patch+json",
        )  # fmt: skip
    else:
        path = f"{place.widgets}/a" + ("/status" if how == "status" else "")
        status, answer = place.answer("PUT", path, {**old, "status": {"phase": "x"}})

    assert (status, answer["reason"]) == (409, "Conflict")


def applied(place: Place, path: str, manager: str, document: Document) -> Document:
    status, answer = place.answer(
        "PATCH", f"{path}?fieldManager={manager}", document, Content_Type=APPLY
    )
    assert status in (200, 201), answer
    return answer


# kubernetes/kubernetes#131175, #128924
@pytest.mark.parametrize("spec", [{"parts": []}, {"colour": ""}, {"parts": [""], "size": 0}])
def test_applying_the_same_again_writes_nothing(place: Place, spec: Document) -> None:
    document = {"apiVersion": "demo.example.com/v1", "kind": "Widget",
                "metadata": {"name": "a"}, "spec": spec}  # fmt: skip
    path = f"{place.widgets}/a"
    first = applied(place, path, "one", document)
    time.sleep(1.1)  # managedFields have whole seconds: a new one must not show
    assert revision_of(applied(place, path, "one", document)) == revision_of(first)

    second = applied(place, path, "two", document)
    assert revision_of(applied(place, path, "two", document)) == revision_of(second)
    assert revision_of(place.put(path, place.get(path))) == revision_of(second)


# kubernetes/kubernetes PR #78998
def test_managed_fields_written_by_hand_break_nothing(place: Place) -> None:
    made = place.config_map("a", {"k": "v"})
    path = f"{place.config_maps}/a"
    by_hand = {"manager": "x", "operation": "Update", "apiVersion": "v1",
               "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}  # fmt: skip
    made["metadata"]["managedFields"] = [by_hand]
    del made["metadata"]["resourceVersion"]
    assert place.answer("PUT", path, made)[0] == 200
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
                "data": {"k": "w"}}  # fmt: skip
    status, _ = place.answer("PATCH", f"{path}?fieldManager=y", document, Content_Type=APPLY)
    assert status in (200, 409)

    made["metadata"]["managedFields"] = [{**by_hand, "fieldsType": "Other"}]
    assert place.answer("PUT", path, made)[0] < 500
    kept = place.get(path)["metadata"].get("managedFields")
    assert kept
    made["metadata"]["managedFields"] = []
    assert place.answer("PUT", path, made)[0] == 200
    made["metadata"]["managedFields"] = [{}]
    assert place.answer("PUT", path, made)[0] == 200


# kubernetes-sigs/controller-runtime#2362, #2184, #2359
def test_a_finalizer_holds_an_object_until_it_is_taken_away(place: Place) -> None:
    hold = "demo.example.com/hold"
    path = f"{place.widgets}/a"
    made = place.widget("a", finalizers=[hold])
    with place.watch(place.widgets, f"watch=1&resourceVersion={revision_of(made)}") as stream:
        place.delete(path)
        kind, marked = event(stream)
        assert kind == "MODIFIED"
        since = marked["metadata"]["deletionTimestamp"]

        for other in ("2001-01-01T00:00:00Z", None):
            document = place.get(path)
            document["metadata"]["deletionTimestamp"] = other
            place.answer("PUT", path, document)
            assert place.get(path)["metadata"]["deletionTimestamp"] == since
        document = place.get(path)
        document["metadata"]["finalizers"] = [hold, "demo.example.com/more"]
        status, answer = place.answer("PUT", path, document)
        assert (status, answer["reason"]) == (422, "Invalid")

        document["metadata"]["finalizers"] = []
        place.put(path, document)
        kinds = [event(stream)[0]]
        while kinds[-1] != "DELETED":
            kinds.append(event(stream)[0])
    assert place.answer("GET", path)[0] == 404


# kubernetes-sigs/controller-runtime#880
def test_a_namespace_goes_with_its_custom_objects_and_can_be_made_again(
    cases_server: Server, place: Place
) -> None:
    for name in "abc":
        place.widget(name)
    path = f"/api/v1/namespaces/{place.namespace}"
    place.delete(path)
    served(place, path, 404)

    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place.namespace}}
    cases_server.json("POST", "/api/v1/namespaces", namespace)
    assert place.names(place.widgets) == []
