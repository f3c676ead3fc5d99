"""The pods that a job is done by; made for `controller`."""

from __future__ import annotations

import secrets

from listwatch.controllers.jobs.accounting import FINALIZER
from listwatch.controllers.jobs.indexes import INDEX
from listwatch.controllers.templates import pod_from
from listwatch.informer.resources import JOBS
from listwatch.protocol.objects import JSONObject

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_VARIABLE = "JOB_COMPLETION_INDEX"


def pod_of(job: JSONObject, index: int | None, notes: dict[str, str]) -> JSONObject:
    """A pod of the job, of an index if it has them, with these annotations beside its own."""
    pod = pod_from(job["spec"]["template"], job, JOBS)
    metadata = pod["metadata"]
    metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]
    if index is None:
        return pod
    del metadata["generateName"]
    end = "".join(secrets.choice(_ALPHABET) for _ in range(5))
    metadata["name"] = f"{job['metadata']['name'][:50]}-{index}-{end}"
    given = metadata.get("annotations") or {}
    metadata["annotations"] = {**given, INDEX: str(index), **notes}
    metadata["labels"][INDEX] = str(index)
    pod["spec"].setdefault("hostname", f"{job['metadata']['name'][:50]}-{index}")
    path = {"fieldPath": f"metadata.labels['{INDEX}']"}
    variable = {"name": _VARIABLE, "valueFrom": {"fieldRef": path}}
    for kind in ("initContainers", "containers"):
        for container in pod["spec"].get(kind) or ():
            known = container.get("env") or []
            if all(each.get("name") != _VARIABLE for each in known):
                container["env"] = [*known, variable]
    return pod
