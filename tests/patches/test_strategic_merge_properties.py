"""What cannot be meant is refused, and what holds of any strategic merge patch."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.patches import merge_patch, strategic_merge
from listwatch.protocol.errors import StatusError
from tests.patches.test_strategic_merge import SCHEMA, Document, Schema, names

INTO = "into Go value of type map[string]interface {}"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ([], f"json: cannot unmarshal array {INTO}"),
        ("x", f"json: cannot unmarshal string {INTO}"),
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
