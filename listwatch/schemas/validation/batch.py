"""Faults of jobs and cron jobs; what of a job may change is in `job_updates`.

Upstream: pkg/apis/batch/validation/validation.go. Used by `rules` and `job_updates`.
"""

from __future__ import annotations

import zoneinfo
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas.validation.faults import (
    chosen,
    invalid,
    negatives,
    not_supported,
    required,
)
from listwatch.schemas.validation.job_policies import (
    failure_policy_faults,
    success_policy_faults,
)
from listwatch.schemas.validation.pods import pod_template_faults
from listwatch.schemas.validation.schedules import schedule_fault
from listwatch.schemas.validation.selectors import selector_faults, selects

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RESTARTS = ("OnFailure", "Never")
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_NUMBERS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
    "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_MISMATCH = "`selector` does not match template `labels`"
_LONGEST_NAME = 52  # of a cron job, whose jobs have eleven characters more
_MOST_INDEXES = 100_000


def job_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Job by itself."""
    spec = document.get("spec") or {}
    faults = job_spec_faults(spec, "spec")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is not None:
        name = (document.get("metadata") or {}).get("name", "")
        last = f"{name}-{max(spec['completions'] - 1, 0)}"
        if label_name_faults(last):
            why = f"will not able to create pod with invalid DNS label: {last}"
            faults += [invalid("metadata.name", name, f"{why}: {label_name_faults(last)[0]}")]
    selector, template = spec.get("selector"), spec.get("template") or {}
    if selector is None:
        return [*faults, required("spec.selector")]
    wrong = selector_faults(selector, "spec.selector")
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not wrong and not selects(selector, labels):
        wrong = [invalid("spec.template.metadata.labels", labels or None, _MISMATCH)]
    return faults + wrong


def job_spec_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of what a job runs, how often and how it ends."""
    faults = negatives(spec, _NUMBERS, field)
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        faults.append(not_supported(f"{field}.completionMode", mode, _MODES))
    if mode == "Indexed":
        faults += _indexed_faults(spec, field)
    else:
        faults += _needs_indexes(spec, field)
    most = spec.get("maxFailedIndexes")
    if most is not None and spec.get("backoffLimitPerIndex") is None:
        why = "when maxFailedIndexes is specified"
        faults.append(required(f"{field}.backoffLimitPerIndex", why))
    faults += failure_policy_faults(spec, field)
    manager = spec.get("managedBy")
    if manager is not None:
        faults += _manager_faults(manager, f"{field}.managedBy")
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None and replacement not in _REPLACEMENTS:
        where = f"{field}.podReplacementPolicy"
        faults.append(not_supported(where, replacement, _REPLACEMENTS))
    template = spec.get("template") or {}
    faults += pod_template_faults(template, f"{field}.template")
    policy = (template.get("spec") or {}).get("restartPolicy") or "Always"
    where = f"{field}.template.spec.restartPolicy"
    if policy == "Always":
        # Most who have it did not ask for it: it is the default, and none for jobs.
        faults.append(required(where, 'valid values: "OnFailure", "Never"'))
    elif policy not in _RESTARTS:
        faults.append(not_supported(where, policy, _RESTARTS))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        # Which exit codes count is of no use where a container starts again.
        why = 'only "Never" is supported when podFailurePolicy is specified'
        faults.append(invalid(where, policy, why))
    return faults


def _needs_indexes(spec: JSONObject, field: str) -> list[Cause]:
    why = "requires indexed completion mode"
    faults = [
        invalid(f"{field}.{name}", spec[name], why)
        for name in ("backoffLimitPerIndex", "maxFailedIndexes")
        if spec.get(name) is not None
    ]
    policy = spec.get("successPolicy")
    if policy is not None:
        # A structure of the server, whose fields have no names but their own.
        shown = {"Rules": policy.get("rules") or []}
        faults.append(invalid(f"{field}.successPolicy", shown, why))
    return faults


def _manager_faults(name: str, field: str) -> list[Cause]:
    domain, slash, path = name.partition("/")
    if not slash or not domain or not path:
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [invalid(field, name, why)]
    return [invalid(field, domain, why) for why in subdomain_faults(domain)]


def _indexed_faults(spec: JSONObject, field: str) -> list[Cause]:
    completions = spec.get("completions")
    if completions is None:
        why = "when completion mode is Indexed"
        return [required(f"{field}.completions", why)]
    if (spec.get("parallelism") or 0) > _MOST_INDEXES:
        why = f"must be less than or equal to {_MOST_INDEXES} when completion mode is Indexed"
        return [invalid(f"{field}.parallelism", spec["parallelism"], why)]
    faults, most = success_policy_faults(spec, field), spec.get("maxFailedIndexes")
    if most is not None and most > completions:
        why = "must be less than or equal to completions"
        faults.append(invalid(f"{field}.maxFailedIndexes", most, why))
    return faults


def cron_job_faults(document: JSONObject) -> list[Cause]:
    """Faults of a CronJob by itself."""
    spec = document.get("spec") or {}
    faults = _schedule_faults(spec)
    faults += negatives(spec, ("startingDeadlineSeconds",), "spec")
    policies = ("Allow", "Forbid", "Replace")
    faults += chosen(spec.get("concurrencyPolicy"), "spec.concurrencyPolicy", policies)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    where = "spec.jobTemplate.spec"
    faults += job_spec_faults(job, where)
    if job.get("selector") is not None:
        why = "`selector` will be auto-generated"
        faults.append(invalid(f"{where}.selector", job["selector"], why))
    if job.get("manualSelector"):
        faults.append(not_supported(f"{where}.manualSelector", True, ("nil", "false")))
    limits = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    faults += negatives(spec, limits, "spec")
    name = (document.get("metadata") or {}).get("name") or ""
    if len(name) > _LONGEST_NAME:
        why = f"must be no more than {_LONGEST_NAME} characters"
        faults.append(invalid("metadata.name", name, why))
    return faults


def _schedule_faults(spec: JSONObject) -> list[Cause]:
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    faults: list[Cause] = []
    if not schedule:
        faults.append(required("spec.schedule"))
    else:
        why = schedule_fault(schedule)
        if why:
            faults.append(invalid("spec.schedule", schedule, why))
        if "TZ" in schedule:
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            if zone is not None:
                why = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            faults.append(invalid("spec.schedule", schedule, why))
    return faults + ([] if zone is None else _zone_faults(zone))


def _zone_faults(zone: str) -> list[Cause]:
    field = "spec.timeZone"
    if not zone:
        return [invalid(field, zone, "timeZone must be nil or non-empty string")]
    faults = []
    if zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        faults.append(invalid(field, zone, why))
    if zone != "UTC" and zone not in zoneinfo.available_timezones():
        faults.append(invalid(field, zone, f"unknown time zone {zone}"))
    return faults
