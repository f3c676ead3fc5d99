# ruff: noqa: E501 (tables are read line by line)
"""What is wrong with an object, in upstream's words (transcripts crd-07 and crd-08 have most)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.structural.formats import fits
from tests.schemas_structural.kinds import kind_of, kind_with, messages, widget

IN = "spec.v in body"


def told(schema: dict[str, Any], value: Any, old: Any = None) -> list[str]:
    kind = kind_of({"type": "object", "properties": {"v": schema}})
    return messages(kind, {"v": value}, None if old is None else {"v": old})


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": "string"}, 1, f'Invalid value: "integer": {IN} must be of type string: "integer"'),
        ({"type": "string"}, None, f'Invalid value: "null": {IN} must be of type string: "null"'),
        ({"type": "object"}, [], f'Invalid value: "array": {IN} must be of type object: "array"'),
        ({"type": "integer", "maximum": 3}, 4, f"Invalid value: 4: {IN} should be less than or equal to 3"),
        ({"type": "integer", "maximum": 3, "exclusiveMaximum": True}, 3, f"Invalid value: 3: {IN} should be less than 3"),
        ({"type": "number", "minimum": 0.5}, 0, f"Invalid value: 0: {IN} should be greater than or equal to 0.5"),
        ({"type": "integer", "multipleOf": 3}, 4, f"Invalid value: 4: {IN} should be a multiple of 3"),
        ({"type": "string", "minLength": 2}, "a", f'Invalid value: "a": {IN} should be at least 2 chars long'),
        ({"type": "string", "maxLength": 1}, "ab", "Too long: may not be more than 1 bytes"),
        ({"type": "string", "pattern": "^a$"}, "a\n", f"Invalid value: \"a\\n\": {IN} should match '^a$'"),
        ({"type": "string", "enum": ["a", "b"]}, "c", 'Unsupported value: "c": supported values: "a", "b"'),
        ({"type": "string", "format": "date-time"}, "x", f'Invalid value: "x": {IN} must be of type date-time: "x"'),
        ({"type": "array", "items": {}, "minItems": 1}, [], f"Invalid value: 0: {IN} should have at least 1 items"),
        ({"type": "array", "items": {}, "maxItems": 1}, [1, 2], "Too many: 2: must have at most 1 items"),
        ({"type": "object", "maxProperties": 0}, {"a": 1}, "Too many: 1: must have at most 0 items"),
        ({"type": "object", "minProperties": 1}, {}, f"Invalid value: 0: {IN} should have at least 1 properties"),
        ({"x-kubernetes-int-or-string": True}, 1.5, f'Invalid value: "number": {IN} must be of type integer,string: "number"'),
    ],
)  # fmt: skip
def test_each_constraint_has_its_words(schema: dict[str, Any], value: Any, fault: str) -> None:
    assert told(schema, value) == [f"spec.v: {fault}"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "nullable": True, "enum": ["a"]}, None),
        ({"type": "integer"}, 1.0),
        ({"type": "number"}, 1),
        ({"x-kubernetes-int-or-string": True}, "a"),
        ({"x-kubernetes-int-or-string": True, "pattern": "^[0-9]+$"}, "12"),
        ({"type": "string", "pattern": "b"}, "abc"),
        ({"type": "string", "pattern": "[[:alpha:]]+"}, "abc"),
        ({"type": "string", "format": "unheard-of"}, "x"),
        ({"type": "boolean"}, False),
        ({"type": "integer", "format": "int32"}, (1 << 31) - 1),
    ],
)
def test_what_fits_is_not_refused(schema: dict[str, Any], value: Any) -> None:
    assert told(schema, value) == []


def test_an_integer_has_the_range_of_its_format() -> None:
    why = 'Invalid value: "": Checked value must be of type integer with format int32 in spec.v'

    assert told({"type": "integer", "format": "int32"}, 1 << 31) == [f"<nil>: {why}"]


def test_true_is_not_one() -> None:
    assert told({"type": "integer", "enum": [1]}, True) != []


def test_elements_and_keys_have_their_place_in_the_path() -> None:
    text = {"type": "string"}
    listed, mapped = (
        {"type": "array", "items": text},
        {"type": "object", "additionalProperties": text},
    )

    assert told(listed, ["a", 1])[0].startswith("spec.v[1]: ")
    assert told(mapped, {"k": 1})[0].startswith("spec.v.k: ")


def test_what_is_missing_is_named() -> None:
    kind = kind_with({"type": "object", "required": ["spec"], "properties": {"spec": {}}})

    assert [fault.field for fault in kind.faults(widget(), None)] == ["spec"]


@pytest.mark.parametrize(
    ("word", "value", "fault"),
    [
        ("anyOf", 5, '"spec.v" must validate at least one schema (anyOf)'),
        ("oneOf", 5, '"spec.v" must validate one and only one schema (oneOf). Found none valid'),
        ("oneOf", 0, '"spec.v" must validate one and only one schema (oneOf). Found 2 valid alternatives'),
        ("allOf", 5, '"spec.v" must validate all the schemas (allOf). None validated'),
    ],
)  # fmt: skip
def test_junctors_say_what_they_are(word: str, value: int, fault: str) -> None:
    schema = {"type": "integer", word: [{"maximum": 1}, {"maximum": 2}]}

    assert f'<nil>: Invalid value: "": {fault}' in told(schema, value)


def test_what_must_not_be() -> None:
    schema = {"type": "integer", "not": {"minimum": 3}}

    assert told(schema, 2) == []
    assert told(schema, 3) == [
        '<nil>: Invalid value: "": "spec.v" must not validate the schema (not)'
    ]


def test_an_update_is_not_refused_for_what_it_leaves() -> None:
    spec = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 1}, "b": {}}}
    kind = kind_of(spec)

    assert messages(kind, {"a": 5, "b": 2}, {"a": 5, "b": 1}) == []
    assert len(messages(kind, {"a": 6, "b": 2}, {"a": 5, "b": 1})) == 1


def test_elements_of_a_keyed_list_are_compared_by_their_keys() -> None:
    element = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "string"}, "v": {"maximum": 1}},
    }
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
        "items": element,
    }
    old = [{"n": "a", "v": 9}]

    assert told(keyed, [{"n": "b", "v": 1}, {"n": "a", "v": 9}], old) == []
    assert len(told(keyed, [{"n": "b", "v": 9}, {"n": "a", "v": 9}], old)) == 1


def test_nothing_stands_in_a_set_twice() -> None:
    items = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}

    assert told(items, ["a", "b", "a"]) == ['spec.v[2]: Duplicate value: "a"']


def test_no_two_elements_have_the_same_keys() -> None:
    element = {"type": "object", "properties": {"n": {"type": "string"}, "v": {}}}
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
        "items": element,
    }

    assert told(keyed, [{"n": "a", "v": 1}, {"n": "a", "v": 2}]) == [
        'spec.v[1]: Duplicate value: {"n":"a"}'
    ]


def test_an_object_within_says_what_it_is() -> None:
    within = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }

    assert told(within, {"metadata": {}}) == [
        "spec.v.apiVersion: Required value: must not be empty",
        "spec.v.kind: Required value: must not be empty",
    ]
    assert (
        told(within, {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"-": "x"}}}) != []
    )


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-01-01T00:00:00Z", "2024-01-01 00:00"),
        ("duration", "1h30m", "soon"),
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "01:23:45:67:89:ab", "01:23"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("uri", "https://a.test/x", "a b"),
        ("email", "a@b.test", "a"),
        ("hostname", "a-b.test", "-a"),
        ("byte", "YQ==", "a"),
    ],
)
def test_formats(name: str, right: str, wrong: str) -> None:
    assert fits(name, right)
    assert not fits(name, wrong)
