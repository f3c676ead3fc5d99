"""Lists now and at old revisions, pages, and the index that selectors use."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.protocol.errors import StatusError
from listwatch.protocol.selectors import Selector
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.requests import ListRequest
from tests.watchcache.kit import World, everything, fielded, labelled

SMALL = CacheOptions(ring_minimum=4, ring_maximum=4, log_batch=2)


def pods(world: World, *names: str, namespace: str = "blue") -> None:
    for name in names:
        world.write(name, {"app": name}, namespace)


def test_objects_come_in_byte_order_of_their_keys() -> None:
    world = World()
    for namespace in ("blue", "blue-2", "blue2", "green"):
        pods(world, "b", "a", namespace=namespace)

    listed = [version.key for version in world.pods.list(ListRequest()).versions]

    assert listed == sorted(listed)
    assert listed[0] == "blue-2/a"  # the hyphen comes before the slash


def test_a_namespace_does_not_show_those_whose_names_begin_alike() -> None:
    world = World()
    for namespace in ("blue", "blue-2", "blue2"):
        pods(world, "a", namespace=namespace)

    listed = world.pods.list(ListRequest(namespace="blue")).versions

    assert [version.key for version in listed] == ["blue/a"]


def test_a_list_carries_the_revision_that_all_caches_are_at() -> None:
    world = World()
    pods(world, "a")
    world.write_elsewhere()

    assert world.pods.list(ListRequest()).revision == 2


def test_a_deleted_object_is_gone_from_now_and_still_there_before() -> None:
    world = World()
    pods(world, "a", "b")
    world.write("a", None)

    assert world.names() == ["b"]
    assert world.pods.get("blue", "a") is None
    assert [v.name for v in world.pods.versions.at(2)] == ["a", "b"]


def test_pages_hold_one_state_while_writes_go_on() -> None:
    world = World()
    pods(world, "a", "b", "c", "d", "e")
    page = world.pods.list(ListRequest(limit=2))
    assert [v.name for v in page.versions] == ["a", "b"]
    assert (page.next_key, page.remaining, page.revision) == ("blue/b\0", 3, 5)
    pods(world, "bb", "d")

    async def rest() -> None:
        second = await world.pods.list_at(5, ListRequest(start_key=page.next_key or "", limit=2))
        third = await world.pods.list_at(5, ListRequest(start_key=second.next_key or "", limit=2))

        assert [(v.name, v.revision) for v in second.versions] == [("c", 3), ("d", 4)]
        assert (second.remaining, second.revision) == (1, 5)
        assert [v.name for v in third.versions] == ["e"]
        assert (third.next_key, third.remaining) == (None, None)

    run(rest())
    assert world.log.reads == 0


def test_a_limit_equal_to_the_number_of_objects_has_no_next_page() -> None:
    world = World()
    pods(world, "a", "b")

    assert world.pods.list(ListRequest(limit=2)).next_key is None


def test_with_a_selector_the_limit_counts_what_matches() -> None:
    world = World()
    for name in ("a", "b", "c", "d", "e"):
        world.write(name, {"odd": str(name in "ace")})

    page = world.pods.list(ListRequest(selector=labelled("odd=True"), limit=2))
    assert [v.name for v in page.versions] == ["a", "c"]
    assert (page.next_key, page.remaining) == ("blue/c\0", None)


def test_with_a_selector_the_last_page_may_be_empty_but_a_match_at_the_very_end_is_the_last() -> (
    None
):
    world = World()
    for name in ("a", "b", "c"):
        world.write(name, {"x": str(name in "ab")})
    ends_early = world.pods.list(ListRequest(selector=labelled("x=True"), limit=2))
    ends_last = world.pods.list(ListRequest(selector=labelled("x=False"), limit=1))

    assert ends_early.next_key == "blue/b\0"
    after = ListRequest(selector=labelled("x=True"), limit=2, start_key="blue/b\0")
    assert world.pods.list(after).versions == []
    assert ends_last.next_key is None


def test_every_page_of_a_revision_indexes_the_same_array() -> None:
    world = World()
    pods(world, *(f"p{n:03}" for n in range(100)))
    page = world.pods.list(ListRequest(limit=10))
    arrays = world.pods.statistics().pinned_arrays

    async def rest() -> None:
        key = page.next_key
        while key:
            key = (await world.pods.list_at(100, ListRequest(start_key=key, limit=10))).next_key

    run(rest())
    assert arrays == 1
    assert world.pods.statistics().pinned_arrays == 1
    assert world.pods.statistics().pinned_references == 100


def test_pinned_arrays_are_bounded_and_go_when_the_ring_moves_past_them() -> None:
    options = CacheOptions(ring_minimum=10, ring_maximum=10, pinned_references=25)
    world = World(options)
    for round_ in range(9):
        pods(world, *(f"p{n}" for n in range(round_ + 1)))
        world.pods.list(ListRequest(limit=1))
    assert world.pods.statistics().pinned_references <= 25

    pods(world, *(f"p{n}" for n in range(12)))
    assert world.pods.statistics().pinned_arrays == 0


def test_a_revision_below_the_ring_is_listed_from_the_log_in_batches() -> None:
    world = World(SMALL)
    pods(world, "a", "b", "c", "d", "e")
    for _ in range(5):
        pods(world, "e")

    async def old() -> None:
        everything = await world.pods.list_at(5, ListRequest())
        assert [(v.name, v.revision) for v in everything.versions] == list(
            zip("abcde", range(1, 6), strict=True)
        )
        page = await world.pods.list_at(5, ListRequest(limit=2))
        assert ([v.name for v in page.versions], page.next_key) == (["a", "b"], "blue/b\0")
        rest = await world.pods.list_at(5, ListRequest(limit=3, start_key="blue/b\0"))
        assert ([v.name for v in rest.versions], rest.next_key) == (["c", "d", "e"], None)
        inclusive = await world.pods.list_at(5, ListRequest(start_key="blue/d"))
        assert [v.name for v in inclusive.versions] == ["d", "e"]

    run(old())
    assert world.pods.statistics().lists_from_log == 4


def test_a_revision_that_nothing_holds_is_410() -> None:
    world = World(SMALL)
    pods(world, *"abcdefgh")
    world.log.compacted_to = 3

    async def too_old() -> None:
        with pytest.raises(StatusError) as caught:
            await world.pods.list_at(2, ListRequest())
        assert (caught.value.code, caught.value.reason) == (410, "Expired")
        assert caught.value.message == "The resourceVersion for the provided list is too old."

    run(too_old())


def test_a_state_that_was_compacted_away_expires_though_the_ring_still_has_it() -> None:
    world = World()
    pods(world, *"abcd")
    world.log.compacted_to = 3

    async def expires() -> None:
        await world.pods.list_at(3, ListRequest())
        await world.pods.list_at(4, ListRequest())
        with pytest.raises(StatusError) as caught:
            await world.pods.list_at(2, ListRequest())
        assert caught.value.code == 410
        watcher = await world.watch(revision=0)
        assert len(await everything(watcher)) == 4  # a watch loses nothing, and goes on

    run(expires())


def test_how_far_the_log_was_compacted_is_not_asked_for_each_page() -> None:
    world = World()
    pods(world, *"abcdefgh")
    asked = 0

    async def compacted() -> int:
        nonlocal asked
        asked += 1
        return 0

    world.log.compacted = compacted  # type: ignore[method-assign]

    async def pages() -> None:
        for _ in range(20):
            await world.pods.list_at(8, ListRequest(limit=2))
        assert asked == 0
        for _ in range(20):
            await world.pods.list_at(7, ListRequest(limit=2))
        assert asked == 1
        await world.clock.advance(6)
        await world.pods.list_at(7, ListRequest(limit=2))
        assert asked == 2

    run(pages())


def test_a_name_in_the_selector_is_a_point_read() -> None:
    world = World()
    pods(world, "a", "b")
    pods(world, "a", namespace="green")

    named = world.pods.list(ListRequest(selector=fielded("metadata.name=a")))
    in_blue = world.pods.list(
        ListRequest(selector=fielded("metadata.name=a,metadata.namespace=blue"), limit=1)
    )
    contradiction = world.pods.list(ListRequest(name="b", selector=fielded("metadata.name=a")))

    assert [v.key for v in named.versions] == ["blue/a", "green/a"]
    assert ([v.key for v in in_blue.versions], in_blue.next_key) == (["blue/a"], None)
    assert contradiction.versions == []
    assert world.pods.statistics().indexed == ()


def test_a_pinned_value_is_answered_by_an_index_made_when_it_is_first_asked() -> None:
    world = World()
    for n in range(100):
        world.write(f"p{n:02}", {}, node=f"node-{n % 10}")
    assert world.pods.statistics().indexed == ()
    selector = fielded("spec.nodeName=node-3")
    first = world.names(selector=selector)

    asked = CountingSelector(selector)
    again = world.pods.list(ListRequest(selector=asked))  # type: ignore[arg-type]

    assert first == [v.name for v in again.versions] == [f"p{n:02}" for n in range(3, 100, 10)]
    assert asked.asked == 10
    assert world.pods.statistics().indexed == ("field:spec.nodeName",)


def test_only_the_indices_asked_for_last_are_kept() -> None:
    world = World()
    for n in range(40):
        world.write(f"p{n}", {f"k{n}": "v"})
    for n in range(40):
        assert world.names(selector=labelled(f"k{n}=v")) == [f"p{n}"]

    assert len(world.pods.statistics().indexed) <= 8
    assert "label:k39" in world.pods.statistics().indexed


class CountingSelector:
    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self.fields = selector.fields
        self.empty = selector.empty
        self.equality_terms = selector.equality_terms
        self.asked = 0

    def matches(self, version: object) -> bool:
        self.asked += 1
        return self._selector.matches(version)  # type: ignore[arg-type]


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["", "x", "y"]))
SELECTORS = [
    labelled(text)
    for text in ("app=x", "app in (x,y)", "app=", "tier=x,app=y", "!app", "app!=x", "app notin (y)")
] + [fielded("spec.nodeName="), fielded("spec.nodeName=n1"), fielded("spec.nodeName!=n1")]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d"]),
        st.none() | LABELS,
        st.sampled_from(["", "n1", "n2"]),
    ),
    max_size=30,
)


@settings(max_examples=100)
@given(steps=STEPS, limit=st.integers(0, 4))
def test_lists_by_index_and_in_pages_are_the_lists_by_scanning(
    steps: list[tuple[str, dict[str, str] | None, str]], limit: int
) -> None:
    world = World(CacheOptions(ring_minimum=6, ring_maximum=6, log_batch=3))
    for name, labels, node in steps:
        if labels is None and name not in {row.name for row in world.log.state(10**9).values()}:
            continue
        world.write(name, labels, node=node)
        for selector in SELECTORS:
            state = world.log.state(world.log.current).values()
            wanted = [row.name for row in state if selector.matches(world.log.version_of(row))]
            assert world.names(selector=selector) == wanted

    async def paged() -> None:
        for revision in range(world.log.current + 1):
            for selector in (Selector(), *SELECTORS):
                rows = world.log.state(revision).values()
                wanted = [r.revision for r in rows if selector.matches(world.log.version_of(r))]
                found: list[int] = []
                key: str | None = ""
                while key is not None:
                    request = ListRequest(selector=selector, start_key=key, limit=limit)
                    page = await world.pods.list_at(revision, request)
                    found += [version.revision for version in page.versions]
                    key = page.next_key
                    assert page.remaining is None or page.remaining + len(found) == len(rows)
                assert found == wanted

    run(paged())


def run(coroutine) -> None:  # type: ignore[no-untyped-def]
    import asyncio

    asyncio.run(coroutine)
