"""Strategic merge patches: the real server's transcripts and what kubectl sends."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from listwatch.patches import strategic_merge

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


def test_a_patch_that_is_null_changes_nothing_as_go_reads_it() -> None:
    assert strategic_merge.apply({"spec": {"a": 1}}, None, SCHEMA) == {"spec": {"a": 1}}
