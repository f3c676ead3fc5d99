"""What kubectl says of a pod, from the states of its containers."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.cells import row_cells

Document = dict[str, Any]

NOW = 1_800_000_000.0
LAST = "2027-01-15T07:55:00Z"  # five minutes before
POD = GroupVersionKind("", "v1", "Pod")

RUNNING: Document = {"running": {}}
CRASHING: Document = {"waiting": {"reason": "CrashLoopBackOff"}}


def ended(code: int = 0, **more: Any) -> Document:
    return {"terminated": {"exitCode": code, **more}}


def container(state: Document, name: str = "a", restarts: int = 0, **more: Any) -> Document:
    return {"name": name, "state": state, "restartCount": restarts, **more}


def pod(
    *containers: Document,
    inits: tuple[Document, ...] = (),
    sidecars: tuple[str, ...] = (),
    status: Document | None = None,
    **metadata: Any,
) -> Document:
    init_specs = [
        {"name": c["name"], **({"restartPolicy": "Always"} if c["name"] in sidecars else {})}
        for c in inits
    ]
    specs = [{"name": c["name"]} for c in containers]
    return {
        "metadata": {"name": "p", "creationTimestamp": LAST, **metadata},
        "spec": {"containers": specs, "initContainers": init_specs},
        "status": {
            "phase": "Running",
            "containerStatuses": list(containers),
            "initContainerStatuses": list(inits),
            **(status or {}),
        },
    }  # fmt: skip


def shown(document: Document) -> tuple[str, str, str]:
    _, ready, status, restarts, *_ = row_cells(POD, document, NOW)
    return ready, status, restarts


OLD: Any = {"lastState": {"terminated": {"finishedAt": LAST}}}


@pytest.mark.parametrize(
    ("document", "cells"),
    [
        (pod(container(RUNNING, ready=True)), ("1/1", "Running", "0")),
        (pod(container(RUNNING)), ("0/1", "Running", "0")),
        (pod(status={"phase": "Pending"}), ("0/0", "Pending", "0")),
        (pod(status={"phase": "Failed", "reason": "Evicted"}), ("0/0", "Evicted", "0")),
        (
            pod(container(RUNNING, ready=True, restarts=2), container(CRASHING, "b", 1)),
            ("1/2", "CrashLoopBackOff", "3"),
        ),
        (
            pod(container(CRASHING, restarts=3, **OLD)),
            ("0/1", "CrashLoopBackOff", "3 (5m ago)"),
        ),
        (pod(container(RUNNING, ready=True, **OLD)), ("1/1", "Running", "0")),
        (pod(container(ended(reason="Completed"))), ("0/1", "Completed", "0")),
        (pod(container(ended(1, reason="Error"))), ("0/1", "Error", "0")),
        (pod(container(ended(1))), ("0/1", "ExitCode:1", "0")),
        (pod(container(ended(0))), ("0/1", "ExitCode:0", "0")),
        (pod(container(ended(137, signal=9))), ("0/1", "Signal:9", "0")),
        (
            pod(
                container(ended(reason="Completed")),
                container(RUNNING, "b", ready=True),
                status={"conditions": [{"type": "Ready", "status": "True"}]},
            ),
            ("1/2", "Running", "0"),
        ),
        (
            pod(container(ended(reason="Completed")), container(RUNNING, "b", ready=True)),
            ("1/2", "NotReady", "0"),
        ),
        # Of several containers the first one that has something to say is heard.
        (
            pod(container(CRASHING), container(ended(1, reason="Error"), "b")),
            ("0/2", "CrashLoopBackOff", "0"),
        ),
        (
            pod(
                status={
                    "phase": "Pending",
                    "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
                }
            ),
            ("0/0", "SchedulingGated", "0"),
        ),
    ],
)
def test_containers_make_the_status_of_a_pod(
    document: Document, cells: tuple[str, str, str]
) -> None:
    assert shown(document) == cells


@pytest.mark.parametrize(
    ("inits", "cells"),
    [
        ((container({"waiting": {"reason": "PodInitializing"}}, "i"),), ("0/1", "Init:0/1", "0")),
        ((container(ended(), "i"), container(RUNNING, "j")), ("0/1", "Init:1/2", "0")),
        ((container(CRASHING, "i", 4, **OLD),), ("0/1", "Init:CrashLoopBackOff", "4 (5m ago)")),
        ((container(ended(1, reason="Error"), "i"),), ("0/1", "Init:Error", "0")),
        ((container(ended(1), "i"),), ("0/1", "Init:ExitCode:1", "0")),
        ((container(ended(137, signal=9), "i"),), ("0/1", "Init:Signal:9", "0")),
        # When all are through, their restarts do not count any more.
        ((container(ended(), "i", 5),), ("1/1", "Running", "1")),
    ],
)
def test_init_containers_come_first(
    inits: tuple[Document, ...], cells: tuple[str, str, str]
) -> None:
    assert shown(pod(container(RUNNING, ready=True, restarts=1), inits=inits)) == cells


def test_a_sidecar_counts_among_the_containers() -> None:
    started = container(RUNNING, "s", 2, ready=True, started=True, **OLD)
    starting = container(RUNNING, "s", 2, ready=False, started=False)
    main = container(RUNNING, ready=True, restarts=1)

    assert shown(pod(main, inits=(started,), sidecars=("s",))) == ("2/2", "Running", "3 (5m ago)")
    assert shown(pod(main, inits=(starting,), sidecars=("s",))) == ("0/2", "Init:0/1", "2")


def test_a_pod_that_was_initialized_once_shows_its_containers() -> None:
    failing = container(CRASHING, "s", 2)
    status = {"conditions": [{"type": "Initialized", "status": "True"}]}

    found = pod(container(RUNNING, ready=True), inits=(failing,), sidecars=("s",), status=status)

    assert shown(found) == ("1/2", "Init:CrashLoopBackOff", "2")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({}, "Terminating"),
        ({"reason": "NodeLost"}, "Unknown"),
        ({"phase": "Succeeded"}, "Succeeded"),
        ({"phase": "Failed"}, "Failed"),
    ],
)
def test_a_pod_on_its_way_out(status: Document, said: str) -> None:
    assert shown(pod(status=status, deletionTimestamp=LAST))[1] == said


def test_the_wide_cells_of_a_pod() -> None:
    document = pod(
        status={
            "podIPs": [{"ip": "10.1.1.1"}, {"ip": "fd00::1"}],
            "nominatedNodeName": "n2",
            "conditions": [{"type": "a", "status": "True"}, {"type": "b", "status": "False"}],
        }
    )
    document["spec"] |= {
        "nodeName": "n1",
        "readinessGates": [{"conditionType": t} for t in ("a", "b", "c")],
    }
    bare = pod(status={"podIP": "10.1.1.2"})

    assert row_cells(POD, document, NOW)[4:] == ["5m", "10.1.1.1", "n1", "n2", "1/3"]
    assert row_cells(POD, bare, NOW)[4:] == ["5m", "10.1.1.2", "<none>", "<none>", "<none>"]
