"""What a job's podFailurePolicy says of a pod that failed; asked by `accounting`.

Upstream: pkg/controller/job/pod_failure_policy.go.
"""

from __future__ import annotations

from listwatch.protocol.objects import JSONObject

FAIL_JOB, FAIL_INDEX, IGNORE, COUNT = "FailJob", "FailIndex", "Ignore", "Count"


def judge(job: JSONObject, pod: JSONObject) -> tuple[str, str]:
    """The action of the first rule that speaks of this pod, and what it goes by.

    `Count` without words where none does: the pod counts towards the back-off limit.
    """
    policy = (job.get("spec") or {}).get("podFailurePolicy") or {}
    rules = policy.get("rules") or ()
    where = f"{pod['metadata'].get('namespace')}/{pod['metadata']['name']}"
    for index, rule in enumerate(rules):
        action = str(rule.get("action") or COUNT)
        codes = rule.get("onExitCodes")
        found = _container(codes, pod) if codes else None
        if found is not None:
            name, code = found
            message = f"Container {name} for pod {where} failed with exit code {code}"
            return action, f"{message} matching {action} rule at index {index}"
        kind = _condition(rule.get("onPodConditions") or (), pod)
        if kind:
            message = f"Pod {where} has condition {kind} matching {action} rule at index {index}"
            return action, message
    return COUNT, ""


def _container(requirement: JSONObject, pod: JSONObject) -> tuple[str, int] | None:
    name, status = requirement.get("containerName"), pod.get("status") or {}
    wanted = set(requirement.get("values") or ())
    inside = requirement.get("operator") == "In"
    for kind in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(kind) or ():
            ended = (each.get("state") or {}).get("terminated")
            if ended is None or (name and each.get("name") != name):
                continue
            code = int(ended.get("exitCode") or 0)
            if code and (code in wanted) is inside:  # 0 is no failure
                return str(each.get("name")), code
    return None


def _condition(patterns: list[JSONObject] | tuple[JSONObject, ...], pod: JSONObject) -> str:
    found = (pod.get("status") or {}).get("conditions") or ()
    for pattern in patterns:
        status = pattern.get("status") or "True"
        for each in found:
            if each.get("type") == pattern.get("type") and each.get("status") == status:
                return str(each["type"])
    return ""
