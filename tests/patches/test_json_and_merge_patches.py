"""JSON patches and merge patches: the real server's transcripts, and patches meant to hurt."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.patches import json_patch, merge_patch
from listwatch.patches.faults import RejectedPatchError
from listwatch.protocol.errors import StatusError

Document = dict[str, Any]


def refusal(apply: Any, document: Document, patch: Any) -> StatusError:
    with pytest.raises(StatusError) as found:
        apply(document, patch)

    return found.value


def test_a_json_patch_adds_replaces_removes_tests_moves_and_copies() -> None:
    before = {"metadata": {"labels": {"x": "y"}}, "data": {"k": "1", "l": "2"}}
    kept = copy.deepcopy(before)
    patch = [
        {"op": "test", "path": "/data/k", "value": "1"},
        {"op": "replace", "path": "/data/k", "value": "9"},
        {"op": "remove", "path": "/data/l"},
        {"op": "add", "path": "/metadata/labels/new~1key", "value": "z"},
        {"op": "copy", "from": "/data/k", "path": "/data/c"},
        {"op": "move", "from": "/data/c", "path": "/data/d"},
    ]

    after = json_patch.apply(before, patch)

    assert after == {
        "metadata": {"labels": {"x": "y", "new/key": "z"}},
        "data": {"k": "9", "d": "9"},
    }
    assert before == kept


@pytest.mark.parametrize(
    ("operation", "finalizers"),
    [
        ({"op": "add", "path": "/f/-", "value": "3"}, ["1", "2", "3"]),
        ({"op": "add", "path": "/f/0", "value": "0"}, ["0", "1", "2"]),
        ({"op": "remove", "path": "/f/1"}, ["1"]),
    ],
)
def test_a_json_patch_reaches_into_arrays(operation: Document, finalizers: list[str]) -> None:
    assert json_patch.apply({"f": ["1", "2"]}, [operation]) == {"f": finalizers}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/f/9"},
        {"op": "remove", "path": "/none"},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "add", "path": "/none/below", "value": 1},
        {"op": "add", "path": "/f/9", "value": 1},
        {"op": "add", "path": "/text/0", "value": 1},
        {"op": "add", "path": "/f/-/x", "value": 1},
        {"op": "add", "path": "/f/x", "value": 1},
        {"op": "add", "path": "/f/" + "9" * 5000, "value": 1},
        {"op": "add", "path": "/x"},
        {"op": "add", "path": 5, "value": 1},
        {"op": "add", "value": 1},
        {"op": "add", "path": "x", "value": 1},
        {"op": "add", "path": "/a~2b", "value": 1},
        {"op": "move", "from": "/f", "path": "/f/0"},
        {"op": "move", "from": 7, "path": "/x"},
        {"op": "copy", "from": "/none", "path": "/x"},
        {"op": "copy", "from": {}, "path": "/x"},
        {"op": "test", "path": "/one", "value": True},
        {"op": "test", "path": "/f", "value": ["2", "1"]},
        {"op": "frob", "path": "/x"},
        {"op": ["add"], "path": "/x"},
        {"path": "/x"},
        {},
    ],
)
def test_an_operation_that_fails_is_refused_with_the_one_known_sentence(
    operation: Document,
) -> None:
    fault = refusal(json_patch.apply, {"f": ["1", "2"], "one": 1, "text": "abc"}, [operation])

    assert isinstance(fault, RejectedPatchError)
    assert fault.to_dict() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid",
        "details": {},
        "code": 422,
    }
    assert fault.explanation


def test_the_explanation_names_the_operation() -> None:
    fault = refusal(json_patch.apply, {"a": "1"}, [{"op": "test", "path": "/a", "value": "2"}])

    assert isinstance(fault, RejectedPatchError)
    assert fault.explanation == "test /a: the value there is another"


@pytest.mark.parametrize("patch", [{}, "x", 1, [1], [{"op": "test", "path": ""}, "x"]])
def test_what_is_no_list_of_operations_is_400(patch: Any) -> None:
    assert refusal(json_patch.apply, {}, patch).code == 400


def test_too_many_operations_are_413() -> None:
    operation = {"op": "test", "path": "/a", "value": 1}
    allowed = [operation] * json_patch.MAX_OPERATIONS

    fault = refusal(json_patch.apply, {"a": 1}, [*allowed, operation])

    assert json_patch.apply({"a": 1}, allowed) == {"a": 1}
    assert (fault.code, fault.reason) == (413, "RequestEntityTooLarge")
    assert fault.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
        "got 10001"
    )


def test_copies_that_double_a_document_stop_at_the_budget() -> None:
    patch = [{"op": "copy", "from": "", "path": f"/x{n}"} for n in range(60)]

    fault = refusal(json_patch.apply, {"a": "text"}, patch)

    assert isinstance(fault, RejectedPatchError)
    assert "exceeds the limit 3145728" in fault.explanation


def test_copies_within_the_budget_are_made() -> None:
    patch = [{"op": "copy", "from": "/a", "path": f"/x{n}"} for n in range(30)]

    after = json_patch.apply({"a": "t" * 100_000}, patch)

    assert len(after) == 31


@pytest.mark.parametrize("value", [[], "text", None])
def test_a_json_patch_that_leaves_no_object_is_refused(value: Any) -> None:
    fault = refusal(json_patch.apply, {}, [{"op": "replace", "path": "", "value": value}])

    assert (fault.code, fault.causes[0].field) == (422, "patch")


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        (
            {"m": {"x": None, "n": "m"}, "f": ["2"], "data": {"k": "9", "none": None}},
            {"m": {"n": "m", "z": "w"}, "f": ["2"], "data": {"k": "9", "l": "2"}},
        ),
        ({"data": None}, {"m": {"x": "y", "z": "w"}, "f": ["1", "2"]}),
        ({}, {"m": {"x": "y", "z": "w"}, "f": ["1", "2"], "data": {"k": "1", "l": "2"}}),
        (
            {"f": {"a": {"b": None, "c": 1}}, "m": [None]},
            {"m": [None], "f": {"a": {"c": 1}}, "data": {"k": "1", "l": "2"}},
        ),
    ],
)
def test_a_merge_patch_sets_merges_and_removes(patch: Document, after: Document) -> None:
    before = {"m": {"x": "y", "z": "w"}, "f": ["1", "2"], "data": {"k": "1", "l": "2"}}
    kept = copy.deepcopy(before)

    assert merge_patch.apply(before, patch) == after
    assert before == kept


@pytest.mark.parametrize("patch", [[], "x", 1, None, True])
def test_a_merge_patch_that_is_no_object_is_400(patch: Any) -> None:
    assert refusal(merge_patch.apply, {}, patch).code == 400


def nested(depth: int) -> Document:
    value: Document = {}
    for _ in range(depth):
        value = {"x": value}
    return value


@pytest.mark.parametrize(
    ("apply", "patch"),
    [
        (merge_patch.apply, nested(5000)),
        (json_patch.apply, [{"op": "add", "path": "/x", "value": nested(5000)}]),
    ],
)
def test_a_patch_nested_without_end_is_400(apply: Any, patch: Any) -> None:
    assert refusal(apply, {}, patch).code == 400


scalars = st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.text("ab~/", max_size=2))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("ab~/", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)
documents = st.dictionaries(st.text("ab", max_size=2), values, max_size=4)
pointers = st.one_of(st.text("/ab01~-", max_size=6), scalars)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "no"])},
    optional={"path": pointers, "from": pointers, "value": values},
)


def no_nulls(value: Any) -> bool:
    """Whether no object inside has a null."""
    if isinstance(value, dict):
        return all(inner is not None and no_nulls(inner) for inner in value.values())
    return True


@given(documents, documents)
def test_a_merge_patch_says_the_same_twice_and_leaves_its_arguments(
    document: Document, patch: Document
) -> None:
    before = orjson.dumps([document, patch])

    once = merge_patch.apply(document, patch)

    assert merge_patch.apply(once, patch) == once
    assert no_nulls(merge_patch.apply({}, patch))
    assert orjson.dumps([document, patch]) == before


@given(documents, st.lists(operations, max_size=4))
def test_whatever_a_json_patch_says_it_is_applied_or_refused(
    document: Document, patch: list[Document]
) -> None:
    before = orjson.dumps([document, patch])
    try:
        result: Any = json_patch.apply(document, patch)
    except StatusError as fault:
        result = fault

    assert isinstance(result, dict) or result.code in (400, 422)
    assert orjson.dumps([document, patch]) == before


@pytest.mark.parametrize(
    ("apply", "patch", "message"),
    [
        (json_patch.apply, {}, "object into Go value of type []handlers.jsonPatchOp"),
        (json_patch.apply, [1], "number into Go value of type handlers.jsonPatchOp"),
        (merge_patch.apply, True, "bool into Go value of type map[string]interface {}"),
        (merge_patch.apply, [], "array into Go value of type map[string]interface {}"),
    ],
)
def test_a_patch_of_another_type_is_refused_in_the_decoders_words(
    apply: Any, patch: Any, message: str
) -> None:
    told = f"error decoding patch: json: cannot unmarshal {message}"
    assert refusal(apply, {}, patch).message == told


def test_a_json_patch_that_is_null_changes_nothing_as_go_reads_it() -> None:
    assert json_patch.apply({"a": 1}, None) == {"a": 1}
