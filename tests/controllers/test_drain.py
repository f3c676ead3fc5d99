"""`kubectl drain`, as on a real cluster: budgets hold, pods move, and nodes come back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.clients.kubectl import Kubectl, newest
from tests.controllers.cluster import Cluster, eventually, workload
from tests.servers import running

pytestmark = [pytest.mark.external, pytest.mark.timeout(120)]


def test_a_drained_node_is_empty_and_no_budget_was_broken(tmp_path: Path) -> None:
    with running(tmp_path / "server", "--controllers=*", "--nodes", "2") as server:
        cluster = Cluster(server)
        kubectl = Kubectl(newest(), server.kubeconfig, tmp_path)
        eventually(lambda: len(cluster.nodes()) == 2)
        namespace = cluster.namespace("moving")
        spec = workload(4)
        # A new pod needs a moment, so that evictions have to wait for the budget.
        notes = {"kubelet.listwatch.dev/ready-seconds": "0.3"}
        spec["template"]["metadata"]["annotations"] = notes
        namespace.create("deployments", "web", spec)
        selector = {"matchLabels": {"app": "web"}}
        budget = {"minAvailable": 3, "selector": selector}
        namespace.create("poddisruptionbudgets", "web", budget)
        namespace.create("daemonsets", "agent", {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]},
            },
        })  # fmt: skip
        eventually(lambda: len(namespace.ready()) == 6)
        eventually(
            lambda: (
                namespace.get("poddisruptionbudgets", "web")["status"].get("disruptionsAllowed")
                == 1
            )
        )
        node = cluster.nodes()[0]["metadata"]["name"]
        refused = kubectl.run("drain", node, "--timeout=10s")
        assert "cannot delete DaemonSet-managed Pods" in refused.stderr

        draining = kubectl.start(
            "drain", node, "--ignore-daemonsets", "--timeout=60s", output=tmp_path / "drain"
        )
        least = 4
        while draining.poll() is None:
            least = min(least, len(namespace.ready(app="web")))
            time.sleep(0.02)
        said = (tmp_path / "drain").read_text()
        assert draining.returncode == 0, said
        assert f"node/{node} drained" in said
        assert least >= 3

        eventually(lambda: len(namespace.ready(app="web")) == 4)
        assert {pod["spec"]["nodeName"] for pod in namespace.pods(app="web")} != {node}
        left = [p for p in namespace.pods() if p["spec"]["nodeName"] == node]
        assert [pod["metadata"]["labels"]["app"] for pod in left] == ["agent"]
        kubectl("uncordon", node)
        namespace.patch("deployments", "web", {"spec": {"replicas": 8}})
        eventually(lambda: len(namespace.ready(app="web")) == 8)
        assert any(p["spec"]["nodeName"] == node for p in namespace.pods(app="web"))
