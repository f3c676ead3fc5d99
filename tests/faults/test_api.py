"""Faults as an API: who may, what is refused and how, and that they are off unless asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.kubectl import Kubectl, newest
from tests.servers import Server

PATH = "/debug/faults"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDING = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def post(server: Server, spec: dict[str, Any], token: str | None = None) -> tuple[int, Any]:
    status, body = server.request("POST", PATH, {"spec": spec}, token)
    return status, json.loads(body)


@pytest.fixture
def somebody(faulty: Server) -> Iterator[str]:
    """The token of a service account that no role allows anything."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    faulty.json("POST", path, {"metadata": {"name": "breaker"}})
    made = faulty.json("POST", f"{path}/breaker/token", {"spec": {}})
    yield made["status"]["token"]
    faulty.json("DELETE", f"{path}/breaker")


def test_they_are_off_unless_the_server_was_told_otherwise(server: Server) -> None:
    for method, path in (("GET", PATH), ("POST", PATH), ("DELETE", f"{PATH}/1")):
        status, body = server.request(method, path, {"spec": {"type": "cut"}})
        answer = json.loads(body)

        assert (status, answer["reason"]) == (404, "NotFound")
        assert "serve --faults" in answer["message"]


def test_a_fault_is_put_in_seen_and_lifted(faulty: Server) -> None:
    status, fault = post(faulty, {"type": "delay", "delayMilliseconds": 20, "resource": "pods"})
    name = fault["metadata"]["name"]

    assert status == 201
    assert (fault["kind"], fault["apiVersion"]) == ("Fault", "debug.listwatch.dev/v1")
    assert fault["status"]["phase"] == "Active"
    assert faulty.json("GET", f"{PATH}/{name}")["spec"]["delayMilliseconds"] == 20
    assert name in {each["metadata"]["name"] for each in faulty.json("GET", PATH)["items"]}

    assert faulty.json("DELETE", f"{PATH}/{name}")["status"] == "Success"
    assert faulty.json("GET", f"{PATH}/{name}")["status"]["reason"] == "lifted"
    assert faulty.request("DELETE", f"{PATH}/{name}")[0] == 404


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"type": "earthquake"}, "spec.type"),
        ({"type": "cut", "seconds": 100_000}, "spec.seconds"),
        ({"type": "cut", "resource": "unicorns"}, "spec.resource"),
        ({"type": "cut", "watcher": 123_456_789}, "spec.watcher"),
        ({"type": "stop-pump", "resource": "pods"}, "spec.resource"),
    ],
)
def test_a_wrong_wish_is_refused_and_the_field_named(
    faulty: Server, spec: dict[str, Any], field: str
) -> None:
    status, answer = post(faulty, spec)

    assert (status, answer["kind"], answer["reason"]) == (422, "Status", "Invalid")
    assert [cause["field"] for cause in answer["details"]["causes"]] == [field]


@pytest.mark.parametrize("body", [b"{", b"[]", b'"cut"'])
def test_what_is_no_document_is_a_bad_request(faulty: Server, body: bytes) -> None:
    status, answer = faulty.request("POST", PATH, body)

    assert (status, json.loads(answer)["reason"]) == (400, "BadRequest")


def test_what_has_no_such_path_or_method_is_said_so(faulty: Server) -> None:
    assert faulty.get(f"{PATH}/x")[0] == 404
    assert faulty.get(f"{PATH}/1/2")[0] == 404
    assert faulty.request("PUT", PATH, {})[0] == 405


def test_who_has_no_role_for_it_is_forbidden(faulty: Server, somebody: str) -> None:
    status, answer = post(faulty, {"type": "cut"}, somebody)

    assert status == 403
    assert 'cannot post path "/debug/faults"' in answer["message"]
    assert faulty.request("DELETE", PATH, None, somebody)[0] == 403
    assert faulty.get(PATH, "")[0] == 403


def test_a_role_may_allow_it(faulty: Server, somebody: str) -> None:
    rule = {"nonResourceURLs": [PATH], "verbs": ["get", "post"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "breakers"}
    subject = {"kind": "ServiceAccount", "name": "breaker", "namespace": "default"}
    faulty.json("POST", ROLE, {"metadata": {"name": "breakers"}, "rules": [rule]})
    binding = {"metadata": {"name": "breakers"}, "roleRef": role, "subjects": [subject]}
    faulty.json("POST", BINDING, binding)

    status, fault = post(faulty, {"type": "delay"}, somebody)

    assert status == 201
    assert faulty.get(PATH, somebody)[0] == 200
    assert faulty.request("DELETE", f"{PATH}/{fault['metadata']['name']}", None, somebody)[0] == 403


@pytest.mark.external
def test_kubectl_reaches_it_by_raw_requests(faulty: Server, tmp_path: Path) -> None:
    kubectl = Kubectl(newest(), faulty.kubeconfig, tmp_path)
    made = json.loads(
        kubectl(
            "create", "--raw", PATH, "-f", "-",
            stdin=json.dumps({"spec": {"type": "delay", "seconds": 60}}),
        )
    )  # fmt: skip
    name = made["metadata"]["name"]

    assert name in {
        each["metadata"]["name"] for each in json.loads(kubectl("get", "--raw", PATH))["items"]
    }

    kubectl("delete", "--raw", f"{PATH}/{name}")

    assert faulty.json("GET", f"{PATH}/{name}")["status"]["phase"] == "Ended"
