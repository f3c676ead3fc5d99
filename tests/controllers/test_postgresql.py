"""Several server processes on one database, each with controllers of its own: one set works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.controllers.cluster import Cluster, Namespace, always, eventually, workload
from tests.postgres import postgres_url  # noqa: F401 (a fixture)
from tests.servers import Server

pytestmark = [pytest.mark.external, pytest.mark.timeout(180)]

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"
PATIENCE = 60.0  # seconds: the lease of one that was killed lasts for fifteen


def holder(cluster: Cluster) -> str:
    lease: Any = cluster.get(LEASE) or {}
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def test_of_two_servers_on_one_database_one_set_of_controllers_works_and_the_other_takes_over(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
) -> None:
    """Nothing is made twice while both live, and nothing is left undone when the leader is gone."""
    database = {"LISTWATCH_DATABASE_URL": postgres_url}
    first = Server(tmp_path / "one", "--workers", "2", "--controllers=*", **database)
    second = Server(tmp_path / "two", "--controllers=*", **database)
    try:
        one = Cluster(first.start())
        leader = eventually(lambda: holder(one))
        two = Cluster(second.start())
        namespace = one.namespace("shared")
        most = 0

        def ready(of: Namespace, number: int) -> bool:
            nonlocal most
            most = max(most, len(of.pods()))
            return len(of.ready()) == number

        namespace.create("deployments", "web", workload(20))
        eventually(lambda: ready(namespace, 20), PATIENCE)
        always(lambda: len(namespace.pods()) == 20)
        assert most == 20
        assert len(namespace.items("replicasets")) == 1
        assert len(two.nodes()) == 3
        assert holder(two) == leader

        # While it is at work: what it began, the other one must not begin again.
        namespace.patch("deployments", "web", {"spec": {"replicas": 60}})
        eventually(lambda: len(namespace.pods()) > 20, PATIENCE)
        first.kill()
        there = Namespace(two, "shared")
        eventually(lambda: ready(there, 60), PATIENCE)
        assert most <= 60
        assert holder(two) not in ("", leader)
        assert second.stop() == 0
    finally:
        first.kill()
        second.kill()
    assert "Traceback" not in second.log
