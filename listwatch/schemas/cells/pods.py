"""Cells of pods: what stands under STATUS is told from phase, conditions and every container."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.durations import human_duration
from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import (
    NONE,
    age,
    conditions_of,
    items,
    name_of,
    number,
    part,
    seconds_of,
    text,
)

_NODE_LOST = "NodeLost"  # the reason of a pod whose node is not heard of
_TERMINAL = ("Succeeded", "Failed")


def pod(document: JSONObject, now: float) -> list[Any]:
    """Name, Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates."""
    summary = _Summary(document)
    addresses = items(document, "status", "podIPs")
    address = addresses[0].get("ip") if addresses else text(document, "status", "podIP")
    return [
        name_of(document),
        f"{summary.ready}/{summary.total}",
        summary.status,
        summary.restarts.told(now),
        age(document, now),
        address or NONE,
        text(document, "spec", "nodeName") or NONE,
        text(document, "status", "nominatedNodeName") or NONE,
        _readiness_gates(document),
    ]


class _Restarts:
    """How often containers were started again, and when last."""

    def __init__(self) -> None:
        self.count = 0
        self.last: float | None = None

    def add(self, container: JSONObject) -> None:
        """Count one container's restarts in."""
        self.count += number(container, "restartCount")
        when = seconds_of(text(container, "lastState", "terminated", "finishedAt"))
        if when is not None and (self.last is None or when > self.last):
            self.last = when

    def told(self, now: float) -> str:
        """`3`, or `3 (2m ago)`."""
        if not self.count or self.last is None:
            return str(self.count)
        return f"{self.count} ({human_duration(now - self.last)} ago)"


class _Summary:
    """What the containers of a pod say together.

    Containers are looked at in the order in which they start: what comes later has its say only
    when what comes before has let it begin.
    """

    def __init__(self, document: JSONObject) -> None:
        self._status = part(document, "status")
        self._conditions = conditions_of(document)
        inits = items(document, "spec", "initContainers")
        self._inits = len(inits)
        self._sidecars = {c.get("name") for c in inits if c.get("restartPolicy") == "Always"}
        self._sidecar_restarts = _Restarts()
        self.total = len(items(document, "spec", "containers")) + len(self._sidecars)
        self.ready = 0
        self.restarts = _Restarts()
        self.status = self._phase()
        initializing = self._look_at_init_containers()
        if not initializing or self._is_true("Initialized"):
            self._look_at_containers()
        if text(document, "metadata", "deletionTimestamp"):
            if self._status.get("reason") == _NODE_LOST:
                self.status = "Unknown"
            elif self._status.get("phase") not in _TERMINAL:
                self.status = "Terminating"

    def _phase(self) -> str:
        scheduled = self._conditions.get("PodScheduled") or {}
        if scheduled.get("reason") == "SchedulingGated":
            return "SchedulingGated"
        return self._status.get("reason") or self._status.get("phase") or ""

    def _is_true(self, condition: str) -> bool:
        return (self._conditions.get(condition) or {}).get("status") == "True"

    def _look_at_init_containers(self) -> bool:
        """Whether the pod still initializes; its status says how far it came."""
        for index, container in enumerate(items(self._status, "initContainerStatuses")):
            self.restarts.add(container)
            sidecar = container.get("name") in self._sidecars
            if sidecar:
                self._sidecar_restarts.add(container)
            ended = part(container, "state").get("terminated")
            if ended is not None and not ended.get("exitCode"):
                continue
            if sidecar and container.get("started"):
                self.ready += bool(container.get("ready"))
                continue
            waiting = text(container, "state", "waiting", "reason")
            if ended is not None:
                said = _ended(ended)
            elif waiting and waiting != "PodInitializing":
                said = waiting
            else:
                said = f"{index}/{self._inits}"
            self.status = f"Init:{said}"
            return True
        return False

    def _look_at_containers(self) -> None:
        self.restarts = self._sidecar_restarts  # those of init containers are history now
        running = False
        for container in reversed(items(self._status, "containerStatuses")):
            self.restarts.add(container)
            state = part(container, "state")
            if waiting := text(state, "waiting", "reason"):
                self.status = waiting
            elif (ended := state.get("terminated")) is not None:
                self.status = _ended(ended)
            elif container.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.status == "Completed" and running:
            self.status = "Running" if self._is_true("Ready") else "NotReady"


def _ended(terminated: JSONObject) -> str:
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode') or 0}"


def _readiness_gates(document: JSONObject) -> str:
    gates = items(document, "spec", "readinessGates")
    if not gates:
        return NONE
    conditions = conditions_of(document)
    passed = sum(
        (conditions.get(gate.get("conditionType")) or {}).get("status") == "True" for gate in gates
    )
    return f"{passed}/{len(gates)}"
