"""kubectl, unmodified, newest and older: what a person does on the first day works."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.kubectl import Kubectl, newest, older, version
from tests.servers import Server

TEN_KINDS = Path(__file__).with_name("manifests") / "ten-kinds.yaml"
BINARIES = [pytest.param(newest, id="newest"), pytest.param(older, id="older")]

pytestmark = pytest.mark.external


@pytest.fixture(params=BINARIES)
def kubectl(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Kubectl]:
    binary: Path | None = request.param()
    if binary is None or not binary.exists():
        pytest.skip("kubectl is not installed")
    made = Kubectl(binary, server.kubeconfig, tmp_path)
    yield made
    made.run("delete", "namespace", "shop", "till", "--ignore-not-found", "--wait=true")


def eventually(said: Callable[[], str], *parts: str, seconds: float = 10.0) -> str:
    """What is said once it holds all parts; fails with the last of it."""
    deadline = time.monotonic() + seconds
    while True:
        text = said()
        if all(part in text for part in parts):
            return text
        assert time.monotonic() < deadline, f"{parts} not in:\n{text}"
        time.sleep(0.05)


def whole_lines(path: Path) -> Callable[[], str]:
    """Reads what has been written up to its last line's end: a program writes a line in pieces."""

    def read() -> str:
        text = path.read_text()
        return text[: text.rfind("\n") + 1]

    return read


def test_the_two_kubectls_are_the_newest_and_an_older_one() -> None:
    old = older()
    if old is None:
        pytest.skip("kubectl is not installed")

    assert version(newest()) == "1.37"
    assert version(old) != version(newest())


def test_ten_kinds_of_one_manifest_are_applied_and_applied_again(kubectl: Kubectl) -> None:
    first = kubectl("apply", "-f", str(TEN_KINDS))
    assert first.count(" created") == 10

    again = kubectl("apply", "-f", str(TEN_KINDS))
    # A Secret's stringData is not read back, so kubectl itself calls it configured each time.
    assert again.count(" unchanged") + again.count(" configured") == 10
    assert again.count(" unchanged") >= 9

    everywhere = kubectl("get", "pods,deployments,services", "-A")
    for word in ("NAMESPACE", "pod/cleaner", "deployment.apps/web", "service/web", "0/2", "80/TCP"):
        assert word in everywhere

    wide = kubectl("get", "-n", "shop", "deployments", "-o", "wide")
    assert "CONTAINERS" in wide
    assert "registry.example/web:1" in wide
    assert "9-18" in kubectl("get", "-n", "shop", "configmap", "opening-hours", "-o", "yaml")
    note = json.loads(kubectl("get", "-n", "shop", "cm", "opening-hours", "-o", "json"))
    assert note["data"]["note"] == "变更 and größe 🛒"
    assert "opening-hours" in kubectl("describe", "-n", "shop", "configmap", "opening-hours")


def test_five_kinds_are_created_by_their_own_commands(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "till")
    kubectl("create", "-n", "till", "configmap", "c", "--from-literal=a=b")
    kubectl("create", "-n", "till", "secret", "generic", "s", "--from-literal=a=b")
    kubectl("create", "-n", "till", "serviceaccount", "sa")
    kubectl("create", "-n", "till", "deployment", "d", "--image=registry.example/d")
    kubectl("create", "-n", "till", "service", "clusterip", "svc", "--tcp=80:8080")

    listed = kubectl("get", "-n", "till", "cm,secret,sa,deploy,svc", "-o", "name").split()

    for name in ("configmap/c", "secret/s", "serviceaccount/sa", "deployment.apps/d"):
        assert name in listed
    assert "service/svc" in listed


def test_a_running_get_w_sees_each_change(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "namespace", "till")
    seen = tmp_path / "seen"
    watching = kubectl.start(
        "get", "-n", "till", "configmaps", "-w", "--output-watch-events", output=seen
    )
    try:
        kubectl("create", "-n", "till", "configmap", "c", "--from-literal=a=b")
        eventually(whole_lines(seen), "EVENT", "ADDED", " c ")
        kubectl("label", "-n", "till", "configmap", "c", "aisle=3")
        eventually(whole_lines(seen), "MODIFIED")
        kubectl("delete", "-n", "till", "configmap", "c")
        eventually(whole_lines(seen), "DELETED")
    finally:
        watching.kill()
        watching.wait()


def test_objects_are_changed_in_every_way(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(TEN_KINDS))

    kubectl("patch", "-n", "shop", "cm", "opening-hours", "-p", '{"data":{"tuesday":"9-12"}}')
    kubectl(
        "patch", "-n", "shop", "cm", "opening-hours", "--type=merge", "-p",
        '{"data":{"monday":null}}',
    )  # fmt: skip
    kubectl(
        "patch", "-n", "shop", "cm", "opening-hours", "--type=json", "-p",
        '[{"op":"add","path":"/data/sunday","value":"closed"}]',
    )  # fmt: skip
    read = json.loads(kubectl("get", "-n", "shop", "cm", "opening-hours", "-o", "json"))
    assert set(read["data"]) == {"tuesday", "sunday", "note"}

    kubectl("label", "-n", "shop", "pod", "cleaner", "shift=night")
    assert "cleaner" in kubectl("get", "-n", "shop", "pods", "-l", "shift in (night, late)")
    kubectl("scale", "-n", "shop", "deployment", "web", "--replicas=5")
    assert "0/5" in kubectl("get", "-n", "shop", "deployment", "web")
    kubectl(
        "patch", "-n", "shop", "deployment", "web", "-p",
        '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example/web:2"}]}}}}',
    )  # fmt: skip
    deployment = json.loads(kubectl("get", "-n", "shop", "deploy", "web", "-o", "json"))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/web:2"
    assert container["ports"] == [{"containerPort": 8080, "protocol": "TCP"}]


def test_edit_saves_what_the_editor_leaves(
    kubectl: Kubectl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl("apply", "-f", str(TEN_KINDS))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/9-18/8-20/" "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("KUBE_EDITOR", str(editor))

    assert "edited" in kubectl("edit", "-n", "shop", "configmap", "opening-hours")

    assert "8-20" in kubectl("get", "-n", "shop", "configmap", "opening-hours", "-o", "yaml")


def test_an_unknown_field_is_refused_by_the_server(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "till")
    manifest = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: till}\ndada: {a: b}\n"
    )

    refused = kubectl.run("apply", "-f", "-", stdin=manifest)

    assert refused.returncode == 1
    assert 'unknown field "dada"' in refused.stderr
    assert "not found" in kubectl.run("get", "-n", "till", "configmap", "x").stderr


def test_wait_for_delete_returns_when_the_object_is_gone(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(TEN_KINDS))
    kubectl(
        "patch", "-n", "shop", "cm", "opening-hours", "--type=merge", "-p",
        '{"metadata":{"finalizers":["shop.example/hold"]}}',
    )  # fmt: skip
    kubectl("delete", "-n", "shop", "configmap", "opening-hours", "--wait=false")
    late = kubectl.run(
        "wait", "-n", "shop", "--for=delete", "configmap/opening-hours", "--timeout=1s"
    )
    assert late.returncode == 1

    kubectl(
        "patch", "-n", "shop", "cm", "opening-hours", "--type=merge", "-p",
        '{"metadata":{"finalizers":null}}',
    )  # fmt: skip

    kubectl("wait", "-n", "shop", "--for=delete", "configmap/opening-hours", "--timeout=5s")


def test_a_namespace_goes_with_all_that_is_in_it(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(TEN_KINDS))

    kubectl("delete", "namespace", "shop", "--timeout=15s")

    assert "not found" in kubectl.run("get", "namespace", "shop").stderr
    assert "shop" not in kubectl("get", "cm,deploy,sts,ds,svc,secrets,leases", "-A")
