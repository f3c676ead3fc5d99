"""Get, list and watch: which state is read, and what is told of one that is not there."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from listwatch.protocol.continue_tokens import ContinueToken, decode
from listwatch.protocol.events import INITIAL_EVENTS_END, EndReason
from listwatch.protocol.options import ListOptions
from listwatch.protocol.selectors import FieldSelector
from listwatch.store.compaction import compact
from listwatch.watchcache.requests import ListRequest, ListResult
from tests.registry.house import House, configmap, frames, pod, refused

CONTINUE_TOO_OLD = "The provided continue parameter is too old to display a consistent list result"


async def some(house: House, names: str) -> dict[str, int]:
    """Make ConfigMaps; their revisions by name."""
    made = {name: await house.create("configmaps", configmap(name)) for name in names}
    return {name: int(one["metadata"]["resourceVersion"]) for name, one in made.items()}


async def listed(house: House, resource: str = "configmaps", **options: object) -> ListResult:
    ctx = house.ctx(resource)
    return await house.registry.list(ctx, ListOptions(**options))  # type: ignore[arg-type]


def token(result: ListResult, namespace: str = "default") -> str:
    assert result.next_key is not None
    return ContinueToken.after(result.next_key, namespace, result.revision).encode()


async def test_a_consistent_list_has_every_write_before_it(house: House) -> None:
    for number in range(10):
        await house.create("configmaps", configmap(f"n{number}"))
        result = await listed(house)

        assert len(result.versions) == number + 1
        assert result.revision == house.revision


async def test_a_consistent_list_shows_the_revision_of_other_kinds_writes(house: House) -> None:
    await some(house, "a")
    await house.create("secrets", {"metadata": {"name": "s"}})

    assert (await listed(house)).revision == house.revision


async def test_a_list_is_ordered_by_name_and_ends_at_its_namespace(house: House) -> None:
    for name in ("default2", "d"):
        await house.create("namespaces", {"metadata": {"name": name}})
        await house.create("configmaps", configmap("x"), namespace=name)
    await some(house, "ba")

    assert await house.names("configmaps") == ["a", "b"]
    assert await house.names("configmaps", namespace="") == ["x", "a", "b", "x"]


async def test_a_list_at_revision_0_passes_over_the_limit(house: House) -> None:
    await some(house, "abc")
    await listed(house)
    result = await listed(house, resource_version="0", limit=1)

    assert len(result.versions) == 3
    assert result.next_key is None


async def test_an_exact_list_shows_the_state_of_then(house: House) -> None:
    at = await some(house, "ab")
    await house.patch("configmaps", "a", {"data": {"k": "new"}})
    await house.delete("configmaps", "b")
    first = await listed(house, resource_version=str(at["a"]), resource_version_match="Exact")
    second = await listed(house, resource_version=str(at["b"]), resource_version_match="Exact")

    assert ([v.name for v in first.versions], first.revision) == (["a"], at["a"])
    assert ([v.name for v in second.versions], second.revision) == (["a", "b"], at["b"])
    assert "data" not in second.versions[0].decode()


async def test_a_limit_with_a_revision_is_exact(house: House) -> None:
    at = await some(house, "abcd")
    result = await listed(house, resource_version=str(at["c"]), limit=1)

    assert (result.revision, result.remaining) == (at["c"], 2)
    assert result.versions[0].name == "a"


async def test_not_older_than_takes_the_newest(house: House) -> None:
    at = await some(house, "ab")
    result = await listed(house, resource_version=str(at["a"]))
    limited = await listed(
        house, resource_version=str(at["a"]), resource_version_match="NotOlderThan", limit=1
    )

    assert [version.name for version in result.versions] == ["a", "b"]
    assert (limited.revision, limited.remaining) == (house.revision, 1)


@pytest.mark.parametrize("match", ["", "Exact"])
async def test_a_revision_that_does_not_come_is_too_large(house: House, match: str) -> None:
    future = str(house.revision + 1_000_000)
    call = asyncio.ensure_future(
        refused(listed(house, resource_version=future, resource_version_match=match))
    )
    await house.clock.advance(4)
    error = await call

    assert (error.code, error.retry_after) == (504, 1)
    assert error.message == (
        f"Timeout: Too large resource version: {future}, current: {house.revision}"
    )


async def test_a_revision_that_comes_in_time_is_waited_for(house: House) -> None:
    future = str(house.revision + 1)
    call = asyncio.ensure_future(listed(house, resource_version=future))
    await asyncio.sleep(0)
    await some(house, "a")

    assert [version.name for version in (await call).versions] == ["a"]


@pytest.mark.parametrize("version", ["abc", "-1", "1.5"])
async def test_a_revision_that_is_no_number_is_refused(house: House, version: str) -> None:
    in_list = await refused(listed(house, resource_version=version))
    in_get = await refused(house.registry.get(house.ctx("configmaps", "a"), version))
    why = (
        f'resourceVersion: Invalid value: "{version}": strconv.ParseUint: parsing "{version}": '
        "invalid syntax"
    )

    assert (in_list.code, in_list.message) == (400, f"invalid resource version: {why}")
    assert (in_get.code, in_get.message) == (400, why)


async def test_pages_show_one_state_whatever_happens_meanwhile(house: House) -> None:
    await some(house, "abcde")
    first = await listed(house, limit=2)
    await house.create("configmaps", configmap("bb"))
    await house.delete("configmaps", "d")
    second = await listed(house, limit=2, continue_token=token(first))
    third = await listed(house, limit=2, continue_token=token(second))

    pages = [[version.name for version in page.versions] for page in (first, second, third)]
    assert pages == [["a", "b"], ["c", "d"], ["e"]]
    assert {page.revision for page in (first, second, third)} == {first.revision}
    assert [page.remaining for page in (first, second, third)] == [3, 1, None]


async def test_a_token_goes_with_no_revision(house: House) -> None:
    await some(house, "ab")
    first = await listed(house, limit=1)
    error = await refused(listed(house, limit=1, continue_token=token(first), resource_version="5"))
    passed = await listed(house, limit=1, continue_token=token(first), resource_version="0")

    assert error.message == "specifying resource version is not allowed when using continue"
    assert [version.name for version in passed.versions] == ["b"]


async def test_a_token_elsewhere_reads_no_other_namespace(house: House) -> None:
    await some(house, "ab")
    first = await listed(house, limit=1)
    ctx = house.ctx("configmaps", namespace="kube-system")
    result = await house.registry.list(ctx, ListOptions(continue_token=token(first)))

    assert not result.versions


async def test_an_expired_token_comes_with_one_to_go_on(house: House) -> None:
    await some(house, "abc")
    first = await listed(house, limit=1)
    await house.patch("configmaps", "c", {"data": {"k": "new"}})
    await lose_history(house)
    error = await refused(listed(house, limit=1, continue_token=token(first)))
    again = decode(error.continue_token)
    second = await listed(house, limit=1, continue_token=error.continue_token)
    third = await listed(house, limit=1, continue_token=token(second))

    assert (error.code, error.reason) == (410, "Expired")
    assert error.message.startswith(CONTINUE_TOO_OLD)
    assert (again.start, again.revision) == ("a\0", -1)
    assert [v.name for v in (*second.versions, *third.versions)] == ["b", "c"]
    assert second.revision == third.revision == house.revision


async def test_an_exact_list_of_a_lost_state_is_too_old(house: House) -> None:
    at = await some(house, "ab")
    await lose_history(house)
    error = await refused(
        listed(house, resource_version=str(at["a"]), resource_version_match="Exact")
    )

    assert (error.code, error.reason) == (410, "Expired")
    assert error.message == "The resourceVersion for the provided list is too old."


async def lose_history(house: House) -> None:
    """As after a restart whose log was compacted: nothing but the state of now is known."""
    await listed(house)
    revision = house.caches.progress.applied
    await house.readers.run(compact, revision)
    fillings = {
        resource: (cacher.list(ListRequest()).versions, ())
        for resource, cacher in house.caches.cachers().items()
    }
    house.caches.fill(revision, revision, fillings)


async def test_field_selectors_are_those_of_the_kind(house: House) -> None:
    await house.create("pods", pod("a", nodeName="n"))
    await house.create("pods", pod("b"))
    for text, names in (
        ("spec.nodeName=n", ["a"]), ("spec.host=n", ["a"]), ("spec.nodeName=", ["b"]),
        ("metadata.name=b", ["b"]), ("status.phase!=Pending", []),
    ):  # fmt: skip
        result = await listed(house, "pods", field_selector=FieldSelector.parse(text))

        assert [version.name for version in result.versions] == names, text


async def test_a_field_the_kind_does_not_know_is_refused(house: House) -> None:
    selector = FieldSelector.parse("spec.priority=0")
    error = await refused(listed(house, "pods", field_selector=selector))

    assert (error.code, error.message) == (400, "field label not supported: spec.priority")


async def test_a_single_name_is_read_alone(house: House) -> None:
    await some(house, "abc")
    result = await listed(house, field_selector=FieldSelector.parse("metadata.name=b"), limit=1)

    assert [version.name for version in result.versions] == ["b"]
    assert result.next_key is None


async def test_the_server_may_insist_on_pages(house: House) -> None:
    await some(house, "abc")
    backend = house.registry._backend
    backend.options = replace(backend.options, page_limit=2)

    assert len((await listed(house)).versions) == 2
    assert len((await listed(house, limit=1)).versions) == 1


async def test_a_get_is_consistent_unless_told_otherwise(house: House) -> None:
    made = await house.create("configmaps", configmap())
    ctx = house.ctx("configmaps", "a")
    newest = await house.registry.get(ctx)
    cached = await house.registry.get(ctx, "0")
    known = await house.registry.get(ctx, made["metadata"]["resourceVersion"])

    assert newest.decode() == cached.decode() == known.decode() == made


async def test_a_get_of_a_revision_to_come_times_out(house: House) -> None:
    await some(house, "a")
    call = house.registry.get(house.ctx("configmaps", "a"), str(house.revision + 100))
    pending = asyncio.ensure_future(refused(call))
    await house.clock.advance(4)

    assert (await pending).code == 504


async def test_what_is_not_there_is_not_found(house: House) -> None:
    error = await refused(house.get("deployments", "d"))

    assert error.to_dict() == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": 'deployments.apps "d" not found', "reason": "NotFound",
        "details": {"name": "d", "group": "apps", "kind": "deployments"}, "code": 404,
    }  # fmt: skip


async def test_a_streaming_list_has_all_that_was_written_before_and_ends(house: House) -> None:
    await some(house, "ab")
    watcher = await house.watch("configmaps", allow_watch_bookmarks=True)
    events = await frames(watcher, 3)
    await some(house, "c")
    events += await frames(watcher, 1)

    assert [kind for kind, _ in events] == ["ADDED", "ADDED", "BOOKMARK", "ADDED"]
    annotations = events[2][1]["metadata"]["annotations"]
    assert annotations == {INITIAL_EVENTS_END: "true"}
    watcher.close(EndReason.CLIENT_LEFT)


async def test_a_watch_without_state_begins_with_what_is_written_next(house: House) -> None:
    await some(house, "a")
    for begin in ("", "0", "now"):
        version = str(house.revision) if begin == "now" else begin
        initial = None if begin == "now" else False
        watcher = await house.watch(
            "configmaps", resource_version=version, send_initial_events=initial
        )
        await house.patch("configmaps", "a", {"data": {"k": f"to {begin}"}})
        ((kind, seen),) = await frames(watcher, 1)

        assert (kind, seen["data"]) == ("MODIFIED", {"k": f"to {begin}"})
        watcher.close(EndReason.CLIENT_LEFT)


async def test_a_watch_of_a_deprecated_path_begins_with_the_state(house: House) -> None:
    await some(house, "a")
    await listed(house)
    watcher = await house.watch("configmaps", send_initial_events=None)
    ((kind, seen),) = await frames(watcher, 1)

    assert (kind, seen["metadata"]["name"]) == ("ADDED", "a")
    watcher.close(EndReason.CLIENT_LEFT)


async def test_a_watch_from_a_revision_sees_what_came_after(house: House) -> None:
    at = await some(house, "abc")
    watcher = await house.watch(
        "configmaps", resource_version=str(at["a"]), send_initial_events=None
    )
    events = await frames(watcher, 2)

    assert [seen["metadata"]["name"] for _, seen in events] == ["b", "c"]
    watcher.close(EndReason.CLIENT_LEFT)


async def test_a_state_that_does_not_come_ends_the_stream_in_its_own_words(house: House) -> None:
    call = asyncio.ensure_future(
        house.watch("configmaps", resource_version=str(house.revision + 100))
    )
    await house.clock.advance(4)
    watcher = await call
    ((kind, status),) = await frames(watcher, 1)

    assert (kind, status["code"]) == ("ERROR", 504)
    assert await watcher.next_chunk() is None


async def test_a_watch_ends_after_the_time_that_was_asked_for(house: House) -> None:
    watcher = await house.watch("configmaps", timeout_seconds=5)
    waiting = asyncio.ensure_future(watcher.next_chunk())
    await house.clock.advance(6)

    assert await waiting is None
    assert watcher.end_reason is EndReason.DEADLINE_REACHED


async def test_a_watch_is_confined_to_its_selector(house: House) -> None:
    selector = FieldSelector.parse("metadata.name=b")
    watcher = await house.watch("configmaps", field_selector=selector)
    await some(house, "abc")
    ((_, seen),) = await frames(watcher, 1)

    assert seen["metadata"]["name"] == "b"
    watcher.close(EndReason.CLIENT_LEFT)


async def test_a_watch_of_a_revision_that_is_no_number_is_refused(house: House) -> None:
    error = await refused(
        house.watch("configmaps", resource_version="abc", send_initial_events=None)
    )

    assert error.code == 400
