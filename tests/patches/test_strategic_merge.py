"""Strategic merge patches: the real server's transcripts and what kubectl sends."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.patches import merge_patch, strategic_merge
from listwatch.protocol.errors import StatusError

Document = dict[str, Any]


@dataclass
class Schema:
    """A schema of a few fields."""

    merge_key: str = ""
    strategies: tuple[str, ...] = ()
    items: Schema | None = None
    fields: dict[str, Schema] = field(default_factory=dict)

    def field(self, name: str) -> Schema | None:
        return self.fields.get(name)


def merging(key: str = "", **fields: Schema) -> Schema:
    return Schema(key, ("merge",), Schema(fields=fields) if key else None)


SCHEMA = Schema(
    fields={
        "finalizers": merging(),
        "containers": merging("name", env=merging("name"), args=Schema(), tags=merging()),
        "volumes": Schema("name", ("merge", "retainKeys"), Schema()),
        "ports": merging("port"),
        "conditions": merging("type"),
        "tolerations": Schema(),
        "strategy": Schema(strategies=("retainKeys",)),
        "selector": Schema(strategies=("replace",)),
        "matrix": merging(),
        "unkeyed": Schema(strategies=("merge",)),
        "spec": Schema(fields={"containers": merging("name")}),
    }
)


def patched(document: Document, patch: Document) -> Document:
    before = copy.deepcopy((document, patch))

    result = strategic_merge.apply(document, patch, SCHEMA)

    assert (document, patch) == before
    return result


def names(elements: list[Document]) -> list[Any]:
    return [element["name"] for element in elements]


def test_a_new_element_of_the_patch_comes_first() -> None:
    after = patched({"containers": [{"name": "main"}]}, {"containers": [{"name": "side"}]})

    assert names(after["containers"]) == ["side", "main"]


def test_elements_merge_by_their_key_and_lists_inside_them_too() -> None:
    before = {
        "containers": [
            {"name": "side", "image": "i:1", "env": [{"name": "A", "value": "1"}, {"name": "B"}]},
            {"name": "main"},
        ]
    }
    patch = {"containers": [{"name": "side", "env": [{"name": "B", "value": "3"}, {"name": "C"}]}]}

    assert patched(before, patch) == {
        "containers": [
            {
                "name": "side",
                "image": "i:1",
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}, {"name": "C"}],
            },
            {"name": "main"},
        ]
    }


def test_an_element_is_deleted_by_its_key() -> None:
    before = {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}

    after = patched(before, {"containers": [{"name": "b", "$patch": "delete"}]})

    assert names(after["containers"]) == ["a", "c"]


def test_elements_keep_the_servers_order_around_those_of_the_patch() -> None:
    before = {"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]}

    after = patched(before, {"ports": [{"port": 81, "to": 9}, {"port": 82, "name": "c"}]})

    assert after["ports"] == [
        {"port": 80, "name": "a"},
        {"port": 81, "name": "b", "to": 9},
        {"port": 82, "name": "c"},
    ]


def test_the_order_that_the_patch_sets_is_the_order_of_the_result() -> None:
    before = {"conditions": [{"type": "Mine", "s": 1}, {"type": "Ready", "s": 1}]}
    patch = {
        "$setElementOrder/conditions": [{"type": "Ready"}, {"type": "Mine"}],
        "conditions": [{"type": "Ready", "s": 0}],
    }

    after = patched(before, patch)

    assert after == {"conditions": [{"type": "Ready", "s": 0}, {"type": "Mine", "s": 1}]}


def test_an_order_alone_reorders_and_leaves_the_servers_own_in_place() -> None:
    before = {"containers": [{"name": n} for n in ("a", "injected", "b", "c")]}
    patch = {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}

    after = patched(before, patch)

    assert names(after["containers"]) == ["injected", "c", "a", "b"]


def test_an_order_with_a_new_list_keeps_the_list() -> None:
    patch = {
        "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
        "containers": [{"name": "a"}, {"name": "b", "x": None}],
    }

    assert patched({}, patch) == {"containers": [{"name": "a"}, {"name": "b"}]}
    assert patched({}, {"$setElementOrder/containers": []}) == {}


def test_lists_of_plain_values_merge_without_doubles() -> None:
    assert patched({"finalizers": ["a", "b"]}, {"finalizers": ["c", "b"]}) == {
        "finalizers": ["c", "a", "b"]
    }


def test_plain_values_are_deleted_and_ordered() -> None:
    patch = {
        "$deleteFromPrimitiveList/finalizers": ["a", "none"],
        "$setElementOrder/finalizers": ["d", "b"],
        "finalizers": ["d"],
    }

    after = patched({"finalizers": ["a", "b", "c"]}, patch)

    assert after == {"finalizers": ["d", "b", "c"]}
    assert patched({}, {"$deleteFromPrimitiveList/finalizers": ["a"]}) == {}


def test_true_and_one_are_different_values() -> None:
    assert patched({"finalizers": [1]}, {"$deleteFromPrimitiveList/finalizers": [True]}) == {
        "finalizers": [1]
    }


def test_a_list_without_a_strategy_is_replaced() -> None:
    before = {"tolerations": [{"key": "a"}], "unknown": [1]}

    after = patched(before, {"tolerations": [{"key": "b"}], "unknown": [2]})

    assert after == {"tolerations": [{"key": "b"}], "unknown": [2]}


def test_a_list_is_replaced_where_an_element_says_so() -> None:
    before = {"containers": [{"name": "a"}, {"name": "b"}]}

    after = patched(before, {"containers": [{"$patch": "replace"}, {"name": "c", "x": None}]})

    assert after == {"containers": [{"name": "c"}]}
    assert patched(before, {"containers": [{"$patch": "replace"}]}) == {"containers": []}


def test_an_object_is_replaced_or_emptied_where_it_says_so() -> None:
    before = {"labels": {"a": "1"}, "spec": {"x": 1}}

    replaced = patched(before, {"labels": {"$patch": "replace", "b": "2"}})
    emptied = patched(before, {"spec": {"$patch": "delete"}})

    assert replaced == {"labels": {"b": "2"}, "spec": {"x": 1}}
    assert emptied == {"labels": {"a": "1"}, "spec": {}}
    assert patched(before, {"labels": {"$patch": "merge", "b": "2"}})["labels"] == {
        "a": "1",
        "b": "2",
    }


def test_the_whole_document_may_be_replaced() -> None:
    assert patched({"a": 1}, {"$patch": "replace", "b": 2}) == {"b": 2}


def test_an_object_whose_strategy_is_replace_is_replaced() -> None:
    assert patched({"selector": {"a": 1}}, {"selector": {"b": 2}}) == {"selector": {"b": 2}}


def test_retained_keys_are_all_that_is_retained() -> None:
    before = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}
    patch = {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}

    assert patched(before, patch) == {"strategy": {"type": "Recreate"}}


def test_retained_keys_work_on_elements_of_lists() -> None:
    before = {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w"}]}
    patch = {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"s": 1}}]}

    after = patched(before, patch)

    assert after == {"volumes": [{"name": "v", "secret": {"s": 1}}, {"name": "w"}]}


def test_null_deletes_a_field_and_leaves_no_trace_in_new_values() -> None:
    patch = {"a": None, "none": None, "new": {"x": None, "y": {"z": None}}, "finalizers": None}

    assert patched({"a": 1, "b": 2, "finalizers": ["f"]}, patch) == {"b": 2, "new": {"y": {}}}


def test_directives_leave_no_trace_where_nothing_was() -> None:
    patch = {
        "spec": {
            "$retainKeys": ["containers"],
            "$setElementOrder/containers": [{"name": "a"}],
            "containers": [{"name": "a", "$patch": "merge"}, {"name": "b", "$patch": "delete"}],
        },
        "labels": {"$patch": "delete", "a": "1"},
    }

    assert patched({}, patch) == {"spec": {"containers": [{"name": "a"}]}}


def test_a_value_of_another_type_is_taken_as_it_is_for_validation_to_find() -> None:
    assert patched({"data": {"k": "1"}}, {"data": []}) == {"data": []}
    assert patched({"containers": [{"name": "a"}]}, {"containers": {"a": 1}}) == {
        "containers": {"a": 1}
    }
    assert patched({"containers": "text"}, {"containers": [{"name": "a"}]}) == {
        "containers": [{"name": "a"}]
    }


def test_elements_of_the_object_that_lack_the_key_stay() -> None:
    before = {"containers": [{"image": "x"}, {"name": "a"}]}

    after = patched(before, {"containers": [{"name": "a", "image": "y"}]})

    assert after == {"containers": [{"image": "x"}, {"name": "a", "image": "y"}]}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ([], "a strategic merge patch is an object, not an array"),
        ("x", "a strategic merge patch is an object, not a string"),
        (None, "a strategic merge patch is an object, not null"),
        (
            {"containers": [{"image": "x"}]},
            'containers: an element does not contain declared merge key: "name"',
        ),
        (
            {"containers": [{"$patch": "delete"}]},
            'containers: an element does not contain declared merge key: "name"',
        ),
        (
            {"containers": [{"name": "a", "env": [{"x": 1}]}]},
            'containers.[name=a].env: an element does not contain declared merge key: "name"',
        ),
        ({"labels": {"$patch": "frob"}}, 'labels: unknown patch type: "frob"'),
        ({"containers": [{"name": "a"}, 1]}, "containers: list element types are not identical"),
        ({"matrix": [[1]]}, "matrix: lists of lists are not supported"),
        ({"unkeyed": [{"a": 1}]}, "unkeyed: cannot merge lists without merge key"),
        ({"strategy": {"$retainKeys": "type"}}, "strategy: invalid patch format of retainKeys"),
        (
            {"strategy": {"$retainKeys": ["type"], "x": 1}},
            "strategy: patch content doesn't match retainKeys list: x",
        ),
        (
            {"$setElementOrder/finalizers": "a"},
            "finalizers: invalid patch format of setElementOrder list",
        ),
        (
            {"$deleteFromPrimitiveList/finalizers": "a"},
            "finalizers: invalid patch format of primitive list",
        ),
        (
            {"$setElementOrder/finalizers": ["a", "b"], "finalizers": ["b", "a"]},
            "finalizers: the order in patch list doesn't match the setElementOrder list",
        ),
        (
            {"$setElementOrder/strategy": ["a"]},
            "strategy: expected an array, found an object",
        ),
    ],
)
def test_a_patch_that_cannot_be_meant_is_400_and_says_where(patch: Any, message: str) -> None:
    before: Document = {
        "containers": [{"name": "a", "env": [{"name": "A"}]}],
        "labels": {"x": "y"},
        "strategy": {"type": "t"},
        "finalizers": ["a", "b"],
        "matrix": [1],
        "unkeyed": [{"a": 0}],
    }
    with pytest.raises(StatusError) as fault:
        strategic_merge.apply(before, patch, SCHEMA)

    assert (fault.value.code, fault.value.message) == (400, message)


def test_a_patch_nested_without_end_is_400() -> None:
    patch: Document = {}
    for _ in range(5000):
        patch = {"x": patch}
    with pytest.raises(StatusError) as fault:
        strategic_merge.apply({}, patch, SCHEMA)

    assert fault.value.code == 400


few = st.sampled_from("abcd")
containers = st.lists(
    st.fixed_dictionaries(
        {"name": few}, optional={"image": few, "tags": st.lists(few, max_size=3, unique=True)}
    ),
    max_size=4,
    unique_by=lambda container: container["name"],
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "containers": containers,
        "finalizers": st.lists(few, max_size=4, unique=True),
        "tolerations": st.lists(few, max_size=2),
        "labels": st.dictionaries(few, st.one_of(st.none(), few), max_size=3),
    },
)


def subsequence(part: list[Any], whole: list[Any]) -> bool:
    rest = iter(whole)
    return all(element in rest for element in part)


@given(objects, objects)
def test_merging_twice_is_merging_once(document: Document, patch: Document) -> None:
    once = strategic_merge.apply(document, patch, SCHEMA)

    assert strategic_merge.apply(once, patch, SCHEMA) == once


@given(objects, objects)
def test_the_patch_keeps_its_order_and_nothing_gets_lost(
    document: Document, patch: Document
) -> None:
    after = strategic_merge.apply(document, patch, SCHEMA)

    before, given_ = names(document.get("containers", [])), names(patch.get("containers", []))
    merged = names(after.get("containers", []))
    assert subsequence(given_, merged)
    assert subsequence([name for name in before if name not in given_], merged)
    assert sorted(merged) == sorted({*before, *given_})


@given(objects, st.permutations("abcd"))
def test_a_set_order_orders_what_it_names(document: Document, order: list[str]) -> None:
    patch = {
        "$setElementOrder/containers": [{"name": name} for name in order],
        "$setElementOrder/finalizers": order,
    }

    after = strategic_merge.apply(document, patch, SCHEMA)

    assert names(after.get("containers", [])) == sorted(
        names(document.get("containers", [])), key=order.index
    )
    assert after.get("finalizers", []) == sorted(document.get("finalizers", []), key=order.index)


keys = st.sampled_from(
    ["a", "containers", "finalizers", "$patch", "$retainKeys", "strategy"]
    + [f"$setElementOrder/{x}" for x in ("containers", "finalizers", "")]
    + ["$deleteFromPrimitiveList/finalizers", "$deleteFromPrimitiveList/containers", "name"]
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), few, st.just("delete"), st.just("replace")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=16,
)


@given(st.dictionaries(keys, anything, max_size=4), st.dictionaries(keys, anything, max_size=5))
def test_any_patch_is_applied_or_refused_with_400(document: Document, patch: Document) -> None:
    before = orjson.dumps([document, patch])
    try:
        result: Any = strategic_merge.apply(document, patch, SCHEMA)
    except StatusError as fault:
        result = fault

    assert isinstance(result, dict) or result.code == 400
    assert orjson.dumps([document, patch]) == before


@given(st.dictionaries(few, st.dictionaries(few, st.one_of(st.none(), few))), objects)
def test_without_lists_it_is_a_merge_patch(document: Document, patch: Document) -> None:
    patch = {"labels": patch.get("labels", {})}

    assert strategic_merge.apply(document, patch, Schema()) == merge_patch.apply(document, patch)
