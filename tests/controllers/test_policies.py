"""What workloads may be told beside their template: surges, what becomes of claims, failures."""

from __future__ import annotations

from typing import Any

from listwatch.controllers.claim_retention import wanted_references
from listwatch.controllers.jobs.accounting import ends_of
from listwatch.controllers.jobs.failure_policy import judge
from tests.controllers.cluster import (
    Cluster,
    Namespace,
    always,
    condition,
    eventually,
    template,
)
from tests.controllers.test_parts import pod
from tests.controllers.test_workloads import DB, job, stateful

AGENT = {"app": "agent"}


# Daemon sets


def test_a_daemon_set_that_surges_starts_the_new_pod_before_the_old_one_goes(
    cluster: Cluster, namespace: Namespace
) -> None:
    rolling = {"maxSurge": 1, "maxUnavailable": 0}
    spec = {
        "selector": {"matchLabels": AGENT}, "template": template(AGENT),
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    }  # fmt: skip
    namespace.create("daemonsets", "agent", spec)
    eventually(lambda: len(namespace.ready(**AGENT)) == 3)
    # New pods need a moment, so that both stand on a node for a while.
    slow = template(
        AGENT, "app:2", metadata={"annotations": {"kubelet.listwatch.dev/start-seconds": "0.5"}}
    )
    namespace.patch("daemonsets", "agent", {"spec": {"template": slow}})
    least, most = 3, 3

    def rolled_out() -> bool:
        nonlocal least, most
        least = min(least, len({each["spec"]["nodeName"] for each in namespace.ready(**AGENT)}))
        alive = [p for p in namespace.pods(**AGENT) if "deletionTimestamp" not in p["metadata"]]
        most = max(most, len(alive))
        new = [p for p in alive if p["spec"]["containers"][0]["image"] == "app:2"]
        return len(new) == len(alive) == 3 and len(namespace.ready(**AGENT)) == 3

    eventually(rolled_out)
    assert least == 3  # no node was ever without one that works
    assert most == 4  # one at a time was double
    status = namespace.get("daemonsets", "agent")["status"]
    assert eventually(lambda: status["desiredNumberScheduled"]) == 3


# Stateful sets


def claims(*names: str) -> Any:
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [{"metadata": {"name": name}, "spec": size} for name in names]


def test_claims_are_owned_by_whom_they_shall_go_with() -> None:
    def kinds(deleted: str, scaled: str, *, condemned: bool) -> list[str]:
        policy = {"whenDeleted": deleted, "whenScaled": scaled}
        owner = {
            "metadata": {"name": "db", "uid": "uid-db"},
            "spec": {"persistentVolumeClaimRetentionPolicy": policy},
        }
        foreign = {"kind": "Backup", "name": "b", "uid": "uid-b", "apiVersion": "x/v1"}
        stale = {"kind": "Pod", "name": "db-0", "uid": "earlier", "apiVersion": "v1"}
        claim = {"metadata": {"name": "data-db-0", "ownerReferences": [foreign, stale]}}
        found = wanted_references(owner, pod("db-0"), claim, condemned=condemned)
        assert found[0] == foreign
        return [each["kind"] for each in found[1:]]

    assert kinds("Retain", "Retain", condemned=True) == []
    assert kinds("Delete", "Retain", condemned=True) == ["StatefulSet"]
    assert kinds("Retain", "Delete", condemned=False) == []
    assert kinds("Retain", "Delete", condemned=True) == ["Pod"]
    assert kinds("Delete", "Delete", condemned=False) == ["StatefulSet"]
    assert kinds("Delete", "Delete", condemned=True) == ["Pod"]


def test_claims_go_with_the_pods_that_are_scaled_away_and_with_the_set(
    namespace: Namespace,
) -> None:
    spec = stateful(3, volumeClaimTemplates=claims("data"))
    spec["persistentVolumeClaimRetentionPolicy"] = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    namespace.create("statefulsets", "db", spec)
    eventually(lambda: len(namespace.ready(**DB)) == 3)

    def names() -> list[str]:
        return sorted(
            each["metadata"]["name"] for each in namespace.items("persistentvolumeclaims")
        )

    assert names() == ["data-db-0", "data-db-1", "data-db-2"]
    namespace.patch("statefulsets", "db", {"spec": {"replicas": 1}})
    eventually(lambda: names() == ["data-db-0"])
    assert len(namespace.ready(**DB)) == 1
    namespace.delete("statefulsets", "db")
    eventually(lambda: names() == [])


def test_claims_stay_unless_told_otherwise(namespace: Namespace) -> None:
    namespace.create("statefulsets", "db", stateful(1, volumeClaimTemplates=claims("data")))
    eventually(lambda: len(namespace.ready(**DB)) == 1)
    namespace.delete("statefulsets", "db")
    eventually(lambda: not namespace.pods())
    always(lambda: len(namespace.items("persistentvolumeclaims")) == 1)


# Jobs


def failed(code: int, **status: Any) -> Any:
    made = pod("a")
    made["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    ended = {"name": "c", "state": {"terminated": {"exitCode": code}}}
    made["status"] = {"phase": "Failed", "containerStatuses": [ended], **status}
    return made


def policy(*rules: Any) -> Any:
    return {"metadata": {}, "spec": {"podFailurePolicy": {"rules": list(rules)}}}


def test_the_first_rule_that_speaks_of_a_pod_counts() -> None:
    ignore = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    codes = {"operator": "In", "values": [42]}
    fail = {"action": "FailJob", "onExitCodes": codes}
    other = {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [1]}}
    wanted = policy(ignore, fail, other)
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]

    assert judge(wanted, failed(42, conditions=disrupted))[0] == "Ignore"
    action, why = judge(wanted, failed(42))
    assert action == "FailJob"
    assert why == (
        "Container c for pod default/a failed with exit code 42 matching FailJob rule at index 1"
    )
    assert judge(wanted, failed(3))[0] == "Count"
    assert judge(wanted, failed(1)) == ("Count", "")
    named = {"action": "FailJob", "onExitCodes": {**codes, "containerName": "other"}}
    assert judge(policy(named), failed(42)) == ("Count", "")
    assert judge({"spec": {}}, failed(42)) == ("Count", "")


def test_what_is_ignored_is_let_go_and_not_counted() -> None:
    ignore = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}
    ends = ends_of(policy(ignore), [failed(7)])
    assert (ends.failed, len(ends.held), ends.uncounted["failed"]) == (0, 1, [])
    counted = ends_of(policy(ignore), [failed(8)])
    assert (counted.failed, len(counted.held)) == (1, 1)


def test_a_job_fails_at_once_by_an_exit_code_that_nothing_will_mend(namespace: Namespace) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    command = {"command": ["sh", "-c", "exit 42"]}
    spec = job(backoffLimit=6, podFailurePolicy={"rules": [rule]}, container=command)
    namespace.create("jobs", "sum", spec)

    found = eventually(lambda: condition(namespace.get("jobs", "sum"), "Failed"))
    assert found["reason"] == "PodFailurePolicy"
    assert "exit code 42 matching FailJob rule at index 0" in found["message"]
    assert len(namespace.pods()) == 1


def test_a_job_replaces_what_it_ignores_and_counts_no_failure(namespace: Namespace) -> None:
    """A pod that is evicted is no failure of the program; there are none to spare."""
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    command = {"command": ["sleep", "infinity"]}
    spec = job(backoffLimit=0, podFailurePolicy={"rules": [rule]}, container=command)
    namespace.create("jobs", "sum", spec)
    first = eventually(namespace.ready)[0]["metadata"]
    path = namespace.path("pods", first["name"], "eviction")
    eviction = {
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": first["name"], "namespace": namespace.name},
    }  # fmt: skip
    namespace.cluster.server.json("POST", path, eviction)

    def replaced() -> bool:
        return any(each["metadata"]["uid"] != first["uid"] for each in namespace.ready())

    eventually(replaced)
    status = namespace.get("jobs", "sum")["status"]
    assert status.get("failed", 0) == 0
    assert condition(namespace.get("jobs", "sum"), "Failed") == {}
