"""What of a job may change, and when: faults as the real server words and shows them."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from listwatch.protocol.errors import Cause
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.validation import validate
from tests.schemas.validated import Document, faults, told

JOB = GroupVersionKind("batch", "v1", "Job")
THEN, LATER = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
NODES = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
        }
    }
}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}],
    }
}


def job(status: Document | None = None, **spec: Any) -> Document:  # Any: JSON
    pod = {
        "restartPolicy": "Never",
        "initContainers": [{"name": "first", "image": "i"}],
        "containers": [{"name": "main", "image": "i"}],
    }
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    whole = {"template": template, "selector": {"matchLabels": {"a": "b"}}, **spec}
    return {"spec": whole} | ({} if status is None else {"status": status})


def with_pod(document: Document, **parts: Any) -> Document:  # Any: JSON
    changed = copy.deepcopy(document)
    changed["spec"]["template"]["spec"] |= parts
    return changed


def sized(container: str, **resources: Any) -> list[Document]:  # Any: JSON
    return [{"name": container, "image": "i", "resources": resources}]


def status(began: bool, active: int, suspended: str = "") -> Document:
    conditions = [{"type": "Suspended", "status": suspended}] if suspended else []
    start = {"startTime": THEN} if began else {}
    return {**start, "active": active, "conditions": conditions}


def test_how_much_of_a_job_runs_at_once_can_change_but_not_how_much_there_is() -> None:
    assert told(JOB, job(parallelism=5, completions=1), job(completions=1)) == []
    assert told(JOB, job(completions=2), job(completions=1)) == [
        "spec.completions: Invalid value: 2: field is immutable"
    ]
    longer = job(completions=3, parallelism=3, completionMode="Indexed")
    shorter = job(completions=1, parallelism=1, completionMode="Indexed")
    assert told(JOB, longer, shorter) == []


OPEN_PARTS: list[Document] = [
    {"nodeSelector": {"disk": "ssd"}},
    {"tolerations": [{"key": "a", "operator": "Exists"}]},
    {"schedulingGates": [{"name": "example.com/gate"}]},
    {"affinity": NODES},
    {"affinity": {}},
    {"containers": sized("main", limits={"cpu": "1"})},
    {"initContainers": sized("first", requests={"memory": "1Gi"})},
]


@pytest.mark.parametrize("parts", OPEN_PARTS, ids=lambda parts: next(iter(parts)))
@pytest.mark.parametrize(
    ("suspend", "old", "field"),
    [
        (True, None, ""),
        (True, status(False, 0, "False"), ""),
        (True, status(True, 0, "True"), ""),
        (True, status(True, 0), "spec.template"),
        (True, status(True, 0, "False"), "spec.template"),
        (True, status(True, 1, "True"), "spec.template"),
        (True, status(False, 1), "spec.template"),
        (False, None, "spec.template"),
        (False, status(True, 0, "True"), "spec.template"),
    ],
)
def test_where_pods_go_and_what_they_take_is_open_while_a_job_rests(
    suspend: bool, old: Document | None, field: str, parts: Document
) -> None:
    before = job(old, suspend=suspend)
    for new_suspend in (False, True):
        after = with_pod(before, **parts)
        after["spec"]["suspend"] = new_suspend
        fields = [(cause.reason, cause.field) for cause in faults(JOB, after, before)]
        assert fields == ([("FieldValueInvalid", field)] if field else [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, NODES),
        (NODES, None),
        (APART, APART | NODES),
        (APART | NODES, APART),
    ],
)
def test_the_nodes_that_a_resting_job_likes_may_change(
    before: Document | None, after: Document | None
) -> None:
    old, new = (with_pod(job(suspend=True), affinity=one) for one in (before, after))
    assert told(JOB, new, old) == []


def test_metadata_of_the_template_is_open_while_a_job_rests() -> None:
    after = job(suspend=True)
    after["spec"]["template"]["metadata"] |= {"name": "any", "annotations": {"x": "y"}}
    assert told(JOB, after, job(suspend=True)) == []
    running = job(suspend=False)
    after["spec"]["suspend"] = False
    assert [cause.field for cause in faults(JOB, after, running)] == ["spec.template"]


@pytest.mark.parametrize(
    "parts",
    [
        {"containers": [{"name": "main", "image": "other"}]},
        {"containers": sized("renamed", limits={"cpu": "1"})},
        {"containers": [*sized("main"), *sized("more")]},
        {"resources": {"limits": {"cpu": "1"}}},
        {"affinity": APART},
        {"hostNetwork": True},
    ],
)
def test_anything_else_of_a_resting_job_is_refused_and_its_pod_is_shown(parts: Document) -> None:
    before = job(suspend=True)
    (cause,) = faults(JOB, with_pod(before, **parts), before)
    assert (cause.reason, cause.field) == ("FieldValueInvalid", "spec.template.spec")
    shown = cause.message.removeprefix("Invalid value: ").removesuffix(": field is immutable")
    assert shown.startswith('{"Volumes":null,"InitContainers":[{"Name":"first","Image":"i",')
    assert orjson.loads(shown)["Containers"]


def test_a_template_is_shown_as_the_structure_that_the_server_has() -> None:
    before = job()
    after = with_pod(before, hostNetwork=True, nodeSelector={"z": "1", "a": "2"})
    after["spec"]["template"]["metadata"] |= {"annotations": {"x": "<"}, "name": "n"}
    (cause,) = faults(JOB, after, before)
    assert cause.field == "spec.template"
    message = cause.message
    assert message.startswith(
        'Invalid value: {"name":"n","labels":{"a":"b"},"annotations":{"x":"\\u003c"},'
        '"Spec":{"Volumes":null,"InitContainers":[{"Name":"first","Image":"i","Command":null,'
    )
    assert '"Resources":{"Limits":null,"Requests":null,"Claims":null}' in message
    assert '"NodeSelector":{"a":"2","z":"1"}' in message
    assert '"SecurityContext":{"HostNetwork":true,"HostPID":false,' in message
    assert message.endswith(
        '"Resources":null,"HostnameOverride":null,"SchedulingGroup":null}}: field is immutable'
    )


def test_a_change_is_told_the_faults_of_the_job_itself_first_and_its_spec_twice() -> None:
    before = job()
    bad = sized("main", limits={"cpu": "1"}, requests={"cpu": "2"})
    where = "spec.template.spec.containers[0].resources.requests"
    found = faults(JOB, with_pod(before, containers=bad), before)
    assert [cause.field for cause in found] == [where, where, "spec.template"]


ONCE = "field is immutable for unsuspended job once set"


@pytest.mark.parametrize(
    ("suspend", "before", "after", "shown"),
    [
        (False, THEN, None, "null"),
        (False, THEN, LATER, f'"{LATER}"'),
        (False, THEN, THEN, ""),
        (False, THEN, "2026-01-01T01:00:00+01:00", ""),
        (False, None, THEN, ""),
        (False, None, None, ""),
        (True, THEN, None, ""),
        (True, THEN, LATER, ""),
    ],
)
def test_when_a_job_began_is_told_once_unless_it_is_suspended(
    suspend: bool, before: str | None, after: str | None, shown: str
) -> None:
    old, new = (job({} if at is None else {"startTime": at}) for at in (before, after))
    old["spec"]["suspend"] = new["spec"]["suspend"] = suspend
    message = f"Invalid value: {shown}: {ONCE}"
    expected = [Cause("FieldValueInvalid", message, "status.startTime")] if shown else []
    assert status_faults(new, old) == expected


def test_a_status_is_not_told_the_faults_of_the_spec() -> None:
    assert status_faults(job(parallelism=-1), job()) == []
    assert told(JOB, job(parallelism=-1), job()) != []


def status_faults(new: Document, old: Document) -> list[Cause]:
    for document in (new, old):
        document["metadata"] = {"name": "a"}
        decode(JOB, document)
        apply_defaults(JOB, document)
    return validate(JOB, new, old=old, subresource="status")
