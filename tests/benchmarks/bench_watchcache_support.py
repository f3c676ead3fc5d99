"""What the benchmarks of the watch cache share: pods of the usual size, a cache, a table."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from listwatch.protocol.clock import Clock, SystemClock
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import encode
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.versions import Version
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress

PODS = GroupResource("", "pods")
JSON = JSONRepresentation("Pod", "v1")
_FILLER = "x" * 900  # to the 1.3 KB of a small pod


def pod(revision: int, name: str, *, app: str = "web", node: str = "", **labels: str) -> Version:
    """A pod of 1.3 KB, with five labels and the eight fields that can be selected."""
    labels = {"app": app, "tier": "front", "track": "stable", "team": "blue", "zone": "a", **labels}
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": labels,
        "annotations": {"n": _FILLER},
    }
    fields = dict.fromkeys(
        ("spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
         "status.nominatedNodeName", "status.podIP", "spec.hostNetwork"), "",
    )  # fmt: skip
    fields |= {"metadata.name": name, "metadata.namespace": "default", "spec.nodeName": node}
    return Version(
        namespace="default",
        name=name,
        uid=name,
        revision=revision,
        encoded=encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {}}),
        labels=labels,
        fields=fields,
    )


def caches(clock: Clock | None = None, objects: int = 0, **options: Any) -> Caches:  # Any: options
    """A cache of so many pods, at revision `objects`."""
    clock = clock or SystemClock()
    made = Caches(Progress(clock), history=None, clock=clock, options=CacheOptions(**options))  # type: ignore[arg-type]
    pods = [
        pod(n + 1, f"pod-{n:06}", app=f"app-{n % 100}", node=f"node-{n % 118}")
        for n in range(objects)
    ]
    made.fill(objects, objects, {PODS: (pods, ())})
    return made


def per_call(function: Callable[[], object], *, seconds: float = 0.5) -> float:
    """CPU microseconds of one call: the best of several rounds."""
    function()
    gc.collect()
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.process_time()
        calls = 0
        while time.process_time() - start < 0.02:
            function()
            calls += 1
        best = min(best, (time.process_time() - start) / calls)
    return best * 1e6


def report(*cells: str) -> None:
    """A line of results."""
    sys.stdout.write("  ".join(cells) + "\n")
    sys.stdout.flush()
