"""Where pods go, who belongs to whom, and what was written: parts that need no server."""

from __future__ import annotations

from typing import Any

from listwatch.controllers import conditions
from listwatch.controllers.batches import at_once, slow_start
from listwatch.controllers.events import EventRecorder
from listwatch.controllers.garbage.graph import Graph
from listwatch.controllers.pods import in_order_of_deletion
from listwatch.controllers.scheduler.explanations import Unfit
from listwatch.controllers.scheduler.filters import refusal
from listwatch.controllers.scheduler.nodes import Amounts, NodeInfo, Nodes, demand_of
from listwatch.controllers.scheduler.preemption import find
from listwatch.controllers.scheduler.queue import SchedulingQueue
from listwatch.controllers.status import difference
from listwatch.controllers.unseen_writes import PATIENCE, UnseenWrites
from listwatch.informer import HTTPListerWatcher, SharedIndexInformer, resources
from listwatch.protocol.kinds import GroupResource
from listwatch.schemas.quota_usage import resource_of, usage
from listwatch.testing.clock import FakeClock
from tests.controllers.test_parts import node, pod


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


def test_what_fits_nowhere_is_counted_by_reason_and_told_why_nothing_goes_for_it() -> None:
    small, large = NodeInfo({}), NodeInfo({})
    small.allocatable, large.allocatable = Amounts(cpu=500), Amounts(cpu=4000)
    made = pod("p")
    made["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    unfit, demand = Unfit(4), demand_of(made)
    unfit.refused("Insufficient cpu", demand, small)
    unfit.refused("Insufficient cpu", demand, large)
    unfit.refused("Too many pods", demand, large)
    unfit.refused("node(s) were unschedulable", demand, large)

    why = (
        "0/4 nodes are available: 1 Too many pods, 1 node(s) were unschedulable, "
        "2 Insufficient cpu."
    )
    assert unfit.text() == why
    assert unfit.text_without_victims(made, waits=False) == (
        f"{why} no new claims to deallocate, preemption: 0/4 nodes are available: "
        "2 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )
    waiting = unfit.text_without_victims(made, waits=True)
    assert waiting.endswith("not eligible due to a terminating pod on the nominated node.")
    made["spec"]["preemptionPolicy"] = "Never"
    never = unfit.text_without_victims(made, waits=False)
    assert never.endswith("preemption: not eligible due to preemptionPolicy=Never.")
    assert Unfit(0).text_without_victims(made, waits=False) == (
        "no nodes available to schedule pods"
    )


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


# Preemption


def filled(*pods: Any) -> Nodes:
    """Nodes of 1 CPU by the pods on them: name, node, priority, request."""
    nodes = Nodes()
    for name, where, priority, cpu in pods:
        if nodes.by_name.get(where) is None:
            nodes.set_node(node(where))
        made = pod(name, priority=priority)
        made["metadata"]["labels"] = {"app": name}
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        nodes.place(made, demand_of(made), where)
    return nodes


def taken_for(nodes: Nodes, priority: int, cpu: str, *budgets: Any) -> tuple[str, list[str]] | None:
    new = pod("new", priority=priority)
    new["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    found = find(new, demand_of(new), nodes.known(), budgets)
    if found is None:
        return None
    return found.node, [each["metadata"]["name"] for each in found.victims]


def test_the_fewest_and_least_important_pods_go() -> None:
    nodes = filled(
        ("a", "one", 5, "500m"), ("b", "one", 1, "400m"),
        ("c", "two", 3, "900m"), ("d", "three", 9, "900m"),
    )  # fmt: skip
    assert taken_for(nodes, 10, "400m") == ("one", ["b"])
    assert taken_for(nodes, 10, "600m") == ("two", ["c"])
    assert taken_for(nodes, 10, "2") is None  # no node has that much
    assert taken_for(nodes, 1, "400m") is None  # nobody matters less
    assert taken_for(nodes, 4, "600m") == ("two", ["c"])


def test_pods_of_a_budget_that_is_used_up_are_taken_last() -> None:
    nodes = filled(("b", "one", 1, "900m"), ("c", "two", 3, "900m"))
    selector = {"matchLabels": {"app": "b"}}
    budget = {
        "metadata": {"namespace": "default"}, "spec": {"selector": selector},
        "status": {"disruptionsAllowed": 0},
    }  # fmt: skip
    assert taken_for(nodes, 10, "600m") == ("one", ["b"])
    assert taken_for(nodes, 10, "600m", budget) == ("two", ["c"])
    budget["status"] = {"disruptionsAllowed": 1}
    assert taken_for(nodes, 10, "600m", budget) == ("one", ["b"])


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
    assert {k: str(v) for k, v in usage(GroupResource("", "services"), service).items()} == {
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
