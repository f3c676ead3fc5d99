from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.schemas.duplicates import duplicate_keys, load
from listwatch.schemas.fields import strict_faults

TWICE = b'{"metadata":{"name":"d"},"data":{"k":"1","k":"2"},"data":{"z":"3"}}'


def test_keys_that_stand_twice_are_named_in_the_order_of_the_text() -> None:
    assert duplicate_keys(TWICE) == ["data.k", "data"]


def test_the_values_of_a_key_that_stands_twice_are_put_together() -> None:
    assert load(TWICE).document == {"metadata": {"name": "d"}, "data": {"k": "2", "z": "3"}}


def test_duplicates_within_lists_carry_their_index() -> None:
    assert duplicate_keys(b'{"a":[{"x":1},{"x":1,"x":2}]}') == ["a[1].x"]


def test_a_key_that_hides_behind_spaces_or_escapes_is_found() -> None:
    assert duplicate_keys(b'{"a":1,"a" :2}') == ["a"]
    assert duplicate_keys(b'{"a":"\\u003a","a":2}') == ["a"]
    assert duplicate_keys(b'{"a":1,"\\u0061":2}') == ["a"]


def test_one_object_may_have_a_key_that_another_has() -> None:
    assert load(b'{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}]}').members == []


def test_unknown_and_duplicate_fields_are_told_in_the_order_of_the_text() -> None:
    members = load(b'{"spec":{"unknownField":1,"paused":true,"paused":false}}').members

    assert strict_faults(["spec.unknownField"], members) == [
        'unknown field "spec.unknownField"',
        'duplicate field "spec.paused"',
    ]


def test_a_deep_and_wide_body_takes_no_time_for_its_paths() -> None:
    keys = b",".join(b'"%d":1' % i for i in range(50_000))
    body = b'{"a":' * 200 + b"{" + keys + b',"1":2,"2":3}' + b"}" * 200

    assert [path.rpartition(".")[2] for path in duplicate_keys(body)] == ["1", "2"]


def test_a_body_that_leaves_no_room_for_its_managed_fields_is_refused() -> None:
    assert load(b'{"a":' * 240 + b"1" + b"}" * 240).duplicates == []
    with pytest.raises(ValueError, match="exceeded max depth"):
        load(b'{"a":' * 250 + b"1" + b"}" * 250)


def test_a_body_that_could_not_be_written_again_is_refused() -> None:
    for body in (b'{"a":' * 300 + b"1" + b"}" * 300, b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"):
        with pytest.raises(ValueError, match="exceeded max depth"):
            load(body)


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1} x', b"hello", b'{"a":NaN,"a":1}'])
def test_what_is_no_json_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        load(body)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=15,
)


@settings(deadline=None)
@given(VALUES, st.booleans(), st.booleans())
def test_any_body_without_duplicates_loads_as_usual(
    value: Any,  # Any: JSON of whatever form
    spaces: bool,
    escapes: bool,
) -> None:
    separators = None if spaces else (",", ":")
    body = json.dumps(value, ensure_ascii=escapes, separators=separators)
    try:
        expected = orjson.loads(body)
    except ValueError:  # a lone surrogate, which orjson does not take
        return

    assert load(body.encode()) == (expected, [])
