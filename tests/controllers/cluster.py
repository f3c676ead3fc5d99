"""A cluster to test with: a server process, and its controllers in another, asked by plain HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.servers import ROOT, Server

SECONDS = 30.0  # that anything may take on a machine that is busy with other tests
POD = {"containers": [{"name": "c", "image": "app:1"}]}
GROUPS = {
    "deployments": "apis/apps/v1", "replicasets": "apis/apps/v1", "statefulsets": "apis/apps/v1",
    "daemonsets": "apis/apps/v1", "controllerrevisions": "apis/apps/v1", "jobs": "apis/batch/v1",
    "cronjobs": "apis/batch/v1", "endpointslices": "apis/discovery.k8s.io/v1",
    "poddisruptionbudgets": "apis/policy/v1",
}  # fmt: skip


class Cluster:
    """Objects of a server by short paths; `ns/kind/name` as the API has them."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def namespace(self, name: str) -> Namespace:
        self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return Namespace(self, name)

    def get(self, path: str) -> Any:
        """The object, None if there is none."""
        import json

        status, body = self.server.get(path)
        if status == 404:
            return None
        assert status == 200, (status, body)
        return json.loads(body)

    def nodes(self) -> list[Any]:
        items: list[Any] = self.server.json("GET", "/api/v1/nodes")["items"]
        return items


class Namespace:
    """One namespace: what a test makes stays in it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name

    def path(self, resource: str, name: str = "", part: str = "") -> str:
        group = GROUPS.get(resource, "api/v1")
        parts = [group, "namespaces", self.name, resource, name, part]
        return "/" + "/".join(filter(None, parts))

    def create(self, resource: str, name: str, spec: Any = None, **more: Any) -> Any:
        metadata = {"name": name, **more.pop("metadata", {})}
        body = {"metadata": metadata, **({} if spec is None else {"spec": spec}), **more}
        return self.cluster.server.json("POST", self.path(resource), body)

    def get(self, resource: str, name: str) -> Any:
        return self.cluster.get(self.path(resource, name))

    def items(self, resource: str) -> list[Any]:
        items: list[Any] = self.cluster.server.json("GET", self.path(resource))["items"]
        return items

    def patch(self, resource: str, name: str, patch: Any, part: str = "") -> Any:
        return self.cluster.server.json(
            "PATCH", self.path(resource, name, part), patch,
            Content_Type="application/merge-patch+json",
        )  # fmt: skip

    def delete(self, resource: str, name: str, **options: Any) -> None:
        status, body = self.cluster.server.request(
            "DELETE", self.path(resource, name), options or None
        )
        assert status in (200, 202), (status, body)

    def pods(self, **labels: str) -> list[Any]:
        return [
            pod
            for pod in self.items("pods")
            if labels.items() <= (pod["metadata"].get("labels") or {}).items()
        ]

    def ready(self, **labels: str) -> list[Any]:
        return [pod for pod in self.pods(**labels) if is_ready(pod)]

    def events(self, reason: str) -> list[Any]:
        return [event for event in self.items("events") if event["reason"] == reason]


def template(labels: dict[str, str], image: str = "app:1", **spec: Any) -> Any:
    """The pod template of a workload."""
    container = {"name": "c", "image": image, **spec.pop("container", {})}
    metadata = {"labels": labels, **spec.pop("metadata", {})}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def workload(replicas: int, image: str = "app:1", **spec: Any) -> Any:
    """The spec of a deployment or replica set of pods with the label app=web."""
    labels = {"app": "web"}
    return {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template(labels, image),
        **spec,
    }


def is_ready(pod: Any) -> bool:
    found = pod.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in found)


def condition(subject: Any, kind: str) -> Any:
    """The condition of a type; {} if there is none."""
    found = (subject or {}).get("status", {}).get("conditions") or ()
    return next((c for c in found if c["type"] == kind), {})


def eventually(look: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What the look returns once it is true; fails with the last of it."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"still {found!r}"
        time.sleep(0.05)


def always(look: Callable[[], Any], seconds: float = 0.5) -> None:
    """It stays true for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert look()
        time.sleep(0.05)


class Controllers:
    """`python -m listwatch.controllers` as a process of its own."""

    def __init__(self, server: Server, *arguments: str, log: Path) -> None:
        self._command = [
            sys.executable, "-m", "listwatch.controllers", "--server", server.url,
            "--root-ca", str(server.ca), *arguments,
        ]  # fmt: skip
        self._environment = {
            **os.environ, "LISTWATCH_CONTROLLERS_TOKEN": server.token, "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Controllers:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self._environment, start_new_session=True,
            )  # fmt: skip
        return self

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(20)
