"""Paths in definitions, as the real server takes and refuses them: of rules, fields and columns."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.structural.field_paths import FieldPathError, follow
from tests.schemas_structural.kinds import kind_of
from tests.schemas_structural.test_definition_faults import definition, told

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "additionalProperties": True},
        "l": {
            "type": "array",
            "items": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    },
}
RULE = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (".a", ["a"]),
        ("['a']", ["a"]),
        (".m.x", ["m", "x"]),
        (".m['x.y']", ["m", "x.y"]),
        (".m['it\\'s']", ["m", "it's"]),
        (".free.x", ["free", "x"]),
    ],
)
def test_a_path_leads_to_a_field(text: str, names: list[str]) -> None:
    assert follow(text, SCHEMA)[0] == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a", "expected [ or . but got: a"),
        (".b", "does not refer to a valid field"),
        (".a ", "does not refer to a valid field"),
        (".a.b", "does not refer to a valid field"),
        (".l.q", "does not refer to a valid field"),
        (".", "unexpected end of JSON path"),
        (".m[x]", "expected single quoted string but got x"),
        (".m['x'", "unexpected end of JSON path"),
        (".m['x'.", "expected ] but got ."),
        (".m['x", "expected single quoted string but got 'x"),
    ],
)
def test_a_path_that_leads_to_none_says_why(text: str, why: str) -> None:
    with pytest.raises(FieldPathError) as error:
        follow(text, SCHEMA)
    assert str(error.value) == why


def ruled(**rule: str) -> list[str]:
    made = definition()
    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": "true", **rule}]}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = schema
    return [text.removeprefix(f"{RULE}.") for text in told(made)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"fieldPath": ".a"}, []),
        ({"fieldPath": ".b"}, ['fieldPath: Invalid value: ".b": must be a valid path']),
        (
            {"fieldPath": "\n"},
            [
                'fieldPath: Invalid value: "\\n": must be non-empty if specified',
                'fieldPath: Invalid value: "\\n": must not contain line breaks',
                'fieldPath: Invalid value: "\\n": must be a valid path',
            ],
        ),
        ({"message": " "}, ['message: Invalid value: " ": must be non-empty if specified']),
        ({"message": "a\nb"}, ['message: Invalid value: "a\\nb": must not contain line breaks']),
        (
            {"rule": "true &&\ntrue"},
            ["message: Required value: message must be specified if rule contains line breaks"],
        ),
        (
            {"messageExpression": " "},
            ["messageExpression: Required value: messageExpression must be non-empty if specified"],
        ),
    ],
)
def test_what_a_rule_says_beside_its_rule(rule: dict[str, str], expected: list[str]) -> None:
    assert ruled(**rule) == expected


def selecting(*paths: str) -> list[str]:
    made = definition()
    made["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": path} for path in paths]
    return [text.removeprefix("spec.selectableFields") for text in told(made)]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("spec.n", "is an invalid path: expected [ or . but got: spec"),
        (".spec['n']", "is an invalid path: array notation is not allowed"),
        (".spec.none", "is an invalid path: does not refer to a valid field"),
        (
            ".spec",
            (
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed."
            ),
        ),
    ],
)
def test_a_field_to_select_by_is_there_and_is_a_value(path: str, why: str) -> None:
    assert selecting(path) == [f'[0].jsonPath: Invalid value: "{path}": {why}']


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("status.s", "must be a simple json path starting with ."),
        (".s", "should be a json path under either .spec or .status"),
    ],
)
def test_the_selector_of_a_scale_stands_in_spec_or_status(path: str, why: str) -> None:
    made = definition()
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    version = made["spec"]["versions"][0]
    version["subresources"] = {"scale": {**scale, "labelSelectorPath": path}}

    assert told(made) == [
        f'spec.subresources.scale.labelSelectorPath: Invalid value: "{path}": {why}'
    ]


def test_a_conversion_has_a_strategy() -> None:
    assert told(definition(conversion={})) == ["spec.conversion.strategy: Required value"]


def test_columns_are_of_a_type() -> None:
    made = definition()
    columns = [{"name": "a", "type": kind, "jsonPath": ".spec.n"} for kind in ("", "colour")]
    made["spec"]["versions"][0]["additionalPrinterColumns"] = columns
    kinds = "must be one of boolean,date,integer,number,string"

    assert told(made) == [
        f"spec.additionalPrinterColumns[0].type: Required value: {kinds}",
        f'spec.additionalPrinterColumns[1].type: Invalid value: "colour": {kinds}',
    ]


def test_columns_end_before_one_whose_path_is_none() -> None:
    paths = (".spec.n", ".spec[n", ".spec.n")
    columns = [{"name": path, "type": "integer", "jsonPath": path} for path in paths]
    made = definition()
    made["spec"]["versions"][0]["additionalPrinterColumns"] = columns
    kind = kind_of({"type": "object"}, additionalPrinterColumns=columns)

    assert told(made) == []
    assert [column.name for column in kind.columns] == ["Name", ".spec.n"]


def test_nothing_unknown_is_kept_by_a_definition_as_a_whole() -> None:
    why = (
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    )
    keeping = definition(preserveUnknownFields=True)

    assert told(keeping) == [why]
    assert told(keeping, definition(preserveUnknownFields=False)) == [why]
    assert told(keeping, keeping) == []


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".spec.a[0]", ""),
        (".spec..a", ""),
        (".spec.", ""),
        (".", "should be a json path under .spec"),
        (".spec['n']", "should be a json path under .spec"),
        ("spec.n", "must be a simple json path starting with ."),
    ],
)
def test_the_replicas_of_a_scale_stand_anywhere_in_spec(path: str, why: str) -> None:
    made = definition()
    scale = {"specReplicasPath": path, "statusReplicasPath": ".status.n[0]"}
    made["spec"]["versions"][0]["subresources"] = {"scale": scale}
    field = "spec.subresources.scale.specReplicasPath"

    assert told(made) == ([f'{field}: Invalid value: "{path}": {why}'] if why else [])
