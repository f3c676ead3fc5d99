"""One container as it goes through its states, by its plan and the pod's restart policy.

Owned by `pod_run`, which asks it for the container status of the API.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from listwatch.controllers.kubelet.scenarios import Plan
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject

FIRST_BACKOFF, LAST_BACKOFF = 10.0, 300.0  # seconds, as the kubelet's
WAITING, RUNNING, ENDED, BACKING_OFF = "waiting", "running", "ended", "backing off"


@dataclass(slots=True)
class ContainerRun:
    """A container of one pod; times are seconds since 1970 by the kubelet's clock."""

    pod_uid: str
    pod_name: str  # namespace and name, for messages
    spec: JSONObject
    kind: str  # the field of the pod's spec that it stands in
    plan: Plan
    restart_policy: str
    state: str = WAITING
    starts_at: float | None = None  # when it leaves WAITING or BACKING_OFF
    started_at: float = 0.0
    finished_at: float = 0.0
    restarts: int = 0
    ended_before: bool = False  # a run before this one ended, as `last_*` say
    last_started: float = 0.0
    last_finished: float = 0.0
    last_code: int = 0
    code: int = 0

    @property
    def name(self) -> str:
        """The container's name."""
        return str(self.spec["name"])

    @property
    def done(self) -> bool:
        """Whether it ended and is not started again."""
        return self.state == ENDED

    def begin(self, now: float) -> None:
        """It may start now."""
        if self.state == WAITING and self.starts_at is None and not self.plan.pull_fails:
            self.starts_at = now + self.plan.start_seconds

    def step(self, now: float) -> float | None:
        """Go on to the state of now; returns when the next change is due."""
        while True:
            if self.state in (WAITING, BACKING_OFF):
                if self.starts_at is None or self.starts_at > now:
                    return self.starts_at
                self._start(self.starts_at)
            elif self.state == RUNNING:
                end = self._ends_at()
                if end is None or end > now:
                    ready = self.started_at + self.plan.ready_seconds
                    due = [each for each in (end, ready) if each is not None and each > now]
                    return min(due, default=None)
                self._end(end, self.plan.exit_code)
            else:
                return None

    def stop(self, now: float) -> None:
        """It is told to stop, and does."""
        if self.state == RUNNING:
            self.finished_at, self.code = now, 0 if self.plan.run_seconds is None else 137
        self.state = ENDED

    def is_ready(self, now: float) -> bool:
        """Whether it may be sent work."""
        if self.state != RUNNING or self.plan.never_ready:
            return False
        return now >= self.started_at + self.plan.ready_seconds

    def status(self, now: float) -> JSONObject:
        """Its container status."""
        image = str(self.spec.get("image") or "")
        running = self.state == RUNNING
        status: JSONObject = {
            "name": self.name,
            "state": self._state_now(),
            "lastState": self._last_state(),
            "ready": self.is_ready(now),
            "restartCount": self.restarts,
            "image": image,
            "imageID": "",
            "started": running,
        }
        if running or self.ended_before or self.finished_at:
            digest = hashlib.sha256(image.encode()).hexdigest()
            status["imageID"] = f"{image.partition(':')[0]}@sha256:{digest}"
            status["containerID"] = self._id(self.restarts)
        return status

    def adopt(self, status: JSONObject) -> None:
        """Go on from a status that was written before this process began."""
        self.restarts = status.get("restartCount") or 0
        last = (status.get("lastState") or {}).get("terminated")
        if last:
            self.ended_before = True
            self.last_started, self.last_finished = (
                _time(last, "startedAt"),
                _time(last, "finishedAt"),
            )
            self.last_code = last.get("exitCode") or 0
        state = status.get("state") or {}
        if "running" in state:
            self.state, self.started_at = RUNNING, _time(state["running"], "startedAt")
        elif "terminated" in state:
            ended = state["terminated"]
            self.state, self.code = ENDED, ended.get("exitCode") or 0
            self.started_at, self.finished_at = (
                _time(ended, "startedAt"),
                _time(ended, "finishedAt"),
            )
        elif self.ended_before:
            self.state = BACKING_OFF
            self.starts_at = self.last_finished + self._backoff()

    def _start(self, now: float) -> None:
        self.restarts += self.state == BACKING_OFF
        self.state, self.started_at, self.starts_at = RUNNING, now, None

    def _ends_at(self) -> float | None:
        plan = self.plan
        if plan.run_seconds is None:
            return None
        if plan.crashes is not None and self.restarts >= plan.crashes:
            return None
        return self.started_at + plan.run_seconds

    def _end(self, now: float, code: int) -> None:
        again = self.restart_policy == "Always" or (self.restart_policy == "OnFailure" and code)
        if not again:
            self.state, self.code, self.finished_at = ENDED, code, now
            return
        self.ended_before = True
        self.last_started, self.last_finished, self.last_code = self.started_at, now, code
        self.state = BACKING_OFF
        # The first time it is started again at once, as a kubelet does.
        self.starts_at = now + (self._backoff() if self.restarts else 0.0)

    def _backoff(self) -> float:
        return min(FIRST_BACKOFF * 2.0 ** max(min(self.restarts - 1, 10), 0), LAST_BACKOFF)

    def _state_now(self) -> JSONObject:
        if self.state == RUNNING:
            return {"running": {"startedAt": rfc3339(self.started_at)}}
        if self.state == ENDED:
            return {"terminated": self._ended(self.code, self.started_at, self.finished_at, 0)}
        if self.state == BACKING_OFF:
            seconds = int(self._backoff())
            told = f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60}s"
            message = (
                f"back-off {told} restarting failed container={self.name} pod={self.pod_name}"
                f"({self.pod_uid})"
            )
            return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        if self.plan.pull_fails:
            message = f'Back-off pulling image "{self.spec.get("image")}"'
            return {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        return {"waiting": {"reason": "ContainerCreating"}}

    def _last_state(self) -> JSONObject:
        if not self.ended_before:
            return {}
        ended = self._ended(self.last_code, self.last_started, self.last_finished, 1)
        return {"terminated": ended}

    def _ended(self, code: int, started: float, finished: float, back: int) -> JSONObject:
        return {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": rfc3339(started) if started else None,
            "finishedAt": rfc3339(finished) if finished else None,
            "containerID": self._id(max(self.restarts - back, 0)),
        }

    def _id(self, number: int) -> str:
        text = f"{self.pod_uid}/{self.name}/{number}"
        return f"containerd://{hashlib.sha256(text.encode()).hexdigest()}"


def _time(state: JSONObject, key: str) -> float:
    text = state.get(key)
    return parse_rfc3339(text) if text else 0.0
