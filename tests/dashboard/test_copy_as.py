from __future__ import annotations

import ast
import shlex

import pytest

from dashboard.copy_as import Call, client_go, copies, curl, kubectl, python
from listwatch.protocol.kinds import Resource
from listwatch.registry.resources import ResourceTable


def served(group: str, name: str) -> Resource:
    found = ResourceTable().find(group, "v1", name)
    assert found is not None
    return found


PODS = served("", "pods")
DEPLOYMENTS = served("apps", "deployments")
NODES = served("", "nodes")
RAW = "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=41"
CALLS = [
    Call("get", PODS, "default", "web-0"),
    Call("get", NODES, name="n1"),
    Call("list", DEPLOYMENTS, labels="app in (a,b)"),
    Call("watch", PODS, "default", labels='app="x"', fields="spec.nodeName=n1"),
    Call("watch", PODS, since="41"),
]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (CALLS[0], "kubectl get pods web-0 -n default -o yaml"),
        (CALLS[1], "kubectl get nodes n1 -o yaml"),
        (CALLS[2], "kubectl get deployments.apps -A -l 'app in (a,b)'"),
        (CALLS[4], f"kubectl get --raw '{RAW}'"),
    ],
)  # fmt: skip
def test_kubectl(call: Call, words: str) -> None:
    assert kubectl(call) == words


@pytest.mark.parametrize("call", CALLS)
def test_every_program_is_one(call: Call) -> None:
    names = [copy.name for copy in copies(call, "http://127.0.0.1:8000")]

    assert names == ["kubectl", "curl", "client-go", "Python"]
    ast.parse(python(call))
    assert shlex.split(curl(call, "http://127.0.0.1:8000"))[-1].startswith("http://127.0.0.1:8000/")
    assert client_go(call).count("{") == client_go(call).count("}")


def test_what_was_typed_stays_inside_its_quotes() -> None:
    call = Call("list", DEPLOYMENTS, labels="a=$(rm -rf x)'\"\\")

    assert "$(rm" not in shlex.split(kubectl(call))[0:4]
    assert call.labels in shlex.split(kubectl(call))
    literal = next(
        node.value.value
        for node in ast.walk(ast.parse(python(call)))
        if isinstance(node, ast.keyword)
        and node.arg == "label_selector"
        and isinstance(node.value, ast.Constant)
    )
    assert literal == call.labels
    assert r'"a=$(rm -rf x)' + r"'\"\\" + '"' in client_go(call)
