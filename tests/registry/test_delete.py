"""Delete: at once, gracefully, or when the last finalizer goes; what is answered, and seen."""

from __future__ import annotations

import pytest

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.options import DeleteOptions
from tests.registry.house import (
    House,
    configmap,
    deployment,
    frames,
    object_of,
    pod,
    refused,
    shown,
)

HELD = {"finalizers": ["a.test/1"]}


async def gone(house: House, resource: str, name: str) -> bool:
    return (await refused(house.get(resource, name))).code == 404


async def test_most_kinds_answer_a_status_and_are_gone(house: House) -> None:
    made = await house.create("configmaps", configmap())
    deleted = await house.delete("configmaps", "a")

    assert (deleted.encoded, deleted.gone) == (None, True)
    assert deleted.uid == made["metadata"]["uid"]
    assert deleted.revision == house.revision
    assert await gone(house, "configmaps", "a")


@pytest.mark.parametrize("resource", ["serviceaccounts", "podtemplates"])
async def test_some_kinds_answer_the_object(house: House, resource: str) -> None:
    body = {"metadata": {"name": "x"}}
    if resource == "podtemplates":
        body["template"] = {"spec": pod()["spec"]}
    await house.create(resource, body)
    deleted = await house.delete(resource, "x")

    assert object_of(deleted)["metadata"]["name"] == "x"
    assert deleted.gone


async def test_what_is_not_there_cannot_be_deleted(house: House) -> None:
    error = await refused(house.delete("deployments", "d"))

    assert (error.code, error.message) == (404, 'deployments.apps "d" not found')
    assert error.details == {"name": "d", "group": "apps", "kind": "deployments"}


async def test_watchers_see_the_last_state_under_the_revision_of_the_end(house: House) -> None:
    await house.create("configmaps", configmap(data={"k": "v"}))
    watcher = await house.watch("configmaps")
    await house.delete("configmaps", "a")
    _, (kind, last) = await frames(watcher, 2)

    assert (kind, last["data"]) == ("DELETED", {"k": "v"})
    assert last["metadata"]["resourceVersion"] == str(house.revision)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            {"uid": "other"},
            (
                "the UID in the precondition (other) does not match the UID in record ({uid}). "
                "The object might have been deleted and then recreated"
            ),
        ),
        (
            {"resource_version": "1"},
            (
                "the ResourceVersion in the precondition (1) does not match the ResourceVersion in "
                "record ({version}). The object might have been modified"
            ),
        ),
    ],
)
async def test_a_precondition_that_does_not_hold_is_a_conflict(
    house: House, options: dict[str, str], why: str
) -> None:
    meta = (await house.create("configmaps", configmap()))["metadata"]
    error = await refused(house.delete("configmaps", "a", **options))

    why = why.format(uid=meta["uid"], version=meta["resourceVersion"])
    assert error.message == f'Operation cannot be fulfilled on ConfigMap "a": {why}'
    assert error.details == {"name": "a", "kind": "ConfigMap"}


async def test_a_precondition_that_holds_is_none_of_anyones_concern(house: House) -> None:
    meta = (await house.create("configmaps", configmap()))["metadata"]
    await house.delete("configmaps", "a", uid=meta["uid"], resource_version=meta["resourceVersion"])

    assert await gone(house, "configmaps", "a")


async def test_a_dry_run_deletes_nothing(house: House) -> None:
    made = await house.create("configmaps", configmap())
    deleted = await house.delete("configmaps", "a", dry_run=True)

    assert (deleted.encoded, deleted.uid) == (None, made["metadata"]["uid"])
    assert await house.get("configmaps", "a") == made


async def test_a_finalizer_holds_the_object_marked(house: House) -> None:
    made = await house.create("configmaps", configmap(metadata=HELD))
    deleted = await house.delete("configmaps", "a")
    meta = object_of(deleted)["metadata"]

    assert not deleted.gone
    assert meta["deletionTimestamp"] == made["metadata"]["creationTimestamp"]
    assert meta["deletionGracePeriodSeconds"] == 0
    assert await house.get("configmaps", "a") == object_of(deleted)


async def test_a_second_delete_of_a_held_object_writes_nothing(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    first = await house.delete("configmaps", "a")
    await house.clock.advance(100)
    second = await house.delete("configmaps", "a")

    assert second == first


async def test_the_last_finalizer_takes_the_object_with_it(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    marked = object_of(await house.delete("configmaps", "a"))
    watcher = await house.watch("configmaps")
    written = await house.registry.update(house.ctx("configmaps", "a"), configmap())
    answer = shown(written)
    _, (kind, last) = await frames(watcher, 2)

    assert not written.created
    assert answer["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 0
    assert "finalizers" not in answer["metadata"]
    assert kind == "DELETED"
    assert last["metadata"]["resourceVersion"] == str(house.revision)
    assert await gone(house, "configmaps", "a")


async def test_a_patch_may_take_the_last_finalizer_as_well(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    await house.delete("configmaps", "a")
    await house.patch("configmaps", "a", {"metadata": {"finalizers": None}})

    assert await gone(house, "configmaps", "a")


async def test_a_dry_run_of_the_last_finalizer_leaves_the_object(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    marked = object_of(await house.delete("configmaps", "a"))
    await house.put("configmaps", configmap(), dry_run=True)

    assert await house.get("configmaps", "a") == marked


async def test_an_object_that_is_not_deleted_may_lose_its_finalizers(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    changed = await house.put("configmaps", configmap())

    assert await house.get("configmaps", "a") == changed


async def test_no_finalizer_is_added_while_the_object_goes(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    await house.delete("configmaps", "a")
    patch = {"metadata": {"finalizers": ["a.test/1", "a.test/2"]}}
    error = await refused(house.patch("configmaps", "a", patch))

    assert error.message == (
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added '
        'if the object is being deleted, found new finalizers []string{"a.test/2"}'
    )
    assert len(error.causes) == 2


async def test_an_object_that_goes_can_be_changed_but_not_called_back(house: House) -> None:
    await house.create("configmaps", configmap(metadata=HELD))
    marked = object_of(await house.delete("configmaps", "a"))
    changed = await house.patch(
        "configmaps", "a", {"metadata": {"deletionTimestamp": None}, "data": {"k": "v"}}
    )

    assert changed["data"] == {"k": "v"}
    assert changed["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagation_policy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagation_policy": "Orphan"}, ["orphan"]),
        ({"orphan_dependents": True}, ["orphan"]),
    ],
)
async def test_a_policy_leaves_its_finalizer(
    house: House, options: dict[str, object], finalizers: list[str]
) -> None:
    await house.create("deployments", deployment())
    meta = object_of(await house.delete("deployments", "d", **options))["metadata"]

    assert meta["finalizers"] == finalizers
    assert meta["generation"] == 2


@pytest.mark.parametrize(
    "options", [{}, {"propagation_policy": "Background"}, {"orphan_dependents": False}]
)
async def test_in_the_background_the_object_goes_at_once(
    house: House, options: dict[str, object]
) -> None:
    await house.create("deployments", deployment())

    assert (await house.delete("deployments", "d", **options)).gone


async def test_a_later_policy_takes_the_place_of_the_first(house: House) -> None:
    await house.create("deployments", deployment())
    await house.delete("deployments", "d", propagation_policy="Foreground")
    meta = object_of(await house.delete("deployments", "d", orphan_dependents=True))["metadata"]

    assert meta["finalizers"] == ["orphan"]
    assert meta["generation"] == 2
    assert (await house.delete("deployments", "d", propagation_policy="Background")).gone


async def test_without_a_policy_the_finalizer_decides(house: House) -> None:
    body = deployment()
    body["metadata"]["finalizers"] = ["orphan"]
    await house.create("deployments", body)

    assert not (await house.delete("deployments", "d")).gone


async def test_a_replication_controller_orphans_its_pods_by_default(house: House) -> None:
    spec = {"selector": {"a": "b"}, "template": deployment()["spec"]["template"]}
    spec["template"]["metadata"]["labels"] = {"a": "b"}
    await house.create("replicationcontrollers", {"metadata": {"name": "r"}, "spec": spec})
    meta = object_of(await house.delete("replicationcontrollers", "r"))["metadata"]

    assert meta["finalizers"] == ["orphan"]


async def test_a_pod_without_a_node_is_marked_and_goes_at_once(house: House) -> None:
    await house.create("pods", pod())
    watcher = await house.watch("pods")
    deleted = await house.delete("pods", "p")
    _, (first, marked), (second, last) = await frames(watcher, 3)

    assert deleted.gone
    assert object_of(deleted)["metadata"]["deletionGracePeriodSeconds"] == 0
    assert (first, second) == ("MODIFIED", "DELETED")
    assert marked["metadata"]["deletionTimestamp"] == last["metadata"]["deletionTimestamp"]
    assert last == object_of(deleted)


async def test_a_pod_with_a_node_has_its_grace_period(house: House) -> None:
    await house.create("pods", pod(nodeName="n"))
    deleted = await house.delete("pods", "p")
    meta = object_of(deleted)["metadata"]

    assert not deleted.gone
    assert meta["deletionGracePeriodSeconds"] == 30
    assert meta["deletionTimestamp"] == rfc3339(house.clock.now() + 30)
    assert meta["generation"] == 2


async def test_a_grace_period_can_only_be_shortened(house: House) -> None:
    await house.create("pods", pod(nodeName="n"))
    first = await house.delete("pods", "p")
    longer = await house.delete("pods", "p", grace_period_seconds=60)
    unsaid = await house.delete("pods", "p")
    shorter = object_of(await house.delete("pods", "p", grace_period_seconds=5))["metadata"]
    last = await house.delete("pods", "p", grace_period_seconds=0)

    assert longer == unsaid == first
    assert shorter["deletionGracePeriodSeconds"] == 5
    assert shorter["deletionTimestamp"] == rfc3339(house.clock.now() + 5)
    assert last.gone
    assert object_of(last)["metadata"]["deletionGracePeriodSeconds"] == 0
    assert await gone(house, "pods", "p")


async def test_a_grace_period_that_is_over_is_shortened_to_a_second(house: House) -> None:
    await house.create("pods", pod(nodeName="n"))
    await house.delete("pods", "p")
    await house.clock.advance(20)
    meta = object_of(await house.delete("pods", "p", grace_period_seconds=5))["metadata"]

    assert meta["deletionGracePeriodSeconds"] == 1
    assert meta["deletionTimestamp"] == rfc3339(house.clock.now())


async def test_a_negative_grace_period_is_one_second(house: House) -> None:
    await house.create("pods", pod(nodeName="n"))
    meta = object_of(await house.delete("pods", "p", grace_period_seconds=-7))["metadata"]

    assert meta["deletionGracePeriodSeconds"] == 1


async def test_a_pod_that_has_ended_needs_no_time(house: House) -> None:
    await house.create("pods", pod(nodeName="n"))
    await house.patch("pods/status", "p", {"status": {"phase": "Succeeded"}})

    assert (await house.delete("pods", "p")).gone


async def test_a_pod_held_by_a_finalizer_stays_when_its_time_is_over(house: House) -> None:
    await house.create("pods", pod(nodeName="n", metadata=HELD))
    await house.delete("pods", "p")
    forced = await house.delete("pods", "p", grace_period_seconds=0)
    await house.patch("pods", "p", {"metadata": {"finalizers": None}})

    assert not forced.gone
    assert await gone(house, "pods", "p")


async def test_a_grace_period_keeps_a_pod_without_finalizers(house: House) -> None:
    await house.create("pods", pod(nodeName="n", metadata=HELD))
    await house.delete("pods", "p")
    changed = await house.patch("pods", "p", {"metadata": {"finalizers": None}})

    assert changed["metadata"]["deletionGracePeriodSeconds"] == 30
    assert await house.get("pods", "p") == changed


async def test_a_grace_period_means_nothing_elsewhere(house: House) -> None:
    await house.create("configmaps", configmap())

    assert (await house.delete("configmaps", "a", grace_period_seconds=30)).gone


async def test_a_new_object_of_an_old_name_has_a_new_uid(house: House) -> None:
    first = await house.create("configmaps", configmap())
    await house.delete("configmaps", "a")
    second = await house.create("configmaps", configmap())

    assert first["metadata"]["uid"] != second["metadata"]["uid"]


async def test_a_collection_goes_as_the_selectors_say(house: House) -> None:
    for name, label in (("a", "1"), ("b", "1"), ("c", "2")):
        await house.create("configmaps", configmap(name, metadata={"labels": {"x": label}}))
    found = await house.delete_all("configmaps", labels="x=1")

    assert [version.name for version in found] == ["a", "b"]
    assert await house.names("configmaps") == ["c"]


async def test_a_limit_deletes_one_page(house: House) -> None:
    for name in "abc":
        await house.create("configmaps", configmap(name))
    found = await house.delete_all("configmaps", limit=1)

    assert [version.name for version in found] == ["a"]
    assert await house.names("configmaps") == ["b", "c"]


async def test_a_dry_run_lists_what_would_go(house: House) -> None:
    await house.create("configmaps", configmap())
    found = await house.delete_all("configmaps", options=DeleteOptions(dry_run=True))

    assert [version.name for version in found] == ["a"]
    assert await house.names("configmaps") == ["a"]


async def test_what_is_held_stays_of_a_collection(house: House) -> None:
    await house.create("configmaps", configmap("a", metadata=HELD))
    await house.create("configmaps", configmap("b"))
    await house.delete_all("configmaps")

    assert await house.names("configmaps") == ["a"]
    assert "deletionTimestamp" in (await house.get("configmaps", "a"))["metadata"]


async def test_a_refusal_ends_a_collection(house: House) -> None:
    error = await refused(house.delete_all("namespaces"))

    assert error.code == 403


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_the_namespaces_that_everything_counts_on_stay(house: House, name: str) -> None:
    error = await refused(house.delete("namespaces", name))

    assert (error.code, error.message) == (
        403, f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )  # fmt: skip
