"""CronJobs: a job whenever the schedule says so. Upstream: pkg/controller/cronjob."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.claims import Claims
from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.controllers.jobs.cron import Schedule
from listwatch.controllers.jobs.verdicts import is_finished
from listwatch.controllers.references import controller_reference
from listwatch.controllers.status import write_status
from listwatch.informer.errors import AlreadyExistsError, ApiError, NotFoundError
from listwatch.informer.resources import CRON_JOBS, JOBS
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.selectors import LabelSelector

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
MANY_MISSED = 100
LATEST = 7 * 24 * 3600.0  # seconds in which the latest of many missed times is looked for
LATE = 0.1  # seconds after a time: no clock is exact


class CronJobs(Controller):
    """Each time of a schedule starts at most one job: its name is made of the time."""

    name = "cronjob-controller"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.cron_jobs = self.informer(CRON_JOBS)
        self.jobs = self.informer(JOBS)
        self._claims = Claims(self, self.cron_jobs, self.jobs)
        self.follow(self.cron_jobs)
        self._claims.listen(_no_selector, self.queue.add)

    async def reconcile(self, key: str) -> None:
        """Start the job that is due, remove old ones, write the status, come back in time."""
        cron = self.cron_jobs.lister.get_or_none(key)
        if cron is None:
            self.unseen.forget(key)
            return
        owned = self._claims.owned(cron)
        status = dict(cron.get("status") or {})
        active = [job for job in owned if not is_finished(job)]
        done = [job for job in owned if conditions.is_true(_conditions(job), "Complete")]
        for job in done:
            ended = (job.get("status") or {}).get("completionTime")
            if ended and ended > (status.get("lastSuccessfulTime") or ""):
                status["lastSuccessfulTime"] = ended
        if "deletionTimestamp" not in cron["metadata"]:
            await self._clean_up(cron, owned, key)
            if not cron["spec"].get("suspend"):
                await self._schedule(cron, active, status, key)
        status["active"] = [_reference(job) for job in active]
        answer = await write_status(self.client, CRON_JOBS, cron, status)
        if answer is not None:
            self.unseen.wrote(key, self.cron_jobs, answer)

    async def _schedule(
        self, cron: JSONObject, active: list[JSONObject], status: JSONObject, key: str
    ) -> None:
        spec, now = cron["spec"], self.clock.now()
        try:
            schedule = Schedule.parse(spec["schedule"], spec.get("timeZone") or "")
        except ValueError as error:
            message = f"unparseable schedule: {spec['schedule']!r} : {error}"
            self.events.record(CRON_JOBS, cron, "UnparseableSchedule", message, kind=WARNING)
            return
        due = self._due(cron, schedule, now)
        following = schedule.after(now)
        if following is not None:
            self.queue.add_after(key, following - now + LATE)
        if due is None:
            return
        deadline = spec.get("startingDeadlineSeconds")
        if deadline is not None and due + deadline < now:
            message = f"Missed scheduled time to start a job: {rfc3339(due)}"
            self.events.record(CRON_JOBS, cron, "MissSchedule", message, kind=WARNING)
            return
        policy = spec.get("concurrencyPolicy", "Allow")
        if active and policy == "Forbid":
            message = (
                "Not starting job because prior execution is running and concurrency policy is "
                "Forbid"
            )
            self.events.record(CRON_JOBS, cron, "JobAlreadyActive", message)
            return
        if policy == "Replace":
            for job in active:
                await self._delete(cron, job, key)
            active.clear()
        started = await self._start(cron, due, key)
        if started is not None:
            active.append(started)
        status["lastScheduleTime"] = rfc3339(due)

    def _due(self, cron: JSONObject, schedule: Schedule, now: float) -> float | None:
        """The latest time that has passed and that no job was started for."""
        last = (cron.get("status") or {}).get("lastScheduleTime")
        since = parse_rfc3339(last or cron["metadata"]["creationTimestamp"])
        deadline = cron["spec"].get("startingDeadlineSeconds")
        if deadline is not None:
            since = max(since, now - deadline)
        found: float | None = None
        missed = 0
        following = schedule.after(since)
        while following is not None and following <= now:
            found, missed = following, missed + 1
            if missed == MANY_MISSED:
                message = (
                    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds "
                    "or check clock skew"
                )
                self.events.record(CRON_JOBS, cron, "TooManyMissedTimes", message, kind=WARNING)
                # Only the latest counts: leave out what lies between.
                following = schedule.after(max(found, now - LATEST))
            else:
                following = schedule.after(found)
        return found

    async def _start(self, cron: JSONObject, due: float, key: str) -> JSONObject | None:
        metadata, template = cron["metadata"], cron["spec"]["jobTemplate"]
        given = template.get("metadata") or {}
        job = {
            "metadata": {
                "name": f"{metadata['name'][:52]}-{int(due // 60)}",
                "namespace": metadata["namespace"],
                "labels": dict(given.get("labels") or {}),
                "annotations": {**(given.get("annotations") or {}), SCHEDULED: rfc3339(due)},
                "ownerReferences": [controller_reference(CRON_JOBS, cron)],
            },
            "spec": copy.deepcopy(template["spec"]),
        }
        try:
            made = await self.client.create(JOBS, job)
        except AlreadyExistsError:
            return None  # started before, and the status was not written
        except ApiError as error:
            message = f"Error creating job: {error.message}"
            self.events.record(CRON_JOBS, cron, "FailedCreate", message, kind=WARNING)
            raise
        self.unseen.wrote(key, self.jobs, made)
        message = f"Created job {made['metadata']['name']}"
        self.events.record(CRON_JOBS, cron, "SuccessfulCreate", message)
        return made

    async def _clean_up(self, cron: JSONObject, owned: list[JSONObject], key: str) -> None:
        spec = cron["spec"]
        for kind, field, usual in (
            ("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1),
        ):  # fmt: skip
            limit = spec.get(field)
            ended = sorted(
                (job for job in owned if conditions.is_true(_conditions(job), kind)),
                key=lambda job: (job.get("status") or {}).get("startTime") or "",
            )
            for job in ended[: max(len(ended) - (usual if limit is None else limit), 0)]:
                await self._delete(cron, job, key)

    async def _delete(self, cron: JSONObject, job: JSONObject, key: str) -> None:
        metadata = job["metadata"]
        if "deletionTimestamp" in metadata:
            return
        options = DeleteOptions(uid=metadata["uid"], propagation_policy="Background")
        try:
            await self.client.delete(
                JOBS, metadata["name"], namespace=metadata["namespace"], options=options
            )
        except NotFoundError:
            return
        self.unseen.deleted(key, self.jobs, job)
        message = f"Deleted job {metadata['name']}"
        self.events.record(CRON_JOBS, cron, "SuccessfulDelete", message)


def _conditions(job: JSONObject) -> list[JSONObject]:
    found: list[JSONObject] = (job.get("status") or {}).get("conditions") or []
    return found


def _no_selector(_: JSONObject) -> LabelSelector | None:
    return None  # jobs are never adopted


def _reference(job: JSONObject) -> JSONObject:
    metadata = job["metadata"]
    return {
        "kind": JOBS.kind,
        "apiVersion": JOBS.api_version,
        **{key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion")},
    }
