"""The process itself: deaths, restarts, selections, a clock that runs ahead, and kubectl's view."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.kubectl import Kubectl, newest, older
from tests.controllers.cluster import (
    POD,
    Cluster,
    Controllers,
    Namespace,
    always,
    condition,
    eventually,
    template,
    workload,
)
from tests.servers import Server, running


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Cluster]:
    """A server without controllers: tests bring their own."""
    with running(tmp_path / "bare", "--controllers=") as server:
        yield Cluster(server)


def child_of(server: Server) -> int:
    """The process of the controllers."""

    def look() -> int:
        found = subprocess.run(
            ["ps", "--ppid", str(server.pid), "-o", "pid=,args="],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        lines = [line.split() for line in found.splitlines() if "listwatch.controllers" in line]
        return int(lines[0][0]) if lines else 0

    return int(eventually(look))


def wait_for_end(process: int) -> None:
    eventually(lambda: not Path(f"/proc/{process}").exists())


def test_controllers_that_die_are_started_again_and_nothing_is_made_twice(
    cluster: Cluster, namespace: Namespace
) -> None:
    before = child_of(cluster.server)
    namespace.create("replicasets", "web", workload(40))
    eventually(lambda: len(namespace.pods()) > 3)
    os.kill(before, signal.SIGKILL)
    eventually(lambda: child_of(cluster.server) != before)
    most = 0

    def look() -> bool:
        nonlocal most
        most = max(most, len(namespace.pods()))
        return len(namespace.ready()) == 40

    eventually(look)
    assert most == 40
    always(lambda: len(namespace.pods()) == 40)


def test_the_child_ends_with_its_server_even_if_that_is_killed(tmp_path: Path) -> None:
    for end in ("stop", "kill"):
        server = Server(tmp_path / end, "--controllers=namespace-controller").start()
        child = child_of(server)
        process = server.process
        assert process is not None
        if end == "stop":
            assert server.stop() == 0
        else:
            process.kill()
            process.wait()

        wait_for_end(child)


def test_the_token_of_the_controllers_is_nobody_elses_and_not_on_the_command_line(
    cluster: Cluster,
) -> None:
    server = cluster.server
    file = server.data / "controllers-token"
    token = file.read_text().strip()

    assert file.stat().st_mode & 0o777 == 0o600
    assert token != server.token
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    status, body = server.request(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, token=token
    )
    assert status == 201
    assert b'"system:kube-controller-manager"' in body
    line = Path(f"/proc/{child_of(server)}/cmdline").read_bytes()
    assert token.encode() not in line


def test_a_controller_that_is_switched_off_does_nothing(bare: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "log"
    without = Controllers(bare.server, "--controllers=*,-deployment-controller", log=log).start()
    try:
        eventually(lambda: len(bare.nodes()) == 3)
        namespace = bare.namespace("off")
        namespace.create("replicasets", "web", workload(1))
        namespace.create("deployments", "web", workload(1))
        eventually(namespace.ready)
        always(lambda: len(namespace.items("replicasets")) == 1, 1.0)
    finally:
        assert without.stop() == 0
    assert log.read_text() == ""


def test_an_unknown_controller_is_refused_by_name(bare: Cluster, tmp_path: Path) -> None:
    refused = Controllers(bare.server, "--controllers=*,-nonsense", log=tmp_path / "log").start()
    assert refused.process is not None
    assert refused.process.wait(20) == 1
    assert "no such controller: nonsense; there are" in (tmp_path / "log").read_text()


def test_with_a_clock_that_runs_ahead_schedules_and_backoffs_come_early(
    bare: Cluster, tmp_path: Path
) -> None:
    controllers = Controllers(bare.server, "--speed", "60", log=tmp_path / "log").start()
    try:
        namespace = bare.namespace("fast")
        tick = {
            "schedule": "*/1 * * * *",
            "successfulJobsHistoryLimit": 2,
            "jobTemplate": {
                "spec": {
                    "template": template({}, restartPolicy="Never", container={"command": ["true"]})
                }
            },
        }
        namespace.create("cronjobs", "tick", tick)
        crash = {
            "kubelet.listwatch.dev/run-seconds": "1", "kubelet.listwatch.dev/exit-code": "1",
            "kubelet.listwatch.dev/crashes": "3",
        }  # fmt: skip
        namespace.create("pods", "crash", POD, metadata={"annotations": crash})

        def restarts() -> int:
            found = (namespace.get("pods", "crash")["status"].get("containerStatuses") or [{}])[0]
            return int(found.get("restartCount", 0)) if found.get("ready") else 0

        eventually(lambda: restarts() == 3)  # after 10 and 20 seconds of back-off, by its clock
        eventually(
            lambda: namespace.get("cronjobs", "tick").get("status", {}).get("lastSuccessfulTime")
        )
        seen: set[str] = set()

        def three() -> bool:
            seen.update(each["metadata"]["name"] for each in namespace.items("jobs"))
            return len(seen) >= 3

        eventually(three)
        eventually(lambda: len(namespace.items("jobs")) <= 3)
        short = {
            "ttlSecondsAfterFinished": 20,
            "template": template({}, restartPolicy="Never", container={"command": ["true"]}),
        }
        namespace.create("jobs", "short", short)
        eventually(lambda: condition(namespace.get("jobs", "short"), "Complete"))
        eventually(lambda: namespace.get("jobs", "short") is None)
    finally:
        assert controllers.stop() == 0


def test_of_two_that_take_part_in_an_election_one_works_and_the_other_takes_over(
    bare: Cluster, tmp_path: Path
) -> None:
    arguments = ("--leader-elect", "--nodes", "1")
    one = Controllers(bare.server, *arguments, log=tmp_path / "one").start()
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"

    def holder() -> str:
        return str(((bare.get(lease) or {}).get("spec") or {}).get("holderIdentity") or "")

    first = eventually(holder)
    two = Controllers(bare.server, *arguments, log=tmp_path / "two").start()
    try:
        namespace = bare.namespace("led")
        namespace.create("deployments", "web", workload(2))
        eventually(lambda: len(namespace.ready()) == 2)
        assert holder() == first
        assert one.stop() == 0  # it lets go of the lease on its way out
        eventually(lambda: holder() not in ("", first))
        namespace.patch("deployments", "web", {"spec": {"replicas": 3}})
        eventually(lambda: len(namespace.ready()) == 3)
    finally:
        assert two.stop() == 0


def test_a_node_that_falls_silent_loses_its_pods(bare: Cluster, tmp_path: Path) -> None:
    arguments = ("--speed", "60")
    all_of_them = Controllers(bare.server, *arguments, log=tmp_path / "one").start()
    namespace = bare.namespace("silent")
    namespace.create("replicasets", "web", workload(2))
    eventually(lambda: len(namespace.ready()) == 2)
    assert all_of_them.stop() == 0
    first = {pod["metadata"]["uid"] for pod in namespace.pods()}
    rest = Controllers(
        bare.server, *arguments, "--controllers=*,-kubelet", log=tmp_path / "two"
    ).start()
    try:
        eventually(
            lambda: all(condition(node, "Ready")["status"] == "Unknown" for node in bare.nodes())
        )
        eventually(lambda: len(bare.nodes()[0]["spec"].get("taints") or ()) == 2)
        taints = bare.nodes()[0]["spec"]["taints"]
        assert {(t["key"], t["effect"]) for t in taints} == {
            ("node.kubernetes.io/unreachable", "NoSchedule"),
            ("node.kubernetes.io/unreachable", "NoExecute"),
        }
        # They tolerate that for five minutes, which are five seconds here.
        eventually(
            lambda: all(
                "deletionTimestamp" in pod["metadata"]
                for pod in namespace.pods()
                if pod["metadata"]["uid"] in first
            )
        )
    finally:
        assert rest.stop() == 0


@pytest.mark.external
@pytest.mark.parametrize("find", [newest, older])
def test_kubectl_sees_a_cluster(
    cluster: Cluster, namespace: Namespace, tmp_path: Path, find: Any
) -> None:
    binary = find()
    if binary is None:
        pytest.skip("kubectl is not installed")
    plain = Kubectl(binary, cluster.server.kubeconfig, tmp_path)

    def kubectl(*arguments: str) -> str:
        return plain("-n", namespace.name, *arguments)

    kubectl("create", "deployment", "web", "--image=x", "--replicas=50")
    began = time.monotonic()
    said = kubectl("rollout", "status", "deployment/web", "--timeout=25s")
    took = time.monotonic() - began
    assert "successfully rolled out" in said
    assert took < 15  # 2 s on a machine that does nothing else
    kubectl("scale", "deployment/web", "--replicas=5")
    kubectl("rollout", "status", "deployment/web", "--timeout=25s")
    kubectl("set", "image", "deployment/web", "x=y")
    kubectl("rollout", "status", "deployment/web", "--timeout=25s")
    kubectl("rollout", "undo", "deployment/web")
    kubectl("rollout", "status", "deployment/web", "--timeout=25s")
    history = kubectl("rollout", "history", "deployment/web").split()
    assert history[-4::2] == ["2", "3"]
    kubectl("expose", "deployment", "web", "--port=80")
    eventually(lambda: kubectl("get", "endpointslices", "-o", "name").startswith("endpointslice"))
    kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=20s")
    pod = kubectl("get", "pods", "-o", "name").split()[0]
    kubectl("delete", pod, "--wait=false")
    kubectl("wait", "--for=delete", pod, "--timeout=20s")
    kubectl("delete", "namespace", namespace.name, "--timeout=25s")
