"""What of a Job may change once it is there: how much of it at once, and what has not begun.

Upstream: ValidateJobUpdate and ValidateJobUpdateStatus. Used by `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.structures import POD_SPEC, POD_TEMPLATE
from listwatch.schemas.validation.batch import job_faults, job_spec_faults
from listwatch.schemas.validation.faults import IMMUTABLE, immutable, invalid, invalid_structure

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_FIXED = (
    "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy",
)  # fmt: skip
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")
_ONCE = "field is immutable for unsuspended job once set"


def job_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of a Job by itself, then those of the change: what it runs stays as it is."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    # Upstream looks at the spec twice, as at metadata.
    faults = [*job_faults(new), *job_spec_faults(spec, "spec")]
    if not _scales(spec, before):
        faults += immutable(spec, before, ("completions",), "spec")
    faults += immutable(spec, before, ("selector",), "spec")
    faults += _template_faults(spec.get("template") or {}, old)
    return faults + immutable(spec, before, _FIXED, "spec")


def job_status_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """When a job began stays as it was told, unless it is suspended: then it begins anew."""
    start, was = ((one.get("status") or {}).get("startTime") for one in (new, old))
    if was is None or start == was or (new.get("spec") or {}).get("suspend"):
        return []
    return [invalid("status.startTime", start, _ONCE)]


def _scales(spec: JSONObject, before: JSONObject) -> bool:
    # An indexed job may be made longer or shorter, if it always runs all of it at once.
    return (
        spec.get("completionMode") == "Indexed"
        and spec.get("completions") == spec.get("parallelism")
        and before.get("completions") is not None
    )


def _template_faults(template: JSONObject, old: JSONObject) -> list[Cause]:
    before = (old.get("spec") or {}).get("template") or {}
    if not _rests(old):
        return (
            []
            if template == before
            else [invalid_structure("spec.template", POD_TEMPLATE, template, IMMUTABLE)]
        )
    # Metadata of the template is free as well, all of it.
    spec = template.get("spec") or {}
    if _fixed_parts(spec) == _fixed_parts(before.get("spec") or {}):
        return []
    return [invalid_structure("spec.template.spec", POD_SPEC, spec, IMMUTABLE)]


def _rests(job: JSONObject) -> bool:
    """Whether no pod is there that was made from the template, nor will be before it resumes."""
    status = job.get("status") or {}
    if not (job.get("spec") or {}).get("suspend") or status.get("active"):
        return False
    # The time of its start says that there were pods; the condition, that they were sent away.
    return status.get("startTime") is None or any(
        one.get("type") == "Suspended" and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )


def _fixed_parts(spec: JSONObject) -> JSONObject:
    """A pod's spec without where it goes and how much its containers take."""
    fixed = {name: value for name, value in spec.items() if name not in _SCHEDULING}
    affinity = {k: v for k, v in (fixed.pop("affinity", None) or {}).items() if k != "nodeAffinity"}
    if affinity:
        fixed["affinity"] = affinity
    for kind in ("containers", "initContainers"):
        if fixed.get(kind):
            fixed[kind] = [
                {name: value for name, value in one.items() if name != "resources"}
                for one in fixed[kind]
            ]
    return fixed
