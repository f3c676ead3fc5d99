"""What the controllers need for what people ask of a cluster, and what others feel of it meanwhile.

    python -m tests.benchmarks.controllers [--repeat 3] [--only kubectl,large] [--markdown]

A server with its controllers as `serve` starts them. First kubectl's own words for a deployment of
50 pods, each timed from its start until the command has returned and the cluster is so; then 5,000
pods on 100 nodes. Meanwhile another client writes a config map again and again and watches it:
`other watch` is the time from before such a write until its event has come.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from listwatch.informer import Client, ClientConfig, resources
from tests.benchmarks.processes import Spent, children_of, spent
from tests.clients.kubectl import Kubectl, newest
from tests.servers import Server, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from listwatch.protocol.objects import JSONObject

HEAD = (
    "work", "s", "writes", "other watch p50 ms", "p99 ms", "server CPU s", "controllers CPU s",
    "server MiB", "controllers MiB",
)  # fmt: skip
# Seconds between two writes of the other client: often where a step is short, and seldom where it
# is long, lest what is measured is the measuring.
OFTEN, SELDOM = 1 / 40, 1 / 10
PATIENCE = 300.0  # seconds until a step counts as failed
NAMESPACE, OTHER = "shop", "others"


@dataclass(frozen=True, slots=True)
class Row:
    """One step, measured."""

    work: str
    seconds: float
    writes: int  # of everybody but the other client
    delays: list[float]  # seconds
    server: Spent
    controllers: Spent

    def cells(self) -> list[str]:
        delays = sorted(self.delays) or [0.0]
        p50, p99 = (delays[min(int(len(delays) * p), len(delays) - 1)] for p in (0.5, 0.99))
        return [
            self.work, f"{self.seconds:.2f}", f"{self.writes:,}", f"{p50 * 1000:.1f}",
            f"{p99 * 1000:.1f}", f"{self.server.cpu:.2f}", f"{self.controllers.cpu:.2f}",
            f"{self.server.resident / 2**20:.0f}", f"{self.controllers.resident / 2**20:.0f}",
        ]  # fmt: skip


@dataclass(slots=True)
class Bystander:
    """The other client: writes one config map again and again, and watches it."""

    client: Client
    every: float  # seconds
    delays: list[float] = field(default_factory=list)
    written: int = 0
    version: int = 0  # the last resourceVersion that it wrote

    async def prepare(self) -> None:
        await self.client.create(resources.NAMESPACES, {"metadata": {"name": OTHER}})
        made = {"metadata": {"namespace": OTHER, "name": "clock"}, "data": {}}
        await self.client.create(resources.CONFIG_MAPS, made)

    async def write(self) -> None:
        begun = time.monotonic()
        for number in range(1, 2**31):
            await asyncio.sleep(max(begun + number * self.every - time.monotonic(), 0.0))
            patch = {"data": {"at": str(time.monotonic())}}
            answer = await self.client.patch(resources.CONFIG_MAPS, "clock", patch, namespace=OTHER)
            self.written += 1
            self.version = int(answer["metadata"]["resourceVersion"])

    async def watch(self) -> None:
        query = {"watch": "1", "fieldSelector": "metadata.name=clock"}
        path = resources.CONFIG_MAPS.path(OTHER)
        async with await self.client.stream(path, query=query) as stream:
            async for event in stream:
                data = event["object"].get("data") or {}
                if "at" in data:
                    self.delays.append(time.monotonic() - float(data["at"]))


class Stage:
    """A server with controllers, kubectl, and the other client."""

    def __init__(self, server: Server, client: Client, bystander: Bystander, home: Path) -> None:
        self.server = server
        self.client = client
        self.bystander = bystander
        self._kubectl = Kubectl(newest(), server.kubeconfig, home)

    async def kubectl(self, *arguments: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._kubectl.command("-n", NAMESPACE, *arguments), env=self._kubectl.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"kubectl {' '.join(arguments)}: {output.decode()}")

    async def measure(self, work: str, act: Callable[[], Awaitable[None]]) -> Row:
        await self.rest()
        (controllers,) = children_of(self.server.pid, "listwatch.controllers")
        before = [spent(self.server.pid), spent(controllers)]
        bystander = self.bystander
        bystander.delays.clear()
        written, version = bystander.written, await self._version()
        begun = time.monotonic()
        await asyncio.wait_for(act(), PATIENCE)
        seconds = time.monotonic() - begun
        delays = list(bystander.delays)
        await self.rest()
        writes = await self._version() - version - (bystander.written - written)
        after = [spent(self.server.pid), spent(controllers)]
        used = [now.since(then) for now, then in zip(after, before, strict=True)]
        row = Row(work, seconds, max(writes, 0), delays, *used)
        print(*row.cells(), sep="\t", file=sys.stderr, flush=True)
        return row

    async def rest(self) -> None:
        """Nobody but the other client writes any more: the events of the step are told, too."""
        while True:
            written, version = self.bystander.written, await self._version()
            await asyncio.sleep(0.5)
            others = await self._version() - version - (self.bystander.written - written)
            if others <= 2:  # heartbeats go on
                return

    async def until(self, resource: resources.APIResource, name: str, holds: Holds) -> None:
        """Watch one object until it is so."""
        path = resource.path(NAMESPACE if resource.namespaced else "")
        query = {"watch": "1", "fieldSelector": f"metadata.name={name}"}
        async with await self.client.stream(path, query=query) as stream:
            async for event in stream:
                if holds(event["type"], event["object"]):
                    return
        raise SystemExit(f"the watch of {resource.resource} ended")

    async def _version(self) -> int:
        listed = await self.client.list(resources.NAMESPACES, query={"limit": "1"})
        return int(listed["metadata"]["resourceVersion"])


Holds = Callable[[str, "JSONObject"], bool]


def available(number: int) -> Holds:
    """A deployment of so many pods, all of them new and available."""

    def holds(_: str, subject: JSONObject) -> bool:
        status = subject.get("status") or {}
        keys = ("replicas", "updatedReplicas", "availableReplicas")
        counts = [status.get(key) or 0 for key in keys]
        seen = status.get("observedGeneration") == subject["metadata"].get("generation")
        return seen and counts == [number] * 3

    return holds


async def kubectl_steps(stage: Stage, pods: int) -> list[Row]:
    """What people do with a deployment, in kubectl's words."""
    namespace = {"metadata": {"name": NAMESPACE}}
    await stage.client.create(resources.NAMESPACES, namespace)

    async def rolled_out(*arguments: str, number: int = pods) -> None:
        await stage.kubectl(*arguments)
        await stage.kubectl("rollout", "status", "deployment/web", "--timeout=120s")
        await stage.until(resources.DEPLOYMENTS, "web", available(number))

    async def exposed() -> None:
        await stage.kubectl("expose", "deployment", "web", "--port=80")
        path = resources.ENDPOINT_SLICES.path(NAMESPACE)
        async with await stage.client.stream(path, query={"watch": "1"}) as stream:
            async for event in stream:
                endpoints = event["object"].get("endpoints") or ()
                if sum(bool((e.get("conditions") or {}).get("ready")) for e in endpoints) == pods:
                    return

    async def drained() -> None:
        await stage.kubectl("drain", "node-1", "--ignore-daemonsets", "--timeout=120s")
        await stage.until(resources.DEPLOYMENTS, "web", available(pods))

    web = ("deployment", "web")
    steps: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("nothing, for comparison", lambda: asyncio.sleep(3)),
        (
            f"create deployment --replicas={pods}; rollout status",
            lambda: rolled_out("create", *web, "--image=x", f"--replicas={pods}"),
        ),
        (
            f"scale --replicas={pods // 2}; rollout status",
            lambda: rolled_out("scale", *web, f"--replicas={pods // 2}", number=pods // 2),
        ),
        (
            f"scale --replicas={pods}; rollout status",
            lambda: rolled_out("scale", *web, f"--replicas={pods}"),
        ),
        ("set image; rollout status", lambda: rolled_out("set", "image", "deployment/web", "x=y")),
        ("rollout undo; rollout status", lambda: rolled_out("rollout", "undo", "deployment/web")),
        ("expose, until every pod is an endpoint", exposed),
        ("drain a third of the pods' nodes, until all are back", drained),
        ("delete namespace", lambda: stage.kubectl("delete", "namespace", NAMESPACE)),
    ]
    return [await stage.measure(work, act) for work, act in steps]


async def large(stage: Stage, pods: int, nodes: int) -> list[Row]:
    """One deployment that fills a hundred nodes, and its end."""
    labels = {"app": "web"}
    spec = {"containers": [{"name": "c", "image": "app:1"}]}
    deployment = {
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": {
            "replicas": pods, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }  # fmt: skip
    await stage.client.create(resources.NAMESPACES, {"metadata": {"name": NAMESPACE}})

    async def act() -> None:
        await stage.client.create(resources.DEPLOYMENTS, deployment)
        await stage.until(resources.DEPLOYMENTS, "web", available(pods))

    return [await stage.measure(f"{pods:,} pods on {nodes} nodes", act)]


async def registered(client: Client, nodes: int) -> None:
    """Until so many nodes are there."""
    names: set[str] = set()
    path = resources.NODES.path()
    async with await client.stream(path, query={"watch": "1"}) as stream:
        async for event in stream:
            names.add(event["object"]["metadata"]["name"])
            if len(names) == nodes:
                return


@asynccontextmanager
async def stage_of(folder: Path, *, nodes: int, every: float = OFTEN) -> AsyncIterator[Stage]:
    with running(folder, "--controllers=*", "--nodes", str(nodes)) as server:
        config = ClientConfig(server.url, token=server.token)
        async with Client(config) as client, Client(config) as others:
            await registered(client, nodes)
            bystander = Bystander(others, every)
            await bystander.prepare()
            tasks = [asyncio.create_task(each()) for each in (bystander.watch, bystander.write)]
            try:
                yield Stage(server, client, bystander, folder)
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task


async def run(folder: Path, groups: set[str], given: argparse.Namespace) -> list[Row]:
    """All rows of one run."""
    rows: list[Row] = []
    if "kubectl" in groups:
        async with stage_of(folder / "kubectl", nodes=3) as stage:
            rows += await kubectl_steps(stage, given.pods)
    if "large" in groups:
        async with stage_of(folder / "large", nodes=given.nodes, every=SELDOM) as stage:
            rows += await large(stage, given.large, given.nodes)
    return rows


def median(rows: Sequence[Row]) -> Row:
    """One row of several runs of one step; the delays of all runs together."""
    return Row(
        rows[0].work,
        statistics.median(row.seconds for row in rows),
        round(statistics.median(row.writes for row in rows)),
        [delay for row in rows for delay in row.delays],
        Spent.median([row.server for row in rows]),
        Spent.median([row.controllers for row in rows]),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows as JSON lines, or as a table to paste."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="kubectl,large")
    parser.add_argument("--pods", type=int, default=50, help="of the deployment for kubectl")
    parser.add_argument("--large", type=int, default=5000, help="pods of the large deployment")
    parser.add_argument("--nodes", type=int, default=100, help="that it is spread over")
    parser.add_argument("--markdown", action="store_true", help="a table for docs/performance.md")
    given = parser.parse_args(arguments)
    groups = set(given.only.split(","))
    runs: list[list[Row]] = []
    for number in range(given.repeat):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(asyncio.run(run(Path(folder) / str(number), groups, given)))
    rows = [median(same) for same in zip(*runs, strict=True)]
    if given.markdown:
        print("| " + " | ".join(HEAD) + " |")
        print("| --- |" + " ---: |" * (len(HEAD) - 1))
        for row in rows:
            print("| " + " | ".join(row.cells()) + " |")
        return
    for row in rows:
        print(json.dumps(dict(zip(HEAD, row.cells(), strict=True))))


if __name__ == "__main__":
    main()
