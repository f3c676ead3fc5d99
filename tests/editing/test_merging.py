"""Three states of one object: what changed, and both changes in one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.editing.merging import difference, merge

Document = dict[str, Any]


def test_a_difference_shows_what_changed_and_what_stands_around_it() -> None:
    before = "\n".join("abcdefghijklmnop")
    after = before.replace("b", "B").replace("o", "O")

    lines = difference(before, after)

    assert "".join(line.sign for line in lines) == " -+   @   -+ "
    assert [line.text for line in lines if line.sign == "+"] == ["B", "O"]
    assert difference(before, before) == []


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "merged", "both"),
    [
        ({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}, []),
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 2}, []),
        ({"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}, []),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 2}, ["a"]),
        ({"a": 1}, {"a": 1, "b": 1}, {"a": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}, []),
        ({"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}, []),
        ({"a": 1, "b": 1}, {"b": 1}, {"a": 2, "b": 1}, {"b": 1}, ["a"]),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "y": 1}}, {"a": {"x": 1, "y": 2}},
         {"a": {"x": 2, "y": 2}}, []),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 2]}, ["a"]),
        ({"a": 1}, {"a": True}, {"a": 1}, {"a": True}, []),
    ],
)  # fmt: skip
def test_both_changes_go_into_one(
    base: Document, mine: Document, theirs: Document, merged: Document, both: list[str]
) -> None:
    result = merge(base, mine, theirs)

    assert result.document == merged
    assert result.both == both


def container(name: str, image: str) -> Document:
    return {"name": name, "image": image}


def test_lists_of_named_things_merge_thing_by_thing() -> None:
    base = {"c": [container("a", "1"), container("b", "1"), container("c", "1")]}
    mine = {"c": [container("a", "2"), container("b", "1"), container("d", "1")]}
    theirs = {"c": [container("a", "1"), container("b", "3"), container("c", "1")]}

    result = merge(base, mine, theirs)

    assert result.document == {"c": [container("a", "2"), container("b", "3"), container("d", "1")]}
    assert result.both == []


values = st.recursive(
    st.one_of(st.integers(0, 2), st.booleans(), st.sampled_from("xy")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@given(documents, documents)
def test_a_change_of_one_side_is_the_result(base: Document, changed: Document) -> None:
    assert merge(base, changed, base).document == changed
    assert merge(base, base, changed).document == changed
    assert merge(base, changed, changed).both == []


@given(documents, documents, documents)
def test_where_both_did_not_change_the_same_place_the_order_does_not_matter(
    base: Document, mine: Document, theirs: Document
) -> None:
    one, other = merge(base, mine, theirs), merge(base, theirs, mine)

    assert sorted(one.both) == sorted(other.both)
    if not one.both:
        assert one.document == other.document
