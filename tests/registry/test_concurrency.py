"""Writes at the same time, and states that the cache does not have yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import encode
from listwatch.store.writes import Create, Delete, StoreUnavailable, Update
from tests.registry.house import House, configmap, refused

CONFIGMAPS = GroupResource("", "configmaps")


def codes(results: list[Any]) -> list[int]:
    return sorted(one.code if isinstance(one, StatusError) else 200 for one in results)


async def together(*calls: Any) -> list[Any]:  # Any: awaitables and what they give
    return list(await asyncio.gather(*calls, return_exceptions=True))


async def test_of_two_that_create_one_name_one_succeeds(house: House) -> None:
    calls = (house.create("configmaps", configmap()) for _ in range(8))

    assert codes(await together(*calls)) == [200] + [409] * 7


async def test_of_two_that_replace_one_version_one_succeeds(house: House) -> None:
    made = await house.create("configmaps", configmap())
    calls = (house.put("configmaps", {**made, "data": {"n": str(n)}}) for n in range(8))
    results = await together(*calls)

    assert codes(results) == [200] + [409] * 7
    assert await house.get("configmaps", "a") in results


async def test_replacing_whatever_is_there_never_conflicts(house: House) -> None:
    await house.create("configmaps", configmap())
    calls = (house.put("configmaps", configmap(data={"n": str(n)})) for n in range(8))

    assert codes(await together(*calls)) == [200] * 8


async def test_a_deletion_and_a_replacement_leave_nothing(house: House) -> None:
    await house.create("configmaps", configmap())
    replaced = house.put("configmaps", configmap(data={"k": "v"}))
    results = await together(replaced, house.delete("configmaps", "a"))

    assert not any(isinstance(one, StatusError) for one in results)
    assert await house.names("configmaps") == []


async def test_of_two_deletions_one_finds_nothing(house: House) -> None:
    await house.create("configmaps", configmap())
    calls = (house.delete("configmaps", "a") for _ in range(2))

    assert codes(await together(*calls)) == [200, 404]


async def test_what_is_deleted_and_made_anew_is_not_deleted_by_the_old_uid(house: House) -> None:
    old = (await house.create("configmaps", configmap()))["metadata"]["uid"]
    await house.delete("configmaps", "a")
    await house.create("configmaps", configmap())

    assert (await refused(house.delete("configmaps", "a", uid=old))).code == 409


async def test_a_namespace_that_begins_to_end_in_the_same_commit_takes_nothing(
    house: House,
) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    deleted, made = await together(
        house.delete("namespaces", "n"), house.create("configmaps", configmap(), namespace="n")
    )

    assert not deleted.gone
    assert isinstance(made, StatusError)
    assert (made.code, made.causes[0].reason) == (403, "NamespaceTerminating")


async def test_a_namespace_that_is_changed_in_the_same_commit_takes_objects(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    patch = {"metadata": {"labels": {"x": "y"}}}
    results = await together(
        house.patch("namespaces", "n", patch),
        house.create("configmaps", configmap(), namespace="n"),
    )

    assert codes(results) == [200, 200]


@contextmanager
def behind(house: House) -> Iterator[None]:
    """What is written inside is committed, and in no cache yet: another process writes so."""
    house.pump.hold(True)
    yield
    house.pump.hold(False)


async def test_an_update_finds_what_the_cache_does_not_have_yet(house: House) -> None:
    with behind(house):
        await house.create("configmaps", configmap(data={"k": "1"}))
        changed = await house.put("configmaps", configmap(data={"k": "2"}))
        again = await house.put("configmaps", configmap(data={"k": "1"}))

    assert changed["data"] == {"k": "2"}
    assert again["data"] == {"k": "1"}
    assert await house.get("configmaps", "a") == again


async def test_no_change_of_an_old_state_is_a_change_of_the_newest(house: House) -> None:
    made = await house.create("configmaps", configmap(data={"k": "1"}))
    await house.get("configmaps", "a")
    with behind(house):
        await house.put("configmaps", configmap(data={"k": "2"}))
        back = await house.put("configmaps", configmap(data={"k": "1"}))

    assert back["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert await house.get("configmaps", "a") == back


async def test_a_refusal_by_an_old_state_is_asked_again(house: House) -> None:
    body = configmap(data={"k": "1"}, immutable=True)
    await house.create("configmaps", body)
    await house.get("configmaps", "a")
    with behind(house):
        await house.delete("configmaps", "a")
        await house.create("configmaps", configmap())
        changed = await house.patch("configmaps", "a", {"data": {"k": "2"}})

    assert changed["data"] == {"k": "2"}


async def test_a_current_version_is_no_conflict_though_the_cache_has_an_old_one(
    house: House,
) -> None:
    await house.create("configmaps", configmap())
    await house.get("configmaps", "a")
    with behind(house):
        second = await house.put("configmaps", configmap(data={"k": "1"}))
        third = await house.put("configmaps", {**second, "data": {"k": "2"}})

    assert third["data"] == {"k": "2"}


async def test_what_was_deleted_meanwhile_is_not_found(house: House) -> None:
    await house.create("configmaps", configmap())
    await house.get("configmaps", "a")
    with behind(house):
        await house.delete("configmaps", "a")
        error = await refused(house.put("configmaps", configmap(data={"k": "1"})))

    assert error.code == 404


async def test_a_store_that_cannot_be_written_asks_to_come_again(house: House) -> None:
    class Broken:
        async def submit(self, operation: Create | Update | Delete) -> Any:
            raise StoreUnavailable("disk full")

    house.registry._backend.committer = Broken()
    error = await refused(house.create("configmaps", configmap()))

    assert (error.code, error.reason, error.retry_after) == (500, "ServerTimeout", 2)
    assert error.details["name"] == "create"


async def test_an_object_written_past_the_registry_is_changed_like_any_other(house: House) -> None:
    document = configmap(metadata={"namespace": "default", "uid": "u"}, data={"k": "1"})
    await house.committer.submit(Create(CONFIGMAPS, "default", "a", "u", encode(document)))
    changed = await house.patch("configmaps", "a", {"data": {"k": "2"}})

    assert changed["metadata"]["uid"] == "u"
    assert changed["data"] == {"k": "2"}
