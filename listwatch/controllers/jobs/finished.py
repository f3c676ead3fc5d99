"""Jobs that ended are removed after their ttlSecondsAfterFinished.

Upstream: pkg/controller/ttlafterfinished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.controller import Controller
from listwatch.controllers.jobs.verdicts import is_finished
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import JOBS
from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment


class FinishedJobs(Controller):
    """Deletes in foreground, so that the pods go with it."""

    name = "ttl-after-finished-controller"
    workers = 2

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.jobs = self.informer(JOBS)
        self.follow(self.jobs)

    async def reconcile(self, key: str) -> None:
        """Delete the job if its time is over; else come back then."""
        job = self.jobs.lister.get_or_none(key)
        if job is None or "deletionTimestamp" in job["metadata"] or not is_finished(job):
            return
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        found = (job.get("status") or {}).get("conditions")
        end = conditions.find(found, "Complete") or conditions.find(found, "Failed")
        assert end is not None
        left = parse_rfc3339(end["lastTransitionTime"]) + seconds - self.clock.now()
        if left > 0:
            self.queue.add_after(key, left)
            return
        metadata = job["metadata"]
        options = DeleteOptions(uid=metadata["uid"], propagation_policy="Foreground")
        try:
            await self.client.delete(
                JOBS, metadata["name"], namespace=metadata["namespace"], options=options
            )
        except NotFoundError:
            return
