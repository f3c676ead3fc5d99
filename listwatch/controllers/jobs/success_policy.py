"""What a job's successPolicy says of the indexes that have succeeded; asked by `verdicts`.

Upstream: pkg/controller/job/success_policy.go.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from listwatch.controllers.jobs.indexes import read_indexes
from listwatch.protocol.objects import JSONObject


def met(job: JSONObject, succeeded: AbstractSet[int]) -> str:
    """Which rule is met, the first one, in upstream's words; '' if there is none."""
    spec = job.get("spec") or {}
    policy = spec.get("successPolicy") or {}
    if not succeeded:
        return ""
    for number, rule in enumerate(policy.get("rules") or ()):
        if _is_met(rule, succeeded, spec.get("completions") or 0):
            return f"Matched rules at index {number}"
    return ""


def _is_met(rule: JSONObject, succeeded: AbstractSet[int], completions: int) -> bool:
    count, text = rule.get("succeededCount"), rule.get("succeededIndexes")
    if text is None:
        return count is not None and len(succeeded) >= int(count)
    wanted = read_indexes(text, completions)
    there = len(wanted & succeeded)
    return bool(wanted) and (there == len(wanted) or (count is not None and there >= int(count)))
