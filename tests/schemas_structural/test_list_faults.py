"""Schemas refused for how they are merged, or within a junctor, in the words of the original."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schemas_structural.test_definition_faults import PLACE, definition, told, with_schema

KEY = "this property is in x-kubernetes-list-map-keys, so it"
NAMES = "entries must all be names of item properties"
WHOLE = "must be atomic as item of a list with x-kubernetes-list-type=set"
ROOT = "spec.validation.openAPIV3Schema"
TEXT = {"type": "string"}
KEYED = {"type": "object", "properties": {"k": TEXT}, "required": ["k"]}
NULLABLE_KEY = {"type": "object", "properties": {"k": {**TEXT, "nullable": True}}}
OBJECT_KEY = {"type": "object", "properties": {"k": {"type": "object"}}, "required": ["k"]}
INT, OR_TEXT = {"type": "integer"}, {"type": "string"}
EITHER = {"x-kubernetes-int-or-string": True}


def faults(**schema: Any) -> list[str]:  # Any: JSON
    return [text.removeprefix(f"{PLACE}.") for text in told(with_schema(**schema))]


def listed(kind: str, items: Any, *keys: str) -> list[str]:  # Any: JSON
    more = {"x-kubernetes-list-map-keys": list(keys)} if keys else {}
    schema = {"type": "array", "items": items, "x-kubernetes-list-type": kind, **more}
    return [text.removeprefix("x-kubernetes-") for text in faults(**schema)]


@pytest.mark.parametrize(
    ("kind", "items", "expected"),
    [
        ("atomic", {"type": "object"}, []),
        ("set", {"type": "object", "x-kubernetes-map-type": "atomic"}, []),
        ("set", {"type": "array", "items": TEXT}, []),
        (
            "set",
            {"type": "object"},
            [f"items.x-kubernetes-map-type: Invalid value: null: {WHOLE}"],
        ),
        (
            "set",
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            [f'items.x-kubernetes-list-type: Invalid value: "set": {WHOLE}'],
        ),
        (
            "set",
            {**TEXT, "nullable": True},
            ["items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set"],
        ),
        (
            "x",
            TEXT,
            ['list-type: Unsupported value: "x": supported values: "atomic", "set", "map"'],
        ),
        ("", TEXT, ['list-type: Unsupported value: "": supported values: "atomic", "set", "map"']),
    ],
)
def test_elements_of_a_set_are_compared_as_a_whole(
    kind: str,
    items: Any,  # Any: JSON
    expected: list[str],
) -> None:
    assert listed(kind, items) == expected


@pytest.mark.parametrize(
    ("items", "keys", "expected"),
    [
        (KEYED, ("k",), []),
        (
            {**KEYED, "nullable": True},
            ("k",),
            ["items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map"],
        ),
        (
            NULLABLE_KEY,
            ("k", "none"),
            [
                f'list-map-keys: Invalid value: ["k","none"]: {NAMES}',
                f"items.properties[k].nullable: Forbidden: {KEY} cannot be nullable",
                (
                    f"items.properties[k].default: Required value: {KEY} must have a default or be "
                    "a required property"
                ),
            ],
        ),
        (
            OBJECT_KEY,
            ("k", "k"),
            [
                *(
                    [
                        (
                            'items.properties[k].type: Invalid value: "object": must be a scalar '
                            "type if parent array's x-kubernetes-list-type is map"
                        )
                    ]
                    * 2
                ),
                'list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries',
            ],
        ),
        (
            TEXT,
            ("k",),
            [
                (
                    'items.type: Invalid value: "string": must be object if parent array\'s '
                    "x-kubernetes-list-type is map"
                )
            ],
        ),
    ],
)
def test_keys_are_values_that_are_always_there(
    items: Any,  # Any: JSON
    keys: tuple[str, ...],
    expected: list[str],
) -> None:
    assert listed("map", items, *keys) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-map-keys": ["k"]},
            [
                (
                    "x-kubernetes-list-type: Required value: must be map if "
                    "x-kubernetes-list-map-keys is non-empty"
                )
            ],
        ),
        (
            {**TEXT, "x-kubernetes-map-type": "x"},
            [
                (
                    'type: Invalid value: "string": must be object if x-kubernetes-map-type is '
                    "specified"
                ),
                (
                    'x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", '
                    '"granular"'
                ),
            ],
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            [
                (
                    "properties: Required value: must not be empty if "
                    "x-kubernetes-embedded-resource is true without "
                    "x-kubernetes-preserve-unknown-fields"
                )
            ],
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            [
                (
                    "x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or "
                    "undefined"
                )
            ],
        ),
        (
            {"type": "array", "items": TEXT, "additionalItems": False, "uniqueItems": True},
            [
                "additionalItems: Forbidden: additionalItems is not supported",
                (
                    "uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
                    "complexity becomes quadratic"
                ),
            ],
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
            [],
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
            [
                (
                    "additionalProperties: Forbidden: additionalProperties and properties are "
                    "mutual exclusive"
                )
            ],
        ),
    ],
)
def test_places(schema: Any, expected: list[str]) -> None:  # Any: JSON
    assert faults(**schema) == expected


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ({"additionalProperties": True}, ["additionalProperties: Forbidden: must be undefined"]),
        (EITHER, ["x-kubernetes-int-or-string: Forbidden: must be false"]),
        (
            {"x-kubernetes-validations": [{"rule": "true"}]},
            ["x-kubernetes-validations: Forbidden: must be empty"],
        ),
        ({"title": "x"}, ["title: Forbidden: must be empty"]),
    ],
)
def test_junctors_only_check_values(word: str, inner: Any, expected: list[str]) -> None:
    schema: dict[str, Any] = {"type": "object", word: [inner]}  # Any: JSON

    assert faults(**schema) == [f"{word}[0].{text} to be structural" for text in expected]


def test_a_number_or_text_may_be_said_in_the_old_way() -> None:
    assert faults(**EITHER, anyOf=[INT, OR_TEXT]) == []
    assert faults(**EITHER, allOf=[{"anyOf": [INT, OR_TEXT]}]) == []
    assert faults(**EITHER, anyOf=[OR_TEXT, INT]) == [
        "anyOf[0].type: Forbidden: must be empty to be structural",
        "anyOf[1].type: Forbidden: must be empty to be structural",
    ]


@pytest.mark.parametrize(
    ("name", "right"), [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")]
)
def test_what_every_object_has_is_of_the_same_type_everywhere(name: str, right: str) -> None:
    inner: dict[str, Any] = {"type": "integer"}  # Any: JSON
    why = f'properties[{name}].type: Invalid value: "integer": must be {right}'
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    root = definition()
    root["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {name: inner}

    assert faults(**embedded, properties={name: inner}) == [why]
    assert faults(**embedded, properties={name: {"type": right}}) == []
    assert told(root) == [f"{ROOT}.{why}"]


@pytest.mark.parametrize("additional", [False, True, TEXT])
def test_an_object_has_no_fields_but_those_that_are_named(additional: Any) -> None:  # Any: JSON
    made = definition()
    version = made["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"] = {"type": "object", "additionalProperties": additional}

    assert told(made) == [f"{ROOT}.additionalProperties: Forbidden: must not be used at the root"]
