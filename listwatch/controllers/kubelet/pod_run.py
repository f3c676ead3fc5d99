"""One pod as it runs: init containers in turn, then all others, and the status that tells of it.

Ephemeral containers, as `kubectl debug` adds them, run beside them and count for nothing.

Made by `controller` when a pod appears on a node; pure but for the time it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from listwatch.controllers import conditions
from listwatch.controllers.kubelet.containers import ENDED, RUNNING, ContainerRun
from listwatch.controllers.kubelet.scenarios import guess_of, plan_of
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject

_OWN = frozenset(
    {"PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"}
)


@dataclass(slots=True)
class PodRun:
    """The run of one pod on one node."""

    uid: str
    node: str
    host_ip: str
    ip: str
    began: float
    inits: list[ContainerRun]
    containers: list[ContainerRun]
    ephemerals: list[ContainerRun] = field(default_factory=list)  # more of them may come
    stops_at: float | None = None  # when it will have stopped; None while nobody asked
    failed: str = ""  # the reason, if the pod was ended for another than its containers
    conditions: conditions.Conditions = field(default_factory=list)
    sent: JSONObject | None = None  # the status last written
    generation: int = 0  # of the pod that the status is about
    told: set[str] = field(default_factory=set)  # container runs that events were recorded for

    @staticmethod
    def of(pod: JSONObject, node: str, addresses: tuple[str, str], now: float) -> PodRun:
        """A run that begins now, or goes on from the pod's status."""
        host_ip, ip = addresses
        status = pod.get("status") or {}
        run = PodRun(
            uid=pod["metadata"]["uid"],
            node=node,
            host_ip=host_ip,
            ip=host_ip if pod["spec"].get("hostNetwork") else ip,
            began=parse_rfc3339(status["startTime"]) if status.get("startTime") else now,
            inits=_runs(pod, "initContainers"),
            containers=_runs(pod, "containers"),
            ephemerals=_runs(pod, "ephemeralContainers"),
            # Those of others, as readiness gates are, stay theirs.
            conditions=[each for each in status.get("conditions") or () if each["type"] in _OWN],
        )
        for name, runs in (
            ("initContainerStatuses", run.inits), ("containerStatuses", run.containers),
            ("ephemeralContainerStatuses", run.ephemerals),
        ):  # fmt: skip
            known = {each["name"]: each for each in status.get(name) or ()}
            for each in runs:
                if each.name in known:
                    each.adopt(known[each.name])
        return run

    @property
    def everything(self) -> tuple[ContainerRun, ...]:
        """All its containers."""
        return (*self.inits, *self.containers, *self.ephemerals)

    def look_for_more(self, pod: JSONObject) -> None:
        """Take up ephemeral containers that were added to the pod since."""
        if len(pod["spec"].get("ephemeralContainers") or ()) > len(self.ephemerals):
            known = {each.name for each in self.ephemerals}
            found = _runs(pod, "ephemeralContainers")
            self.ephemerals += [each for each in found if each.name not in known]

    @property
    def phase(self) -> str:
        """The pod's phase."""
        if self.failed:
            return "Failed"
        if self.containers and all(each.done for each in self.containers):
            bad = any(each.code for each in self.containers)
            return "Failed" if bad else "Succeeded"
        if any(each.done and each.code for each in self.inits):
            return "Failed"
        started = any(each.state == RUNNING or each.restarts for each in self.containers)
        return "Running" if started or any(e.ended_before for e in self.containers) else "Pending"

    @property
    def finished(self) -> bool:
        """Whether nothing of it runs any more."""
        return self.phase in ("Succeeded", "Failed")

    def step(self, now: float) -> float | None:
        """Go on to the state of now; returns when the next change is due."""
        due = self._advance(self.ephemerals, now)
        waiting = False
        for each in self.inits:
            due += self._advance([each], now)
            if not _runs_on(each) and (each.state != ENDED or each.code):
                waiting = True
                break
        if not waiting:
            due += self._advance(self.containers, now)
        if self.finished:
            # What runs beside them does not outlive them.
            for each in (*self.inits, *self.ephemerals):
                if each.state == RUNNING:
                    each.stop(now)
            return None
        return min(due, default=None)

    def _advance(self, runs: list[ContainerRun], now: float) -> list[float]:
        due: list[float] = []
        for each in runs:
            each.begin(now)
            following = each.step(now)
            if following is not None:
                due.append(following)
        return due

    def stop(self, now: float) -> None:
        """Everything that runs ends."""
        for each in self.everything:
            each.stop(now)

    def status(self, pod: JSONObject, now: float) -> JSONObject:
        """The pod's status, without what others write."""
        self.generation = pod["metadata"].get("generation") or 0
        ready = bool(self.containers) and all(each.is_ready(now) for each in self.containers)
        initialized = all((each.done and not each.code) or _runs_on(each) for each in self.inits)
        finished = self.phase == "Succeeded"
        gated = ready and _gates_open(pod)
        unready = [each.name for each in self.containers if not each.is_ready(now)]
        why = ("PodCompleted", "") if finished else (
            "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
        )  # fmt: skip
        self._put("PodScheduled", True, ("", ""), now)
        self._put("PodReadyToStartContainers", not self.finished, ("", ""), now)
        self._put("Initialized", initialized, ("ContainersNotInitialized", ""), now)
        self._put("ContainersReady", ready, why, now)
        if ready and not gated:
            why = ("ReadinessGatesNotReady", 'the status of a readiness gate is not "True"')
        self._put("Ready", gated, why, now)
        if self.generation:
            seen = {"observedGeneration": self.generation}
            self.conditions = [{**each, **seen} for each in self.conditions]
        status: JSONObject = {
            "phase": self.phase,
            "conditions": self.conditions,
            "hostIP": self.host_ip,
            "hostIPs": [{"ip": self.host_ip}],
            "podIP": self.ip,
            "podIPs": [{"ip": self.ip}],
            "startTime": rfc3339(self.began),
            "containerStatuses": [each.status(now) for each in self.containers],
        }
        if self.inits:
            status["initContainerStatuses"] = [each.status(now) for each in self.inits]
        if self.ephemerals:
            told = [each.status(now) for each in self.ephemerals]
            # No probe is asked of them.
            told = [{k: v for k, v in one.items() if k != "started"} for one in told]
            status["ephemeralContainerStatuses"] = [{**one, "ready": False} for one in told]
        if self.generation:
            status["observedGeneration"] = self.generation
        if self.failed:
            status["reason"] = self.failed
        return status

    def _put(self, kind: str, yes: bool, why: tuple[str, str], now: float) -> None:
        made: JSONObject = {
            "type": kind,
            "status": "True" if yes else "False",
            "reason": "" if yes else why[0],
            "message": "" if yes else why[1],
        }
        old = conditions.find(self.conditions, kind)
        if old is not None and all((old.get(k) or "") == made[k] for k in made):
            return
        moved = old is None or old["status"] != made["status"]
        since = rfc3339(now) if moved or old is None else old.get("lastTransitionTime")
        new = {k: v for k, v in made.items() if v} | {
            "lastProbeTime": None, "lastTransitionTime": since,
        }  # fmt: skip
        self.conditions = [*conditions.without(self.conditions, kind), new]


def _runs(pod: JSONObject, kind: str) -> list[ContainerRun]:
    metadata, spec = pod["metadata"], pod["spec"]
    policy = spec.get("restartPolicy") or "Always"
    if kind == "initContainers" and policy == "Always":
        policy = "OnFailure"  # an init container ends one day
    if kind == "ephemeralContainers":
        policy = "Never"
    runs = []
    for each in spec.get(kind) or ():
        # What the pod's annotations say is about what the pod was made with.
        plan = guess_of(each) if kind == "ephemeralContainers" else plan_of(pod, each)
        if kind == "initContainers" and plan.run_seconds is None and not _is_sidecar(each):
            plan = replace(plan, run_seconds=0.0)  # of an unknown program: it ends at once, well
        runs.append(
            ContainerRun(
                pod_uid=metadata["uid"],
                pod_name=f"{metadata['name']}_{metadata['namespace']}",
                spec=each,
                kind=kind,
                plan=plan,
                restart_policy=str(each.get("restartPolicy") or policy),
            )
        )
    return runs


def _is_sidecar(container: JSONObject) -> bool:
    return container.get("restartPolicy") == "Always"


def _runs_on(run: ContainerRun) -> bool:
    return _is_sidecar(run.spec) and run.state == RUNNING


def _gates_open(pod: JSONObject) -> bool:
    found = (pod.get("status") or {}).get("conditions")
    return all(
        conditions.is_true(found, gate["conditionType"])
        for gate in pod["spec"].get("readinessGates") or ()
    )
