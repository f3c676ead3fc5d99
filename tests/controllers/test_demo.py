"""The guided way of a pod, as `manage.py demo` prints it."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.controllers.cluster import Cluster, eventually
from tests.servers import ROOT


def test_the_demo_tells_every_hop_in_order_and_leaves_nothing_behind(cluster: Cluster) -> None:
    told = subprocess.run(
        [
            sys.executable, str(ROOT / "manage.py"), "demo", "--replicas", "1",
            "--data", str(cluster.server.data),
        ],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    order = [
        "you create deployment web of 1 replicas",
        "deployment controller, which watches deployments, creates replica set web-",
        "replica set controller, which watches replica sets, creates pod web-",
        "scheduler, which watches pods with spec.nodeName=, binds pod web-",
        "which watches pods with spec.nodeName=node-",
        "says in the status of web: 1 of 1 available",
        "you delete deployment web",
        "garbage collector, which watches every kind, deletes replica set web-",
        "ends pod web-",
    ]
    places = [told.index(text) for text in order]
    assert places == sorted(places)
    revisions = [int(number) for number in re.findall(r"rv (\d+)", told)]
    assert len(revisions) >= 8
    times = [int(number) for number in re.findall(r"^ *(\d+) ms", told, re.MULTILINE)]
    assert times == sorted(times)  # one clock from the first write to the last
    (name,) = re.findall(r"in namespace (demo-\w+)", told)
    eventually(lambda: cluster.get(f"/api/v1/namespaces/{name}") is None)


def test_a_demo_that_nobody_could_follow_is_refused(cluster: Cluster) -> None:
    refused = subprocess.run(
        [
            sys.executable, str(ROOT / "manage.py"), "demo", "--replicas", "99",
            "--data", str(cluster.server.data),
        ],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert refused.returncode != 0
    assert "--replicas: from 1 to 50" in refused.stderr
