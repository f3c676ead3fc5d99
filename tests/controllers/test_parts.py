"""The parts that need no server: numbers, schedules, scenarios, graphs, and what was written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.controllers import conditions
from listwatch.controllers.catalogue import CONTROLLERS
from listwatch.controllers.deployments import scaling
from listwatch.controllers.jobs.accounting import ends_of
from listwatch.controllers.jobs.cron import Schedule
from listwatch.controllers.kubelet.addresses import NodeAddresses
from listwatch.controllers.kubelet.pod_run import PodRun
from listwatch.controllers.kubelet.scenarios import Plan, guessed
from listwatch.controllers.options import ControllerOptions
from listwatch.controllers.selection import selected


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def pod(name: str, **spec: Any) -> Any:
    return {
        "metadata": {
            "name": name, "namespace": "default", "uid": f"uid-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"containers": [{"name": "c", "image": "x"}], **spec},
        "status": {},
    }  # fmt: skip


def replica_set(name: str, replicas: int, available: int, **annotations: str) -> Any:
    return {
        "metadata": {
            "name": name, "uid": name, "annotations": annotations,
            "creationTimestamp": f"2026-01-01T00:00:0{name[-1]}Z",
        },
        "spec": {"replicas": replicas},
        "status": {"replicas": replicas, "availableReplicas": available},
    }  # fmt: skip


def deployment(replicas: int, surge: Any = "25%", unavailable: Any = "25%") -> Any:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {"spec": {"replicas": replicas, "strategy": strategy}}


# Selections


def test_a_star_selects_what_no_word_is_about() -> None:
    assert selected("*", ["a", "b"]) == ["a", "b"]
    assert selected("*,-b", ["a", "b"]) == ["a"]
    assert selected("b", ["a", "b"]) == ["b"]
    assert selected("", ["a", "b"]) == []


def test_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="no such controller: c; there are a, b"):
        selected("*,-c", ["a", "b"])


def test_all_controllers_have_names_of_their_own() -> None:
    assert len(CONTROLLERS) == 24
    assert all(name == each.name for name, each in CONTROLLERS.items())


@pytest.mark.parametrize("wrong", [{"nodes": -1}, {"speed": 0}, {"node_pods": 0}])
def test_options_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        ControllerOptions(**wrong)


# Deployments


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (10, "25%", "25%", (3, 2)), (1, "25%", "25%", (1, 0)), (3, 0, 0, (0, 1)),
        (2, 1, 5, (1, 2)), (0, "25%", "25%", (0, 0)),
    ],
)  # fmt: skip
def test_percentages_round_up_for_more_and_down_for_less(
    replicas: int, surge: Any, unavailable: Any, expected: tuple[int, int]
) -> None:
    assert scaling.limits(deployment(replicas, surge, unavailable)) == expected


def test_a_new_set_gets_what_the_surge_leaves_room_for() -> None:
    old = replica_set("rs-1", 10, 10)
    assert scaling.new_replicas(deployment(10), [old], None) == 3
    assert scaling.new_replicas(deployment(10), [old, replica_set("rs-2", 3, 0)], None) == 0


def test_old_sets_shrink_by_what_is_spare_and_broken_pods_go_first() -> None:
    new, old = replica_set("rs-9", 3, 0), replica_set("rs-1", 10, 10)
    assert [size for _, size in scaling.old_reductions(deployment(10), new, [old])] == [8]

    broken = replica_set("rs-1", 10, 8)
    assert [size for _, size in scaling.old_reductions(deployment(10), new, [broken])] == [8]
    nothing = replica_set("rs-1", 8, 8)
    assert scaling.old_reductions(deployment(10), new, [nothing]) == []


def test_what_was_told_to_go_is_not_counted_on_although_a_status_still_has_it() -> None:
    new, old = replica_set("rs-9", 3, 2), replica_set("rs-1", 2, 3)
    assert [size for _, size in scaling.old_reductions(deployment(4, 1, 1), new, [old])] == [1]


def test_a_scaling_amid_a_rollout_is_shared_in_proportion() -> None:
    sets = [
        replica_set("rs-1", 6, 6, **{scaling.MAXIMUM: "10"}),
        replica_set("rs-2", 4, 4, **{scaling.MAXIMUM: "10"}),
    ]
    sizes = scaling.proportional(deployment(20, 0, 1), sets)
    assert sizes == {"rs-1": 12, "rs-2": 8}


# Schedules


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("*/15 * * * *", "2026-01-01T00:00:00", "2026-01-01T00:15:00"),
        ("0 9 * * MON-FRI", "2026-01-02T09:00:00", "2026-01-05T09:00:00"),
        ("@hourly", "2026-01-01T23:30:00", "2026-01-02T00:00:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 13 * 5", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),  # either of the two
        ("5,10-12 3 1 jan,jul *", "2026-01-01T03:10:00", "2026-01-01T03:11:00"),
        ("@every 1h30m", "2026-01-01T00:00:00", "2026-01-01T01:30:00"),
    ],
)
def test_a_schedule_tells_its_next_time(schedule: str, after: str, expected: str) -> None:
    assert Schedule.parse(schedule).after(at(after)) == at(expected)


def test_a_schedule_keeps_to_its_time_zone_when_clocks_change() -> None:
    berlin = Schedule.parse("0 9 * * *", "Europe/Berlin")
    assert berlin.after(at("2026-03-28T12:00:00")) == at("2026-03-29T07:00:00")
    assert berlin.after(at("2026-03-27T12:00:00")) == at("2026-03-28T08:00:00")


def test_a_day_that_never_comes_is_none() -> None:
    assert Schedule.parse("0 0 31 2 *").after(at("2026-01-01T00:00:00")) is None


@pytest.mark.parametrize("wrong", ["* * * *", "60 * * * *", "x * * * *", "*/0 * * * *", "@every x"])
def test_a_schedule_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):
        Schedule.parse(wrong)


# Jobs


def test_a_pod_is_counted_once_whenever_its_finalizer_goes() -> None:
    done = pod("a")
    done["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    done["status"]["phase"] = "Succeeded"
    first = ends_of({"metadata": {}, "status": {}}, [done])
    assert (first.succeeded, first.uncounted["succeeded"]) == (1, ["uid-a"])

    told = {"metadata": {}, "status": {"uncountedTerminatedPods": {"succeeded": ["uid-a"]}}}
    still = ends_of(told, [done])
    assert (still.succeeded, still.uncounted["succeeded"]) == (1, ["uid-a"])
    gone = ends_of(told, [])
    assert (gone.succeeded, gone.uncounted["succeeded"]) == (1, [])


# The kubelet


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["sleep", "2"], (2.0, 0)), (["/bin/sleep", "1m"], (60.0, 0)), (["false"], (0.0, 1)),
        (["sh", "-c", "echo hi; sleep 1 && exit 3"], (1.0, 3)), (["sleep", "infinity"], (None, 0)),
        (["nginx", "-g", "daemon off;"], (None, 0)), ([], (None, 0)),
        (["bash", "-ec", "sleep 1; serve"], (None, 0)),
    ],
)  # fmt: skip
def test_a_command_lets_one_guess_how_long_it_takes(
    command: list[str], expected: tuple[float | None, int]
) -> None:
    assert guessed({"command": command}) == expected


def run_of(**more: Any) -> tuple[Any, PodRun]:
    made = pod("p", **more.pop("spec", {}))
    made["metadata"]["annotations"] = {
        f"kubelet.listwatch.dev/{key.replace('_', '-')}": text for key, text in more.items()
    }
    return made, PodRun.of(made, "node-1", ("172.18.0.2", "10.244.0.2"), 1000.0)


def test_a_pod_runs_and_gets_ready_when_its_scenario_says_so() -> None:
    made, run = run_of(start_seconds="5", ready_seconds="3")
    assert run.step(1000.0) == 1005.0
    waiting = run.status(made, 1000.0)
    assert waiting["phase"] == "Pending"
    state = waiting["containerStatuses"][0]["state"]
    assert state == {"waiting": {"reason": "ContainerCreating"}}

    assert run.step(1005.0) == 1008.0
    assert run.status(made, 1005.0)["phase"] == "Running"
    assert not conditions.is_true(run.conditions, "Ready")
    assert run.step(1008.0) is None
    run.status(made, 1008.0)
    assert conditions.is_true(run.conditions, "Ready")


def test_backoffs_double_as_a_kubelets_do() -> None:
    _, run = run_of(run_seconds="1", exit_code="1")
    now, starts = 1000.0, []
    for _ in range(5):
        due = run.step(now)
        assert due is not None
        starts.append(run.containers[0].restarts)
        now = due
    # Runs 1 s, again at once, then waits 10 s, runs 1 s, waits 20 s.
    assert starts == [0, 1, 1, 2, 2]
    assert now == 1000 + 1 + 1 + 10 + 1 + 20


def test_init_containers_run_in_turn_before_all_others() -> None:
    inits = [{"name": name, "image": "i", "command": ["sleep", "2"]} for name in ("one", "two")]
    made, run = run_of(spec={"initContainers": inits})
    assert run.step(1000.0) == 1002.0
    assert run.inits[1].starts_at is None
    assert run.status(made, 1000.0)["phase"] == "Pending"
    assert run.step(1002.0) == 1004.0
    run.step(1004.0)
    assert run.status(made, 1004.0)["phase"] == "Running"


def test_an_ephemeral_container_runs_beside_the_others_and_counts_for_nothing() -> None:
    made, run = run_of(run_seconds="30", exit_code="0", spec={"restartPolicy": "Never"})
    run.step(1000.0)
    assert "ephemeralContainerStatuses" not in run.status(made, 1000.0)

    short = {"name": "look", "image": "busybox", "command": ["sh", "-c", "sleep 2; exit 3"]}
    made["spec"]["ephemeralContainers"] = [short, {"name": "stay", "image": "busybox"}]
    run.look_for_more(made)
    assert run.step(1001.0) == 1003.0
    first, second = run.status(made, 1001.0)["ephemeralContainerStatuses"]
    assert "running" in first["state"]
    assert (first["ready"], "started" in first) == (False, False)
    assert first["containerID"] != second["containerID"]
    made["status"] = run.status(made, 1001.0)
    again = PodRun.of(made, "node-1", ("172.18.0.2", "10.244.0.2"), 1002.0)
    assert [each.state for each in again.ephemerals] == ["running", "running"]

    assert run.step(1003.0) == 1030.0
    after = run.status(made, 1003.0)
    ended, stays = after["ephemeralContainerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 3
    assert "running" in stays["state"]
    assert after["phase"] == "Running"
    assert run.step(1030.0) is None
    last = run.status(made, 1030.0)
    assert last["phase"] == "Succeeded"
    assert "terminated" in last["ephemeralContainerStatuses"][1]["state"]


def test_a_status_tells_which_generation_of_the_pod_it_is_about() -> None:
    made, run = run_of()
    scheduled = {"type": "PodScheduled", "status": "True"}
    made["status"] = {"conditions": [scheduled]}
    run = PodRun.of(made, "node-1", ("172.18.0.2", "10.244.0.2"), 1000.0)
    run.step(1000.0)
    assert "observedGeneration" not in run.status(made, 1000.0)
    for generation in (1, 2):
        made["metadata"]["generation"] = generation
        status = run.status(made, 1000.0 + generation)
        assert status["observedGeneration"] == generation
        assert {each["observedGeneration"] for each in status["conditions"]} == {generation}
        assert {each.get("lastTransitionTime") for each in status["conditions"]} == {
            None, "1970-01-01T00:16:40Z",
        }  # fmt: skip


def test_conditions_of_others_are_left_to_them() -> None:
    made, _ = run_of(spec={"readinessGates": [{"conditionType": "open"}]})
    gate = {"type": "open", "status": "True"}
    made["status"] = {"conditions": [gate]}
    run = PodRun.of(made, "node-1", ("172.18.0.2", "10.244.0.2"), 1000.0)
    run.step(1000.0)
    status = run.status(made, 1000.0)
    assert conditions.is_true(status["conditions"], "Ready")
    assert conditions.is_true(status["conditions"], "PodScheduled")
    assert conditions.find(status["conditions"], "open") is None
    gate["status"] = "False"
    assert not conditions.is_true(run.status(made, 1001.0)["conditions"], "Ready")


def test_a_sidecar_ends_with_what_it_serves() -> None:
    sidecar = {"name": "log", "image": "i", "restartPolicy": "Always"}
    spec = {"initContainers": [sidecar], "restartPolicy": "Never"}
    made, run = run_of(run_seconds="30", exit_code="0", spec=spec)
    run.inits[0].plan = Plan()
    run.step(1000.0)
    assert "running" in run.status(made, 1000.0)["initContainerStatuses"][0]["state"]
    run.step(1030.0)
    assert "terminated" in run.status(made, 1030.0)["initContainerStatuses"][0]["state"]


def test_a_kubelet_that_comes_back_goes_on_from_the_status() -> None:
    made, run = run_of(run_seconds="30", exit_code="0", spec={"restartPolicy": "Never"})
    run.step(1000.0)
    made["status"] = run.status(made, 1000.0)
    again = PodRun.of(made, "node-1", ("172.18.0.2", "10.244.0.2"), 1010.0)
    assert again.step(1010.0) == 1030.0
    again.step(1030.0)
    assert again.status(made, 1030.0)["phase"] == "Succeeded"


def test_addresses_are_used_again_only_when_all_were_used() -> None:
    node = NodeAddresses(1, pods=3)
    assert node.network == "10.244.1.0/24"
    first = node.take("a")
    node.give_back(first, "b")  # not its own
    node.give_back(first, "a")
    assert node.take("c") != first
    assert node.take("d", wanted=first) == first


# The scheduler


def node(name: str, **spec: Any) -> Any:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "2"}},
    }
