"""The parts that need no server: numbers, schedules, scenarios, graphs, and what was written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.controllers import conditions
from listwatch.controllers.batches import at_once, slow_start
from listwatch.controllers.catalogue import CONTROLLERS
from listwatch.controllers.deployments import scaling
from listwatch.controllers.events import EventRecorder
from listwatch.controllers.garbage.graph import Graph
from listwatch.controllers.jobs.accounting import completed_indexes, ends_of, indexes_text
from listwatch.controllers.jobs.cron import Schedule
from listwatch.controllers.kubelet.addresses import NodeAddresses
from listwatch.controllers.kubelet.pod_run import PodRun
from listwatch.controllers.kubelet.scenarios import guessed
from listwatch.controllers.options import ControllerOptions
from listwatch.controllers.pods import in_order_of_deletion
from listwatch.controllers.quotas.usage import resource_of, usage_of
from listwatch.controllers.scheduler.filters import explain, refusal
from listwatch.controllers.scheduler.nodes import Nodes, demand_of
from listwatch.controllers.scheduler.queue import SchedulingQueue
from listwatch.controllers.selection import selected
from listwatch.controllers.status import difference
from listwatch.controllers.unseen_writes import PATIENCE, UnseenWrites
from listwatch.informer import HTTPListerWatcher, SharedIndexInformer, resources
from listwatch.testing.clock import FakeClock


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
    assert len(CONTROLLERS) == 20
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


def test_indexes_are_told_in_ranges() -> None:
    assert indexes_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7,8"
    assert completed_indexes("0-2,5,7,8") == {0, 1, 2, 5, 7, 8}


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


def test_a_node_takes_what_it_has_room_for_and_says_what_is_missing() -> None:
    nodes = Nodes()
    nodes.set_node(node("n"))
    (info,) = nodes.known()
    big = pod("big")
    big["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "600m"}}
    assert refusal(big, demand_of(big), info) == ""
    nodes.place(big, demand_of(big), "n")
    other = {**big, "metadata": {**big["metadata"], "uid": "other"}}
    assert refusal(other, demand_of(other), info) == "Insufficient cpu"
    small = pod("small")
    nodes.place(small, demand_of(small), "n")
    assert refusal(pod("third"), demand_of(pod("third")), info) == "Too many pods"
    assert nodes.take("uid-big")
    assert not nodes.take("uid-big")
    assert refusal(other, demand_of(other), info) == ""


def test_taints_and_cordons_keep_pods_off_that_do_not_tolerate_them() -> None:
    nodes = Nodes()
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    nodes.set_node(node("n", taints=[taint]))
    (info,) = nodes.known()
    plain, brave = pod("plain"), pod("brave", tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert refusal(plain, demand_of(plain), info) == "node(s) had untolerated taint {gpu: yes}"
    assert refusal(brave, demand_of(brave), info) == ""
    nodes.set_node(node("n", unschedulable=True))
    assert refusal(brave, demand_of(brave), info) == "node(s) were unschedulable"


def test_init_containers_count_by_the_largest_and_others_by_their_sum() -> None:
    made = pod("p")

    def container(cpu: str) -> Any:
        return {"name": "c", "resources": {"requests": {"cpu": cpu}}}

    made["spec"]["containers"] = [container("100m"), container("200m")]
    assert demand_of(made).requests.cpu == 300
    made["spec"]["initContainers"] = [container("1"), container("400m")]
    assert demand_of(made).requests.cpu == 1000


def test_what_fits_nowhere_is_counted_by_reason() -> None:
    from collections import Counter

    reasons = Counter({"Insufficient cpu": 2, "Too many pods": 1})
    assert explain(reasons, 3) == "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."
    assert explain(Counter(), 0) == "no nodes available to schedule pods"


async def test_pods_are_taken_by_priority_and_parked_until_the_cluster_changes() -> None:
    clock = FakeClock()
    queue = SchedulingQueue(clock)
    queue.add(pod("low", priority=0))
    queue.add(pod("high", priority=9))
    assert (await queue.take())["metadata"]["name"] == "high"
    assert (await queue.take())["metadata"]["name"] == "low"
    queue.park("uid-low")
    queue.retry("uid-high")
    assert queue.statistics().unschedulable == 1
    await clock.advance(1.0)
    assert (await queue.take())["metadata"]["name"] == "high"
    queue.cluster_changed()
    await clock.advance(1.0)
    assert (await queue.take())["metadata"]["name"] == "low"


# Garbage


def test_a_graph_knows_dependents_whatever_comes_first() -> None:
    graph = Graph()
    child = pod("child")
    reference = {"uid": "uid-owner", "kind": "Pod", "apiVersion": "v1", "name": "owner"}
    child["metadata"]["ownerReferences"] = [{**reference, "blockOwnerDeletion": True}]
    graph.put(resources.PODS, child)
    assert graph.nodes["uid-owner"].virtual
    graph.put(resources.PODS, pod("owner"))
    assert [each.name for each in graph.blocking("uid-owner")] == ["child"]

    child["metadata"]["ownerReferences"] = [reference]
    _, freed = graph.put(resources.PODS, child)
    assert freed == {"uid-owner"}
    assert graph.blocking("uid-owner") == []
    gone = graph.remove("uid-owner")
    assert gone is not None
    assert gone.dependents == {"uid-child"}
    graph.remove("uid-child")
    assert len(graph) == 0


# Writes


def test_a_status_is_patched_with_what_differs() -> None:
    old = {"replicas": 3, "readyReplicas": 2, "conditions": [1], "nested": {"a": 1, "b": 2}}
    new = {"replicas": 3, "conditions": [1, 2], "nested": {"a": 1, "b": 3}}
    assert difference(old, new) == {
        "readyReplicas": None, "conditions": [1, 2], "nested": {"b": 3},
    }  # fmt: skip
    assert difference(old, old) == {}


def test_a_condition_keeps_its_time_until_its_status_changes() -> None:
    made = conditions.condition("Ready", True, "A", "")
    first = conditions.put([], made, "t1")
    second = conditions.put(first, {**made, "reason": "B"}, "t2")
    assert second[0]["lastTransitionTime"] == "t1"
    third = conditions.put(second, conditions.condition("Ready", False, "B", ""), "t3")
    assert third[0]["lastTransitionTime"] == "t3"
    assert conditions.put(third, conditions.condition("Ready", False, "B", ""), "t4") is third


async def test_batches_grow_and_stop_at_the_first_that_fails() -> None:
    asked: list[int] = []

    async def act(number: int) -> int:
        asked.append(number)
        if number == 2:
            raise ValueError("full")
        return number

    answers, error = await slow_start(20, act)
    assert asked == [0, 1, 2]
    assert answers == [0, 1]
    assert isinstance(error, ValueError)
    answers, error = await at_once(range(4), act)
    assert answers == [0, 1, 3]
    assert isinstance(error, ValueError)


def informer() -> SharedIndexInformer:
    source = HTTPListerWatcher(None, resources.PODS)  # type: ignore[arg-type] # never asked
    return SharedIndexInformer(source, resource=resources.PODS)


def test_a_write_is_seen_when_the_cache_has_reached_its_version() -> None:
    clock = FakeClock()
    pods, unseen = informer(), UnseenWrites(clock)
    pods.indexer.replace([], "10")
    written = {"metadata": {"resourceVersion": "12"}}
    unseen.wrote("key", pods, written)
    assert not unseen.seen("key")
    assert unseen.seen("another")
    pods.indexer.bookmark("12")
    assert unseen.seen("key")
    assert len(unseen) == 0


def test_a_deletion_is_seen_when_the_pod_is_gone_or_going() -> None:
    pods, unseen = informer(), UnseenWrites(FakeClock())
    there = pod("a")
    pods.indexer.replace([there], "10")
    unseen.deleted("key", pods, there)
    assert not unseen.seen("key")
    going = {**there, "metadata": {**there["metadata"], "deletionTimestamp": "now"}}
    pods.indexer.replace([going], "11")
    assert unseen.seen("key")


async def test_a_cache_that_never_shows_a_write_holds_nothing_up_for_ever() -> None:
    clock = FakeClock()
    pods, unseen = informer(), UnseenWrites(clock)
    pods.indexer.replace([], "10")
    unseen.wrote("key", pods, {"metadata": {"resourceVersion": "99"}})
    assert not unseen.seen("key")
    await clock.advance(PATIENCE)
    assert unseen.seen("key")


def test_pods_that_are_missed_least_go_first() -> None:
    ready = pod("ready", nodeName="n")
    ready["status"] = {
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        ],
    }
    cheap = {**ready, "metadata": {**ready["metadata"], "name": "cheap", "annotations": {
        "controller.kubernetes.io/pod-deletion-cost": "-5",
    }}}  # fmt: skip
    pending, waiting = pod("pending"), pod("waiting", nodeName="n")
    waiting["status"] = {"phase": "Pending"}
    ordered = [
        p["metadata"]["name"] for p in in_order_of_deletion([ready, waiting, cheap, pending])
    ]
    assert ordered == ["pending", "waiting", "cheap", "ready"]


def test_a_quota_knows_what_each_of_its_names_counts() -> None:
    assert resource_of("count/deployments.apps") == "deployments.apps"
    assert resource_of("limits.memory") == "pods"
    assert resource_of("services.nodeports") == "services"
    assert resource_of("requests.storage") == "persistentvolumeclaims"
    service = {"spec": {"type": "NodePort", "ports": [{}, {}]}}
    assert {k: str(v) for k, v in usage_of("services", service).items()} == {
        "count/services": "1", "services": "1", "services.nodeports": "2",
    }  # fmt: skip


async def test_one_object_does_not_flood_the_events() -> None:
    clock = FakeClock()
    recorder = EventRecorder(None, "test", clock)  # type: ignore[arg-type] # writes nothing here
    for number in range(40):
        recorder.record(resources.PODS, pod("a"), "Again", f"message {number}")
    recorder.record(resources.PODS, pod("b"), "Once", "message")
    assert recorder.statistics().pending == 26
    assert recorder.statistics().dropped == 15
    await clock.advance(300.0)
    recorder.record(resources.PODS, pod("a"), "Again", "later")
    assert recorder.statistics().pending == 27
