"""The store and its indexes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.informer.deltas import DeltaType
from listwatch.informer.indexer import Indexer, Operation, TransactionError
from listwatch.informer.indices import NAMESPACE, UnknownIndexError, by_namespace
from listwatch.informer.objects import InvalidObjectError, JSONObject, Tombstone, label_values
from tests.informer.kit import thing


def users(subject: JSONObject) -> list[str]:
    return str(subject["metadata"].get("labels", {}).get("users", "")).split(",")


def pod(name: str, who: str, namespace: str = "", version: int = 1) -> JSONObject:
    return thing(name, version, namespace, labels={"users": who})


def names(found: Iterable[JSONObject]) -> set[str]:
    return {subject["metadata"]["name"] for subject in found}


def test_a_store_adds_gets_lists_updates_deletes_and_replaces() -> None:
    store = Indexer()
    store.add(thing("a", 1))
    store.add(thing("b", 1))
    store.update(thing("a", 2))
    assert store.get(thing("a")) == thing("a", 2)
    assert store.get_by_key("b") == thing("b", 1)
    assert sorted(store.keys()) == ["a", "b"]
    assert names(store.list()) == {"a", "b"}
    assert len(store) == 2
    assert "a" in store

    store.delete(thing("a"))
    store.delete(thing("never there"))
    assert store.get_by_key("a") is None
    store.replace([thing("c", 5), thing("d", 6)], "7")

    assert sorted(store.keys()) == ["c", "d"]


def test_an_index_with_many_values_follows_add_update_and_delete() -> None:
    store = Indexer({"users": users})
    store.add(pod("one", "ernie,bert"))
    store.add(pod("two", "bert,oscar"))
    store.add(pod("tre", "ernie,elmo"))
    assert names(store.by_index("users", "ernie")) == {"one", "tre"}
    assert names(store.by_index("users", "bert")) == {"one", "two"}
    assert names(store.by_index("users", "elmo")) == {"tre"}

    store.update(pod("tre", "elmo"))
    assert names(store.by_index("users", "ernie")) == {"one"}
    store.delete(pod("two", ""))
    assert names(store.by_index("users", "bert")) == {"one"}
    assert store.by_index("users", "oscar") == []

    assert store.index_keys("users", "bert") == ["one"]
    assert sorted(store.index_values("users")) == ["bert", "elmo", "ernie"]


def test_membership_moves_in_several_indexes_on_an_update() -> None:
    store = Indexer({"users": users, NAMESPACE: by_namespace})
    store.add(pod("one", "ernie", "x"))
    store.update(pod("one", "bert", "x"))

    assert store.by_index("users", "ernie") == []
    assert names(store.by_index("users", "bert")) == {"one"}
    assert names(store.by_index(NAMESPACE, "x")) == {"one"}


def test_empty_sets_go_and_others_stay() -> None:
    store = Indexer({"users": users})
    store.add(pod("one", "ernie"))
    store.add(pod("two", "ernie"))
    store.add(pod("six", "bert"))
    store.delete(pod("one", ""))
    store.delete(pod("six", ""))

    assert store.index_values("users") == ["ernie"]
    assert store.statistics().index_values == {"users": 1}


def test_objects_that_share_a_value_are_found_once() -> None:
    store = Indexer({"users": users})
    store.add(pod("one", "ernie,bert"))
    store.add(pod("two", "bert"))

    assert names(store.index("users", pod("x", "ernie,bert"))) == {"one", "two"}
    assert len(store.index("users", pod("x", "ernie,bert"))) == 2


def test_an_unknown_index_is_an_error_but_has_no_values() -> None:
    store = Indexer()
    for read in (
        lambda: store.by_index("x", ""),
        lambda: store.index_keys("x", ""),
        lambda: store.index("x", thing("a")),
    ):
        with pytest.raises(UnknownIndexError, match="Index with name x does not exist"):
            read()

    assert store.index_values("x") == []


def test_indexes_added_later_are_filled_and_their_names_taken() -> None:
    store = Indexer()
    store.add(pod("one", "ernie"))
    store.add_indexers({"users": users})
    assert names(store.by_index("users", "ernie")) == {"one"}
    with pytest.raises(ValueError, match="indexer conflict: users"):
        store.add_indexers({"users": users, "other": users})

    assert list(store.indexers) == ["users"]


def test_an_object_that_somebody_changed_leaves_no_entry_behind() -> None:
    store = Indexer({"users": users})
    mine = pod("one", "ernie")
    store.add(mine)
    mine["metadata"]["labels"]["users"] = "bert"  # against the rules
    store.update(pod("one", "elmo"))

    assert store.index_values("users") == ["elmo"]


def test_an_index_function_that_fails_gives_no_values_and_is_counted() -> None:
    def fail(subject: JSONObject) -> list[str]:
        return [subject["spec"]["node"]]

    store = Indexer({"node": fail})
    store.add(thing("a"))
    store.add({**thing("b"), "spec": {"node": "n1"}})

    assert names(store.list()) == {"a", "b"}
    assert names(store.by_index("node", "n1")) == {"b"}
    assert store.statistics().index_faults == 1


def test_the_version_is_that_of_the_last_write() -> None:
    store = Indexer()
    assert store.resource_version == ""
    steps = []
    acts: list[Callable[[], object]] = [
        lambda: store.add(thing("a", 1)),
        lambda: store.add(thing("b", 1)),
        lambda: store.update(thing("a", 5)),
        lambda: store.delete(thing("a", 6)),
        lambda: store.add(thing("c", "")),  # no version: leaves it alone
        lambda: store.delete(Tombstone("b", thing("b", 2))),  # stale: leaves it alone
        lambda: store.delete(Tombstone("b", None)),
        lambda: store.bookmark("9"),
        lambda: store.transaction(
            [
                Operation(DeltaType.ADDED, thing("x", 20)),
                Operation(DeltaType.UPDATED, thing("y", 19)),
            ]
        ),
        lambda: store.replace([thing("q", 3)], "4"),
    ]
    for act in acts:
        act()
        steps.append(store.resource_version)

    assert steps == ["1", "1", "5", "6", "6", "6", "6", "9", "19", "4"]


def test_a_transaction_tells_which_operations_are_done() -> None:
    store = Indexer()
    with pytest.raises(TransactionError) as caught:
        store.transaction(
            [
                Operation(DeltaType.ADDED, thing("a", 1)),
                Operation(DeltaType.ADDED, {"metadata": {}}),
                Operation(DeltaType.ADDED, thing("b", 1)),
                Operation(DeltaType.DELETED, thing("a", 2)),
            ]
        )

    assert caught.value.successful == (0, 2, 3)
    assert isinstance(caught.value.errors[0], InvalidObjectError)
    assert store.keys() == ["b"]


def test_readers_in_other_threads_see_whole_states() -> None:
    store = Indexer({"users": users})
    states = [[pod(f"{run}-{n}", "all") for n in range(20)] for run in range(2)]
    store.replace(states[0], "0")
    faults: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            if len({name.split("-")[0] for name in names(store.by_index("users", "all"))}) != 1:
                faults.append(store.keys())

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(300):
        store.replace(states[turn % 2], str(turn))
    done.set()
    for reader in readers:
        reader.join()

    assert faults == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["put", "delete", "replace"]),
            st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x", "x,y", "z"]))),
        ),
        max_size=12,
    )
)
def test_indexes_are_always_what_a_scan_would_find(
    steps: list[tuple[str, list[tuple[str, str]]]],
) -> None:
    store = Indexer({"users": users, "label": label_values("users")})
    for step, objects in steps:
        pods = [pod(name, who) for name, who in objects]
        match step:
            case "put":
                for each in pods:
                    store.add(each)
            case "delete":
                for each in pods:
                    store.delete(each)
            case "replace":
                store.replace(pods, "1")
        for index, function in store.indexers.items():
            expected: dict[str, set[str]] = {}
            for each in store.list():
                for value in function(each):
                    expected.setdefault(value, set()).add(each["metadata"]["name"])
            found = {v: set(store.index_keys(index, v)) for v in store.index_values(index)}
            assert found == expected
