# ruff: noqa: E501 (tables are read line by line)
"""Definitions that are refused, and why (transcripts crd-02 and crd-29 have the plainest)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from listwatch.schemas.structural.definition_faults import definition_faults


def definition(**spec: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "metadata": {"name": "widgets.w.test"},
        "spec": {
            "group": "w.test",
            "scope": "Namespaced",
            "names": {
                "plural": "widgets",
                "singular": "widget",
                "kind": "Widget",
                "listKind": "WidgetList",
            },
            "versions": [version],
            "conversion": {"strategy": "None"},
            **spec,
        },
        "status": {"storedVersions": ["v1"]},
    }


def told(document: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    return [f"{fault.field}: {fault.message}" for fault in definition_faults(document, old)]


def with_schema(**schema: Any) -> dict[str, Any]:
    made = definition()
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = schema
    return made


PLACE = "spec.validation.openAPIV3Schema.properties[spec]"


def test_a_right_one_is_not_refused() -> None:
    assert told(definition()) == []


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({}, "type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, "items: Required value: must be specified"),
        ({"type": "object", "$ref": "x"}, "$ref: Forbidden: $ref is not supported"),
        ({"type": "string", "pattern": "["}, 'pattern: Invalid value: "[": must be a valid regular expression'),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "uniqueItems: Forbidden: uniqueItems cannot be set to true"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}, "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"),
        ({"type": "integer", "default": "x"}, 'default: Invalid value: "string"'),
        ({"type": "object", "default": {"x": 1}, "properties": {"a": {"type": "string"}}}, 'default: Invalid value: {"x":1}: must not have unknown fields'),
        ({"type": "object", "anyOf": [{"type": "object"}]}, "anyOf[0].type: Forbidden: must be empty to be structural"),
        ({"type": "string", "x-kubernetes-list-type": "set"}, "type: Invalid value"),
        ({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}, "x-kubernetes-list-map-keys: Required value"),
        ({"type": "object", "x-kubernetes-validations": [{"rule": ""}]}, "x-kubernetes-validations[0].rule: Required value: rule is not specified"),
    ],
)  # fmt: skip
def test_a_schema_must_be_structural(schema: dict[str, Any], fault: str) -> None:
    assert any(one.startswith(f"{PLACE}.{fault}") for one in told(with_schema(**schema))), told(
        with_schema(**schema)
    )


def test_a_rule_must_compile() -> None:
    pytest.importorskip("cel_expr_python")
    rule = {"rule": "self.("}
    [fault] = told(with_schema(type="object", **{"x-kubernetes-validations": [rule]}))

    assert fault.startswith(f"{PLACE}.x-kubernetes-validations[0].rule: Invalid value: ")


def test_versions_with_schemas_of_their_own_are_told_apart() -> None:
    made = definition()
    other = copy.deepcopy(made["spec"]["versions"][0]) | {"name": "v2", "storage": False}
    other["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "thing"}
    made["spec"]["versions"].append(other)

    assert told(made)[0].startswith(
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].type: "
    )


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"group": "widgets"}, "spec.group"),
        ({"conversion": {"strategy": "Magic"}}, "spec.conversion.strategy"),
        ({"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}}, "spec.conversion.webhookClientConfig"),
        ({"names": {"plural": "widgets", "kind": "Widget", "listKind": "Widget"}}, "spec.names.listKind"),
        ({"names": {"plural": "widgets", "kind": "Wid.get", "listKind": "L"}}, "spec.names.kind"),
        ({"names": {"plural": "widgets", "kind": "W", "listKind": "L", "shortNames": ["W"]}}, "spec.names.shortNames[0]"),
    ],
)  # fmt: skip
def test_names_and_conversion_are_looked_at(spec: dict[str, Any], field: str) -> None:
    assert field in [fault.field for fault in definition_faults(definition(**spec), None)]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"additionalPrinterColumns": [{"name": "A", "type": "colour", "jsonPath": ".a"}]}, "spec.additionalPrinterColumns[0].type"),
        ({"subresources": {"scale": {"specReplicasPath": ".n", "statusReplicasPath": ".status.n"}}}, "spec.subresources.scale.specReplicasPath"),
        ({"selectableFields": [{"jsonPath": ".spec.none"}]}, "spec.selectableFields[0].jsonPath"),
        ({"selectableFields": [{"jsonPath": ".spec.n"}, {"jsonPath": ".spec.n"}]}, "spec.selectableFields[1].jsonPath"),
        ({"selectableFields": [{"jsonPath": ".metadata.name"}]}, "spec.selectableFields[0].jsonPath"),
        ({"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": "a"}]}, "spec.additionalPrinterColumns[0].JSONPath"),
        ({"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".a", "format": "odd"}]}, "spec.additionalPrinterColumns[0].format"),
        ({"subresources": {"scale": {"specReplicasPath": "n", "statusReplicasPath": ".status.n"}}}, "spec.subresources.scale.specReplicasPath"),
        ({"deprecationWarning": "w"}, "spec.versions[0].deprecationWarning"),
        ({"deprecated": True, "deprecationWarning": ""}, "spec.versions[0].deprecationWarning"),
        ({"deprecated": True, "deprecationWarning": "w" * 257}, "spec.versions[0].deprecationWarning"),
    ],
)  # fmt: skip
def test_a_version_is_looked_at(more: dict[str, Any], field: str) -> None:
    made = definition()
    made["spec"]["versions"][0] |= more
    made["status"]["storedVersions"] = [made["spec"]["versions"][0]["name"]]

    assert [field] == [fault.field for fault in definition_faults(made, None)]


def test_columns_that_versions_do_not_share_are_told_of_by_version() -> None:
    made = definition()
    column = {"name": "A", "type": "string", "jsonPath": "a"}
    other = copy.deepcopy(made["spec"]["versions"][0]) | {"name": "v2", "storage": False}
    made["spec"]["versions"].append(other | {"additionalPrinterColumns": [column]})

    assert told(made) == [
        (
            'spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a '
            "simple json path starting with ."
        )
    ]


def test_keys_of_a_list_are_told_of_together_and_a_rule_has_a_known_reason() -> None:
    made = definition()
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    items = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}
    listed = {"type": "array", "items": items, "x-kubernetes-list-type": "map"}
    rule = {"rule": "true", "reason": "Odd"}
    schema["properties"] |= {
        "a": listed | {"x-kubernetes-list-map-keys": ["k", "k"]},
        "b": listed | {"x-kubernetes-list-map-keys": ["k", "none"]},
        "c": {"type": "object", "x-kubernetes-validations": [rule]},
    }
    root = "spec.validation.openAPIV3Schema.properties"
    keys = "x-kubernetes-list-map-keys: Invalid value"

    assert told(made) == [
        f'{root}[a].{keys}: ["k","k"]: must not contain duplicate entries',
        f'{root}[b].{keys}: ["k","none"]: entries must all be names of item properties',
        (
            f'{root}[c].x-kubernetes-validations[0].reason: Unsupported value: "Odd": supported values:'
            ' "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'
        ),
    ]


def test_the_group_of_a_definition_stays() -> None:
    other = definition(group="x.test")
    other["metadata"]["name"] = "widgets.x.test"

    assert told(other, definition()) == ['spec.group: Invalid value: "x.test": field is immutable']
